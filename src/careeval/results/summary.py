"""Costs of a run: asking the system, and grading its responses.

A missing price makes the total unknown, never smaller; the known part is kept beside it.

Every number is computed from the two tables by the pure functions of `careeval.scoring` and
`careeval.stats`; Inspect's own metrics are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from careeval import scoring
from careeval.core.response import GRADED_STATES, Grader, ResponseState
from careeval.core.scenario import Adl, Domain, HarmKind, Rubric
from careeval.results.care import CareRates, PlanNumbers, care_rates, lenient_score, plan_numbers
from careeval.results.entries import Entry, entries, entry_counts, why_not_ranked
from careeval.results.graded_rubric import Errors, GradedRubric, ScenarioTraits
from careeval.results.metrics import HEADLINE, Numbers, errors_of, estimate_of
from careeval.results.tables import NOT_ASKED, Runs
from careeval.results.twins import TwinNumbers, twin_numbers
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import MIN_CLUSTERS


@dataclass(frozen=True)
class Cost:
    """The cost of the calls for some responses."""

    value: float | None  # Dollars; `None` if the price of any response is unknown
    reason: str  # Reason why there is no value; else empty
    known_usd: float  # Dollars of the responses with a known price
    n: int  # Responses
    n_unknown: int  # Responses with an unknown price
    input_tokens: int | None
    """Input, the provider's cache included; `None` if unknown for any response."""
    output_tokens: int | None  # Output, reasoning included; `None` if unknown for any response
    per_response: float | None  # Mean dollars of a response; `None` without a value


@dataclass(frozen=True)
class RunCost:
    """The cost of one system and of its grading by one grader."""

    asking: Cost  # Cost of its responses
    grading: Cost  # Cost of the judgments that count: one grading of each response, on one rubric

    @property
    def per_response(self) -> float | None:
        """Return the mean dollars of asking and grading a response; `None` if either is unknown."""
        asking, grading = self.asking.per_response, self.grading.per_response
        return None if asking is None or grading is None else asking + grading


AMOUNTS = ("cost_usd", "input_tokens", "output_tokens")


def asking_cost(responses: pl.DataFrame) -> Cost:
    """Return the cost of one system's responses, without those that were not asked yet.

    The price of a recorded response is unknown: it was paid for elsewhere, if at all.
    """
    cached = pl.sum_horizontal("cache_read_tokens", "cache_write_tokens")  # null: none
    asked = responses.select(
        "note", "model", "cost_usd", pl.col("input_tokens") + cached, "output_tokens"
    ).filter(pl.col("note").fill_null("") != NOT_ASKED)
    recorded = asked.height > 0 and asked["model"].null_count() == asked.height
    return _total_cost(
        asked,
        "the responses were recorded, not asked for here" if recorded else "",
    )


def grading_cost(judgments: pl.DataFrame) -> Cost:
    """Return the cost of these judgments of one system's responses by one grader."""
    return _total_cost(
        judgments.group_by("scenario", "epoch")
        # a sum skips nulls, but an unknown part must make the sum unknown
        .agg(pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).sum()) for name in AMOUNTS)
        .select(AMOUNTS)
    )


def _total_cost(responses: pl.DataFrame, why_unknown: str = "") -> Cost:
    """Return the total cost and tokens of responses, which have one row each."""
    n, n_unknown = responses.height, responses["cost_usd"].null_count()
    known = float(responses["cost_usd"].sum())
    reason = ""
    if not n:
        reason = "there is no response"
    elif n_unknown:
        reason = why_unknown or f"the price of {n_unknown:,} of {n:,} responses is not known"
    return Cost(
        value=None if reason else known,
        reason=reason,
        known_usd=known,
        n=n,
        n_unknown=n_unknown,
        input_tokens=_total(responses["input_tokens"]),
        output_tokens=_total(responses["output_tokens"]),
        per_response=None if reason else known / n,
    )


def _total(tokens: pl.Series) -> int | None:
    """Return the sum of a column; `None` if any value is unknown.

    A call's tokens are split over its rows, so the sum is rounded to a whole number again.
    """
    return None if tokens.null_count() or tokens.is_empty() else round(tokens.sum())


__all__ = ["DomainScore", "Errors", "SubsetScore", "Summary", "summarise"]

SCHEMA = "careeval.summary/2"

NOT_COMPARABLE = (
    "Scores on this bank do not compare with those of the CareEval paper, "
    "which are over other scenarios."
)


COUNTED_STATES = {
    "n_empty": ResponseState.empty,
    "n_refused": ResponseState.refused,
    "n_malformed": ResponseState.malformed,
    "n_not_executable": ResponseState.not_executable,
}
"""Field of `Summary` → the state of the responses that it counts."""


@dataclass(frozen=True)
class SubsetScore:
    """The results over some of the scenarios, such as those of one activity."""

    n: int  # Scenarios with a judged response
    score: Estimate  # Score; below five scenarios without an interval, and not for comparing
    severe: Errors  # Severe errors

    @property
    def small(self) -> bool:
        """Tell whether there are fewer than five scenarios, so no interval and no comparison."""
        return self.n < MIN_CLUSTERS


@dataclass(frozen=True)
class DomainScore:
    """The score of one domain of caregiving competence."""

    n: int  # Scenarios with an item rated in the domain
    score: Estimate  # Points of the items, weighted by each item's level in the domain (D1)


@dataclass(frozen=True)
class Summary:
    """The main numbers of one system, as one grader judged it on one rubric.

    Scores are fractions of the maximum: 1 is expert practice, and they can be negative.
    """

    system: str  # Name of the system
    asked: str | None  # Inspect's name of the model that was asked; `None` for recorded responses
    grader: Grader
    rubric: Rubric  # The rubric that was judged
    bank: str
    bank_version: str
    bank_hash: str
    bank_provenance: str
    protocol: str  # Version N-X of the protocol of the asking
    grading_protocol: str | None  # Version N-X of the protocol of the grading
    n_gradings: int  # Gradings of these responses by this grader; the first counts
    n_scenarios: int  # Scenarios asked
    n_epochs: int  # Responses asked for a scenario
    n_responses: int  # Responses asked for, missing ones included
    n_missing: int  # Missing responses: no score, never 0
    n_empty: int  # Responses without a word, 0 points
    n_refused: int  # Responses that the provider refused, 0 points
    n_cut: int  # Responses cut off at the token limit, graded as they are
    n_ungraded: int  # Responses that are not missing and that this grader has not judged completely
    n_judgments: int  # Items × responses, responses without words included
    n_unresolved: int  # Judgments that the grader failed to make
    numbers: Numbers  # Key of a headline metric → its value
    severe_by_kind: Mapping[HarmKind, Errors]
    """Severe errors by kind, injury or rights; empty if the bank does not say which item is
    which."""
    by_adl: Mapping[Adl, SubsetScore]
    by_domain: Mapping[Domain, DomainScore]
    cost: RunCost  # Cost of the responses and their grading, those to twins and controls included
    not_ranked: tuple[str, ...]  # Reasons why this entry may not be ranked; empty if it may
    warnings: tuple[str, ...]  # Warnings for the reader
    care: CareRates | None = None
    """Rates of too little and too much care; None if the bank gives no directions of error."""
    lenient: Estimate | None = None
    """Ladder score if rungs that lack one act count; None for other rubrics."""
    twins: TwinNumbers | None = None
    """Numbers over twins and controls; None if none was asked and judged."""
    n_malformed: int = 0  # Responses whose words are no plan, 0 points
    n_not_executable: int = 0  # Plans that break off, judged up to there
    plan: PlanNumbers | None = None  # Numbers by answer of the person; None for other rubrics

    @property
    def severe(self) -> Errors:
        """Return the responses with an item of −2 points present."""
        return errors_of(self.numbers, "severe")

    @property
    def score(self) -> Estimate:
        """Return the points of the items present, over the maximum."""
        return estimate_of(self.numbers, "score")

    @property
    def worst_at_n(self) -> Estimate:
        """Return the score if every scenario had got the lowest of its n responses."""
        return estimate_of(self.numbers, "worst_at_n")

    @property
    def mild(self) -> Errors:
        """Return the responses with an item of −1 points present."""
        return errors_of(self.numbers, "mild")


def summarise(runs: Runs) -> list[Summary]:
    """Return a summary of each entry, in order; empty without judgments."""
    return [summary_of(entry) for entry in entries(runs)]


def summary_of(entry: Entry) -> Summary:
    """Return the summary of one entry."""
    responses, graded, run = entry.responses, entry.graded, entry.run
    states = responses["state"].to_list()
    counts = entry_counts(entry)
    return Summary(
        system=entry.system,
        asked=entry.asked,
        grader=entry.grader,
        rubric=entry.rubric,
        bank=run["bank"],
        bank_version=run["bank_version"],
        bank_hash=run["bank_hash"],
        bank_provenance=run["bank_provenance"],
        protocol=run["protocol"],
        grading_protocol=entry.grading_protocol,
        n_gradings=entry.n_gradings,
        n_scenarios=responses["scenario"].n_unique(),
        n_epochs=entry.n_epochs,
        **counts._asdict(),
        **{name: states.count(state) for name, state in COUNTED_STATES.items()},
        n_cut=sum(_cut(responses)),
        numbers={metric.key: metric.compute(graded) for metric in HEADLINE},
        severe_by_kind={
            kind: errors for kind in HarmKind if (errors := graded.errors(scoring.SEVERE, kind)).n
        },
        by_adl={
            adl: subset_score(entry, lambda about, adl=adl: about.adl == adl)  # type: ignore[misc]
            for adl in Adl
            if adl in set(responses["adl"])
        },
        by_domain={domain: domain_score(domain, graded) for domain in Domain},
        cost=_cost(entry),
        not_ranked=why_not_ranked(entry, counts),
        warnings=(*_made_by_its_vendor(entry), *_warnings(responses), *_twins_not_graded(entry)),
        care=care_rates(entry),
        lenient=lenient_score(entry),
        twins=twin_numbers(entry),
        plan=plan_numbers(entry),
    )


def _cost(entry: Entry) -> RunCost:
    """Return the cost of all responses and their judgments, those to twins and controls too.

    Twins were asked whether or not they have the rubric of the entry.
    """
    asked = [entry.responses, entry.responses_beside]
    both = [entry, entry.beside] if entry.beside else [entry]
    judged = [each.first_of("scenario", "epoch", *AMOUNTS) for each in both]
    return RunCost(
        asking_cost(pl.concat(table for table in asked if table is not None)),
        grading_cost(pl.concat(judged)),
    )


def _made_by_its_vendor(entry: Entry) -> Iterator[str]:
    """Warn if the system's vendor is one of its bank's makers."""
    if maker := entry.bank_maker:
        yield (
            f"AI of the same vendor ({maker}) wrote this bank or answered its pilot, which may "
            "help or hinder it"
        )


def _twins_not_graded(entry: Entry) -> Iterator[str]:
    """Warn of responses to twins or controls that were not graded; never for the ladder."""
    if entry.rubric is Rubric.ladder or not entry.n_beside:
        return
    n_graded = entry.beside.graded.is_judged.sum() if entry.beside else 0
    if n := entry.n_beside - int(n_graded):
        yield f"{n} of {entry.n_beside} responses to twins and controls are missing or not graded"


def _cut(responses: pl.DataFrame) -> list[bool]:
    """Return for each answered response whether it was cut off at the token limit."""
    answered = responses["state"].is_in(GRADED_STATES)
    return responses["cut"].filter(answered).fill_null(False).to_list()


def subset_score(entry: Entry, keep: Callable[[ScenarioTraits], bool]) -> SubsetScore:
    """Return the score and severe errors over the scenarios for which `keep` is true."""
    part = entry.graded.only(keep)
    n = int(part.judged.sum())
    return SubsetScore(n=n, score=part.score(), severe=part.errors(scoring.SEVERE))


def domain_score(domain: Domain, graded: GradedRubric) -> DomainScore:
    """Return the score of one domain."""
    n, score = graded.domain_score(domain)
    return DomainScore(n=n, score=score)


def _warnings(responses: pl.DataFrame) -> Iterator[str]:
    # a sample that was cancelled or failed may still name the model that was asked
    not_missing = responses["state"] != ResponseState.missing
    names = sorted(set(responses["model_returned"].filter(not_missing).drop_nulls()))
    if len(names) > 1:
        yield f"the provider answered with {len(names)} models: {', '.join(names)}"
    if any(cut := _cut(responses)):
        n = f"{sum(cut)} of {len(cut)} answers"
        yield f"{n} were cut off at the token limit, and graded as they are"
