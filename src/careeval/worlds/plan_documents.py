"""The documents and the JSON of `careeval plan`: the worlds of a bank, and plans carried out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from careeval.core.text import counted
from careeval.sheets.document import Document
from careeval.sheets.kinds import COUNT
from careeval.sheets.sheet import Field, Row, Sheet, Shown, View
from careeval.worlds.walkthrough import Course, Finding, Walkthrough
from careeval.worlds.world import World


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
                **_found_json(course.at(event)),
                "says_stop": event.stopped,
                "goes_on": course.goes_on(event),
            }
            for event in trace.events
        ],
        "end": _found_json(course.at_end),
        "missed": [
            {"goal": each.check.id, "points": each.check.points, "reason": each.verdict.reason}
            for each in course.missed
        ],
        "broken_at": {"step": broken.number, "problem": trace.problem} if broken else None,
    }


def _found_json(findings: Sequence[Finding]) -> dict[str, list[str]]:
    return {
        "goals": [each.check.id for each in findings if each.is_goal],
        "dangers": [each.check.id for each in findings if not each.is_goal],
    }
