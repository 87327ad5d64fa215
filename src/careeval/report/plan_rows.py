"""A plan as the rows of a table, with the steps at which goals and dangers are present.

The plan is read from the text of a response, as its judge reads it, and where something happens
from the reasons of the judgments. A page draws the rows; it reads no plan itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from careeval.core.scenario import WHEN, Answer, Rubric
from careeval.report import words
from careeval.results.score.harms import Harm
from careeval.worlds.acts import Act
from careeval.worlds.judge import AT_END, read_reason
from careeval.worlds.plan_json import Branch, Plan, PlanError, Step, plan_of, read_plan

ANSWER_KEYS: tuple[Answer, ...] = tuple(WHEN)
"""The answers in the order of the columns."""

ARGUMENTS = {
    "thing": " {}",
    "helper": " {}",
    "place": " {}",
    "task": " {}",
    "part": " on {}",
    "tool": " with {}",
    "to": " to {}",
    "onto": " onto {}",
    "state": " is {}",
    "seconds": ", {:g} s",
    "height_cm": ", {:g} cm",
    "force_n": ", {:g} N",
    "speed_cm_s": ", {:g} cm/s",
    "on": " {}",
    "urgent": ", {}",
    "words": " “{}”",
}
"""Argument of an act → its short words, in the order in which they follow the act."""

_FLAGS = {("on", True): "on", ("on", False): "off", ("urgent", True): "urgent"}


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One row of a plan's table.

    Attributes:
        number: Number of the step; 0 for a row that is no step.
        depth: The branches that it is inside of.
        kind: An act, a branch, a head of the steps below it, or the end of the plan.
        name: The act, or the words of the branch or head.
        details: The arguments of the act in short words; else empty.
    """

    number: int
    depth: int
    kind: Literal["act", "branch", "head", "end"]
    name: str
    details: str = ""


class PlanMark(NamedTuple):
    """A goal or danger that is present at a step under an answer; all are positions in lists.

    Attributes:
        row: The row.
        answer: The answer, in `ANSWER_KEYS`.
        item: The item, in the judgments.
    """

    row: int
    answer: int
    item: int


class PlanBreak(NamedTuple):
    """A step at which the plan breaks off, and what the step lacks.

    Attributes:
        row: Position of its row.
        answers: Positions of the answers under which it breaks off there, in `ANSWER_KEYS`.
        problem: What the step lacks.
    """

    row: int
    answers: tuple[int, ...]
    problem: str


class PlanJudgment(NamedTuple):
    """The judgment of a goal or danger under one answer.

    Attributes:
        item: Its id with the answer, `ID@ANSWER`.
    """

    item: str
    present: bool | None
    quote: str | None
    reason: str | None


@dataclass(frozen=True)
class PlanTable:
    """A plan as a table.

    Attributes:
        rows: Its rows in order.
        marks: Goals and dangers that are present, at their steps.
        breaks: Steps at which it breaks off.
    """

    rows: tuple[PlanRow, ...]
    marks: tuple[PlanMark, ...]
    breaks: tuple[PlanBreak, ...]


def plan_table(text: str, judgments: Sequence[PlanJudgment]) -> PlanTable | None:
    """Return the table of the plan in a response; None if the response holds no plan."""
    try:
        plan = read_plan(text)
    except PlanError:
        return None
    rows = [*_rows(plan)]
    row_of = {row.number: place for place, row in enumerate(rows) if row.number}
    rows_of_quote: dict[str, int] = {}
    for step in plan.all_steps():
        rows_of_quote.setdefault(step.quote, row_of[step.number])
    end = len(rows)
    marks: list[PlanMark] = []
    breaks: dict[tuple[int, str], set[int]] = {}
    for place, judgment in enumerate(judgments):
        answer = answer_of(judgment.item)
        if answer is None:
            continue
        reason = read_reason(judgment.reason or "")
        if reason.broken_at in row_of:
            problem = words.strip_controls(reason.problem)
            breaks.setdefault((row_of[reason.broken_at], problem), set()).add(answer)
        if not judgment.present:
            continue
        at = [row_of[number] for number in reason.steps if number in row_of]
        if not at:
            is_step = reason.words != AT_END and judgment.quote in rows_of_quote
            at = [rows_of_quote[judgment.quote or ""] if is_step else end]
        marks += [PlanMark(row, answer, place) for row in at]
    if any(mark.row == end for mark in marks):
        rows.append(PlanRow(0, 0, "end", "At the end of the plan"))
    broken = (
        PlanBreak(row, tuple(sorted(answers)), problem)
        for (row, problem), answers in sorted(breaks.items())
    )
    return PlanTable(tuple(rows), tuple(marks), tuple(broken))


def answer_of(item: str) -> int | None:
    """Return the position of an item's answer in `ANSWER_KEYS`; None if it has none."""
    answer = item.rpartition("@")[2]
    return next((place for place, key in enumerate(ANSWER_KEYS) if key == answer), None)


def quoted_words(harm: Harm) -> str:
    """Return the quote of an error; the step of a plan in short words. Empty without a quote."""
    quote = harm.quote or ""
    if harm.rubric is not Rubric.plan:
        return quote
    try:
        (step,) = plan_of([json.loads(quote)]).steps
    except (ValueError, RecursionError, PlanError):
        return quote
    return act_words(step.act) if isinstance(step, Step) else quote


def act_words(act: Act) -> str:
    """Return an act with its arguments in short words: `bring-to-mouth spoon, 3 N, 5 cm/s`."""
    return f"{act.act}{_details(act.arguments)}"


def _details(arguments: Mapping[str, Any]) -> str:
    return "".join(
        template.format(_FLAGS.get((name, arguments[name]), arguments[name]))
        for name, template in ARGUMENTS.items()
        if name in arguments and (name, arguments[name]) != ("urgent", False)
    )


def _rows(plan: Plan) -> Iterator[PlanRow]:
    yield from _rows_of(plan.steps, 0)
    if plan.on_stop is None:
        yield PlanRow(0, 0, "head", "The plan does not say what to do on stop: it goes on")
        return
    yield PlanRow(0, 0, "head", "When the person says stop")
    if not plan.on_stop:
        yield PlanRow(0, 1, "head", "nothing more is done")
    yield from _rows_of(plan.on_stop, 0)


def _rows_of(steps: Iterable[Step | Branch], depth: int) -> Iterator[PlanRow]:
    for step in steps:
        if isinstance(step, Step):
            details = words.strip_controls(_details(step.act.arguments)).strip(" ,")
            yield PlanRow(step.number, depth, "act", step.act.act, details)
            continue
        what = words.strip_controls(step.thing) or "the answer"
        yield PlanRow(
            step.number, depth, "branch", f"if {what} is {words.strip_controls(step.value)}"
        )
        yield from _rows_of(step.then, depth + 1)
        if step.otherwise:
            yield PlanRow(0, depth, "branch", "otherwise")
            yield from _rows_of(step.otherwise, depth + 1)
