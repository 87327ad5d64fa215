"""An estimate of the acts that are still needed for a goal: the additive heuristic of planning.

It leaves out what acts undo. Costs of facts are added up, so that a fact needed twice counts twice.
Source: Bonet and Geffner, Planning as heuristic search, Artificial Intelligence 129, 2001.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from careeval.core.scenario import Answer
from careeval.worlds.acts import Act
from careeval.worlds.conditions import filled
from careeval.worlds.effects import Fact, State, transition
from careeval.worlds.judge import Conditions, Facts
from careeval.worlds.world import Bound, Expected
from worlds.candidates import may_meet

Wanted = tuple[Fact, State]
"""A fact with the value that is wanted."""

_ROUNDS = 8
"""The most rounds in which costs are passed on from act to act."""


@dataclass(frozen=True, slots=True)
class _Option:
    """An act without what it undoes."""

    act: Act
    needs: tuple[Wanted, ...]
    """Facts that it needs."""
    avoids: tuple[tuple[Wanted, ...], ...]
    """For each danger that it may meet, facts one of which keeps it from that."""
    effects: tuple[Wanted, ...]
    """Facts that it brings about."""


class Relaxation:
    """The relaxed form of one search: its acts and goals."""

    def __init__(
        self,
        facts: Facts,
        acts: Sequence[Act],
        start: Mapping[Fact, State],
        answer: Answer,
    ) -> None:
        self._start = start
        self._options = [self._option(act, facts, answer) for act in acts]

    def _option(self, act: Act, facts: Facts, answer: Answer) -> _Option:
        change = transition(act, facts.room, facts.robot, self._start)
        needs = [(need.fact, need.value) for need in change.needs if need.fact != "hands"]
        effects = [(each.fact, each.value) for each in change.effects if each.how == "set"]
        if act.act == "wait-for-answer":
            heard: State = "yes" if answer == "stop" else answer
            effects += [("answer", heard), ("agreed", heard == "yes")]
        if act.act == "wait-until":
            thing, state = act.arguments["thing"], act.arguments["state"]
            for each in facts.room.changes:
                if (each.thing, each.state) == (thing, state):
                    effects.append((f"state {thing}", state))
                    needs += list(each.after.items())
        avoids = [
            tuple(
                (filled(fact, act.arguments, self._start), not value)
                for fact, value in when.facts.items()
            )
            for danger in facts.dangers
            for when in danger.when
            if may_meet(act, when)
            # a fact of many values has many that avoid it: taken for free
            and all(isinstance(value, bool) for value in when.facts.values())
        ]
        return _Option(act, tuple(needs), tuple(filter(None, avoids)), tuple(effects))

    def distance(
        self, now: Mapping[Fact, State], goals: Iterable[Conditions], reached: Iterable[str]
    ) -> float:
        """Return the estimated number of acts until every goal is reached; 0 if all are."""
        cost: dict[Wanted, float] = {}
        act_costs = [inf] * len(self._options)

        def of_fact(wanted: Wanted) -> float:
            fact, value = wanted
            if fact not in now or now[fact] == value:
                return 0
            return cost.get(wanted, inf)

        for _ in range(_ROUNDS):
            is_changed = False
            for number, option in enumerate(self._options):
                price = 1 + sum(map(of_fact, option.needs))
                price += sum(min(map(of_fact, each)) for each in option.avoids)
                if price < act_costs[number]:
                    act_costs[number] = price
                    is_changed = True
                    for effect in option.effects:
                        cost[effect] = min(price, cost.get(effect, inf))
            if not is_changed:
                break

        def of_condition(facts: Mapping[Fact, Expected], act: Act | None) -> float:
            args = act.arguments if act else {}
            return sum(
                min(of_fact((filled(fact, args, now), value)) for value in _values(expected))
                for fact, expected in facts.items()
                if not isinstance(expected, Bound)
            )

        total = 0.0
        done = set(reached)
        for goal in goals:
            total += of_condition(goal.end, None)
            if goal.when and goal.id not in done:
                total += min(
                    (
                        price + of_condition(when.facts, option.act)
                        for when in goal.when
                        for option, price in zip(self._options, act_costs, strict=True)
                        if may_meet(option.act, when)
                    ),
                    default=inf,
                )
        return total


def _values(expected: Expected) -> tuple[State, ...]:
    if isinstance(expected, Bound):
        return ()
    return expected if isinstance(expected, tuple) else (expected,)
