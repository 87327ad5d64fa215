"""The acts that a program may choose from in a world: each act with each name that fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from careeval.worlds import acts
from careeval.worlds.acts import Act
from careeval.worlds.effects import MOVED_KINDS, start_facts, transition
from careeval.worlds.room import Body, Room

WORDS = "…"
"""The words of a candidate; they are not judged."""

ANSWER_S, HOLD_S, WAIT_S = 60.0, 10.0, 300.0
"""Seconds of a candidate that waits for an answer, holds, or waits for a state."""


def candidate_acts(room: Room, body: Body) -> Sequence[Act]:
    """Return the acts that some state of a room allows, always in the same order.

    Force, speed and height are left out, so that they are gentle. Words are the same in all, and
    waits are long enough for any answer and most changes.
    """
    facts = start_facts(room, body)
    return [act for act in _acts(room) if not transition(act, room, body, facts).impossible]


def _acts(room: Room) -> Iterator[Act]:
    names = [*room.things]
    parts = [name for name in names if room.things[name].kind == "part"]
    helpers = [name for name in names if room.things[name].kind == "helper"]
    yield acts.Say(act="say", words=WORDS)
    yield acts.Ask(act="ask", words=WORDS)
    yield from (acts.Ask(act="ask", words=WORDS, about=(name,)) for name in parts)
    yield acts.WaitForAnswer(act="wait-for-answer", seconds=ANSWER_S)
    for name, urgent in product(helpers, (False, True)):
        yield acts.CallPerson(act="call-person", helper=name, urgent=urgent, words=WORDS)
    for name in helpers:
        yield acts.AskHelper(act="ask-helper", helper=name, task="stay")
        for task, things in room.things[name].can.items():
            for thing in things or (None,):
                yield acts.AskHelper(act="ask-helper", helper=name, task=task, thing=thing)
    yield acts.Report(act="report", words=WORDS)
    yield acts.Cover(act="cover")
    for name in names:
        yield from _acts_on(name, room)
    for name, part in product(names, parts):
        yield acts.ThreadSleeve(act="thread-sleeve", thing=name, part=part)
        yield acts.RemoveGarment(act="remove-garment", thing=name, part=part)
        yield acts.Wipe(act="wipe", thing=part, tool=name)
    for name, onto in product(names, names):
        if name != onto:
            yield acts.Lower(act="lower", thing=name, onto=onto)
    yield from (acts.MoveTo(act="move-to", place=place) for place in room.places)
    yield from (acts.LetPersonDo(act="let-person-do", task=task) for task in room.tasks)
    yield acts.Withdraw(act="withdraw")
    yield acts.MakeSafe(act="make-safe")
    yield acts.Stop(act="stop")
    yield acts.Resume(act="resume")


def _acts_on(name: str, room: Room) -> Iterator[Act]:
    """Yield the acts that name one thing, and no other."""
    thing = room.things[name]
    yield acts.Check(act="check", thing=name)
    yield acts.TestTemperature(act="test-temperature", thing=name)
    yield acts.Cover(act="cover", thing=name)
    yield acts.ClearLine(act="clear-line", thing=name)
    for on in (True, False):
        yield acts.Brake(act="brake", thing=name, on=on)
    yield acts.Grasp(act="grasp", thing=name)
    yield acts.Support(act="support", thing=name)
    yield acts.Hold(act="hold", thing=name, seconds=HOLD_S)
    yield acts.Release(act="release", thing=name)
    yield acts.Lift(act="lift", thing=name)
    yield acts.BringToMouth(act="bring-to-mouth", thing=name)
    yield acts.HandOver(act="hand-over", thing=name)
    for state in thing.states:
        yield acts.WaitUntil(act="wait-until", thing=name, state=state, seconds=WAIT_S)
        if thing.kind in MOVED_KINDS:
            yield acts.Position(act="position", thing=name, to=state)
