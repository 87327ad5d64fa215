"""What is asked about a scenario, and how far somebody is with it. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Literal

from careeval.core.rating import HIGHEST, LOWEST, Scale
from careeval.core.scenario import Rubric, RubricItem, Scenario
from careeval.review.store import Answer
from careeval.review.study import StudyPlan

COMMENT_LIMIT = 10_000
"""Characters of one comment."""

AGREE, UNSURE, SKIPPED = "agree", "unsure", "skipped"

_WORDS_A_MINUTE = 180
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
        text = text.strip()
        if not text:
            return None
        if self.kind == "comment":
            if len(text) > COMMENT_LIMIT:
                raise ValueError(
                    f"This comment has {len(text):,} characters; at most {COMMENT_LIMIT:,} can be "
                    "kept. Please shorten it: it is not saved yet."
                )
        elif text not in self.choices:
            raise ValueError("This is not one of the answers to choose from.")
        return text

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


def minutes(plan: StudyPlan, scenario: Scenario, rater: str) -> float:
    """How long a careful rater may need for a scenario: a guess from its words and questions."""
    asked = questions(plan, scenario, rater)
    read = len(scenario.text.split())
    items = {q.about.item.id: q.about.item.text for q in asked if q.about}
    read += sum(len(text.split()) for text in items.values())
    scales = sum(isinstance(q.kind, Scale) for q in asked)
    views = sum(q.kind == "points" for q in asked)
    return read / _WORDS_A_MINUTE + scales * _MINUTES_A_SCALE + views * _MINUTES_A_VIEW


# How far somebody is


class Progress(StrEnum):
    """How far a rater is with one scenario."""

    done = "done"
    skipped = "skipped"
    started = "started"
    untouched = "not started"


def missing(asked: Sequence[Question], answers: Mapping[str, Answer]) -> tuple[Question, ...]:
    """The questions that still want an answer, in order."""
    return tuple(q for q in asked if q.required and q.field not in answers)


def progress(asked: Sequence[Question], answers: Mapping[str, Answer]) -> Progress:
    """How far the answers to a scenario's questions are; one that is done is not skipped."""
    if not missing(asked, answers):
        return Progress.done
    if SKIPPED in answers:
        return Progress.skipped
    return Progress.started if answers else Progress.untouched
