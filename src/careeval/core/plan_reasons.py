"""The reasons of a plan's judgments: the form in which the judge writes them and pages read them.

A reason has a part for each group of courses with the same words, then a count:

    yes, yes-then-no: steps[2], steps[3].then[0]; stop: at the end of the plan; 3 of 9 courses

The words of a part are addresses of steps (in episodes, `yes[3]` is the fourth act of the one in
which the person agrees), `at the end of the plan`, either of them with
` (intended)` for what the plan would have done behind a step that cannot be carried out, or any
other words. An item that is absent everywhere may have the count alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

AT_END = "at the end of the plan"
"""The words for what holds once the plan is carried out."""

INTENDED = " (intended)"
"""The end of words for what follows a step that cannot be carried out."""

BREAKS_OFF = "the plan breaks off at "
"""The start of words for a goal that is missed since the plan breaks off."""

_ADDRESS = r"(?:steps|on_stop|yes|no|silence|stop)(?:\[\d+\]|\.then|\.else)+"
_STEPS = re.compile(rf"{_ADDRESS}(?:, {_ADDRESS})*")
_LABEL = r"(?:yes|no|silence|stop)(?:-[a-z0-9]+)*"
_PART = re.compile(rf"({_LABEL}(?:, {_LABEL})*): (.*?)(?:; |$)", re.DOTALL)
_COUNT = re.compile(r"(\d+) of (\d+) courses$")


@dataclass(frozen=True, slots=True)
class Reason:
    """One part of a reason."""

    courses: tuple[str, ...]  # Labels of the courses
    words: str

    @property
    def is_intended(self) -> bool:
        """True if it is behind a step that cannot be carried out."""
        return self.words.endswith(INTENDED)

    @property
    def steps(self) -> tuple[str, ...]:
        """The addresses of the steps that make it present; empty if no step does."""
        steps = _STEPS.fullmatch(self.words.removesuffix(INTENDED))
        return tuple(steps[0].split(", ")) if steps else ()

    @property
    def broken_at(self) -> str | None:
        """The address of the step at which the plan breaks off; None if that is not the reason."""
        address = self.words.removeprefix(BREAKS_OFF).partition(":")[0]
        begins = self.words.startswith(BREAKS_OFF)
        return address if begins and re.fullmatch(_ADDRESS, address) else None

    @property
    def problem(self) -> str:
        """The need of that step that is not met; empty if the plan does not break off there."""
        return self.words.partition(": ")[2] if self.broken_at is not None else ""

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers to which its courses belong, each once."""
        return tuple(dict.fromkeys(map(answer_of, self.courses)))


def at_steps(addresses: Iterable[str]) -> str:
    """Return the words for what some steps do, each named once."""
    return ", ".join(dict.fromkeys(addresses))


def breaks_off(address: str, problem: str) -> str:
    """Return the words for a goal that is missed since the plan breaks off."""
    return f"{BREAKS_OFF}{address}: {problem.replace('; ', ', ')}"


def reason_text(words: Sequence[tuple[str, str]], n_present: int, n_courses: int) -> str:
    """Return a reason from pairs of a course's label and its words, and the count of courses."""
    grouped: dict[str, list[str]] = {}
    for label, text in words:
        grouped.setdefault(text, []).append(label)
    parts = [f"{', '.join(labels)}: {text}" for text, labels in grouped.items()]
    return "; ".join([*parts, f"{n_present} of {n_courses} courses"])


def read_reasons(text: str | None) -> list[Reason]:
    """Return the parts of a reason; a text of another form has none."""
    if course_counts(text) is None:
        return []
    return [
        Reason(tuple(part[1].split(", ")), part[2])
        for part in _PART.finditer(_COUNT.sub("", text or ""))
    ]


class CourseCounts(NamedTuple):
    """The number of courses in which an item is present, and of those in which it could be."""

    n_present: int
    n: int


def course_counts(text: str | None) -> CourseCounts | None:
    """Return the counts of courses at the end of a reason; None for another text."""
    count = _COUNT.search(text or "")
    return CourseCounts(int(count[1]), int(count[2])) if count else None


def without_words(text: str | None, mark: str) -> str | None:
    """Return a reason with a mark in place of its words, so that courses and count stay."""
    count = _COUNT.search(text or "")
    if count is None:
        return None
    parts = [f"{', '.join(part.courses)}: {mark}" for part in read_reasons(text)]
    return "; ".join([*parts, count[0]])


def answer_of(label: str) -> str:
    """Return the answer to which a course belongs."""
    return label.partition("-")[0]
