"""The questions of a card (one page to fill in), and how many of them are answered. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from enum import StrEnum
from math import ceil
from typing import Literal

from careeval.core.rating import Scale
from careeval.core.scenario import Rubric, RubricItem
from careeval.people.store import Answer

COMMENT_LIMIT = 10_000
"""The largest number of characters of a comment."""

SKIPPED = "skipped"
"""The field in which the store keeps that somebody has skipped a card."""

WORDS_A_MINUTE = 180
"""The speed of a careful reader: a guess, from which expected times are computed."""


@dataclass(frozen=True, slots=True)
class ItemRef:
    """A rubric item, and its place among the items on a card."""

    rubric: Rubric
    item: RubricItem
    place: int  # The place of the item on its card, from 1


@dataclass(frozen=True, slots=True)
class Question:
    """One question on a card."""

    field: str  # The name of the answer in the store
    kind: Scale | Literal["points", "reading", "comment", "information", "missing", "country"]
    """The kind of answer: a number on a scale, a view of points, a reading, or free text."""
    text: str  # The question as people read it
    answer_name: str  # The name of the answer in messages
    options: tuple[tuple[str, str], ...] = ()
    """Values and words of the options; empty if the answer is typed."""
    keys: Mapping[str, str] = dataclass_field(default_factory=dict)
    """By option, the key that chooses it while the question has the focus."""
    hint: str = "If you like. Please name nobody."  # A note beside a question whose answer is typed
    required: bool = True  # True if the card is done only with an answer to it
    late: bool = False
    """True if it is shown only once all required questions that are not late are answered."""
    closing: bool = False  # True if it stands at the end of the card, after the items
    about: ItemRef | None = None  # The item that it is about; None if it is about the whole card

    @property
    def name(self) -> str:
        """The name of the answer's field in HTML forms.

        The name has the item's place instead of its id, since an id can tell the item's points.
        """
        return f"{self.about.place}/{self.kind}" if self.about else self.field

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of the options in the order shown; empty if the answer is typed."""
        return tuple(value for value, _ in self.options)

    def read(self, text: str) -> str | None:
        """Return the answer as the store keeps it; None if nothing was typed or chosen.

        Raises:
            ValueError: The text is not a valid answer; the message tells the rater why.
        """
        text = text.strip()
        if not self.options:
            if len(text) > COMMENT_LIMIT:
                name = f"{self.answer_name[:1].upper()}{self.answer_name[1:]}"
                raise ValueError(
                    f"{name} has {len(text):,} characters; at most {COMMENT_LIMIT:,} can be "
                    "kept. Please shorten it: it is not saved yet."
                )
        elif text and text not in self.choices:
            raise ValueError("This is not one of the answers to choose from.")
        return text or None

    def in_words(self, value: str | None) -> str:
        """Return, for a message, the words of the option or the typed text; "nothing" for None."""
        return "nothing" if value is None else f"“{dict(self.options).get(value, value)}”"


class Progress(StrEnum):
    """The progress of a person with one card."""

    done = "done"
    skipped = "skipped"
    started = "started"
    untouched = "not started"


def missing_questions(
    asked: Sequence[Question], answers: Mapping[str, Answer]
) -> tuple[Question, ...]:
    """Return the required questions without an answer, in order."""
    return tuple(q for q in asked if q.required and q.field not in answers)


def shows_late_questions(asked: Sequence[Question], answers: Mapping[str, Answer]) -> bool:
    """Tell whether a card shows its late questions: a late one, or all early ones, are answered.

    Of the early questions, only those that are required must be answered.
    """
    early = [question for question in asked if not question.late]
    late = {question.field for question in asked if question.late}
    return not missing_questions(early, answers) or not late.isdisjoint(answers)


def progress(
    asked: Sequence[Question], answers: Mapping[str, Answer], *, declines: bool = False
) -> Progress:
    """Return the progress with the questions of a card.

    Args:
        asked: The questions of the card.
        answers: Its answers, by field.
        declines: Whether somebody who skips the card declines to answer it: then no answer counts.
    """
    if declines and SKIPPED in answers:
        return Progress.skipped
    if not missing_questions(asked, answers):
        return Progress.done
    if SKIPPED in answers:
        return Progress.skipped
    return Progress.started if answers else Progress.untouched


def first_open(states: Sequence[Progress]) -> int | None:
    """Return the number, from 1, of the next card to do, skipped ones last; None if none is."""
    for wanted in (Progress.started, Progress.untouched), (Progress.skipped,):
        for n, state in enumerate(states, 1):
            if state in wanted:
                return n
    return None


def duration_in_words(minutes: float) -> str:
    """Return a time as text, rounded up to 5 minutes or, above 55, to half hours: about 2 hours."""
    if minutes <= 55:
        return f"about {max(5, 5 * ceil(minutes / 5))} minutes"
    hours = ceil(minutes / 30) / 2
    return f"about {hours:g} hours" if hours != 1 else "about an hour"
