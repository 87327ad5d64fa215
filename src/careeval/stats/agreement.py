"""How far two readings of the same things agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from careeval.errors import StatsError


def weighted_kappa(first: Sequence[int], second: Sequence[int], levels: Sequence[int]) -> float:
    """Cohen's kappa with quadratic weights: two levels apart weigh four times one level.

    Args:
        first: One reading's levels.
        second: The other's, of the same things in the same order.
        levels: Every level that could have been given, ascending and evenly spaced.

    Returns:
        1 where all agree, 0 where no better than chance given both readings' own shares; below 0
        where worse.

    Raises:
        StatsError: Nothing was read, a level is not among the levels, or each reading gave one and
            the same level throughout, so that chance alone would agree.

    Source: Cohen 1968, doi:10.1037/h0026256; Fleiss and Cohen 1973, doi:10.1177/001316447303300309.
    """
    if len(first) != len(second):
        raise StatsError(f"{len(first)} readings against {len(second)}")
    if not first:
        raise StatsError("nothing was read")
    place = {level: i for i, level in enumerate(levels)}
    if unknown := sorted({*first, *second} - set(place)):
        raise StatsError(f"level {unknown[0]} is not among {list(levels)}")
    counts = np.zeros((len(levels), len(levels)))
    for a, b in zip(first, second, strict=True):
        counts[place[a], place[b]] += 1
    distance = np.subtract.outer(np.arange(len(levels)), np.arange(len(levels))) ** 2
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(first)
    by_chance = float((distance * expected).sum())
    if by_chance == 0:
        raise StatsError("both readings gave one and the same level throughout")
    return 1 - float((distance * counts).sum()) / by_chance
