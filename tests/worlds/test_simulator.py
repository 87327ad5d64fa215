"""Tests of branches on what the robot does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from careeval.worlds.courses import carry_out_all
from careeval.worlds.plan_json import plan_of
from careeval.worlds.simulator import Trace
from support.small_world import small_world


def first_trace(plan: Any, folder: Path) -> Trace:
    """Carry out a plan in the small world, in the course in which the person agrees."""
    world = small_world(folder / "bank")
    return next(carry_out_all(plan_of(plan), world.room, world.robot))


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
    branch = {"if": condition, "then": [{"act": "stop"}], "else": [{"act": "withdraw"}]}
    trace = first_trace([*before, branch], tmp_path)
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
    trace = first_trace([{"if": condition, "then": [GRASP]}], tmp_path)
    assert trace.broken_at is not None
    assert problem in trace.problem
