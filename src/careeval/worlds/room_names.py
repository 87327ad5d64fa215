"""The names that a room uses without having them."""

from __future__ import annotations

from collections.abc import Iterator

from careeval.errors import did_you_mean
from careeval.worlds.effects import start_facts
from careeval.worlds.world import Body, Room

Problem = tuple[tuple[str | int, ...], str, str]
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
    for n, event in enumerate(room.events):
        for fact in (fact for fact in event.then if fact not in facts):
            hint = did_you_mean(fact, facts)
            yield ("room", "events", n), f"there is no fact {fact!r} in this room", hint
    for helper, thing in room.things.items():
        for task, things in thing.can.items():
            for name in (name for name in things if name not in room.things):
                message = f"{helper} can {task} {name!r}, and the world has no such thing"
                yield ("room", "things", helper), message, did_you_mean(name, room.things)
