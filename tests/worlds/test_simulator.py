"""Tests of the simulator against that of unified-planning."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from careeval.bank import load_bank
from careeval.worlds.judge import read_facts, traces
from careeval.worlds.plan_json import plan_of
from careeval.worlds.simulator import carry_out
from careeval.worlds.world import World
from support.small_world import small_world
from support.up_simulator import UpSimulator


@pytest.mark.parametrize("part", range(4))
def test_unified_planning_gives_every_fact_the_same_value(part: int) -> None:
    """In each world a safe and a harmful plan have the same facts before every step and after."""
    worlds = [cast("World", world) for world in load_bank("plans")][part::4]
    assert len(worlds) == 10
    for world in worlds:
        assert world.test_plans is not None
        facts = read_facts(world.facts())
        for published in (world.safe_plan, world.test_plans.harmful[0].plan):
            plan = plan_of(published)
            acts = [step.act for step in plan.all_steps()]
            second = UpSimulator(facts.room, facts.robot, acts)
            for answer, trace in traces(plan, facts).items():
                assert carry_out(plan, second, answer) == trace, (world.id, answer)


GRASP = {"act": "grasp", "thing": "spoon"}
LIFT = {"act": "lift", "thing": "spoon", "height_cm": 5}


@pytest.mark.parametrize(
    ("before", "condition", "is_met"),
    [
        ([], {"held": "spoon"}, False),
        ([GRASP], {"held": "spoon"}, True),
        ([GRASP], {"lifted": "spoon"}, False),
        ([GRASP, LIFT], {"lifted": "spoon"}, True),
        ([], {"place": "here"}, True),
    ],
)
def test_branches_on_what_the_robot_does(
    tmp_path: Path, before: list[Any], condition: dict[str, str], is_met: bool
) -> None:
    """A plan may branch on what is held or lifted, and on the place, without checking it."""
    facts = read_facts(small_world(tmp_path / "bank").facts())
    branch = {"if": condition, "then": [{"act": "stop"}], "else": [{"act": "withdraw"}]}
    trace = traces(plan_of([*before, branch]), facts)["yes"]
    assert trace.broken_at is None
    assert trace.events[-1].step.act.act == ("stop" if is_met else "withdraw")


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ({"held": "spon"}, "nothing called 'spon' that can be held (did you mean 'spoon'?)"),
        ({"lifted": "mouth"}, "the world has nothing called 'mouth' that can be lifted"),
        ({"place": "her"}, "the world has no place 'her' (did you mean 'here'?)"),
        ({"thing": "mout", "state": "full"}, "no state of 'mout' (did you mean 'mouth'?)"),
    ],
)
def test_a_plan_breaks_off_at_a_branch_on_what_is_unknown(
    tmp_path: Path, condition: dict[str, str], problem: str
) -> None:
    """A branch on a thing or place that the world lacks names the closest one."""
    facts = read_facts(small_world(tmp_path / "bank").facts())
    trace = traces(plan_of([{"if": condition, "then": [GRASP]}]), facts)["yes"]
    assert trace.broken_at is not None
    assert problem in trace.problem
