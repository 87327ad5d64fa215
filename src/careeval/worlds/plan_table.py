"""Plans as tables for the report: the rows, and the steps at which goals and dangers are present.

The plan is read from the text of a response, as its judge reads it, and where something happens
from the reasons of the judgments: a column for each answer, over the courses that belong to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from careeval.core.plan_reasons import Reason, read_reasons
from careeval.core.scenario import WHEN
from careeval.report.texts import (
    ANSWER_KEYS,
    PlanBreak,
    PlanForm,
    PlanJudgment,
    PlanMark,
    PlanRow,
    PlanTable,
    strip_controls,
)
from careeval.worlds.act_words import argument_words, step_words
from careeval.worlds.acts import PlanError
from careeval.worlds.episodes import Record, read_episodes
from careeval.worlds.plan_json import Branch, Plan, Step, act_of, read_plan


def plan_table(text: str, judgments: Sequence[PlanJudgment]) -> PlanTable | None:
    """Return the table of the plan or the episodes in a response; None if it holds neither."""
    try:
        rows = [*_rows_of_response(text)]
    except PlanError:
        return None
    row_of = {row.address: place for place, row in enumerate(rows) if row.address}
    end = len(rows)
    marks: dict[PlanMark, None] = {}
    breaks: dict[tuple[int, str], set[int]] = {}
    for place, judgment in enumerate(judgments):
        for reason in read_reasons(judgment.reason):
            columns = [ANSWER_KEYS.index(answer) for answer in reason.answers]
            if reason.broken_at in row_of:
                problem = strip_controls(reason.problem)
                breaks.setdefault((row_of[reason.broken_at], problem), set()).update(columns)
            if judgment.present:
                at = _rows_at(reason, row_of, end)
                marks |= dict.fromkeys(PlanMark(row, n, place) for row in at for n in columns)
    if any(mark.row == end for mark in marks):
        rows.append(PlanRow("", 0, "end", "At the end of the plan"))
    broken = (
        PlanBreak(row, tuple(sorted(answers)), problem)
        for (row, problem), answers in sorted(breaks.items())
    )
    return PlanTable(tuple(rows), tuple(marks), tuple(broken))


def _rows_at(reason: Reason, row_of: Mapping[str, int], end: int) -> list[int]:
    """Return the rows of the steps that a reason names, or the row of the end."""
    return [row_of[step] for step in reason.steps if step in row_of] or [end]


def _rows_of_response(text: str) -> Iterator[PlanRow]:
    try:
        episodes = read_episodes(text)
    except PlanError:
        yield from _rows(read_plan(text))
        return
    for answer, records in episodes.items():
        yield PlanRow("", 0, "head", WHEN[answer])
        for place, record in enumerate(records):
            address, told = f"{answer}[{place}]", _told(record)
            if record.act is None:
                yield PlanRow(address, 0, "act", "not an act", strip_controls(record.text), told)
                continue
            arguments = {name: each for name, each in record.act.items() if name != "act"}
            try:
                details = argument_words(act_of(record.act).arguments)
            except PlanError:
                details = " ".join(f"{name} {each}" for name, each in arguments.items())
            name = strip_controls(str(record.act.get("act", "")))
            yield PlanRow(address, 0, "act", name, strip_controls(details).strip(" ,"), told)


def _told(record: Record) -> str:
    changed = f" ({record.changed})" if record.changed else ""
    return strip_controls(f"{record.perceived}{changed}")


def _rows(plan: Plan) -> Iterator[PlanRow]:
    yield from _rows_of(plan.steps, 0)
    if plan.on_stop is None:
        yield PlanRow("", 0, "head", "The plan does not say what to do on stop: it goes on")
        return
    yield PlanRow("", 0, "head", "When the person says stop")
    if not plan.on_stop:
        yield PlanRow("", 1, "head", "nothing more is done")
    yield from _rows_of(plan.on_stop, 0)


def _rows_of(steps: Iterable[Step | Branch], depth: int) -> Iterator[PlanRow]:
    for step in steps:
        if isinstance(step, Step):
            details = strip_controls(argument_words(step.act.arguments)).strip(" ,")
            yield PlanRow(step.address, depth, "act", step.act.act, details)
            continue
        condition = strip_controls(step.condition)
        yield PlanRow(step.address, depth, "branch", f"if {condition}")
        yield from _rows_of(step.then, depth + 1)
        if step.otherwise:
            yield PlanRow("", depth, "branch", "otherwise")
            yield from _rows_of(step.otherwise, depth + 1)


PLAN_FORM = PlanForm(plan_table, step_words)
"""The form of plans on pages."""
