"""How far two readings of the same things agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from careeval.errors import StatsError
from careeval.stats.intervals import TAIL, Interval, count_clusters, draw_counts, with_width
from careeval.stats.score import FloatArray

# More resamples than this without a kappa, and there is no interval.
_MAX_UNKNOWN = 0.05


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


def cohen_kappa(counts: FloatArray) -> float:
    """Cohen's kappa of two nominal readings: agreement beyond what their own shares would give.

    Args:
        counts: Things that the one reading put in class i and the other in class j, at [i, j];
            shape (n_classes, n_classes).

    Returns:
        1 where all agree, 0 where no better than chance; below 0 where worse.

    Raises:
        StatsError: Nothing was read, or each reading gave one and the same class throughout.

    Source: Cohen 1960, doi:10.1177/001316446002000104.
    """
    if not counts.sum():
        raise StatsError("nothing was read")
    kappa = float(_kappas(counts[np.newaxis])[0])
    if np.isnan(kappa):
        raise StatsError("both readings gave one and the same class throughout")
    return kappa


def kappa_interval(counts: FloatArray, *, seed: int = 0, draws: int = 10_000) -> Interval:
    """Percentile interval of `cohen_kappa` over resampled scenarios.

    Args:
        counts: As of `cohen_kappa`, of each scenario: shape (n_scenarios, n_classes, n_classes).
        seed: Seed of the resampling; equal seeds resample the same scenarios.
        draws: Number of resamples.

    Returns:
        From -1 to 1.

    Raises:
        StatsError: There are fewer than five scenarios, kappa is not defined in more than one of
            twenty resamples, or it does not vary.
    """
    n_scenarios = count_clusters(counts.sum(axis=(1, 2)), np.ones(len(counts)))
    drawn = draw_counts(n_scenarios, seed, draws) @ counts.reshape(n_scenarios, -1)
    kappas = _kappas(drawn.reshape(-1, *counts.shape[1:]))
    if np.isnan(kappas).mean() > _MAX_UNKNOWN:
        raise StatsError("both readings gave one and the same class in too many resamples")
    low, high = np.nanquantile(kappas, [TAIL, 1 - TAIL])
    return with_width(float(low), float(high))


def _kappas(tables: FloatArray) -> FloatArray:
    """Of each table, shape (n_tables, n_classes, n_classes); NaN where chance alone agrees."""
    total = tables.sum(axis=(1, 2))
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    agreed = np.trace(tables, axis1=1, axis2=2) * total
    beyond = total**2 - by_chance
    kappas = np.full(len(tables), np.nan)
    return np.asarray(np.divide(agreed - by_chance, beyond, out=kappas, where=beyond > 0))
