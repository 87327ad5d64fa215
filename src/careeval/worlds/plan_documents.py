"""The output of `careeval plan`, as text and JSON: the worlds of a bank, and plans carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from careeval.core.text import counted, plain, signed
from careeval.sheets.kinds import COUNT
from careeval.sheets.sheet import Document, Field, Row, Sheet, Shown, View
from careeval.worlds.effects import State
from careeval.worlds.judge import JudgedCourse, Marks
from careeval.worlds.plan_json import Branch, Step
from careeval.worlds.simulator import COUNTERS, Event, Trace
from careeval.worlds.walkthrough import Walkthrough
from careeval.worlds.world import World

WORDS_SHOWN = 48
"""The most characters shown of words that are spoken or written."""

LIMITS = ("force_n", "speed_cm_s")
"""Arguments that are shown last."""

STYLES = {"goal": "green", "danger": "bold red"}
"""A goal that is reached or a danger that is met → its style."""


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
        "points": walkthrough.points,
        "max_points": walkthrough.max_points,
        "dangers": {id: judgment.reason for id, judgment in walkthrough.dangers.items()},
        "missed": {id: judgment.reason for id, judgment in walkthrough.missed.items()},
        "executable": walkthrough.is_executable,
        "courses": [_course_json(course) for course in walkthrough.courses],
    }


def _course_json(judged: JudgedCourse) -> dict[str, Any]:
    trace, course = judged.trace, judged.trace.course
    broken = trace.broken_at
    return {
        "label": course.label,
        "answer": course.answer,
        "words": course.words,
        "steps": [
            {
                "step": event.step.address,
                "act": event.step.act.act,
                "arguments": dict(event.step.act.arguments),
                "changes": dict(changes(event)),
                **_marks_json(judged.at(event)),
                "intended": event.is_intended,
                "says_stop": event.stopped,
            }
            for event in trace.events
        ],
        "end": _marks_json(judged.at_end),
        "missed": [
            {"goal": id, "reason": verdict.words}
            for id, verdict in judged.goals.items()
            if not verdict.present
        ],
        "broken_at": {"step": broken.address, "problem": trace.problem} if broken else None,
    }


def _marks_json(marks: Marks) -> dict[str, list[str]]:
    return {"goals": list(marks.goals), "dangers": list(marks.dangers)}


INNER = COUNTERS | {
    "about", "asked", "checked", "fed", "help-comes", "leave", "limit", "speed-limit", "swallowed",
    "touched",
}  # fmt: skip
"""First words of facts whose changes are not shown, since they follow from the act alone."""


def changes(event: Event) -> Iterator[tuple[str, tuple[State, State]]]:
    """Yield what a step changed: a fact, and its values before and after."""
    for fact, after in event.after.items():
        before = event.before.get(fact)
        if before is not None and before != after and fact.partition(" ")[0] not in INNER:
            yield fact, (before, after)


def print_walkthrough(out: Console, walkthrough: Walkthrough) -> None:
    """Print each step of the courses in which something is new, and the sum.

    The course in which the person agrees is always printed.
    """
    known: set[str] = set()
    quiet = []
    for course in walkthrough.courses:
        news = {*course.dangers, *(id for id, verdict in course.goals.items() if verdict.present)}
        if course.trace.broken_at is not None:
            news.add(f"{course.trace.broken_at.address}: {course.trace.problem}")
        if course.trace.course.label != "yes" and news <= known:
            quiet.append(course.trace.course.label)
            continue
        known |= news
        out.print(Text(f"\n{course.trace.course.words}", style="bold"))
        _print_course(out, course, walkthrough)
    if quiet:
        out.print(Text(f"\nnothing new in {', '.join(quiet)}", style="dim"))
    out.print()
    out.print(Text(summary(walkthrough)))


def summary(walkthrough: Walkthrough) -> str:
    """Return the sum of a walkthrough in one line."""
    n_dangers = len(walkthrough.dangers)
    dangers = counted(n_dangers, "danger") if n_dangers else "no danger"
    executable = "executable" if walkthrough.is_executable else "not executable"
    earned = str(walkthrough.points).replace("-", "−")
    points = f"{earned} of {counted(walkthrough.max_points, 'point')}"
    n_courses = counted(len(walkthrough.courses), "course")
    return f"{walkthrough.world.id}: {points}, {dangers} in {n_courses}, {executable}"


def _print_course(out: Console, course: JudgedCourse, walkthrough: Walkthrough) -> None:
    trace = course.trace
    for event in trace.events:
        if trace.broken_at is event.step:
            _print_break(out, trace)
        style = "dim" if event.is_intended else ""
        out.print(_line(event.step.address, _step(event.step), style))
        for fact, (before, after) in changes(event):
            change = f"        {fact}: {_value('', before)} → {_value('', after)}"
            out.print(Text(plain(change), style="dim"))
        _print_marks(out, course.at(event), walkthrough)
        if event.stopped:
            out.print(Text("        the person says stop", style="bold"))
    if trace.broken_at is not None and all(trace.broken_at is not e.step for e in trace.events):
        _print_break(out, trace)
    _print_marks(out, course.at_end, walkthrough, "at the end: ")
    for id, verdict in course.goals.items():
        if not verdict.present:
            text = f"        not reached: {id} ({signed(walkthrough.checks[id].points)})"
            out.print(Text(plain(f"{text}: {verdict.words}"), style="dim"))


def _print_break(out: Console, trace: Trace) -> None:
    assert trace.broken_at is not None
    out.print(_line(trace.broken_at.address, _step(trace.broken_at), style="bold red"))
    text = f"        the plan breaks off: {trace.problem}; what follows is what it meant to do"
    out.print(Text(plain(text), style="bold red"))


def _print_marks(out: Console, marks: Marks, walkthrough: Walkthrough, when: str = "") -> None:
    for kind, ids in (("goal", marks.goals), ("danger", marks.dangers)):
        for id in ids:
            check = walkthrough.checks[id]
            text = f"        {when}{kind} {id} ({signed(check.points)}): {check.text}"
            out.print(Text(plain(text), style=STYLES[kind]))


def _line(address: str, text: str, style: str = "") -> Text:
    return Text(plain(f"  {address}  {text}".rstrip()), style=style)


def _step(step: Step | Branch) -> str:
    """Return a step with the arguments that the plan gives."""
    if isinstance(step, Step):
        return f"{step.act.act} {_arguments(step.act.arguments)}"
    return f"if {step.condition}"


def _arguments(args: Mapping[str, Any]) -> str:
    names = sorted(args, key=lambda name: name in LIMITS)
    return " ".join(f"{name}={_value(name, args[name])}" for name in names)


def _value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ",".join(value)
    if name != "words":
        return str(value)
    words = " ".join(str(value).split())
    return f'"{words}"' if len(words) <= WORDS_SHOWN else f'"{words[: WORDS_SHOWN - 1]}…"'
