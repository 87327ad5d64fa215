"""The acts that a search tries in a world: those that are possible, and those that matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from pydantic import TypeAdapter

from careeval.worlds.acts import Act, Motion, act_classes
from careeval.worlds.conditions import CONTACT, least_limits
from careeval.worlds.effects import Fact, State, start_facts, transition
from careeval.worlds.judge import Conditions, Facts
from careeval.worlds.world import Body, Bound, Expected, Room, When

_FORM = ("act", "speed_cm_s")
"""Fields of acts that are not tried with several values."""


def candidate_acts(facts: Facts, *, careless: bool = False) -> list[Act]:
    """Return every act that the room and the body allow, in its careful form, or in both forms.

    The careful form keeps the limits of what it names; the careless one gives no force or speed.
    Waits are as long as the person needs, and numbers that conditions name are tried at both sides.
    """
    room, body = facts.room, facts.robot
    start = start_facts(room, body)
    adapter: TypeAdapter[Act] = TypeAdapter(Act)
    acts: dict[Act, None] = {}
    for name, kind in act_classes().items():
        options = [
            [(field, value) for value in _values(name, field, facts)]
            for field in kind.model_fields
            if field not in _FORM and (field != "force_n" or name == "set-limit")
        ]
        for choice in product(*options):
            content: dict[str, Any] = {"act": name, **{f: v for f, v in choice if v is not None}}
            forms = [content]
            if issubclass(kind, Motion):
                forms = [{**content, **_careful(content, room, body)}, *[content] * careless]
            for form in forms:
                act = adapter.validate_python(form)
                if not transition(act, room, body, start).impossible:
                    acts[act] = None
    return list(acts)


def _values(act: str, field: str, facts: Facts) -> Sequence[object]:
    room = facts.room
    named = {
        "thing": [*room.things, None] if act == "cover" else list(room.things),
        "part": list(room.things),
        "tool": list(room.things),
        "onto": list(room.things),
        "helper": list(room.things),
        "place": room.places,
        "task": list(room.tasks),
        "words": ["…"],
        "on": [True, False],
        "urgent": [True, False],
    }
    if field in named:
        return named[field]
    if field in ("state", "to"):
        return sorted({state for thing in room.things.values() for state in thing.states})
    bounds = sorted(_bounds(act, field, facts))
    match field:
        case "seconds":
            return sorted({max(1.0, room.answers_after_s), *bounds})
        case "height_cm":
            return [None, *bounds]
        case "force_n":
            least = [t.limit_n for t in room.things.values() if t.limit_n is not None]
            return sorted({min(least, default=facts.robot.max_force_n), *bounds})
    raise AssertionError(f"no values for {act}.{field}")


def _bounds(act: str, field: str, facts: Facts) -> Iterator[float]:
    """Yield numbers at both sides of each bound on an argument."""
    for check in (*facts.goals, *facts.dangers):
        for when in (*check.when, *check.before):
            if act not in when.act and when.act:
                continue
            expected = when.args.get(field)
            if isinstance(expected, Bound):
                for bound in (expected.above, expected.below):
                    if isinstance(bound, float):
                        yield from (bound + 1, max(bound - 1, 0.5))


def _careful(content: Mapping[str, Any], room: Room, body: Body) -> dict[str, float]:
    limits = least_limits(content["act"], content, room)
    most = {
        "force_n": ("limit_n", body.max_force_n),
        "speed_cm_s": ("limit_cm_s", body.max_speed_cm_s),
    }
    return {
        field: min(limits[limit], highest)
        for field, (limit, highest) in most.items()
        if limit in limits
    }


def relevant_acts(acts: Sequence[Act], wanted: Sequence[Conditions], facts: Facts) -> list[Act]:
    """Return the acts that meet a condition, or change a fact on which it or another act depends.

    The conditions of dangers count where an act that is relevant could meet them.

    Args:
        acts: All acts.
        wanted: Goals to be reached, or a danger.
        facts: The world.
    """
    room, body = facts.room, facts.robot
    start = start_facts(room, body)
    heads: set[str] = set()
    for check in wanted:
        heads.update(_heads(check.end))
        for when in check.when:
            heads.update(_heads(when.facts))
    relevant: dict[Act, None] = {}
    while True:
        before = len(relevant), len(heads)
        for act in acts:
            if act in relevant or not (
                any(may_meet(act, when) for check in wanted for when in check.when)
                or any(_touches_head(fact, heads) for fact in _changed(act, room, body, start))
            ):
                continue
            relevant[act] = None
            for need in transition(act, room, body, start).needs:
                heads.add(need.fact)
            if act.act == "wait-until":
                heads.update(fact for change in room.changes for fact in change.after)
            for danger in facts.dangers:
                for when in danger.when:
                    if may_meet(act, when):
                        heads.update(_heads(when.facts))
        if (len(relevant), len(heads)) == before:
            return list(relevant)


def _heads(conditions: Mapping[Fact, Expected]) -> Iterator[str]:
    """Yield facts of a condition; one with a placeholder, or `any`, as its first word alone."""
    for fact in conditions:
        how, _, rest = fact.partition(" ")
        if how in ("any", "all"):
            yield f"{rest} *"
        else:
            yield f"{how} *" if "{" in rest else fact


def _touches_head(fact: Fact, heads: set[str]) -> bool:
    return fact in heads or f"{fact.partition(' ')[0]} *" in heads


def _changed(act: Act, room: Room, body: Body, start: Mapping[Fact, State]) -> Iterator[Fact]:
    for effect in transition(act, room, body, start).effects:
        yield effect.fact
    match act.act:
        case "wait-for-answer":
            yield from ("answer", "agreed")
        case "wait-until":
            yield f"state {act.arguments['thing']}"


def may_meet(act: Act, when: When) -> bool:
    """Tell whether an act could meet a condition in some state, by its name and arguments."""
    is_named = act.act in when.act or (CONTACT in when.act and isinstance(act, Motion))
    if when.act and not is_named:
        return False
    if not when.act and not {"force_n", "speed_cm_s"} & set(type(act).model_fields):
        return False
    return all(
        isinstance(expected, Bound)
        or name not in act.arguments
        or act.arguments[name] in (expected if isinstance(expected, tuple) else (expected,))
        for name, expected in when.args.items()
    )
