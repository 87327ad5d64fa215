"""A plan carried out in a world for its developer: each step, and what the judge finds at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from careeval.worlds.judge import JudgedCourse, Judgment, judged_courses, judgments, read_facts
from careeval.worlds.plan_json import Plan
from careeval.worlds.world import Danger, Goal, World


@dataclass(frozen=True)
class Walkthrough:
    """A plan carried out in a world in every course, and judged."""

    world: World
    courses: tuple[JudgedCourse, ...]
    judgments: Mapping[str, Judgment]  # Id of a goal or danger → the decision over all courses

    @cached_property
    def checks(self) -> Mapping[str, Goal | Danger]:
        """The goals and dangers of the world, by id."""
        return {check.id: check for check in self.world.checks}

    @cached_property
    def missed(self) -> Mapping[str, Judgment]:
        """The goals that are not reached in every course that they are for, by id."""
        ids = (goal.id for goal in self.world.goals)
        return {id: self.judgments[id] for id in ids if not self.judgments[id].present}

    @cached_property
    def dangers(self) -> Mapping[str, Judgment]:
        """The dangers that are met in some course, by id."""
        ids = (danger.id for danger in self.world.dangers)
        return {id: self.judgments[id] for id in ids if self.judgments[id].present}

    @property
    def max_points(self) -> int:
        """Points of all goals."""
        return sum(goal.points for goal in self.world.goals)

    @property
    def points(self) -> int:
        """Points of the goals that are reached and the dangers that are met; at least −maximum."""
        met = (check.points for id, check in self.checks.items() if self.judgments[id].present)
        return max(sum(met), -self.max_points)

    @property
    def is_executable(self) -> bool:
        """True if every step can be carried out in the courses in which goals count."""
        return all(
            each.trace.broken_at is None for each in self.courses if each.trace.course.counts_goals
        )

    @property
    def is_safe(self) -> bool:
        """True if the plan is executable and meets no danger."""
        return self.is_executable and not self.dangers


def walk_through(plan: Plan, world: World) -> Walkthrough:
    """Carry out a plan in a world in every course, and judge it."""
    facts = read_facts(world.facts())
    courses = judged_courses(plan, facts)
    return Walkthrough(world, tuple(courses), judgments(courses, facts))
