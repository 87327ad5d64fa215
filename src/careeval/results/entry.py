"""An entry: a system in one condition as one grader judged it on one rubric, with its numbers.

Every number is computed from the two tables by the pure functions of `careeval.scoring` and
`careeval.stats`; Inspect's own metrics are not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.card import Card
from careeval.core.response import GRADED_STATES, Grader, ResponseState
from careeval.core.scenario import (
    WHEN,
    Adl,
    Domain,
    Rubric,
)
from careeval.core.vendors import vendor
from careeval.errors import StatsError
from careeval.results.care import Rate, lenient_score
from careeval.results.graded_rubric import Errors, GradedRubric
from careeval.results.grader_accuracy import CorrectedScore
from careeval.results.held_out_words import WITHHELD
from careeval.results.metrics import (
    DIRECTIONS,
    HEADLINE,
    IN_DETAIL,
    MILD,
    PLANS,
    SCORE,
    SD_EPOCHS,
    SEVERE,
    SEVERE_BY_KIND,
    WORST_AT_N,
    WORST_EPOCH,
    compute_all,
    errors_of,
    estimate_of,
)
from careeval.results.parts import (
    ORDER,
    Breakdown,
    Part,
    ScenarioScore,
    domain_parts,
    part_of,
    scenario_scores,
)
from careeval.results.plans import ANY, PlanCourses
from careeval.results.tables import AMOUNTS, RunCost, asking_cost, grading_cost
from careeval.results.twins import TwinNumbers, twin_numbers
from careeval.stats.estimate import Bounded, Estimate, ratio
from careeval.stats.variance import Reliability

NOT_COMPARABLE = (
    "Scores on this bank do not compare with those of the CareEval paper, "
    "which are over other scenarios."
)


class _OfScenario(Protocol):
    """An object that belongs to one scenario."""

    @property
    def scenario(self) -> str: ...


T = TypeVar("T", bound=_OfScenario)


@dataclass(frozen=True, eq=False, repr=False)
class Entry:
    """One system in one condition as one grader judged it on one rubric, with its numbers.

    Each number is computed when it is first asked for. Scores are fractions of the maximum: 1 is
    expert practice, and they can be negative. A part of fewer than five scenarios has no interval.
    """

    system: str  # Name of the system
    given: str | None  # What it is given of a world; `None` for a bank of words
    step: bool  # Whether it acts one act at a time, not by a whole plan
    name: str  # Name of the system, with its condition if other entries of the runs need it
    asked: str | None  # Inspect's name of the model that was asked; `None` for recorded responses
    grader: Grader
    rubric: Rubric  # The rubric that was judged
    bank: str
    bank_version: str
    bank_hash: str
    bank_provenance: str
    protocol: str  # Version N-X of the protocol of the asking
    grading_protocol: str | None
    """Version N-X of the protocol of the grading, the latest X if there are several; `None` if the
    judgments do not say."""
    n_gradings: int  # Gradings of these responses by this grader; the first counts
    responses: pl.DataFrame
    """The system's responses to scenarios that have the rubric, columns
    `careeval.results.tables.RESPONSES`, at least one row."""
    of_system: pl.DataFrame
    """All judgments of the system, columns `careeval.results.tables.JUDGMENTS`."""
    own_rows: pl.Series  # Numbers of the rows of `of_system` by this grader on this rubric
    first_rows: pl.Series  # Numbers of the rows of `of_system` that count
    graded: GradedRubric  # The judgments that count, as arrays
    beside: Entry | None = None
    """The entry of the twins and controls of its scenarios, which count in none of its numbers;
    None if none was judged by this grader on this rubric."""
    responses_beside: pl.DataFrame | None = None
    """The system's responses to such twins and controls, with or without the rubric, columns
    `careeval.results.tables.RESPONSES`; none by default."""
    corrected: CorrectedScore | None = None
    """The score corrected by people; `None` if the grader was not audited."""
    public: frozenset[str] = frozenset()
    """Ids of the scenarios that may be shown; none unless `results.findings` allows them."""
    card: Card | None = None  # The card of a submitted system; `None` if it was not submitted

    def __repr__(self) -> str:
        return f"<Entry: {self.name} on the {self.rubric}, judged by {self.grader}>"

    # the tables; many entries share one, so each keeps row numbers instead of a copy

    @property
    def judgments(self) -> pl.DataFrame:
        """Return all judgments by this grader on this rubric, of all gradings."""
        return rows_of(self.of_system, self.own_rows)

    @property
    def first(self) -> pl.DataFrame:
        """Return the judgments that count: one grading of each response that is not missing.

        The earliest grading with a resolved judgment counts, or else the earliest.
        """
        return rows_of(self.of_system, self.first_rows)

    def first_of(self, *columns: str) -> pl.DataFrame:
        """Return the named columns of `first`, the judgments that count."""
        return rows_of(self.of_system.select(columns), self.first_rows)

    # facts and counts

    @property
    def edition(self) -> str:
        """Return the bank and the N of its version, within which ids of scenarios are unique."""
        return f"{self.bank} {self.bank_n}"

    @property
    def bank_n(self) -> str:
        """Return the N of the version N-X of the bank."""
        return self.bank_version.partition("-")[0]

    @cached_property
    def run(self) -> dict[str, Any]:
        """Return the first row of the responses, for columns with the same value in all rows."""
        return self.responses.row(0, named=True)

    @property
    def bank_maker(self) -> str | None:
        """Return the system's vendor if it is one of the bank's makers, else `None`."""
        maker = vendor(self.asked)
        return maker if maker in (self.run["bank_makers"] or ()) else None

    @property
    def mixed(self) -> dict[str, list[str]]:
        """Return the banks and versions that differ between the responses: what → its values.

        Empty if all responses are of one bank and one protocol, as they should be.
        """
        columns = {"banks": "bank", "versions of the bank": "bank_version",
                   "versions of the protocol": "protocol"}  # fmt: skip
        values = {
            what: sorted(self.responses[column].drop_nulls().unique())
            for what, column in columns.items()
        }
        return {what: several for what, several in values.items() if len(several) > 1}

    @cached_property
    def n_epochs(self) -> int:
        """Return the number of responses asked for each scenario."""
        return self.graded.n_epochs

    @cached_property
    def n_scenarios(self) -> int:
        """Return the number of scenarios asked."""
        return self.responses["scenario"].n_unique()

    @cached_property
    def n_responses(self) -> int:
        """Return the number of responses asked for, missing ones included."""
        return self.n_scenarios * self.n_epochs

    @cached_property
    def n_missing(self) -> int:
        """Return the number of missing responses, with or without a row: no score, never 0."""
        there = self.responses["state"] != ResponseState.missing
        return self.n_responses - int(there.sum())

    @property
    def n_empty(self) -> int:
        """Return the number of responses without a word, 0 points."""
        return self.n_of(ResponseState.empty)

    @property
    def n_refused(self) -> int:
        """Return the number of responses that the provider refused, 0 points."""
        return self.n_of(ResponseState.refused)

    @property
    def n_malformed(self) -> int:
        """Return the number of responses whose words are no plan, 0 points."""
        return self.n_of(ResponseState.malformed)

    @property
    def n_not_executable(self) -> int:
        """Return the number of plans that break off, judged up to there."""
        return self.n_of(ResponseState.not_executable)

    def n_of(self, state: ResponseState) -> int:
        """Return the number of rows of `responses` in a state."""
        return int((self.responses["state"] == state).sum())

    def first_note(self, state: ResponseState) -> str:
        """Return the note of the first response in a state; empty without one, or if held out."""
        notes = self.responses.filter(pl.col("state") == state)["note"].drop_nulls()
        return "" if notes.is_empty() or notes[0] == WITHHELD else str(notes[0])

    @cached_property
    def n_ungraded(self) -> int:
        """Return the number of responses that are not missing and not judged completely."""
        return self.n_responses - self.n_missing - int(self.graded.is_judged.sum())

    @cached_property
    def n_cut(self) -> int:
        """Return the number of responses cut off at the token limit, graded as they are."""
        return int(self._answered["cut"].sum())

    @cached_property
    def n_judgments(self) -> int:
        """Return items × responses, responses without words included."""
        return len(self.first_rows)

    @cached_property
    def n_unresolved(self) -> int:
        """Return the number of judgments that the grader failed to make."""
        return self.first_of("present")["present"].null_count()

    # main numbers

    @cached_property
    def numbers(self) -> Mapping[str, Estimate | Errors]:
        """Return key of a headline metric → its value."""
        return compute_all(HEADLINE, self.graded)

    @property
    def severe(self) -> Errors:
        """Return the responses with an item of −2 points present."""
        return errors_of(self.numbers, SEVERE)

    @property
    def score(self) -> Estimate:
        """Return the points of the items present, over the maximum."""
        return estimate_of(self.numbers, SCORE)

    @property
    def worst_at_n(self) -> Estimate:
        """Return the score if every scenario had got the lowest of its n responses."""
        return estimate_of(self.numbers, WORST_AT_N)

    @property
    def mild(self) -> Errors:
        """Return the responses with an item of −1 points present."""
        return errors_of(self.numbers, MILD)

    @cached_property
    def severe_by_kind(self) -> Mapping[str, Errors]:
        """Return severe errors by kind; empty if the bank does not say which item is which."""
        return compute_all(SEVERE_BY_KIND, self.graded)

    @cached_property
    def cost(self) -> RunCost:
        """Return the cost of the responses and of their first gradings, with twins and controls.

        Twins were asked whether or not they have the rubric of the entry.
        """
        asked = [self.responses, self.responses_beside]
        both = [self, self.beside] if self.beside else [self]
        judged = [each.first_of("scenario", "epoch", *AMOUNTS) for each in both]
        return RunCost(
            asking_cost(pl.concat(table for table in asked if table is not None)),
            grading_cost(pl.concat(judged)),
        )

    @cached_property
    def not_ranked(self) -> tuple[str, ...]:
        """Return the reasons why the entry may not be ranked; empty if it may."""
        return (
            *_reference(self.card),
            *_not_serious(self.asked, self.grader),
            *_mixed_versions(self),
            *_incomplete(self),
            *_unresolved(self),
            *_band(self),
            *_no_score(self.score),
        )

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Return the warnings for the reader."""
        return (*_made_by_its_vendor(self), *_at_fault(self), *_twins_not_graded(self))

    @cached_property
    def directions(self) -> Mapping[str, Rate]:
        """Return the numbers on too little and too much care, the ladder's band, and twins."""
        return compute_all(DIRECTIONS, self)

    @cached_property
    def lenient(self) -> Estimate | None:
        """Return the ladder's score if rungs that lack one act count; None for other rubrics.

        None too if this grader did not judge every response on the actions.
        """
        if self.rubric is not Rubric.ladder:
            return None
        columns = ("scenario", "epoch", "item", "present", "grader", "rubric", "grading")
        acts = self.of_system.select(columns).filter(
            pl.col("grader") == self.grader, pl.col("rubric") == Rubric.actions.value
        )
        return lenient_score(self.graded, self.first, acts)

    @cached_property
    def twins(self) -> TwinNumbers | None:
        """Return the numbers over twins and controls; None if none was asked and judged."""
        if self.beside is None:
            return None
        return twin_numbers(self.graded, self.beside.graded, self.beside.responses)

    @cached_property
    def by_answer(self) -> Mapping[str, Mapping[str, Estimate | Errors]]:
        """Return the numbers of plans by answer of the person, last over all; empty without plans.

        The key of all answers together is `results.plans.ANY`.
        """
        if self.rubric is not Rubric.plan:
            return {}
        return {
            answer: compute_all(PLANS, PlanCourses(answer, self.graded, self.responses, self.first))
            for answer in (*WHEN, ANY)
        }

    # parts of the scenarios

    def by(self, breakdown: Breakdown) -> Mapping[Any, Part]:
        """Return the results by one attribute; a scenario counts in each situation that it has."""
        if breakdown is Breakdown.domain:
            return self.by_domain
        values = {value for traits in self.graded.traits for value in traits.values(breakdown)}
        places = {str(name): place for place, name in enumerate(ORDER[breakdown])}
        return {
            value: part_of(self.graded.only(self.graded.has(breakdown, value)))
            for value in sorted(values, key=lambda value: (places.get(value, len(places)), value))
        }

    @cached_property
    def by_adl(self) -> Mapping[Adl, Part]:
        """Return the results by activity."""
        return {Adl(name): part for name, part in self.by(Breakdown.adl).items()}

    @cached_property
    def by_domain(self) -> Mapping[Domain, Part]:
        """Return the results by domain of caregiving competence."""
        return domain_parts(self.graded)

    @cached_property
    def by_adl_and_domain(self) -> Mapping[Adl, Mapping[Domain, Part]]:
        """Return the results by activity and domain."""
        graded = self.graded
        return {
            adl: domain_parts(graded.only(graded.has(Breakdown.adl, adl))) for adl in self.by_adl
        }

    # detailed numbers

    @cached_property
    def numbers_in_detail(self) -> Mapping[str, Estimate]:
        """Return key of a detailed metric → its value."""
        return compute_all(IN_DETAIL, self.graded)

    @property
    def worst_epoch(self) -> Estimate:
        """Return the lowest score of an epoch over all scenarios."""
        return estimate_of(self.numbers_in_detail, WORST_EPOCH)

    @property
    def sd_epochs(self) -> Estimate:
        """Return the standard deviation of the epochs' scores, on these scenarios."""
        return estimate_of(self.numbers_in_detail, SD_EPOCHS)

    @cached_property
    def worst_at_k(self) -> tuple[Estimate, ...]:
        """Return for k = 1 … n the score if every scenario had got the lowest of k responses."""
        return self.graded.worst_at_k()

    @cached_property
    def severe_of_k(self) -> tuple[Estimate, ...]:
        """Return for k = 1 … n the share of scenarios with a severe error in any of k."""
        return self.graded.any_error_of_k(scoring.SEVERE)

    @property
    def reliability(self) -> Reliability | None:
        """Return the reliability of one response to a scenario and of their mean, if known."""
        return self._reliability[1]

    @property
    def n_reliability(self) -> int:
        """Return the scenarios that it is over, which have no unresolved judgment; 0 if unknown."""
        return self._reliability[0]

    @property
    def why_no_reliability(self) -> str:
        """Return why the reliability is unknown; else empty."""
        return self._reliability[2]

    @cached_property
    def _reliability(self) -> tuple[int, Reliability | None, str]:
        try:
            return *self.graded.reliability(), ""
        except StatsError as error:
            return 0, None, str(error)

    @cached_property
    def words(self) -> Estimate:
        """Return the mean number of words of a response."""
        by_scenario = self._words.group_by("scenario", maintain_order=True)
        means = by_scenario.agg(pl.col("words").mean())["words"].to_numpy()
        if not means.size:
            return Estimate.unknown("there is no answer whose words may be counted")
        return ratio(Bounded.exact(means), np.ones(len(means)))

    @cached_property
    def per_100_words(self) -> Estimate:
        """Return the rise of the score with 100 more words among the responses to one scenario.

        The slope is within scenarios, so that scenarios that call for more words do not distort it.
        It is a correlation, not a cause.
        """
        return _slope(self.graded, self._words)

    @property
    def _answered(self) -> pl.DataFrame:
        return self.responses.filter(pl.col("state").is_in(GRADED_STATES))

    @property
    def _words(self) -> pl.DataFrame:
        """Return scenario, epoch and number of words of each response that may be counted."""
        n_words = pl.col("text").str.count_matches(r"\S+").cast(pl.Float64)
        answered = self._answered.filter(pl.col("text") != WITHHELD)
        return answered.select("scenario", "epoch", words=n_words)

    @cached_property
    def scenarios(self) -> tuple[ScenarioScore, ...]:
        """Return the scores of the scenarios with positive points, sorted by id."""
        return scenario_scores(self.graded)

    # what may be shown

    def shown(self, parts: Iterable[T]) -> list[T]:
        """Return those of the objects given whose scenario may be shown."""
        return [part for part in parts if part.scenario in self.public]

    @cached_property
    def public_scores(self) -> Mapping[str, ScenarioScore]:
        """Return scenario → score, for scenarios that may be shown and have a judged response."""
        return {s.scenario: s for s in self.shown(self.scenarios)}

    @cached_property
    def public_severe(self) -> Mapping[str, tuple[int, int]]:
        """Return scenario → number of responses with a severe error, number of judged responses.

        The scenarios are those that may be shown and whose rubric has an item of −2 points.
        """
        graded = self.graded
        with_severe = graded.judged & (graded.points == scoring.SEVERE).any(axis=1)
        return {
            name: (self.public_scores[name].n_severe, graded.n_judged[name])
            for name in graded.ids(with_severe)
            if name in self.public_scores
        }

    def presence(self, scenario: str, item: str) -> float | None:
        """Return the share of responses with an item; `None` if unknown or not to be shown."""
        return self._presence.get((scenario, item))

    @cached_property
    def _presence(self) -> Mapping[tuple[str, str], float]:
        judged = self.first_of("scenario", "item", "present")
        shown = judged.filter(pl.col("scenario").is_in(self.public))
        shares = shown.group_by("scenario", "item").agg(pl.col("present").mean()).drop_nulls()
        return {(scenario, item): share for scenario, item, share in shares.iter_rows()}


def _slope(graded: GradedRubric, words: pl.DataFrame) -> Estimate:
    """Return the score per 100 words within scenarios: Σ products / Σ squares, by scenario."""
    n_words, scores = graded.placed(words), graded.scores
    products: list[tuple[float, float, float]] = []
    squares: list[float] = []
    counted = graded.is_judged & ~np.isnan(n_words) & (graded.maxima > 0)[:, np.newaxis]
    for row in np.flatnonzero(counted.sum(axis=1) >= 2).tolist():
        at = row, counted[row]
        if np.isnan(scores.value[at]).any():
            continue
        # deviations of the words add up to 0, so the scores need not be centred
        hundreds = n_words[at] / 100
        hundreds -= hundreds.mean()
        ends = hundreds * scores.low[at], hundreds * scores.high[at]
        products.append(
            (
                float(np.minimum(*ends).sum()),
                float(np.maximum(*ends).sum()),
                float((hundreds * scores.value[at]).sum()),
            )
        )
        squares.append(float((hundreds**2).sum()))
    if not sum(squares):
        return Estimate.unknown("no scenario has two judged answers of different lengths")
    return ratio(Bounded(*np.array(products).T), np.array(squares))


UNRESOLVED_LIMIT = 0.02
"""Share of unresolved judgments of one class of items above which an entry is not ranked."""

_ITEM_CLASSES = (("positive items", (1, 2)), ("items of −1", (-1,)), ("items of −2", (-2,)))
"""Classes of items by their points; `UNRESOLVED_LIMIT` holds for each."""

EMBEDDED_MODEL = "gguf/"
"""Prefix of the names of embedded models, which are for trying things out and never ranked."""


def _reference(card: Card | None) -> Iterator[str]:
    """Yield a reason if the system was submitted as a reference."""
    if card is not None and not card.rank:
        yield "a reference, listed apart as its card asks"


def _not_serious(asked: str | None, grader: Grader) -> Iterator[str]:
    """Yield a reason if the system or the grader is one that only serves to try careeval out."""
    if (asked or "").startswith(EMBEDDED_MODEL):
        yield "an embedded model: for seeing everything work"
    if grader.is_lexical:
        yield "the lexical grader compares words: for seeing everything work"
    if grader.startswith(EMBEDDED_MODEL):
        yield "graded by an embedded model: for seeing everything work"


def _band(entry: Entry) -> Iterator[str]:
    """Yield a reason if the entry is on the ladder of a bank whose scenarios have groups."""
    if entry.rubric is Rubric.ladder and entry.responses["group"].drop_nulls().len():
        yield "a ladder's score is a band, from a strict to a lenient reading: rank by the actions"


def _mixed_versions(entry: Entry) -> Iterator[str]:
    """Yield a reason for each bank or version value that differs between the entry's responses."""
    for what, names in entry.mixed.items():
        yield f"its responses are of {len(names)} {what}: {', '.join(names)}"


def _incomplete(entry: Entry) -> Iterator[str]:
    """Yield a reason if responses are missing or not graded."""
    if entry.n_missing:
        yield f"{entry.n_missing} of {entry.n_responses} responses are missing"
    if entry.n_ungraded:
        yield f"{entry.n_ungraded} of {entry.n_responses} responses are not graded"


def _unresolved(entry: Entry) -> Iterator[str]:
    """Yield a reason for each class of items with too many unresolved judgments."""
    marks = entry.first_of("points", "present")
    for name, points in _ITEM_CLASSES:
        present = marks.filter(pl.col("points").is_in(points))["present"]
        if present.null_count() > UNRESOLVED_LIMIT * len(present):
            yield (
                f"{present.null_count()} of {len(present)} judgments of {name} are unresolved, "
                f"more than {UNRESOLVED_LIMIT:.0%}"
            )


def _no_score(score: Estimate) -> Iterator[str]:
    if score.value is None:
        yield f"no score: {score.reason}"


def _made_by_its_vendor(entry: Entry) -> Iterator[str]:
    """Warn if the system's vendor is one of its bank's makers."""
    if maker := entry.bank_maker:
        yield (
            f"AI of the same vendor ({maker}) wrote this bank or answered its pilot, which may "
            "help or hinder it"
        )


def _twins_not_graded(entry: Entry) -> Iterator[str]:
    """Warn of responses to twins or controls that were not graded; never for the ladder."""
    if entry.rubric is Rubric.ladder or entry.responses_beside is None:
        return
    n_asked = entry.responses_beside.height
    n_graded = entry.beside.graded.is_judged.sum() if entry.beside else 0
    if n := n_asked - int(n_graded):
        yield f"{n} of {n_asked} responses to twins and controls are missing or not graded"


def _at_fault(entry: Entry) -> Iterator[str]:
    """Warn of several models that answered, and of answers that were cut off."""
    # a sample that was cancelled or failed may still name the model that was asked
    not_missing = entry.responses["state"] != ResponseState.missing
    names = sorted(set(entry.responses["model_returned"].filter(not_missing).drop_nulls()))
    if len(names) > 1:
        yield f"the provider answered with {len(names)} models: {', '.join(names)}"
    if n := entry.n_cut:
        of = entry._answered.height
        yield f"{n} of {of} answers were cut off at the token limit, and graded as they are"


def rows_of(table: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
    """Return the rows with these numbers; without a copy if they are all."""
    return table if len(rows) == table.height else table[rows]
