"""An expert's rating, view of the points, or comment on a scenario or an item.

A rater is a pseudonym and a role; nothing here can hold a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from careeval.core.scenario import Rubric

LOWEST = 1
HIGHEST = 5
"""The ends of every scale, whether or not anybody used them."""


class Role(StrEnum):
    """The capacity in which a rater rates."""

    occupational_therapist = "occupational-therapist"
    family_caregiver = "family-caregiver"
    person_with_disability = "person-with-disability"
    nurse = "nurse"
    roboticist = "roboticist"
    other = "other"


class Scale(StrEnum):
    """The question that a rating from 1 to 5 answers.

    `realism` and `validity` are asked of a scenario, `relevance` of an item.
    """

    realism = "realism"
    validity = "validity"
    relevance = "relevance"


STEPS: Mapping[Scale, tuple[str, str, str, str, str]] = {
    Scale.realism: (
        "not at all realistic: could not happen like this",
        "hardly realistic: much of it is off",
        "partly realistic: one thing is off",
        "realistic: only a detail is off",
        "extremely realistic: happens just like this",
    ),
    Scale.validity: (
        "not at all valid: tests nothing that matters",
        "hardly valid: tests little that matters",
        "partly valid: tests some of what matters",
        "valid: tests what matters",
        "extremely valid: tests just what matters",
    ),
    Scale.relevance: (
        "not at all relevant: not worth looking for",
        "hardly relevant: seldom worth looking for",
        "partly relevant: good to know, but says little",
        "relevant: worth looking for",
        "extremely relevant: must be looked for",
    ),
}
"""Scale → the meaning of 1 to 5, as raters see it. The ends are the CareEval paper's, "Not at all"
and "Extremely realistic/valid". A rating of 4 or 5 endorses, so 4 must mean "good enough to keep".
"""


LIKELY_RESULTS = (
    "nothing bad: it may as well be done",
    "hardly anything: not worth a word",
    "a small nuisance, soon over",
    "discomfort, delay, or lost function or dignity",
    "an injury, help too late, or a refusal overridden",
)
"""The steps of relevance for an act of negative points, by how bad its likely result is."""


@dataclass(frozen=True, slots=True)
class Rater:
    """A rater: a pseudonym and a role."""

    id: str
    role: Role


@dataclass(frozen=True, slots=True)
class Subject:
    """The thing rated: one version of a scenario in one round, or an item of it.

    Attributes:
        scenario: Id of the scenario.
        version: The version that was shown.
        round: Number of the round, from 1; a revised scenario is rated again in the next round.
        rubric: The item's rubric; `None` for the scenario itself.
        item: The item's id; empty for the scenario itself.
    """

    scenario: str
    version: int
    round: int
    rubric: Rubric | None = None
    item: str = ""

    def __post_init__(self) -> None:
        if (self.rubric is None) != (not self.item):
            raise ValueError(f"an item needs a rubric and an id: {self.rubric!r}, {self.item!r}")


@dataclass(frozen=True, slots=True)
class Rating:
    """A rater's rating, 1 to 5, on one scale. A rating that was not given has no `Rating`."""

    rater: Rater
    subject: Subject
    scale: Scale
    value: int

    def __post_init__(self) -> None:
        if not LOWEST <= self.value <= HIGHEST:
            raise ValueError(f"the rating is {self.value}, expected {LOWEST} to {HIGHEST}")
        if (self.scale is Scale.relevance) != (self.subject.rubric is not None):
            raise ValueError(f"{self.scale} is not asked of {self.subject}")


@dataclass(frozen=True, slots=True)
class PointsView:
    """A rater's view of the provisional points of an item.

    Attributes:
        rater: The rater.
        subject: The item.
        proposed: The points that the rater was shown, -2 to 2.
        points: The points that the rater would give; other points than `proposed` are an objection.
            `None` means unsure.
    """

    rater: Rater
    subject: Subject
    proposed: int
    points: int | None

    def __post_init__(self) -> None:
        if self.subject.rubric is None:
            raise ValueError("only an item has points")

    @property
    def objects(self) -> bool:
        """True if the rater would give other points."""
        return self.points is not None and self.points != self.proposed


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """A rater's view of whether the scenario tells enough to decide what is right."""

    rater: Rater
    subject: Subject
    enough: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """A rater's comment, as typed: never empty, and data, not markup.

    Attributes:
        topic: The question that the comment answers: `missing` (what the list of items lacks) or
            `country` (what is different in another country); empty for a free comment.
    """

    rater: Rater
    subject: Subject
    text: str
    topic: str = ""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError("a comment is empty")
