"""Bounded search over the simulator: whether a world can be solved, and each danger reached.

A world is solved by a plan that reaches every goal and meets no danger, under all four answers. The
plan that is found here is put together of four lines of acts, and then judged like any other.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import Any, cast

from careeval.core.scenario import Answer
from careeval.worlds.acts import Act
from careeval.worlds.conditions import facts_hold, matches, stop_steps
from careeval.worlds.effects import Fact, State
from careeval.worlds.judge import Conditions, Facts, verdicts
from careeval.worlds.plan_json import plan_of
from careeval.worlds.simulator import Simulator, arguments
from careeval.worlds.world import When
from worlds.candidates import candidate_acts, relevant_acts
from worlds.relaxation import Relaxation

MAX_NODES = 4000
"""The most states that are looked at for one line of acts."""

_WEIGHTS = (3.0, 1.0)
"""Weights of an act that is still needed, against one that was made, tried in this order.

The first finds long lines quickly; the second finds those that have to undo what they did."""


@dataclass(frozen=True, slots=True)
class Line:
    """Acts in order, and where they lead."""

    acts: tuple[Act, ...]
    """The acts."""
    reached: frozenset[str]
    """Ids of the goals that a step has reached."""


@dataclass
class _Search:
    """A best-first search for one line of acts under one answer."""

    facts: Facts
    simulator: Simulator
    answer: Answer
    acts: Sequence[Act]

    def meets(self, act: Act, before: Mapping[Fact, State], conditions: Sequence[When]) -> bool:
        args = arguments(act, before, self.facts.robot)
        return matches(conditions, act.act, args, before, self.facts.room)

    def run(
        self, start: Mapping[Fact, State], done: Line, goals: Sequence[Conditions]
    ) -> Line | None:
        """Return a line that goes on from a state until every goal is reached; None if none is."""
        lines = (self._run(start, done, goals, weight) for weight in _WEIGHTS)
        return next((line for line in lines if line is not None), None)

    def _run(
        self, start: Mapping[Fact, State], done: Line, goals: Sequence[Conditions], weight: float
    ) -> Line | None:
        numbers = count()
        relaxed = Relaxation(self.facts, self.acts, self.simulator.start, self.answer)
        queue: list[tuple[float, int, Mapping[Fact, State], Line]]
        queue = [(self.lacking(start, done, goals), next(numbers), start, done)]
        visited = set()
        for _ in range(MAX_NODES):
            if not queue:
                return None
            _, _, state, line = heapq.heappop(queue)
            if self.lacking(state, line, goals) == 0 and not self.ends_badly(state):
                return line
            key = (frozenset(state.items()), line.reached)
            if key in visited:
                continue
            visited.add(key)
            for act in self.acts:
                if (step := self.step(state, line, act, goals)) is None:
                    continue
                after, then = step
                distance = relaxed.distance(after, goals, then.reached) + self.ends_badly(after)
                if distance == inf:
                    continue
                cost = len(then.acts) + weight * distance
                heapq.heappush(queue, (cost, next(numbers), after, then))
        return None

    def step(
        self,
        before: Mapping[Fact, State],
        line: Line,
        act: Act,
        goals: Sequence[Conditions],
    ) -> tuple[Mapping[Fact, State], Line] | None:
        """Return the state after an act and the line with it; None if it may not be done."""
        if self.meets(act, before, [when for each in self.facts.dangers for when in each.when]):
            return None
        late = [g for g in goals if g.before and g.id not in line.reached]
        if any(self.meets(act, before, goal.before) for goal in late):
            return None
        after = self.simulator.after(before, act, self.answer)
        if isinstance(after, str):
            return None
        reached = {g.id for g in goals if g.when and self.meets(act, before, g.when)}
        return after, Line((*line.acts, act), line.reached | reached)

    def lacking(self, facts: Mapping[Fact, State], line: Line, goals: Sequence[Conditions]) -> int:
        return sum(
            (bool(goal.when) and goal.id not in line.reached)
            + sum(not facts_hold({fact: value}, facts) for fact, value in goal.end.items())
            for goal in goals
        )

    def ends_badly(self, facts: Mapping[Fact, State]) -> bool:
        return any(each.end and facts_hold(each.end, facts) for each in self.facts.dangers)


_ASKING = ("ask", "wait-for-answer")
_ENDING = ("stop", "withdraw", "make-safe")


def solve(facts: Facts) -> dict[str, Any] | None:
    """Return a plan, as JSON values, that solves a world; None if the bounded search finds none."""
    candidates = candidate_acts(facts)
    acts = relevant_acts(candidates, [*facts.goals, *_interrupted(facts)], facts)
    # asking is always worth a try, and ending the care once the person has said stop
    acts = [act for act in acts if act.act not in _ENDING]
    acts += [act for act in candidates if act.act in _ASKING and act not in acts]
    ending = [act for act in candidates if act.act in _ENDING]
    simulator = Simulator(facts.room, facts.robot, [*acts, *ending])
    goals = {
        answer: [goal for goal in facts.goals if answer in goal.under]
        for answer in ("yes", "no", "silence", "stop")
    }
    goals["yes"] += _interrupted(facts)
    start = simulator.start
    empty = Line((), frozenset())

    def search(answer: Answer) -> _Search:
        return _Search(facts, simulator, answer, [*acts, *ending])

    plain = _Search(facts, simulator, "yes", acts)
    yes = plain.run(start, empty, goals["yes"]) or search("yes").run(start, empty, goals["yes"])
    if yes is None:
        return None
    n_prefix = next((n for n, act in enumerate(yes.acts, 1) if act.act == "wait-for-answer"), 0)
    rest: dict[Answer, tuple[Act, ...]] = {}
    for answer in cast("tuple[Answer, ...]", ("no", "silence") if n_prefix else ()):
        one = search(answer)
        walked = _walk(one, start, empty, yes.acts[:n_prefix], goals[answer])
        after = one.run(*walked, goals[answer]) if walked else None
        if after is None:
            return None
        rest[answer] = after.acts[n_prefix:]
    stop = _after_stop(search("stop"), start, yes.acts, goals["stop"])
    if stop is None:
        return None
    if n_prefix == 0:
        # it asks nothing, and so does the same whatever the person does
        steps = _shown(yes.acts)
    else:
        steps = [
            *_shown(yes.acts[:n_prefix]),
            {
                "if": {"answer": "yes"},
                "then": _shown(yes.acts[n_prefix:]),
                "else": [
                    {
                        "if": {"answer": "no"},
                        "then": _shown(rest["no"]),
                        "else": _shown(rest["silence"]),
                    }
                ],
            },
        ]
    plan = {"steps": steps, "on_stop": _shown(stop)}
    results = verdicts(plan_of(plan), facts)
    dangers = {danger.id for danger in facts.dangers}
    is_solved = all(
        verdict.present != (item.partition("@")[0] in dangers) for item, verdict in results.items()
    )
    return plan if is_solved else None


def _interrupted(facts: Facts) -> list[Conditions]:
    """Return the step in which the person would say stop, as a goal, if the room names one.

    A line that never comes to it shows nothing of what happens then.
    """
    steps = facts.room.stop_during
    return [Conditions(id="interrupted", when=steps)] if steps else []


def _walk(
    search: _Search,
    state: Mapping[Fact, State],
    line: Line,
    acts: Sequence[Act],
    goals: Sequence[Conditions],
) -> tuple[Mapping[Fact, State], Line] | None:
    """Return the state after some acts and the line with them; None if one may not be done."""
    for act in acts:
        step = search.step(state, line, act, goals)
        if step is None:
            return None
        state, line = step
    return state, line


def _after_stop(
    search: _Search, state: Mapping[Fact, State], acts: Sequence[Act], goals: Sequence[Conditions]
) -> tuple[Act, ...] | None:
    """Return what to do once the person says stop in the course of some acts; None if unknown."""
    line = Line((), frozenset())
    for number, act in enumerate(acts, 1):
        before = state
        step = search.step(before, line, act, goals)
        if step is None:
            return None
        state, line = step
        if search.meets(act, before, stop_steps(search.facts.room)):
            after = search.run(search.simulator.say_stop(state), line, goals)
            return None if after is None else after.acts[number:]
    return ()


def _shown(acts: Sequence[Act]) -> list[dict[str, Any]]:
    return [act.model_dump(exclude_unset=True, exclude_none=True) for act in acts]


def reach(danger: Conditions, facts: Facts) -> tuple[Act, ...] | None:
    """Return acts after which a danger is present, under yes or stop; None if none are found."""
    free = facts.model_copy(update={"dangers": ()})
    as_goal = danger.model_copy(update={"before": (), "end": {}})
    wanted = [as_goal] if danger.when else []
    acts = relevant_acts(candidate_acts(facts, careless=True), [danger], free)
    answers: tuple[Answer, ...] = ("yes", "stop", "no")
    if any(when.facts.get("stopped") is True for when in danger.when):
        answers = ("stop",)
    for answer in answers:
        simulator = Simulator(facts.room, facts.robot, acts)
        search = _Search(free, simulator, answer, acts)
        start = simulator.start
        if answer == "stop":
            start = simulator.say_stop(start)
        goals = wanted or [danger.model_copy(update={"when": ()})]
        line = search.run(start, Line((), frozenset()), goals)
        if line is not None:
            return line.acts
    return None
