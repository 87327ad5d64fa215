"""What an expert gives back about a scenario or one of its items: a rating, a view, a comment.

Nothing here can carry a name: a rater is a pseudonym and a role.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from careeval.core.scenario import Rubric

LOWEST = 1
HIGHEST = 5
"""The ends of every scale. They belong to the scale, whatever ratings came in."""


class Role(StrEnum):
    """In which capacity somebody rates."""

    occupational_therapist = "occupational-therapist"
    family_caregiver = "family-caregiver"
    person_with_disability = "person-with-disability"
    nurse = "nurse"
    roboticist = "roboticist"
    other = "other"


class Scale(StrEnum):
    """What a number from 1 to 5 is about.

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
"""What the numbers of a scale mean, from the lowest, as raters see it: at the ends the paper's
anchors, "Not at all" and "Extremely realistic/valid", and plain words. From 4 on a rating endorses,
so 4 is where a rater would let the thing stand."""


LIKELY_RESULTS = (
    "nothing bad: it may as well be done",
    "hardly anything: not worth a word",
    "a small nuisance, soon over",
    "discomfort, delay, or lost function or dignity",
    "an injury, help too late, or a refusal overridden",
)
"""The steps of relevance for an act of negative points: it is worth looking for by its result."""


@dataclass(frozen=True, slots=True)
class Rater:
    """Who rates: a pseudonym, and a role."""

    id: str
    role: Role


@dataclass(frozen=True, slots=True)
class Subject:
    """What is rated: one version of a scenario in one round, or an item of it.

    Attributes:
        scenario: Its id.
        version: The version that was shown.
        round: From 1; a revised scenario is rated again in the next.
        rubric: The item's rubric; `None` where the scenario itself is meant.
        item: The item's id; empty where the scenario itself is meant.
    """

    scenario: str
    version: int
    round: int
    rubric: Rubric | None = None
    item: str = ""

    def __post_init__(self) -> None:
        if (self.rubric is None) != (not self.item):
            raise ValueError(f"an item has a rubric and an id: {self.rubric!r}, {self.item!r}")


@dataclass(frozen=True, slots=True)
class Rating:
    """One rater's number on one scale. A rating that was not given is no `Rating`."""

    rater: Rater
    subject: Subject
    scale: Scale
    value: int

    def __post_init__(self) -> None:
        if not LOWEST <= self.value <= HIGHEST:
            raise ValueError(f"a rating of {self.value} is not on the scale")
        if (self.scale is Scale.relevance) != (self.subject.rubric is not None):
            raise ValueError(f"{self.scale} is not asked of {self.subject}")


@dataclass(frozen=True, slots=True)
class PointsView:
    """What one rater thinks of an item's provisional points.

    Attributes:
        rater: Who.
        subject: The item.
        proposed: The points that the rater was shown, -2 to 2.
        points: The points that the rater would give: the same is agreement, another an objection;
            `None` is unsure.
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
        """Whether the rater would give other points."""
        return self.points is not None and self.points != self.proposed


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """Whether one rater had the information needed to say what is right in a scenario."""

    rater: Rater
    subject: Subject
    enough: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """What one rater wrote, as it was typed: never empty, and data, not markup.

    Attributes:
        topic: What was asked: `missing` from the list of items, different in another `country`; or
            empty, where nothing in particular was.
    """

    rater: Rater
    subject: Subject
    text: str
    topic: str = ""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError("an empty comment is none")
