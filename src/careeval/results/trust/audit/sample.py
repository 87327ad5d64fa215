"""A sample of a grader's judgments, for people to make again.

A sample keeps what a rater may see apart from what would sway the rater.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from careeval import scoring
from careeval.core.label import SEVERE_CLEARED, SEVERE_FOUND
from careeval.core.scenario import Rubric

SCHEMA = "careeval.audit-sample/1"

MIN_SCENARIOS, MIN_SYSTEMS = 60, 3
"""A sample that is spread over fewer says less than it seems to."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """One judgment to make: is this in the response?"""

    judgment: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownResponse:
    """All that a rater sees of one response; the ids tell nothing.

    Attributes:
        scenario: Its text; `None` where raters are not shown it.
        text: Of the response: a model's words, to be escaped.
    """

    id: str
    scenario: str | None
    text: str
    items: tuple[ShownItem, ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """Judgments of one kind, of which some were drawn, each with the same chance.

    Attributes:
        rubric: Of the item.
        points: Of the item.
        present: What the grader says.
        system: Whose response.
        n: Drawn.
        of: All that could be.
    """

    rubric: Rubric
    points: int
    present: bool
    system: str
    n: int
    of: int

    @property
    def chance(self) -> float:
        """Of each of them to be drawn, above 0 to 1."""
        return self.n / self.of

    @property
    def kind(self) -> tuple[Rubric, int, bool]:
        """The same of any system."""
        return self.rubric, self.points, self.present


@dataclass(frozen=True, slots=True)
class Drawn:
    """One judgment that was drawn.

    Attributes:
        judgment: As raters see it named.
        response: Likewise.
        stratum: Its place among the sample's strata.
        whole: Whether every item of this rubric was judged in its response.
    """

    judgment: str
    response: str
    stratum: int
    scenario: str
    epoch: int
    item: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Graded:
    """What the grader made of a scenario's responses by one system, those judged whole.

    Attributes:
        n_items: Of the rubric.
        n_responses: Judged whole; those without words among them.
        n_wordless: Without words: 0 points, and nothing for people to read.
        maximum: Of one response, in points.
        points: Of all of them.
    """

    system: str
    scenario: str
    rubric: Rubric
    n_items: int
    n_responses: int
    n_wordless: int
    maximum: int
    points: int


@dataclass(frozen=True)
class Hidden:
    """What the analysis needs and a rater must not see.

    Attributes:
        bank_hashes: Of the scenarios that the runs took.
        strata: What was drawn from.
        drawn: The judgments, in the order of the shown.
        graded: By the same grader, for the score that is corrected.
        left_out: Why judgments were not to be drawn → how many.
    """

    bank: str
    bank_version: str
    bank_hashes: tuple[str, ...]
    protocol: str
    grader: str
    seed: int
    strata: tuple[Stratum, ...]
    drawn: tuple[Drawn, ...]
    graded: tuple[Graded, ...]
    left_out: Mapping[str, int]


@dataclass(frozen=True)
class Sample:
    """Judgments for people to make again.

    Attributes:
        shown: What raters see, in the order in which it was shuffled.
        hidden: The rest.
    """

    shown: tuple[ShownResponse, ...]
    hidden: Hidden

    @property
    def grader(self) -> str:
        """Whose judgments they are: its name, with its mode and the hash of its prompt."""
        return self.hidden.grader

    def thin(self) -> Iterator[str]:
        """In what the sample is thinner than it should be."""
        drawn, strata = self.hidden.drawn, self.hidden.strata
        n_scenarios = len({each.scenario for each in drawn})
        n_systems = len({strata[each.stratum].system for each in drawn})
        if n_scenarios < MIN_SCENARIOS:
            yield f"it is of {n_scenarios} scenarios; {MIN_SCENARIOS} or more say more"
        if n_systems < MIN_SYSTEMS:
            what = "1 system" if n_systems == 1 else f"{n_systems} systems"
            yield f"it is of {what}; a grader may treat others otherwise"
        for present, wanted in ((True, SEVERE_FOUND), (False, SEVERE_CLEARED)):
            of = [s for s in strata if s.points == scoring.SEVERE and s.present is present]
            n, there = sum(s.n for s in of), sum(s.of for s in of)
            if n < min(wanted, there):
                what = "found" if present else "called absent"
                yield f"{n} of {there:,} −2 items that the grader {what} are in it, not {wanted}"
