"""The names that conditions on a world use without the world having them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import get_args

from careeval.worlds.acts import HelperTask, act_classes
from careeval.worlds.conditions import CONTACT, PROPERTIES
from careeval.worlds.effects import BETWEEN, start_facts
from careeval.worlds.room import Bound, Expected, Room, When
from careeval.worlds.world import Check, Goal, World

LEFT = frozenset({"left-alone-with", "left-bare", "left-held", "left-lifted", "left-without-aid"})
"""Facts that hold at the end of a plan alone."""

Unknown = tuple[str, str, Collection[str]]
"""Kind of name (`thing`, `fact`), the name that is unknown, and the names that are known."""


def unknown_in_check(check: Check, world: World) -> Iterator[Unknown]:
    """Yield the names that a goal or danger uses, and that its world lacks."""
    before = check.before if isinstance(check, Goal) else ()
    yield from unknown_in_steps((*check.when, *before), world)
    yield from _in_facts(check.end, world, LEFT)


def unknown_in_steps(conditions: Iterable[When], world: World) -> Iterator[Unknown]:
    """Yield the names that conditions on steps use, and that their world lacks."""
    acts = act_classes()
    arguments = {name for act in acts.values() for name in act.model_fields}
    for when in conditions:
        yield from _missing("act", when.act, {*acts, CONTACT})
        yield from _missing("argument or property", when.args, arguments | PROPERTIES.keys())
        for name, expected in when.args.items():
            if (known := _values(name, world.room)) is not None:
                yield from _missing(name, _words(expected), known)
        yield from _in_facts(when.facts, world)


def _in_facts(
    facts: Mapping[str, Expected], world: World, more: Collection[str] = ()
) -> Iterator[Unknown]:
    there = {*start_facts(world.room, world.robot), *more}
    first_words = {fact.partition(" ")[0] for fact in there}
    things = world.room.things
    for fact, expected in facts.items():
        how, _, name = fact.partition(" ")
        if "{" in fact:
            yield from _missing("fact", [how], first_words | {"supported"})
        elif how in ("any", "all"):
            yield from _missing("fact", [name], first_words)
        elif how == "supported":
            yield from _missing("thing", [name], things)
        else:
            yield from _missing("fact", [fact], there)
            if how == "state" and name in things:
                states = {*things[name].states, BETWEEN}
                yield from _missing(f"state of {name}", _words(expected), states)
            elif fact in ("answer", "place"):
                known = _values(fact, world.room) or ()
                yield from _missing(fact, _words(expected), known)


def _values(name: str, room: Room) -> Collection[str] | None:
    """Return the values that an argument or a fact may have in a room; None if it is a figure."""
    match name:
        case "thing" | "part" | "tool" | "onto" | "helper":
            return room.things
        case "to" | "state":
            return {state for thing in room.things.values() for state in thing.states}
        case "place":
            return {*room.places, BETWEEN}
        case "task":
            return {*room.tasks, *get_args(HelperTask)}
        case "answer" | "leave":
            return ("yes", "no", "silence", "none")
    return None


def _words(expected: Expected) -> list[str]:
    if isinstance(expected, Bound):
        return []
    values = expected if isinstance(expected, tuple) else (expected,)
    return [value for value in values if isinstance(value, str)]


def _missing(what: str, names: Iterable[str], known: Collection[str]) -> Iterator[Unknown]:
    return ((what, name, known) for name in names if name not in known)
