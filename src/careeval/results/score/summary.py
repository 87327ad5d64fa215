"""A summary of each entry: severe errors and score first, then the worst case and the parts.

Every number is computed from the two tables by the pure functions of `careeval.scoring` and
`careeval.stats`; nothing is taken from what Inspect computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from careeval import scoring
from careeval.core.grader import Grader
from careeval.core.response import ResponseState
from careeval.core.scenario import Adl, Domain, HarmKind, Rubric
from careeval.results.score.care_rates import Care, care
from careeval.results.score.cost import RunCost, asking_cost, grading_cost
from careeval.results.score.entries import Entry, entries
from careeval.results.score.graded_arrays import About
from careeval.results.score.graded_rubric import Errors, GradedRubric
from careeval.results.score.ladder_band import lenient_score
from careeval.results.score.metrics import HEADLINE, Numbers, errors_of, estimate_of
from careeval.results.score.twins import TwinNumbers, twin_numbers
from careeval.results.tables import Runs
from careeval.stats import MIN_CLUSTERS, Estimate

__all__ = ["Cell", "DomainCell", "Errors", "Summary", "summarise"]

SCHEMA = "careeval.summary/2"

UNRESOLVED_LIMIT = 0.02
"""Share of unresolved judgments of one class of items above which a run is not ranked."""

POINT_CLASSES = (("positive items", (1, 2)), ("items of −1", (-1,)), ("items of −2", (-2,)))
"""The classes of items that each keep `UNRESOLVED_LIMIT`, by their points."""

EMBEDDED_MODEL = "gguf/"
"""How models begin that are for seeing everything work, and never enter a ranking."""

NOT_COMPARABLE = (
    "Scores on this bank do not compare with those of the CareEval paper, "
    "which are over other scenarios."
)


@dataclass(frozen=True)
class Cell:
    """A part of the scenarios: those of one activity, of one condition.

    Attributes:
        n: Scenarios of it with a judged response.
        score: Its score; below five scenarios without an interval, and not for comparing.
        severe: Its severe errors.
    """

    n: int
    score: Estimate
    severe: Errors

    @property
    def small(self) -> bool:
        """Whether it has fewer than five scenarios: no interval, and not for comparing."""
        return self.n < MIN_CLUSTERS


@dataclass(frozen=True)
class DomainCell:
    """One domain of caregiving competence.

    Attributes:
        n: Scenarios with an item rated in it.
        score: Points of the items, weighted by how far each is about the domain (D1).
    """

    n: int
    score: Estimate


@dataclass(frozen=True)
class Summary:
    """One system as one grader judged it on one rubric.

    Scores are fractions of the maximum: 1 is expert practice, and they can be negative.

    Attributes:
        system: Its name.
        asked: Inspect's name of the model that was asked; `None` for recorded answers.
        grader: Name of the grader, with its mode and the hash of its prompt.
        rubric: What was judged.
        protocol: Version N-X of the protocol that it was asked by.
        grading_protocol: Version N-X of the protocol that it was judged by.
        n_gradings: How often this grader judged these responses; the first time counts.
        n_scenarios: Scenarios asked.
        n_epochs: Responses asked for a scenario.
        n_responses: Responses asked for, missing ones included.
        n_missing: Responses that there are none of: no score, never 0.
        n_empty: Responses without a word, 0 points.
        n_refused: Responses that the provider refused, 0 points.
        n_cut: Answers cut off at the token limit, graded as they are.
        n_ungraded: Responses that are there and that this grader has not judged, or not whole.
        n_judgments: Items × responses; those without words included.
        n_unresolved: Judgments that the grader could not be brought to make.
        numbers: Key of a metric of the headline → what it comes to.
        severe_by_kind: The same of the items that injure, and of those against the person's
            rights; empty where the bank does not say which is which.
        cost: What its responses and their judgments cost, those to twins and controls too.
        not_ranked: Why this entry may not stand in a ranking; empty if it may.
        warnings: What a reader must know.
        care: Which way it errs; None where the bank does not say.
        lenient: Of the ladder, the score if rungs that lack one act counted; else None.
        twins: How it follows a fact that decides; None where no twins were asked and judged.
    """

    system: str
    asked: str | None
    grader: str
    rubric: Rubric
    bank: str
    bank_version: str
    bank_hash: str
    bank_provenance: str
    protocol: str
    grading_protocol: str | None
    n_gradings: int
    n_scenarios: int
    n_epochs: int
    n_responses: int
    n_missing: int
    n_empty: int
    n_refused: int
    n_cut: int
    n_ungraded: int
    n_judgments: int
    n_unresolved: int
    numbers: Numbers
    severe_by_kind: Mapping[HarmKind, Errors]
    by_adl: Mapping[Adl, Cell]
    by_domain: Mapping[Domain, DomainCell]
    cost: RunCost
    not_ranked: tuple[str, ...]
    warnings: tuple[str, ...]
    care: Care | None = None
    lenient: Estimate | None = None
    twins: TwinNumbers | None = None

    @property
    def severe(self) -> Errors:
        """Responses with an item of −2 points present."""
        return errors_of(self.numbers, "severe")

    @property
    def score(self) -> Estimate:
        """Points of the items present over the most points."""
        return estimate_of(self.numbers, "score")

    @property
    def worst_at_n(self) -> Estimate:
        """The score if every scenario had got the lowest of its n responses."""
        return estimate_of(self.numbers, "worst_at_n")

    @property
    def mild(self) -> Errors:
        """Responses with an item of −1 points present."""
        return errors_of(self.numbers, "mild")


def summarise(runs: Runs) -> list[Summary]:
    """A summary for each entry, in their order; empty without judgments."""
    return [summary_of(entry) for entry in entries(runs)]


class _Counts(NamedTuple):
    """The counts that decide whether a run is whole."""

    n_responses: int
    n_missing: int
    n_ungraded: int
    n_judgments: int
    n_unresolved: int


def summary_of(entry: Entry) -> Summary:
    """Return the summary of one entry."""
    responses, graded, run = entry.responses, entry.graded, entry.run
    states = responses["state"].to_list()
    counts = _counts(entry)
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
        n_gradings=entry.judgments["grading"].n_unique(),
        n_scenarios=responses["scenario"].n_unique(),
        n_epochs=entry.n_epochs,
        **counts._asdict(),
        n_empty=states.count(ResponseState.empty),
        n_refused=states.count(ResponseState.refused),
        n_cut=sum(_cut(responses)),
        numbers={metric.key: metric.compute(graded) for metric in HEADLINE},
        severe_by_kind={
            kind: errors for kind in HarmKind if (errors := graded.errors(scoring.SEVERE, kind)).n
        },
        by_adl={
            adl: cell(entry, lambda about, adl=adl: about.adl == adl)  # type: ignore[misc]
            for adl in Adl
            if adl in set(responses["adl"])
        },
        by_domain={domain: domain_cell(domain, graded) for domain in Domain},
        cost=_cost(entry),
        not_ranked=why_not_ranked(entry, counts),
        warnings=(*_made_by_its_vendor(entry), *_warnings(responses), *_twins_not_graded(entry)),
        care=care(entry),
        lenient=lenient_score(entry),
        twins=twin_numbers(entry),
    )


def _cost(entry: Entry) -> RunCost:
    """Return the cost of all responses and their judgments, those to twins and controls too."""
    parts = [each for each in (entry, entry.beside) if each is not None]
    return RunCost(
        asking_cost(pl.concat([each.responses for each in parts])),
        grading_cost(pl.concat([each.first for each in parts])),
    )


def _made_by_its_vendor(entry: Entry) -> Iterator[str]:
    """Warn where a system's vendor is one of its bank's makers."""
    if maker := entry.bank_maker:
        yield (
            f"AI of the same vendor ({maker}) wrote this bank or answered its pilot, which may "
            "help or hinder it"
        )


def _twins_not_graded(entry: Entry) -> Iterator[str]:
    """Warn of twins that were asked and are not graded; a twin has no ladder."""
    if entry.rubric is Rubric.ladder or not entry.n_beside:
        return
    graded = entry.beside.graded.scenarios if entry.beside else []
    if n := entry.n_beside - sum(scenario.epochs.size for scenario in graded):
        yield f"{n} of {entry.n_beside} responses to twins and controls are missing or not graded"


def why_not_ranked(entry: Entry, counts: _Counts | None = None) -> tuple[str, ...]:
    """Return why an entry may not stand in a ranking; empty if it may.

    Args:
        entry: Which.
        counts: Its own, where they are known already.
    """
    return (
        *_not_serious(entry.asked, entry.grader),
        *_mixed(entry),
        *_not_whole(counts or _counts(entry)),
        *_unresolved(entry),
        *_band(entry),
        *_no_score(entry.graded.score()),
    )


def _counts(entry: Entry) -> _Counts:
    n_there = entry.responses.filter(pl.col("state") != ResponseState.missing).height
    n_responses = entry.responses["scenario"].n_unique() * entry.n_epochs
    n_graded = sum(scenario.epochs.size for scenario in entry.graded.scenarios)
    return _Counts(
        n_responses=n_responses,
        n_missing=n_responses - n_there,
        n_ungraded=n_there - n_graded,
        n_judgments=entry.first.height,
        n_unresolved=entry.first["present"].null_count(),
    )


def _cut(responses: pl.DataFrame) -> list[bool]:
    """Of each answer, whether it was cut off at the token limit."""
    answered = responses.filter(pl.col("state") == ResponseState.answered)
    return answered["cut"].fill_null(False).to_list()


def cell(entry: Entry, keep: Callable[[About], bool]) -> Cell:
    """Return what an entry comes to over the scenarios that are kept."""
    part = entry.graded.only(lambda s: keep(s.about))
    return Cell(n=len(part.judged), score=part.score(), severe=part.errors(scoring.SEVERE))


def domain_cell(domain: Domain, graded: GradedRubric) -> DomainCell:
    """Return what one domain comes to."""
    n, score = graded.domain_score(domain)
    return DomainCell(n=n, score=score)


def _not_serious(asked: str | None, grader: str) -> Iterator[str]:
    """Why a run is for seeing everything work."""
    if (asked or "").startswith(EMBEDDED_MODEL):
        yield "an embedded model: for seeing everything work"
    if Grader.parse(grader).is_lexical:
        yield "the lexical grader compares words: for seeing everything work"
    if grader.startswith(EMBEDDED_MODEL):
        yield "graded by an embedded model: for seeing everything work"


def _band(entry: Entry) -> Iterator[str]:
    """Why a ladder whose bank says how it was written is no scale for ranks."""
    if entry.rubric is Rubric.ladder and entry.responses["group"].drop_nulls().len():
        yield "a ladder's score is a band, from a strict to a lenient reading: rank by the actions"


def _mixed(entry: Entry) -> Iterator[str]:
    """What one run must have one of, and has several of."""
    for what, names in entry.mixed.items():
        yield f"its responses are of {len(names)} {what}: {', '.join(names)}"


def _not_whole(n: _Counts) -> Iterator[str]:
    """What a run lacks."""
    if n.n_missing:
        yield f"{n.n_missing} of {n.n_responses} responses are missing"
    if n.n_ungraded:
        yield f"{n.n_ungraded} of {n.n_responses} responses are not graded"


def _unresolved(entry: Entry) -> Iterator[str]:
    """Each class of items with too many unresolved judgments."""
    for name, points in POINT_CLASSES:
        present = entry.first.filter(pl.col("points").is_in(points))["present"]
        if present.null_count() > UNRESOLVED_LIMIT * len(present):
            yield (
                f"{present.null_count()} of {len(present)} judgments of {name} are unresolved, "
                f"more than {UNRESOLVED_LIMIT:.0%}"
            )


def _no_score(score: Estimate) -> Iterator[str]:
    if score.value is None:
        yield f"no score: {score.reason}"


def _warnings(responses: pl.DataFrame) -> Iterator[str]:
    # a sample that was cancelled or failed may still name the model that was asked
    there = responses.filter(pl.col("state") != ResponseState.missing)
    names = sorted(set(there["model_returned"].drop_nulls()))
    if len(names) > 1:
        yield f"the provider answered with {len(names)} models: {', '.join(names)}"
    if any(cut := _cut(responses)):
        n = f"{sum(cut)} of {len(cut)} answers"
        yield f"{n} were cut off at the token limit, and graded as they are"
