"""A sample of a grader's judgments, for people to make again.

The part that raters see is kept apart from the part that would influence them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from careeval import scoring
from careeval.core.rating import SEVERE_CLEARED, SEVERE_FOUND
from careeval.core.scenario import Rubric

SCHEMA = "careeval.audit-sample/1"

MIN_SCENARIOS, MIN_SYSTEMS = 60, 3
"""Fewest scenarios and systems that a sample should be spread over."""


@dataclass(frozen=True, slots=True)
class ItemToJudge:
    """One judgment to make: is this item in the response?"""

    judgment: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownResponse:
    """The part of one response that a rater sees; the ids reveal nothing."""

    id: str
    scenario: str | None  # Text of the scenario; `None` if raters do not see it
    text: str  # Text of the response, which is a model's and must be escaped
    items: tuple[ItemToJudge, ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """One kind of judgments, of which some were drawn, each with the same chance."""

    rubric: Rubric  # Rubric of the item
    points: int  # Points of the item
    present: bool  # The grader's verdict
    system: str  # The system
    n: int  # Judgments drawn
    of: int  # Judgments in the stratum

    @property
    def chance(self) -> float:
        """Return the chance of each judgment to be drawn, above 0 and at most 1."""
        return self.n / self.of

    @property
    def kind(self) -> tuple[Rubric, int, bool]:
        """Return the stratum's rubric, points and verdict, without the system."""
        return self.rubric, self.points, self.present


@dataclass(frozen=True, slots=True)
class DrawnJudgment:
    """One judgment that was drawn."""

    judgment: str  # Id of the judgment that raters see
    response: str  # Id of the response that raters see
    stratum: int  # Index of its stratum in the sample
    scenario: str
    epoch: int
    item: str
    whole: bool  # True if every item of this rubric was judged and resolved in its response


@dataclass(frozen=True, slots=True)
class GradedTotals:
    """The grader's totals over one system's responses to one scenario, those judged completely."""

    system: str
    scenario: str
    rubric: Rubric
    n_items: int  # Items of the rubric
    n_responses: int  # Responses judged completely, including those without words
    n_wordless: int  # Responses without words: 0 points, and nothing for people to read
    maximum: int  # Maximum points of one response
    points: int  # Points of all responses together


@dataclass(frozen=True)
class Hidden:
    """The part of a sample that the analysis needs and raters must not see."""

    bank: str
    bank_version: str
    bank_hashes: tuple[str, ...]
    """The different `bank_hash`es of the runs: one hash for all base scenarios that a run
    selected."""
    protocol: str
    grader: str
    seed: int
    strata: tuple[Stratum, ...]  # The strata
    drawn: tuple[DrawnJudgment, ...]  # The judgments, in the order in which raters see them
    graded: tuple[GradedTotals, ...]  # The grader's totals by scenario, for the corrected scores
    left_out: Mapping[str, int]  # Reason why judgments could not be drawn → how many


@dataclass(frozen=True)
class AuditSample:
    """Judgments for people to make again."""

    shown: tuple[ShownResponse, ...]  # The part that raters see, in random order
    hidden: Hidden  # The part that raters do not see

    @property
    def grader(self) -> str:
        """Return the grader's name, with its mode and the hash of its prompt."""
        return self.hidden.grader

    def shortfalls(self) -> Iterator[str]:
        """Yield, as text, each way in which the sample is smaller than it should be."""
        drawn, strata = self.hidden.drawn, self.hidden.strata
        n_scenarios = len({each.scenario for each in drawn})
        n_systems = len({strata[each.stratum].system for each in drawn})
        if n_scenarios < MIN_SCENARIOS:
            yield f"it is of {n_scenarios} scenarios; {MIN_SCENARIOS} or more say more"
        if n_systems < MIN_SYSTEMS:
            what = "1 system" if n_systems == 1 else f"{n_systems} systems"
            yield f"it is of {what}; a grader may treat others otherwise"
        for present, wanted in ((True, SEVERE_FOUND), (False, SEVERE_CLEARED)):
            chosen = [s for s in strata if s.points == scoring.SEVERE and s.present is present]
            n, n_all = sum(s.n for s in chosen), sum(s.of for s in chosen)
            if n < min(wanted, n_all):
                what = "found" if present else "called absent"
                yield f"{n} of {n_all:,} −2 items that the grader {what} are in it, not {wanted}"
