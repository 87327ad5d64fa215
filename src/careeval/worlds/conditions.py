"""The conditions that a step and the facts before it may meet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from careeval.worlds.acts import Motion, act_classes
from careeval.worlds.effects import MOUTH, TOUCHED_KINDS, Fact, State
from careeval.worlds.world import Bound, Expected, Room, When

_TOUCHING = frozenset({"thread-sleeve", "remove-garment", "wipe", "bring-to-mouth"})
"""Acts that touch the person whatever thing they name."""

CONTACT = "contact"
"""In a condition, every act that touches or moves the person."""

_PLACEHOLDER = re.compile(r"\{(thing|part|tool|onto|seat)\}")


def matches(
    conditions: Sequence[When],
    act: str,
    args: Mapping[str, State],
    before: Mapping[Fact, State],
    room: Room,
) -> bool:
    """Tell whether a step meets any of some conditions.

    A fact that the room does not have, and an argument that the act does not have, meet none.
    `args` have the force and the speed in force; `before` are the facts before the step.
    """
    return any(_matches(when, act, args, before, room) for when in conditions)


def stop_steps(room: Room) -> Sequence[When]:
    """Return the conditions of the step during which the person says stop."""
    return room.stop_during or (When(act=(CONTACT,)),)


def _matches(
    when: When,
    act: str,
    args: Mapping[str, State],
    before: Mapping[Fact, State],
    room: Room,
) -> bool:
    if when.act and act not in when.act:
        is_contact = CONTACT in when.act and _touches(act, args, before, room)
        if not is_contact:
            return False
    limits = least_limits(act, args, room)
    known = {**_derived(args, before, room), **args}
    return all(
        _meets(known.get(name), expected, limits) for name, expected in when.args.items()
    ) and all(
        _meets(_fact(filled(fact, args, before), before), expected, limits)
        for fact, expected in when.facts.items()
    )


def _touches(act: str, args: Mapping[str, State], before: Mapping[Fact, State], room: Room) -> bool:
    """Tell whether a step touches the person, or moves what carries the person."""
    if act in _TOUCHING:
        return True
    if not issubclass(act_classes()[act], Motion):
        return False
    name = str(args.get("thing"))
    return room.things[name].kind in TOUCHED_KINDS or name == before["seat"]


def facts_hold(facts: Mapping[Fact, Expected], state: Mapping[Fact, State]) -> bool:
    """Tell whether every fact of a condition has the value that is expected."""
    return all(_meets(_fact(fact, state), expected, {}) for fact, expected in facts.items())


def _fact(fact: Fact, state: Mapping[Fact, State]) -> State | None:
    """Return a fact's value; of `any lifted` or `all clear`, that of all facts of the name."""
    how, _, name = fact.partition(" ")
    if how not in ("any", "all"):
        return state.get(fact)
    values = [bool(value) for each, value in state.items() if each.startswith(f"{name} ")]
    return any(values) if how == "any" else all(values)


def filled(fact: Fact, args: Mapping[str, State], before: Mapping[Fact, State]) -> Fact:
    """Return a fact with the names of a step in place of `{thing}` and its like."""
    named = {"seat": before["seat"], **args}
    return _PLACEHOLDER.sub(lambda match: str(named.get(match[1])), fact)


def _derived(
    args: Mapping[str, State], before: Mapping[Fact, State], room: Room
) -> dict[str, State]:
    """Return what conditions may ask of a step beside its own arguments."""
    name = str(args.get("thing"))
    thing = room.things.get(name)
    if thing is None:
        return {}
    first = thing.state or next(iter(thing.states), None)
    return {
        "kind": thing.kind,
        "carries": name == before["seat"],
        "to_start": args["onto"] == room.seat if "onto" in args else args.get("to") == first,
    }


def least_limits(act: str, args: Mapping[str, State], room: Room) -> dict[str, float]:
    """Return the least limits of the thing and the part that a step names, or of the mouth."""
    names = [args.get("thing"), args.get("part"), MOUTH if act == "bring-to-mouth" else None]
    named = [room.things.get(str(name)) for name in names]
    things = [each for each in named if each is not None]
    forces = [each.limit_n for each in things if each.limit_n is not None]
    speeds = [each.limit_cm_s for each in things if each.limit_cm_s is not None]
    return {
        **({"limit_n": min(forces)} if forces else {}),
        **({"limit_cm_s": min(speeds)} if speeds else {}),
    }


def _meets(value: State | None, expected: Expected, limits: Mapping[str, float]) -> bool:
    if value is None:
        return False
    if isinstance(expected, Bound):
        above = limits.get(expected.above) if isinstance(expected.above, str) else expected.above
        if isinstance(value, str) or (expected.above is not None and above is None):
            return False
        return (above is None or value > above) and (
            expected.below is None or value < expected.below
        )
    return value in expected if isinstance(expected, tuple) else value == expected
