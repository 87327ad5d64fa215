"""What all questions have in common, and how far somebody is with them. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import ceil
from typing import Protocol, TypeVar

from careeval.review.store import Answer

COMMENT_LIMIT = 10_000
"""Characters of one comment."""

SKIPPED = "skipped"
"""The field that says that somebody leaves a page for later."""

WORDS_A_MINUTE = 180
"""How fast a careful reader reads: a guess, by which expected times are made."""


class Asked(Protocol):
    """One question of a page."""

    @property
    def field(self) -> str:
        """What the store calls the answer."""

    @property
    def required(self) -> bool:
        """Whether the page is done only with an answer to it."""

    def read(self, text: str) -> str | None:
        """What is typed or chosen as the store keeps it; None where it is nothing.

        Raises:
            ValueError: It is no answer to this question; the message says so to the rater.
        """


Q = TypeVar("Q", bound=Asked)


def read_words(text: str, what: str) -> str | None:
    """Free text as the store keeps it; None where it is nothing.

    Args:
        text: As it was typed.
        what: What the page calls it.

    Raises:
        ValueError: It is longer than `COMMENT_LIMIT`.
    """
    text = text.strip()
    if len(text) > COMMENT_LIMIT:
        raise ValueError(
            f"This {what} has {len(text):,} characters; at most {COMMENT_LIMIT:,} can be "
            "kept. Please shorten it: it is not saved yet."
        )
    return text or None


class Progress(StrEnum):
    """How far somebody is with one page."""

    done = "done"
    skipped = "skipped"
    started = "started"
    untouched = "not started"


def missing(asked: Sequence[Q], answers: Mapping[str, Answer]) -> tuple[Q, ...]:
    """The questions that still want an answer, in order."""
    return tuple(q for q in asked if q.required and q.field not in answers)


def progress(asked: Sequence[Asked], answers: Mapping[str, Answer]) -> Progress:
    """How far the answers to a page's questions are; one that is done is not skipped."""
    if not missing(asked, answers):
        return Progress.done
    if SKIPPED in answers:
        return Progress.skipped
    return Progress.started if answers else Progress.untouched


def first_open(states: Sequence[Progress]) -> int | None:
    """The place, from 1, of the first that is not done, skipped ones last; None where all are."""
    for wanted in (Progress.started, Progress.untouched), (Progress.skipped,):
        for n, state in enumerate(states, 1):
            if state in wanted:
                return n
    return None


def about(minutes: float) -> str:
    """An expected time in words, no finer than it is known, and rounded up."""
    if minutes <= 55:
        return f"about {max(5, 5 * ceil(minutes / 5))} minutes"
    hours = ceil(minutes / 30) / 2
    return f"about {hours:g} hours" if hours != 1 else "about an hour"
