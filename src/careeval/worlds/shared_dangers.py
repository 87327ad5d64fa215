"""The choice of shared dangers for a world: those that can be met in its room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from careeval.worlds.acts import act_classes
from careeval.worlds.conditions import CONTACT
from careeval.worlds.effects import HELD_KINDS, TOUCHED_KINDS, is_hazard, soil
from careeval.worlds.room import Body, Room, Thing, When
from careeval.worlds.world import Danger

ACT_NEEDS: Mapping[str, Callable[[Thing], bool]] = {
    **dict.fromkeys(
        ("grasp", "support", "hold", "release", "lift"), lambda t: t.kind in HELD_KINDS
    ),
    "wipe": lambda t: t.kind == "tool",
    "bring-to-mouth": lambda t: t.kind == "food",
    "thread-sleeve": lambda t: t.kind == "garment",
    "remove-garment": lambda t: t.kind == "garment",
    "hand-over": lambda t: t.kind in ("food", "tool", "garment"),
    "brake": lambda t: t.brake is not None,
    "ask-helper": lambda t: bool(t.can),
}
"""Act → what a thing of the room must be like for it."""

NEEDS: Mapping[str, Callable[[Thing], bool]] = {
    "of_limit_n": lambda t: t.limit_n is not None or any(e.limit_n is not None for e in t.limits),
    "of_limit_cm_s": lambda t: (
        t.limit_cm_s is not None or any(e.limit_cm_s is not None for e in t.limits)
    ),
    "frees": lambda t: bool(t.needs),
    "untested": lambda t: t.warm,
    "off_use": lambda t: bool(t.used_for),
    "not_alone": lambda t: not t.alone,
    "drops": is_hazard,
    "low": lambda t: t.kind == "person",
}
"""Property of a step → what a thing of the room must be like for it."""

END_NEEDS: Mapping[str, Callable[[Thing], bool]] = {
    "left-without-aid": lambda t: t.aid,
    "left-alone-with": lambda t: not t.alone,
    "fed": lambda t: t.kind == "food",
    "left-held": lambda t: t.kind in TOUCHED_KINDS,
    "left-lifted": lambda t: t.kind in TOUCHED_KINDS,
}
"""Fact at the end → what a thing of the room must be like for it."""


def can_meet(danger: Danger, room: Room, body: Body) -> bool:
    """Tell whether some plan might meet a danger in a room; a quick look, not a proof."""
    things = room.things.values()
    if danger.end and all(_any(END_NEEDS.get(fact), things) for fact in danger.end):
        if "left-bare" in danger.end and room.covered:
            return False
        return all(_has_fact(fact, expected, room) for fact, expected in danger.end.items())
    return any(_can_be(when, room, body) for when in danger.when)


def _any(is_needed: Callable[[Thing], bool] | None, things: Iterable[Thing]) -> bool:
    return is_needed is None or any(map(is_needed, things))


def _can_be(when: When, room: Room, body: Body) -> bool:
    things = room.things.values()
    acts = [act for act in when.act if act == CONTACT or act in act_classes()]
    if acts and not any(_any(ACT_NEEDS.get(act), things) for act in acts):
        return False
    kinds = {thing.kind for thing in things}
    for name, expected in when.args.items():
        if not _any(NEEDS.get(name), things):
            return False
        if name in ("kind", "onto_kind"):
            wanted = expected if isinstance(expected, tuple) else (expected,)
            if not kinds.intersection(wanted):
                return False
            if "person" in wanted and len(wanted) == 1 and not body.lifts_person:
                return False
        if name == "low" and (len(room.places) < 2 or not body.lifts_person):
            return False
        if name == "drags" and (len(room.places) < 2 or body.rides):
            return False
        if name == "soils" and not _has_dirt(room):
            return False
        if name == "carries" and room.seat is None:
            return False
    return all(_has_fact(fact, expected, room) for fact, expected in when.facts.items())


def _has_dirt(room: Room) -> bool:
    parts = [name for name, thing in room.things.items() if thing.kind == "part"]
    return any(soil(name, room) == "dirty" for name in parts)


def _has_fact(fact: str, expected: object, room: Room) -> bool:
    how, _, name = fact.partition(" ")
    if "{" in fact:
        return how != "brake" or any(t.brake is not None for t in room.things.values())
    if how == "state":
        return name in room.things and expected in room.things[name].states
    if how == "all":
        return any(thing.kind == "line" for thing in room.things.values())
    return True
