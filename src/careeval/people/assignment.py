"""Assignment of scenarios to raters in balanced incomplete blocks, repeatable by its seed.

Experts' time is short, and agreement should be known of more than a few pairs of raters. So each
scenario gets its exact number of raters, raters get equally many scenarios (one more or less),
every role is spread over the scenarios, and the pairs of raters who share a scenario are spread
over all pairs: first by a greedy choice, then by exchanges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random
from typing import TypeVar

from careeval.core.rating import Rater
from careeval.core.text import counted
from careeval.errors import ReviewError

T = TypeVar("T")

_EXCHANGES = 60
"""Exchanges tried for each place in a block. More hardly helps."""

_ROLES_FIRST = 1000
"""Cost of an uneven role; an uneven pair of raters costs 1, so roles always come first."""


def assign(
    scenarios: Sequence[str],
    raters: Sequence[Rater],
    *,
    seed: int,
    per_rater: int | None = None,
    raters_per_scenario: int | None = None,
) -> dict[str, tuple[str, ...]]:
    """Assign scenarios to raters in balanced blocks.

    Args:
        scenarios: Their ids.
        raters: The raters.
        seed: The seed of everything random here.
        per_rater: The largest number of scenarios of a rater; the exact number where
            `raters_per_scenario` is not given.
        raters_per_scenario: The exact number of raters of a scenario. Where only `per_rater` is
            given, the number follows from it, and scenarios differ by one rater at most. Where
            neither is given, everybody rates everything.

    Returns:
        Rater id → the scenarios of that rater, in a random order.

    Raises:
        ReviewError: There are no scenarios or no raters, a number is out of range, or the raters
            cannot give as many ratings as the scenarios need.
    """
    blocks = _blocks(scenarios, raters, Random(seed), per_rater, raters_per_scenario)
    return {
        rater.id: tuple(
            _shuffled([s for s in scenarios if rater.id in blocks[s]], Random(f"{seed}/{rater.id}"))
        )
        for rater in raters
    }


def separate_families(names: Sequence[str], family: Mapping[str, str]) -> tuple[str, ...]:
    """Return scenarios in their order, changed only to keep those of a family apart.

    A rater who reads a scenario and its twin one after the other would rate the difference. If a
    family is too large for the rest to separate it, some of its scenarios stay neighbours.

    Args:
        names: Scenarios in a seat's order.
        family: Scenario → the base of its twins; a scenario without a key is a family of its own.
    """
    left, order, last = list(names), list[str](), ""
    while left:
        families = [family.get(name, name) for name in left]
        (largest, n), *_ = Counter(families).most_common(1)
        if 2 * n > len(left) and largest != last:  # else some of its members become neighbours
            k = families.index(largest)
        else:
            k = next((k for k, each in enumerate(families) if each != last), 0)
        last = families[k]
        order.append(left.pop(k))
    return tuple(order)


def _blocks(
    scenarios: Sequence[str],
    raters: Sequence[Rater],
    random: Random,
    per_rater: int | None,
    raters_per_scenario: int | None,
) -> Mapping[str, set[str]]:
    if not scenarios or not raters:
        raise ReviewError(
            f"a study needs scenarios and raters, but has {counted(len(scenarios), 'scenario')} "
            f"and {counted(len(raters), 'rater')}"
        )
    n, m = len(scenarios), len(raters)
    for name, asked, most in (
        ("scenarios per rater", per_rater, n),
        ("raters per scenario", raters_per_scenario, m),
    ):
        if asked is not None and not 1 <= asked <= most:
            raise ReviewError(f"{name} must be 1 to {most}, not {asked}")
    places = n * (raters_per_scenario or m)
    if per_rater is not None:
        if raters_per_scenario is None:
            places = m * per_rater
        elif places > m * per_rater:
            raise ReviewError(
                f"{n} scenarios with {raters_per_scenario} raters each need {places} ratings, but "
                f"{m} raters with at most {per_rater} each give only {m * per_rater}",
                hint=f"give each {-(-places // m)}, or find {-(-places // per_rater)} raters",
            )
    blocks = _greedy(scenarios, raters, places, random)
    _exchange(blocks, raters, random)
    return blocks


def _greedy(
    scenarios: Sequence[str], raters: Sequence[Rater], places: int, random: Random
) -> dict[str, set[str]]:
    """Return scenario → its raters, chosen one by one: always one with the most left to do.

    Of several such raters, one is taken whose role is rarest among those chosen for the scenario,
    and who shares the fewest scenarios with them. Since those with the most left come first, the
    numbers left stay within one of each other, so that the last scenario can still be given to
    different raters.
    """
    left = dict(zip([r.id for r in raters], _even(places, len(raters), random), strict=True))
    role = {rater.id: rater.role for rater in raters}
    together: Counter[frozenset[str]] = Counter()
    blocks: dict[str, set[str]] = {}
    sizes = _even(places, len(scenarios), random)
    for scenario, size in zip(_shuffled(scenarios, random), sizes, strict=True):
        block: list[str] = []
        for _ in range(size):
            free = _shuffled([rater for rater in left if rater not in block], random)
            roles = Counter(role[other] for other in block)
            block.append(
                min(
                    free,
                    key=lambda rater: (
                        -left[rater],
                        roles[role[rater]],
                        sum(together[frozenset((rater, other))] for other in block),
                    ),
                )
            )
            left[block[-1]] -= 1
        together.update(frozenset(pair) for pair in combinations(block, 2))
        blocks[scenario] = set(block)
    return blocks


def _exchange(blocks: dict[str, set[str]], raters: Sequence[Rater], random: Random) -> None:
    """Swap scenarios between two raters if roles, or else pairs of raters, get more even.

    Unevenness is the sum of squared counts. A swap changes neither the number of a scenario's
    raters nor the number of a rater's scenarios.
    """
    role = {rater.id: rater.role for rater in raters}
    together = Counter(
        frozenset(pair) for block in blocks.values() for pair in combinations(block, 2)
    )
    roles = {scenario: Counter(role[r] for r in block) for scenario, block in blocks.items()}
    names = sorted(blocks)
    if len(names) < 2:
        return

    def cost(first: str, second: str, leaves: str, comes: str) -> int:
        """Return half the change in cost if `comes`, now in `second`, replaces `leaves`."""
        a, b = role[leaves], role[comes]
        uneven = 0 if a == b else roles[first][b] - roles[first][a] + 1
        pairs = sum(
            together[frozenset((comes, other))] - together[frozenset((leaves, other))] + 1
            for other in blocks[first] - {leaves} - blocks[second]
        )
        return _ROLES_FIRST * uneven + pairs

    for _ in range(_EXCHANGES * sum(len(block) for block in blocks.values())):
        first, second = random.sample(names, 2)
        out = sorted(blocks[first] - blocks[second])
        into = sorted(blocks[second] - blocks[first])
        if not out or not into:
            continue
        one, other = random.choice(out), random.choice(into)
        if cost(first, second, one, other) + cost(second, first, other, one) >= 0:
            continue
        for block, leaves, comes in ((first, one, other), (second, other, one)):
            stay = blocks[block] - {leaves}
            together.subtract(frozenset((leaves, mate)) for mate in stay)
            together.update(frozenset((comes, mate)) for mate in stay)
            blocks[block] = stay | {comes}
            roles[block].subtract([role[leaves]])
            roles[block].update([role[comes]])


def _even(total: int, n: int, random: Random) -> list[int]:
    """Split `total` into n whole numbers that differ by 1 at most, the larger at random places."""
    return _shuffled([total // n + (i < total % n) for i in range(n)], random)


def _shuffled(values: Sequence[T], random: Random) -> list[T]:
    shuffled = list(values)
    random.shuffle(shuffled)
    return shuffled
