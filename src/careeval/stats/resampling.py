"""Intervals of numbers that are made from sums over scenarios, or over rated items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from careeval.errors import StatsError
from careeval.stats.intervals import TAIL, Interval, count_clusters, draw_counts, with_width
from careeval.stats.score import FloatArray

# More resamples than this without a value, and there is no interval.
_MAX_UNKNOWN = 0.05


def resampled_interval(
    statistic: Callable[[FloatArray], FloatArray],
    sums: FloatArray,
    *,
    seed: int = 0,
    draws: int = 10_000,
) -> Interval:
    """Percentile interval over resampled clusters, each kept or left out with all it holds.

    Args:
        statistic: From sums over the clusters of a resample, shape (draws, n_sums), to one number
            a resample, shape (draws,); NaN where it is not defined.
        sums: What each cluster adds to the sums, shape (n_clusters, n_sums).
        seed: Seed of the resampling; equal seeds resample the same clusters.
        draws: Number of resamples.

    Returns:
        An interval in the unit of the statistic.

    Raises:
        StatsError: There are fewer than five clusters, the statistic is not defined in more than
            one of twenty resamples, or it does not vary.

    Source: Field and Welsh 2007, JRSS-B 69:369.
    """
    n_clusters = count_clusters(sums.sum(axis=1), np.ones(len(sums)))
    values = statistic(draw_counts(n_clusters, seed, draws) @ sums)
    if np.isnan(values).mean() > _MAX_UNKNOWN:
        raise StatsError("not defined in more than one of twenty resamples")
    low, high = np.nanquantile(values, [TAIL, 1 - TAIL])
    return with_width(float(low), float(high))


def by_cluster(rows: FloatArray, clusters: ArrayLike) -> FloatArray:
    """The sum of the rows of each cluster, shape (n_clusters, n_columns).

    Args:
        rows: Shape (n_rows, n_columns).
        clusters: A number or a name a row, equal within a cluster; shape (n_rows,).

    Raises:
        StatsError: A row has no cluster.
    """
    names, place = np.unique(np.asarray(clusters), return_inverse=True)
    if len(place) != len(rows):
        raise StatsError(f"{len(place)} cluster names for {len(rows)} rows")
    totals = np.zeros((len(names), rows.shape[1]))
    np.add.at(totals, place, rows)
    return totals


def clustered(rows: FloatArray, clusters: ArrayLike | None, kept: NDArray[np.bool_]) -> FloatArray:
    """Rows as they are, or summed by cluster where clusters are given.

    Args:
        rows: Shape (n_kept, n_columns).
        clusters: A number or a name for every row there was, equal within a cluster.
        kept: Which of all rows these are, shape (n_rows,).

    Raises:
        StatsError: There are not as many cluster names as rows.
    """
    if clusters is None:
        return rows
    names = np.asarray(clusters)
    if len(names) != len(kept):
        raise StatsError(f"{len(names)} cluster names for {len(kept)} rows")
    return by_cluster(rows, names[kept])
