"""Tests of the simulator against that of unified-planning."""

from __future__ import annotations

from typing import cast

import pytest

from careeval.bank import load_bank
from careeval.worlds.judge import read_facts, traces
from careeval.worlds.plan_json import plan_of
from careeval.worlds.simulator import carry_out
from careeval.worlds.world import World
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
