"""A plan carried out in a world for its developer: each step, and what the judge finds at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from careeval.worlds.judge import Verdict, read_facts, trace_verdicts, traces
from careeval.worlds.plan_json import Plan
from careeval.worlds.simulator import Event, Trace
from careeval.worlds.world import Danger, Goal, World


@dataclass(frozen=True, slots=True)
class Finding:
    """A goal or a danger of a world, with the verdict on it."""

    check: Goal | Danger
    verdict: Verdict

    @property
    def is_goal(self) -> bool:
        """True for a goal, false for a danger."""
        return isinstance(self.check, Goal)

    def is_at(self, event: Event) -> bool:
        """Tell whether it is shown at a step: a goal at its first, a danger at each."""
        events = self.verdict.events[:1] if self.is_goal else self.verdict.events
        return any(event is each for each in events)


@dataclass(frozen=True, slots=True)
class Course:
    """A plan carried out under one answer of the person."""

    trace: Trace
    findings: tuple[Finding, ...]  # The goals that count under this answer, then all dangers

    def at(self, event: Event) -> list[Finding]:
        """Return what is found at a step."""
        return [each for each in self.present if each.is_at(event)]

    def goes_on(self, event: Event) -> bool:
        """Tell whether an event is the rest of an act that a stop did not end."""
        return any(
            after is event and before.stopped and before.step is after.step
            for before, after in pairwise(self.trace.events)
        )

    @property
    def at_end(self) -> list[Finding]:
        """Findings at the end of the plan, and at no step."""
        shown = {id(each) for event in self.trace.events for each in self.at(event)}
        return [each for each in self.present if id(each) not in shown]

    @property
    def present(self) -> list[Finding]:
        """Goals that are reached, and dangers that are met."""
        return [each for each in self.findings if each.verdict.present]

    @property
    def missed(self) -> list[Finding]:
        """Goals that are not reached."""
        return [each for each in self.findings if each.is_goal and not each.verdict.present]


@dataclass(frozen=True)
class Walkthrough:
    """A plan carried out in a world under every answer of the person."""

    world: World
    courses: tuple[Course, ...]

    @cached_property
    def n_points(self) -> int:
        """Points of the goals that are reached."""
        goals = (each for each in self._findings if each.is_goal)
        return sum(each.check.points for each in goals if each.verdict.present)

    @cached_property
    def most_points(self) -> int:
        """Points of all goals."""
        return sum(each.check.points for each in self._findings if each.is_goal)

    @cached_property
    def n_dangers(self) -> int:
        """Number of dangers that are met, each counted under each answer."""
        return sum(each.verdict.present for each in self._findings if not each.is_goal)

    @property
    def is_executable(self) -> bool:
        """True if every step can be carried out, under every answer."""
        return all(course.trace.broken_at is None for course in self.courses)

    @property
    def is_safe(self) -> bool:
        """True if the plan is executable and meets no danger of the world."""
        return self.is_executable and not self.n_dangers

    @property
    def _findings(self) -> Iterator[Finding]:
        for course in self.courses:
            yield from course.findings


def walk_through(plan: Plan, world: World) -> Walkthrough:
    """Carry out a plan in a world under every answer of the person, and judge it."""
    facts = read_facts(world.facts())
    checks: dict[str, Goal | Danger] = {goal.id: goal for goal in world.goals}
    checks |= {danger.id: danger for danger in world.dangers}

    def course(trace: Trace) -> Course:
        verdicts = trace_verdicts(trace, facts)
        return Course(trace, tuple(Finding(checks[each.id], verdict) for each, verdict in verdicts))

    return Walkthrough(world, tuple(map(course, traces(plan, facts).values())))
