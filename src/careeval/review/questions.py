"""What is asked about a scenario. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from careeval.core.rating import HIGHEST, LOWEST, Scale
from careeval.core.scenario import Rubric, RubricItem, Scenario
from careeval.review import own_answers
from careeval.review.asking import WORDS_A_MINUTE, read_words
from careeval.review.study import StudyPlan

AGREE, UNSURE = "agree", "unsure"

_MINUTES_A_SCALE = 0.25
_MINUTES_A_VIEW = 0.2


@dataclass(frozen=True, slots=True)
class ItemRef:
    """An item, and the rubric that it stands in."""

    rubric: Rubric
    item: RubricItem


@dataclass(frozen=True, slots=True)
class Question:
    """One thing asked about a scenario or an item of it.

    Attributes:
        field: What the store calls the answer.
        kind: A number on a scale, a view of points, or words.
        about: The item; None where the scenario itself is meant.
    """

    field: str
    kind: Scale | Literal["points", "comment"]
    about: ItemRef | None = None

    @property
    def required(self) -> bool:
        """Whether a scenario is done only with an answer to it."""
        return self.kind != "comment"

    def read(self, text: str) -> str | None:
        """What is typed or chosen as the store keeps it; None where it is nothing.

        Raises:
            ValueError: It is no answer to this question; the message says so to the rater.
        """
        if self.kind == "comment":
            return read_words(text, "comment")
        text = text.strip()
        if text and text not in self.choices:
            raise ValueError("This is not one of the answers to choose from.")
        return text or None

    @property
    def choices(self) -> tuple[str, ...]:
        """What may be chosen, in the order shown; empty where words are asked for."""
        if self.about is None or self.kind != "points":
            whole = range(LOWEST, HIGHEST + 1)
            return () if self.kind == "comment" else tuple(str(n) for n in whole)
        other = (str(p) for p in (2, 1, 0, -1, -2) if p != self.about.item.points)
        return (AGREE, *other, UNSURE)


def questions(plan: StudyPlan, scenario: Scenario, rater: str) -> tuple[Question, ...]:
    """All that a rater is asked about a scenario, in the order shown.

    A rubric's items are shuffled for each rater, so that none of them is always read last.
    """
    found = [Question(scale, scale) for scale in (Scale.realism, Scale.validity)]
    found.append(Question("comment", "comment"))
    for rubric in plan.rubrics:
        items = list(scenario.rubric(rubric))
        Random(f"{plan.seed}/{rater}/{scenario.id}/{rubric}").shuffle(items)
        for item in items:
            about, stem = ItemRef(rubric, item), f"{rubric}/{item.id}"
            if plan.relevance:
                found.append(Question(f"{stem}/relevance", Scale.relevance, about))
            if plan.points:
                found.append(Question(f"{stem}/points", "points", about))
            found.append(Question(f"{stem}/comment", "comment", about))
    return tuple(found)


def n_words(plan: StudyPlan, scenario: Scenario) -> int:
    """Return how many words a rater reads: of the scenario, and of the items asked about."""
    items = (item.text for rubric in plan.rubrics for item in scenario.rubric(rubric))
    return sum(len(text.split()) for text in (scenario.text, *items))


def minutes(plan: StudyPlan, scenario: Scenario, rater: str) -> float:
    """How long a careful rater may need for a scenario: a guess from its words and questions.

    An answer of the rater's own to it is counted, and that it is read twice then.
    """
    asked = questions(plan, scenario, rater)
    seat = plan.seat(rater)
    answers = seat is not None and scenario.id in seat.answers
    read = n_words(plan, scenario) + (len(scenario.text.split()) if answers else 0)
    scales = sum(isinstance(q.kind, Scale) for q in asked)
    views = sum(q.kind == "points" for q in asked)
    asking = scales * _MINUTES_A_SCALE + views * _MINUTES_A_VIEW
    return read / WORDS_A_MINUTE + asking + (own_answers.MINUTES if answers else 0)
