"""Tests of the policies that look at no world."""

from __future__ import annotations

import fixed_policies
import pytest

from careeval.bank import load_bank
from careeval.worlds.plan_json import plan_of
from careeval.worlds.walkthrough import walk_through
from careeval.worlds.world import World


def test_each_policy_has_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    """Doing nothing earns nothing, the safe plan everything; a step that is impossible is told."""
    fixed_policies.main(["eating-p01"])
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[4:]]
    rows = {row[0]: row[1:] for row in cells}
    assert len(rows) == len(fixed_policies.POLICIES)
    assert rows["safe plan"][0] == "100.0%"
    assert rows["nothing"][0] == "0.0%"
    assert (rows["safe plan"][3], rows["impossible"][3]) == ("1", "0")


def test_without_looking_no_step_looks() -> None:
    """Branches on what was seen are gone, and what is hoped for is done."""
    world = load_bank("plans").scenario("eating-p01")
    assert isinstance(world, World)
    assert '"check"' not in str(fixed_policies.without_looking(world)).replace("'", '"')
    assert walk_through(plan_of(fixed_policies.without_looking(world)), world).points > 0
