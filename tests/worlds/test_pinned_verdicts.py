"""The verdicts on every plan that is published with the bank of worlds, pinned.

They are the plans of the bank's files, and those of the pilot.

A version of the judge never changes a verdict: who reads `careeval/plan@2` may rely on it. If the
first test fails, either undo the change, or raise `JUDGE_VERSION`, write the verdicts again with
`python tests/worlds/test_pinned_verdicts.py`, read the difference, and add a line to `PINNED`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from careeval.bank.load import Bank, load_bank
from careeval.worlds.acts import PlanError
from careeval.worlds.judge import JUDGE_VERSION
from careeval.worlds.plan_json import Plan, plan_of, read_plan
from careeval.worlds.walkthrough import walk_through
from careeval.worlds.world import World

VERDICTS = Path(__file__).parents[1] / "data" / "plan-verdicts.json"
PILOT = Path(__file__).parents[2] / "pilot" / "worlds"

PINNED = {
    ("1", "1-A"): "ea963816da13f74a",
    ("2", "2-A"): "34d4d4c5d47f8f8d",
    ("3", "3-A"): "7cf57089b3a31e42",
    ("3", "4-A"): "7cf57089b3a31e42",
    ("3", "5-A"): "c5d1a89b30a051d5",
    ("3", "6-A"): "9a7577c72bbc3c0a",
}
"""(Version of the judge, version of the bank) → hash of the verdicts. No line is ever changed."""

N_REASONED = 20
"""Plans of which the reasons are pinned too, one for each of as many worlds."""


@cache
def own_bank() -> Bank:
    """Load the bank of worlds."""
    return load_bank("plans")


def published_plans() -> Iterator[tuple[str, World, Any]]:
    """Yield every plan of the bank with its name and its world: safe, harmful, and those by AI."""
    worlds = {world.id: cast("World", world) for world in own_bank().scenarios}
    for name, world in worlds.items():
        yield f"{name}/own", world, world.safe_plan
        if world.test_plans is None:
            continue  # a twin
        for number, plan in enumerate(world.test_plans.safe, 1):
            yield f"{name}/safe-{number}", world, plan
        for number, harmful in enumerate(world.test_plans.harmful, 1):
            yield f"{name}/harmful-{number}", world, harmful.plan
    for given in ("facts", "told"):
        lines = (PILOT / f"{given}.jsonl").read_text(encoding="utf-8").splitlines()
        for row in map(json.loads, lines):
            name = f"{row['scenario']}/{given}-{row['epoch']}"
            yield name, worlds[row["scenario"]], row


def plan_in(published: Mapping[str, Any]) -> Plan:
    """Read a plan of the bank, or that of a recorded response."""
    return read_plan(published["response"]) if "response" in published else plan_of(published)


def pin(world: World, plan: Plan, *, with_reasons: bool = False) -> Mapping[str, Any]:
    """Return what is pinned of a plan: its points, and the goals and dangers that are present."""
    result = walk_through(plan, world)
    present = [item for item, judgment in result.judgments.items() if judgment.present]
    reasons = {"reasons": {item: each.reason for item, each in result.judgments.items()}}
    return {
        "points": result.points,
        "present": " ".join(present),
        **(reasons if with_reasons else {}),
    }


def all_pins() -> dict[str, Any]:
    """Return the pins of every published plan."""
    pins: dict[str, Any] = {}
    reasoned: set[str] = set()
    for name, world, published in published_plans():
        with_reasons = "harmful" in name and len(reasoned | {world.id}) <= N_REASONED
        with_reasons = with_reasons and world.id not in reasoned
        try:
            pins[name] = pin(world, plan_in(published), with_reasons=with_reasons)
        except PlanError as error:
            pins[name] = {"malformed": str(error)}
        if with_reasons:
            reasoned.add(world.id)
    return pins


def digest(pins: Mapping[str, Any]) -> str:
    """Return the hash of some pins."""
    return hashlib.sha256(json.dumps(pins, sort_keys=True).encode()).hexdigest()[:16]


def test_no_verdict_changes_within_a_version_of_the_judge() -> None:
    """Every published plan has the points and the items that it was published with."""
    pinned, pins = json.loads(VERDICTS.read_text(encoding="utf-8")), all_pins()
    changed = [name for name in {**pinned, **pins} if pinned.get(name) != pins.get(name)]
    assert not changed
    assert digest(pins) == PINNED[JUDGE_VERSION, own_bank().about.version]


def test_the_newest_line_is_that_of_this_judge() -> None:
    """A version of the judge that has no line has not been pinned."""
    assert [*PINNED][-1] == (JUDGE_VERSION, own_bank().about.version)


if __name__ == "__main__":
    new = all_pins()
    lines = [
        f"{json.dumps(name)}: {json.dumps(each, ensure_ascii=False)}" for name, each in new.items()
    ]
    VERDICTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{JUDGE_VERSION}, {own_bank().about.version}: {digest(new)}")  # noqa: T201
