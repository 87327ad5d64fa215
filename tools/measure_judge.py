"""Measure the judge of plans on variants of safe plans, by operator.

    python tools/measure_judge.py            variants of all safe plans of careeval's worlds
    python tools/measure_judge.py eating-p01 of one world

It prints, for each operator, how many harmful variants could be carried out, how many of these
still have all points and no danger, how many meet no danger, and how many of the harmless twins
meet one. `--list OPERATOR` names the worlds in which a harmful variant meets no danger, and those
in which a twin meets one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from worlds.operators import Content, Variant, variants, with_impossible_step

from careeval.bank import load_bank
from careeval.worlds.plan_json import plan_of
from careeval.worlds.walkthrough import Walkthrough, walk_through
from careeval.worlds.world import World

# ruff: noqa: T201  (a script prints)


@dataclass(frozen=True, slots=True)
class Judged:
    """A variant of a safe plan, with what the judge makes of it."""

    world: str
    variant: Variant
    runs: bool  # True if each of its steps can be carried out
    dangers: tuple[str, ...]  # Ids of the dangers that it meets
    lost: int  # Points of goals that the safe plan reaches, and it does not

    @property
    def is_missed(self) -> bool:
        """True if it is harmful, and keeps every point without a danger."""
        return self.variant.is_harmful and not self.dangers and not self.lost


def judged_variants(world: World) -> Iterator[Judged]:
    """Judge every variant of every safe plan of a world."""
    tested = world.test_plans.safe if world.test_plans else ()
    for safe in (world.safe_plan, *tested):
        full = _goal_points(_judged(dict(safe), world))
        for variant in variants(world, safe):
            result = _judged(variant.plan, world)
            yield Judged(
                world.id,
                variant,
                result.is_executable,
                tuple(result.dangers),
                full - _goal_points(result),
            )


def _judged(plan: Content, world: World) -> Walkthrough:
    return walk_through(plan_of(plan), world)


def _goal_points(result: Walkthrough) -> int:
    return sum(goal.points for goal in result.world.goals if goal.id not in result.missed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of operators, and return the status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", nargs="*", help="ids of worlds; all if none is named")
    parser.add_argument("--list", help="name of an operator")
    chosen = parser.parse_args(arguments)
    bank = load_bank("plans", probes=False)
    worlds = [each for each in bank.scenarios if isinstance(each, World)]
    worlds = [each for each in worlds if not chosen.worlds or each.id in chosen.worlds]
    start = time.perf_counter()
    judged = [each for world in worlds for each in judged_variants(world)]
    seconds = time.perf_counter() - start
    if chosen.list:
        _print_operator(judged, chosen.list)
        return 0
    _print_table(judged)
    print(f"{len(judged)} plans, {1000 * seconds / len(judged):.1f} ms each")
    _print_impossible(worlds)
    return 0


def _print_table(judged: Sequence[Judged]) -> None:
    print("operator                 harmful  run  full points  no danger  twins  run  flagged")
    for name in (*dict.fromkeys(each.variant.operator for each in judged), ""):
        rows = [each for each in judged if name in ("", each.variant.operator)]
        harmful = [each for each in rows if each.variant.is_harmful]
        twins = [each for each in rows if not each.variant.is_harmful]
        run = [each for each in harmful if each.runs]
        twins_run = [each for each in twins if each.runs]
        missed = sum(each.is_missed for each in run)
        silent = sum(not each.dangers for each in run)
        flagged = sum(bool(each.dangers) for each in twins_run)
        print(
            f"{name or 'all':24} {len(harmful):7} {len(run):4} {missed:12} {silent:10}"
            f" {len(twins):6} {len(twins_run):4} {flagged:8}"
        )


def _print_operator(judged: Sequence[Judged], name: str) -> None:
    rows = [each for each in judged if each.variant.operator == name and each.runs]
    silent = Counter(each.world for each in rows if each.variant.is_harmful and not each.dangers)
    print("harmful, no danger:", dict(silent))
    flagged = Counter(
        (each.world, each.dangers) for each in rows if not each.variant.is_harmful and each.dangers
    )
    print("twins with a danger:", dict(flagged))


def _print_impossible(worlds: Sequence[World]) -> None:
    """Print how many severe harmful plans are severe no longer after an impossible step."""
    n_severe = n_hidden = 0
    for world in worlds:
        severe = {danger.id for danger in world.dangers if danger.points == -2}
        for harmful in world.test_plans.harmful if world.test_plans else ():
            if severe.intersection(_judged(dict(harmful.plan), world).dangers):
                n_severe += 1
                broken = _judged(with_impossible_step(harmful.plan), world)
                n_hidden += not severe.intersection(broken.dangers)
    print(f"{n_severe} severe harmful plans; {n_hidden} not severe after an impossible step")


if __name__ == "__main__":
    sys.exit(main())
