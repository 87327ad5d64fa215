"""The detailed numbers of one entry: curves over k, breakdowns, and scores of each scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.response import GRADED_STATES
from careeval.core.scenario import Adl, Assistance, Condition, Domain, Situation
from careeval.errors import StatsError
from careeval.results.entries import Entry
from careeval.results.estimates import Bounded, FloatArray, ratio
from careeval.results.graded_rubric import GradedRubric, ScenarioTraits
from careeval.results.held_out_words import WITHHELD
from careeval.results.metrics import IN_DETAIL, Numbers, estimate_of
from careeval.results.people_audit import CorrectedScore
from careeval.results.probe_check import ProbeAgreement
from careeval.results.summary import (
    DomainScore,
    SubsetScore,
    Summary,
    domain_score,
    subset_score,
)
from careeval.stats.estimate import Estimate
from careeval.stats.variance import Reliability


@dataclass(frozen=True)
class Length:
    """The length of the responses, and its relation to their score."""

    words: Estimate  # Mean number of words of a response
    per_100_words: Estimate
    """Rise of the score with 100 more words among the responses to one scenario. The slope is
    within scenarios, so that scenarios that call for more words do not distort it. It is a
    correlation, not a cause."""


@dataclass(frozen=True)
class ScenarioScore:
    """The scores of one scenario."""

    scenario: str
    about: ScenarioTraits
    score: float | None
    """Mean of its epochs; `None` without a judged response, or if unresolved judgments leave it
    open."""
    low: float | None  # The score with every unresolved judgment settled for the lower score
    high: float | None  # The score with every unresolved judgment settled for the higher score
    worst: float | None  # The lowest score of its epochs; `None` if an epoch has none
    epochs: tuple[float | None, ...]
    """The score of each response in order, `None` for one without a score."""
    n_severe: int  # Responses with a severe error


@dataclass(frozen=True)
class Detail:
    """The detailed numbers of one entry, in addition to its `Summary`.

    A group of fewer than five scenarios has no interval. A scenario with several situations counts
    in each of them.
    """

    numbers: Numbers  # Key of a detailed metric → its value
    worst_at_k: tuple[Estimate, ...]
    """For k = 1 … n, the score if every scenario had got the lowest of k responses."""
    severe_of_k: tuple[Estimate, ...]
    """For k = 1 … n, the share of scenarios with a severe error in any of k."""
    reliability: Reliability | None
    """Reliability of one response to a scenario and of their mean; `None` if unknown."""
    n_reliability: int
    """Scenarios that the reliability is over, those without an unresolved judgment; 0 if it is
    unknown."""
    why_no_reliability: str  # Why the reliability is unknown; else empty
    length: Length  # Length of the responses
    by_condition: Mapping[str, SubsetScore]
    """By the person's condition; those of `Condition` come first, then others."""
    by_assistance: Mapping[str, SubsetScore]  # By Section GG code
    by_situation: Mapping[str, SubsetScore]  # By what makes the moment hard
    by_actor: Mapping[str, SubsetScore]  # By who helps: person or robot
    by_adl_and_domain: Mapping[Adl, Mapping[Domain, DomainScore]]  # By activity and domain
    scenarios: tuple[ScenarioScore, ...]  # The scenarios, sorted by id

    @property
    def worst_epoch(self) -> Estimate:
        """Return the lowest score of an epoch over all scenarios."""
        return estimate_of(self.numbers, "worst_epoch")

    @property
    def sd_epochs(self) -> Estimate:
        """Return the standard deviation of the epochs' scores, on these scenarios."""
        return estimate_of(self.numbers, "sd_epochs")


def detail_of(entry: Entry) -> Detail:
    """Return the detailed numbers of one entry."""
    graded = entry.graded
    n, reliability, reason = 0, None, ""
    try:
        n, reliability = graded.reliability()
    except StatsError as error:
        reason = str(error)
    return Detail(
        numbers={metric.key: metric.compute(graded) for metric in IN_DETAIL},
        worst_at_k=graded.worst_at_k(),
        severe_of_k=graded.any_error_of_k(scoring.SEVERE),
        reliability=reliability,
        n_reliability=n,
        why_no_reliability=reason,
        length=_length(entry),
        by_condition=_by(entry, lambda about: (about.condition,), Condition),
        by_assistance=_by(entry, lambda about: (about.assistance,), Assistance),
        by_situation=_by(entry, lambda about: about.situation, Situation),
        by_actor=_by(entry, lambda about: (about.actor,), ("person", "robot")),
        by_adl_and_domain=_by_adl_and_domain(entry),
        scenarios=_scenarios(graded),
    )


def _by(
    entry: Entry, names: Callable[[ScenarioTraits], tuple[str | None, ...]], order: Iterable[str]
) -> dict[str, SubsetScore]:
    """Return the scores by the names that `names` gives a scenario.

    The names in `order` come first, in that order; all others follow.
    """
    present = {name for each in entry.graded.traits for name in names(each) if name is not None}
    places = {str(name): place for place, name in enumerate(order)}
    return {
        name: subset_score(entry, lambda about, name=name: name in names(about))  # type: ignore[misc]
        for name in sorted(present, key=lambda name: (places.get(name, len(places)), name))
    }


def _by_adl_and_domain(entry: Entry) -> dict[Adl, dict[Domain, DomainScore]]:
    present = set(entry.responses["adl"])
    parts = {
        adl: entry.graded.only(lambda traits, adl=adl: traits.adl == adl)  # type: ignore[misc]
        for adl in Adl
        if adl in present
    }
    return {
        adl: {domain: domain_score(domain, part) for domain in Domain}
        for adl, part in parts.items()
    }


def _scenarios(graded: GradedRubric) -> tuple[ScenarioScore, ...]:
    severe = scoring.error_counts(graded.points, graded.present, scoring.SEVERE).low > 0
    rows = []
    for row in np.flatnonzero(graded.maxima > 0).tolist():
        judged, scores = graded.is_judged[row], graded.scores.map(lambda part, row=row: part[row])  # type: ignore[misc]
        value = scores.value
        score, low, high = (_mean_or_none(part[judged]) for part in (value, *scores.ends))
        rows.append(
            ScenarioScore(
                scenario=graded.scenarios[row],
                about=graded.traits[row],
                score=score,
                low=low,
                high=high,
                worst=None if np.isnan(value).any() else float(value.min()),
                epochs=tuple(None if np.isnan(x) else float(x) for x in value),
                n_severe=int(severe[row].sum()),
            )
        )
    return tuple(rows)


def _mean_or_none(scores: FloatArray) -> float | None:
    return None if not scores.size or np.isnan(scores).any() else float(scores.mean())


def _length(entry: Entry) -> Length:
    answered = entry.responses.filter(
        pl.col("state").is_in(GRADED_STATES), pl.col("text") != WITHHELD
    )
    n_words = answered["text"].str.count_matches(r"\S+").cast(pl.Float64)
    words = answered.select("scenario", "epoch").with_columns(words=n_words)
    by_scenario = words.group_by("scenario", maintain_order=True).agg(pl.col("words").mean())
    return Length(_mean(by_scenario["words"].to_numpy()), _slope(entry.graded, words))


def _mean(values: FloatArray) -> Estimate:
    if not values.size:
        return Estimate.unknown("there is no answer whose words may be counted")
    return ratio(Bounded.exact(values), np.ones(len(values)))


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


@dataclass(frozen=True, eq=False)
class EntryNumbers:
    """The numbers of one entry."""

    summary: Summary  # The main numbers
    detail: Detail | None = None  # The detailed numbers; `None` if not requested
    corrected: CorrectedScore | None = None
    """The score corrected by people; `None` if the grader was not audited."""


class Breakdown(StrEnum):
    """The attributes by which a table can break down the scenarios."""

    adl = "adl"
    domain = "domain"
    condition = "condition"
    assistance = "assistance"
    situation = "situation"
    actor = "actor"

    @property
    def head(self) -> str:
        """Return the header text of the attribute's column."""
        return "activity" if self is Breakdown.adl else self.value

    @property
    def in_detail(self) -> bool:
        """Tell whether an entry has its results by this attribute in `detail`, not in `summary`."""
        return self not in OVERVIEW


OVERVIEW = (Breakdown.adl, Breakdown.domain)
"""The breakdowns shown by default."""


def scores_by(by: Breakdown, entry: EntryNumbers) -> Mapping[Any, SubsetScore | DomainScore]:
    """Return an entry's numbers by one attribute of the scenarios.

    Raises:
        ValueError: These numbers are in the detail, which was not computed for the entry.
    """
    numbers = entry.detail if by.in_detail else entry.summary
    if numbers is None:
        raise ValueError(f"there are no results by {by}: the entry has no `detail`")
    cells: Mapping[Any, SubsetScore | DomainScore] = getattr(numbers, f"by_{by}")
    return cells


class CareNumber(NamedTuple):
    """One number on care directions or twins, with its names and meaning."""

    key: str  # Name in files
    head: str  # Column header in tables
    meaning: str  # What the share is a share of
    n: int  # Number of responses, pairs or controls that the share is computed over
    share: Estimate  # The number


def care_numbers(s: Summary) -> Iterator[CareNumber]:
    """Yield the numbers on care directions and twins that an entry has, in display order."""
    if s.care is not None:
        for key, head, meaning in (
            ("too_little", "Too little care", "responses with an act of too little care"),
            ("too_much", "Too much care", "responses with an act of too much care"),
            ("unspecific", "Unspecific", "responses without technique where technique is scored"),
            ("core", "Easy core", "points that are earned of those of the easy core"),
            ("other", "Other good acts", "points that are earned of those of other good acts"),
        ):
            rate = getattr(s.care, key)
            yield CareNumber(key, head, meaning, rate.n, rate.share)
    if s.lenient is not None:
        yield CareNumber("lenient", "Lenient score", "points if a rung that lacks one act counted",
                         s.n_responses - s.n_missing - s.n_ungraded, s.lenient)  # fmt: skip
    if s.twins is not None:
        n, n_controls = sum(pair.n > 0 for pair in s.twins.pairs), len(s.twins.controls)
        n_twice = sum(each.same_text is not None for each in s.twins.controls)
        pairs = "pairs of a base and its twin whose answers"
        controls = "pairs of answers that differ in an act of ±2"
        yield CareNumber("adapted", "Adapted", f"{pairs} each have their own right act alone", n,
                         s.twins.adapted)  # fmt: skip
        stuck = f"{pairs} both do the base's right act alone, or both the twin's"
        yield CareNumber("stuck", "Stuck", stuck, n, s.twins.stuck)
        yield CareNumber("neither", "Neither", f"{pairs} do neither", n, s.twins.neither)
        changed = f"{controls}, to a base and its control"
        yield CareNumber("changed", "Changed by a control", changed, n_controls, s.twins.changed)
        yield CareNumber("same_text", "Changed by chance", f"{controls}, to one text", n_twice,
                         s.twins.same_text)  # fmt: skip


def grader_twin_errors(s: Summary, probes: ProbeAgreement | None) -> Iterator[CareNumber]:
    """Yield the grader's errors on the probes of twins, if the entry has twins."""
    slips = probes.pairs if probes and s.twins else None
    if slips is None:
        return
    probes_of_pair = "probes of twins that hold one right act of the pair, of which the grader"
    mistaken = f"{probes_of_pair} misjudges either act"
    yield CareNumber("mistaken", "Mistaken by the grader", mistaken, slips.n, slips.mistaken)
    swapped = f"{probes_of_pair} finds the other act instead"
    yield CareNumber("swapped", "Swapped by the grader", swapped, slips.n, slips.swapped)
