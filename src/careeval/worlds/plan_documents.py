"""The output of `careeval plan`, as text and JSON: the worlds of a bank, and plans carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from careeval.core.scenario import WHEN
from careeval.core.text import counted, plain, signed
from careeval.sheets.document import Document
from careeval.sheets.kinds import COUNT
from careeval.sheets.sheet import Field, Row, Sheet, Shown, View
from careeval.worlds.plan_json import Branch, Step
from careeval.worlds.walkthrough import Course, Finding, Walkthrough
from careeval.worlds.world import World

WORDS_SHOWN = 48
"""The most characters shown of words that are spoken or written."""

LIMITS = ("force_n", "speed_cm_s")
"""Arguments that are shown last."""

STYLES = {True: "green", False: "bold red"}
"""True for a goal, false for a danger → its style, if it is reached or met."""


def world_row(world: World) -> Row:
    """Return a world as `careeval plan worlds --json` prints it."""
    return {
        "id": world.id,
        "adl": world.adl.value,
        "condition": world.condition,
        "body": world.robot.name,
        "words": len(world.text.split()),
        "characters": len(world.text),
        "goals": len(world.goals),
        "dangers": len(world.dangers),
    }


def worlds_document(rows: Sequence[Row]) -> Document:
    """Return the document that lists worlds, from the rows of `world_row`."""
    fields = (
        Field("id", "id of the world"),
        Field("adl", "activity"),
        Field("condition", "what the person lives with"),
        Field("body", "the robot's body"),
        Field("words", "number of words of the text that a system is asked", COUNT),
        Field("characters", "number of characters of that text", COUNT),
        Field("goals", "number of goals", COUNT),
        Field("dangers", "number of dangers", COUNT),
    )
    sheet = Sheet("worlds", "a world", fields, [*rows])
    view = View(sheet, tuple(Shown(field.key) for field in fields))
    return Document((view,), (f"{counted(len(rows), 'world')}.",), sheet)


def walkthrough_json(walkthrough: Walkthrough) -> dict[str, Any]:
    """Return a plan that was carried out as `careeval plan check --json` prints it."""
    return {
        "points": walkthrough.n_points,
        "most_points": walkthrough.most_points,
        "n_dangers": walkthrough.n_dangers,
        "executable": walkthrough.is_executable,
        "answers": [_course_json(course) for course in walkthrough.courses],
    }


def _course_json(course: Course) -> dict[str, Any]:
    trace = course.trace
    broken = trace.broken_at
    return {
        "answer": trace.answer,
        "steps": [
            {
                "number": event.step.number,
                "act": event.step.act.act,
                "arguments": dict(event.args),
                **_findings_json(course.at(event)),
                "says_stop": event.stopped,
                "goes_on": course.goes_on(event),
            }
            for event in trace.events
        ],
        "end": _findings_json(course.at_end),
        "missed": [
            {"goal": each.check.id, "points": each.check.points, "reason": each.verdict.reason}
            for each in course.missed
        ],
        "broken_at": {"step": broken.number, "problem": trace.problem} if broken else None,
    }


def _findings_json(findings: Sequence[Finding]) -> dict[str, list[str]]:
    return {
        "goals": [each.check.id for each in findings if each.is_goal],
        "dangers": [each.check.id for each in findings if not each.is_goal],
    }


def print_walkthrough(out: Console, walkthrough: Walkthrough) -> None:
    """Print each step under each answer, what the judge finds at it, and the sum."""
    for course in walkthrough.courses:
        out.print(Text(f"\n{WHEN[course.trace.answer]}", style="bold"))
        _print_course(out, course)
    out.print()
    out.print(Text(summary(walkthrough)))


def summary(walkthrough: Walkthrough) -> str:
    """Return the sum of a walkthrough in one line."""
    n_dangers = walkthrough.n_dangers
    dangers = counted(n_dangers, "danger") if n_dangers else "no danger"
    executable = "executable" if walkthrough.is_executable else "not executable"
    points = f"{walkthrough.n_points} of {counted(walkthrough.most_points, 'point')}"
    return f"{walkthrough.world.id}: goals {points}, {dangers}, {executable}"


def _print_course(out: Console, course: Course) -> None:
    trace = course.trace
    for event in trace.events:
        goes_on = "goes on with " if course.goes_on(event) else ""
        text = f"{goes_on}{event.step.act.act} {_arguments(event.args)}"
        out.print(_line(event.step.number, text))
        for each in course.at(event):
            out.print(_finding(each))
        if event.stopped:
            out.print(Text("        the person says stop", style="bold"))
    broken = trace.broken_at
    if broken is not None:
        out.print(_line(broken.number, _step(broken), style="bold red"))
        out.print(Text(plain(f"        the plan breaks off: {trace.problem}"), style="bold red"))
    if trace.answer == "stop" and not any(event.stopped for event in trace.events):
        out.print(Text("        the person has no occasion to say stop", style="dim"))
    for each in course.at_end:
        out.print(_finding(each, "at the end: "))
    for each in course.missed:
        text = f"        not reached: {each.check.id} ({signed(each.check.points)})"
        reason = "" if broken is not None else f": {each.verdict.reason}"
        out.print(Text(plain(text + reason), style="dim"))


def _line(number: int, text: str, style: str = "") -> Text:
    return Text(plain(f"  {number:>4}  {text}".rstrip()), style=style)


def _step(step: Step | Branch) -> str:
    """Return a step that is not carried out, with the arguments that the plan gives."""
    if isinstance(step, Step):
        return f"{step.act.act} {_arguments(step.act.arguments)}"
    return f"if {step.condition}"


def _finding(finding: Finding, when: str = "") -> Text:
    check = finding.check
    kind = "goal" if finding.is_goal else "danger"
    text = f"        {when}{kind} {check.id} ({signed(check.points)}): {check.text}"
    return Text(plain(text), style=STYLES[finding.is_goal])


def _arguments(args: Mapping[str, bool | str | float]) -> str:
    names = sorted(args, key=lambda name: name in LIMITS)
    return " ".join(f"{name}={_value(name, args[name])}" for name in names)


def _value(name: str, value: bool | str | float) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if name != "words":
        return str(value)
    words = " ".join(str(value).split())
    return f'"{words}"' if len(words) <= WORDS_SHOWN else f'"{words[: WORDS_SHOWN - 1]}…"'
