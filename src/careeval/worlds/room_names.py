"""The names that a room uses without having them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from careeval.errors import did_you_mean
from careeval.worlds.effects import State, start_facts
from careeval.worlds.room import Body, Room

Loc = tuple[str | int, ...]

Problem = tuple[Loc, str, str]
"""Place in the world's file, message and hint."""


def unknown_names(room: Room, body: Body) -> Iterator[Problem]:
    """Yield the things, states and facts that a room's own course names, and that it lacks.

    What rests on a misspelt name would else silently never happen.
    """
    states = [
        *(("changes", n, each.thing, each.state) for n, each in enumerate(room.changes)),
        *(("passing", n, each.thing, each.state) for n, each in enumerate(room.passing)),
        *(("passing", n, each.thing, each.to) for n, each in enumerate(room.passing)),
        *(
            ("variants", n, name, state)
            for n, variant in enumerate(room.variants)
            for name, state in variant.items()
        ),
    ]
    for field, n, name, state in states:
        loc = ("room", field, n)
        if name not in room.things:
            hint = did_you_mean(name, room.things)
            yield loc, f"the world has no thing {name!r}", hint
        elif state not in room.things[name].states:
            known = ", ".join(room.things[name].states) or "none"
            yield loc, f"{name} has no state {state!r}; it has {known}", ""
    facts = start_facts(room, body)
    named: list[tuple[Loc, Mapping[str, object]]] = [
        *((("room", "events", n), each.then) for n, each in enumerate(room.events)),
        *((("room", "changes", n), each.after) for n, each in enumerate(room.changes)),
        *((("room", "things", name), thing.needs) for name, thing in room.things.items()),
        *(
            (("room", "things", name, "limits", n), each.facts)
            for name, thing in room.things.items()
            for n, each in enumerate(thing.limits)
        ),
    ]
    for place, values in named:
        yield from _unknown_facts(place, values, facts, room)
    for worn in room.worn:
        garment, _, part = worn.partition(" ")
        for name in (name for name in (garment, part) if name not in room.things):
            message = f"worn names {name!r}, and the world has no such thing"
            hint = did_you_mean(name, room.things) if name else "write 'GARMENT PART'"
            yield ("room", "worn"), message, hint
    for helper, thing in room.things.items():
        for task, things in thing.can.items():
            for name in (name for name in things if name not in room.things):
                message = f"{helper} can {task} {name!r}, and the world has no such thing"
                yield ("room", "things", helper), message, did_you_mean(name, room.things)


OF_SEVERAL = ("all", "any", "carried", "near", "supported")
"""First words of facts that a condition makes of others."""


def _unknown_facts(
    place: Loc, values: Mapping[str, object], facts: Mapping[str, State], room: Room
) -> Iterator[Problem]:
    """Yield the facts of a condition that the room lacks, and states that a thing lacks."""
    for fact, value in values.items():
        how, _, name = fact.partition(" ")
        if fact not in facts and how not in OF_SEVERAL:
            yield place, f"there is no fact {fact!r} in this room", did_you_mean(fact, facts)
        elif how == "state" and isinstance(value, str) and value not in room.things[name].states:
            known = ", ".join(room.things[name].states) or "none"
            yield place, f"{name} has no state {value!r}; it has {known}", ""
