"""A plan as the rows of a table, with the steps at which goals and dangers are present.

The slice of worlds makes the table (`careeval.worlds.plan_table`): it reads the plan from a
response, and where something happens from the reasons of the judgments. A page draws the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from careeval.core.registry import Registry
from careeval.core.scenario import WHEN, Answer, Rubric
from careeval.results.entries import Harm

ANSWER_KEYS: tuple[Answer, ...] = tuple(WHEN)
"""The answers in the order of the columns."""


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One row of a plan's table."""

    number: int
    """Number of the step; 0 for a row that is no step."""
    depth: int
    """The branches that it is inside of."""
    kind: Literal["act", "branch", "head", "end"]
    """An act, a branch, a head of the steps below it, or the end of the plan."""
    name: str
    """The act, or the words of the branch or head."""
    details: str = ""
    """The arguments of the act in short words; else empty."""


class PlanMark(NamedTuple):
    """A goal or danger that is present at a step under an answer; all are positions in lists."""

    row: int
    answer: int
    """The answer, in `ANSWER_KEYS`."""
    item: int
    """The item, in the judgments."""


class PlanBreak(NamedTuple):
    """A step at which the plan breaks off, and what the step lacks."""

    row: int
    """Position of its row."""
    answers: tuple[int, ...]
    """Positions of the answers under which it breaks off there, in `ANSWER_KEYS`."""
    problem: str
    """The need of the step that is not met."""


class PlanJudgment(NamedTuple):
    """The judgment of a goal or danger under one answer."""

    item: str
    """Its id with the answer, `ID@ANSWER`."""
    present: bool | None
    quote: str | None
    reason: str | None


@dataclass(frozen=True)
class PlanTable:
    """A plan as a table."""

    rows: tuple[PlanRow, ...]
    marks: tuple[PlanMark, ...]
    """Goals and dangers that are present, at their steps."""
    breaks: tuple[PlanBreak, ...]
    """Steps at which it breaks off."""


@dataclass(frozen=True, slots=True)
class PlanForm:
    """Functions that make a plan readable."""

    table: Callable[[str, Sequence[PlanJudgment]], PlanTable | None]
    """Returns the table of the plan in a response; None if the response holds no plan."""
    step_words: Callable[[str], str]
    """Returns a quoted step in short words; any other text as it is."""


FORMS: Registry[PlanForm] = Registry({Rubric.plan.value: "careeval.worlds.plan_table:PLAN_FORM"})
"""Rubric → form of its responses, for those that are no words."""


def plan_table(text: str, judgments: Sequence[PlanJudgment]) -> PlanTable | None:
    """Return the table of the plan in a response; None if the response holds no plan."""
    return FORMS[Rubric.plan.value].table(text, judgments)


def quoted_words(harm: Harm) -> str:
    """Return the quote of an error; the step of a plan in short words. Empty without a quote."""
    quote = harm.quote or ""
    return FORMS[harm.rubric.value].step_words(quote) if harm.rubric.value in FORMS else quote


def answer_of(item: str) -> int | None:
    """Return the position of an item's answer in `ANSWER_KEYS`; None if it has none."""
    answer = item.rpartition("@")[2]
    return next((place for place, key in enumerate(ANSWER_KEYS) if key == answer), None)
