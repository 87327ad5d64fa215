"""The output of `careeval plan`, as text and JSON: the worlds of a bank, and plans carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from careeval.core.text import counted, plain, signed
from careeval.sheets.kinds import COUNT
from careeval.sheets.sheet import Document, Field, Row, Sheet, Shown, View
from careeval.worlds.courses import NO_STOP
from careeval.worlds.episode import Episode, EpisodeResult, perceived
from careeval.worlds.judge import JudgedCourse, Marks
from careeval.worlds.plan_json import Branch, NoAct, Step
from careeval.worlds.simulator import Event, Trace, change_words, changes, value_words
from careeval.worlds.walkthrough import Walkthrough
from careeval.worlds.world import Danger, Goal, World

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
    if any(NO_STOP in course.trace.course.words for course in walkthrough.courses):
        out.print(Text("\nthe person has no occasion to say stop", style="bold"))
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
    is_broken = False
    for event in trace.events:
        if event.is_intended and not is_broken:
            is_broken = True
            _print_break(out, trace)
        style = "dim" if event.is_intended else ""
        out.print(_line(event.step.address, _step(event.step), style))
        _print_changes(out, event)
        _print_marks(out, course.at(event), walkthrough.checks)
        if event.stopped:
            out.print(Text("        the person says stop", style="bold"))
    if trace.broken_at is not None and not is_broken:
        _print_break(out, trace)
    _print_end(out, course, walkthrough.checks)


def _print_changes(out: Console, event: Event) -> None:
    for change in change_words(event):
        out.print(Text(plain(f"        {change}"), style="dim"))


def _print_end(out: Console, course: JudgedCourse, checks: Checks) -> None:
    """Print what holds at the end, and the goals that are not reached."""
    _print_marks(out, course.at_end, checks, "at the end: ")
    for id, verdict in course.goals.items():
        if not verdict.present:
            text = f"        not reached: {id} ({signed(checks[id].points)})"
            out.print(Text(plain(f"{text}: {verdict.words}"), style="dim"))


def print_episode(out: Console, episode: Episode, world: World) -> None:
    """Print each act of an episode: what the robot perceives, and what changed; then the sum."""
    result, checks = episode.result(), {check.id: check for check in world.checks}
    out.print(Text(plain(f"{world.id}: {episode.course.words}"), style="bold"))
    for number, turn in enumerate(episode.turns):
        given = turn.given
        shown = _value("words", given) if isinstance(given, str) else _given(given)
        out.print(_line(f"{number}", shown))
        out.print(Text(plain(f"        {perceived(turn.observation)}")))
        if turn.event is not None:
            _print_changes(out, turn.event)
            _print_marks(out, result.course.at(turn.event), checks)
    _print_end(out, result.course, checks)
    if episode.course.answer == "stop" and not episode.observe()["stopped"]:
        out.print(Text("\nthe person had no occasion to say stop", style="bold"))
    out.print()
    out.print(Text(episode_summary(world.id, result)))


def _given(act: Mapping[str, Any]) -> str:
    """Return an act as an episode has it, with its arguments."""
    return f"{act['act']} {_arguments({k: v for k, v in act.items() if k != 'act'})}".rstrip()


def episode_summary(world: str, result: EpisodeResult) -> str:
    """Return the sum of an episode in one line."""
    n_dangers = len(result.dangers)
    dangers = counted(n_dangers, "danger") if n_dangers else "no danger"
    points = f"{result.points} of {counted(result.max_points, 'point')}".replace("-", "−")
    return f"{world}: {points}, {dangers}, {result.ending} after {counted(result.n_acts, 'act')}"


def episode_json(episode: Episode, world: World) -> dict[str, Any]:
    """Return an episode as `careeval plan watch --json` prints it."""
    result = episode.result()
    return {
        "world": world.id,
        "answer": episode.course.answer,
        "points": result.points,
        "max_points": result.max_points,
        "ending": result.ending,
        "goals": dict(result.goals),
        "dangers": list(result.dangers),
        "turns": [
            {
                "act": turn.given,
                "observation": turn.observation,
                "reward": turn.reward,
                "changes": dict(changes(turn.event)) if turn.event else {},
                **_marks_json(result.course.at(turn.event) if turn.event else Marks((), ())),
            }
            for turn in episode.turns
        ],
        "end": _marks_json(result.course.at_end),
    }


def _print_break(out: Console, trace: Trace) -> None:
    assert trace.broken_at is not None
    out.print(_line(trace.broken_at.address, _step(trace.broken_at), style="bold red"))
    text = f"        the plan breaks off: {trace.problem}; what follows is what it meant to do"
    out.print(Text(plain(text), style="bold red"))


Checks = Mapping[str, Goal | Danger]
"""The goals and dangers of a world, by id."""


def _print_marks(out: Console, marks: Marks, checks: Checks, when: str = "") -> None:
    for kind, ids in (("goal", marks.goals), ("danger", marks.dangers)):
        for id in ids:
            check = checks[id]
            text = f"        {when}{kind} {id} ({signed(check.points)}): {check.text}"
            out.print(Text(plain(text), style=STYLES[kind]))


def _line(address: str, text: str, style: str = "") -> Text:
    return Text(plain(f"  {address}  {text}".rstrip()), style=style)


def _step(step: Step | Branch | NoAct) -> str:
    """Return a step with the arguments that the plan gives."""
    if isinstance(step, NoAct):
        return _value("words", step.text)
    if isinstance(step, Step):
        return f"{step.act.act} {_arguments(step.act.arguments)}"
    return f"if {step.condition}"


def _arguments(args: Mapping[str, Any]) -> str:
    names = sorted(args, key=lambda name: name in LIMITS)
    return " ".join(f"{name}={_value(name, args[name])}" for name in names)


def _value(name: str, value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    if name != "words":
        return value_words(value)
    words = " ".join(str(value).split())
    return f'"{words}"' if len(words) <= WORDS_SHOWN else f'"{words[: WORDS_SHOWN - 1]}…"'
