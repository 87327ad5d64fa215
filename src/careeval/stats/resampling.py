"""Bootstrap intervals of functions of sums over scenarios, and sums of rows by cluster."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from careeval.errors import StatsError
from careeval.stats.intervals import TAIL, Interval, count_clusters, draw_counts, with_width
from careeval.stats.score import FloatArray

# With a larger share of undefined resamples than this, there is no interval.
_MAX_UNKNOWN = 0.05


def resampled_interval(
    statistic: Callable[[FloatArray], FloatArray],
    sums: FloatArray,
    *,
    seed: int = 0,
    draws: int = 10_000,
) -> Interval:
    """Return the percentile interval of a statistic over resampled clusters.

    Args:
        statistic: Function from sums over the clusters of each resample, shape (draws, n_sums), to
            one number per resample, shape (draws,); NaN where it is not defined.
        sums: The contribution of each cluster to the sums, shape (n_clusters, n_sums).
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


def sum_by_cluster(rows: FloatArray, clusters: ArrayLike) -> FloatArray:
    """Return the sum of the rows of each cluster, shape (n_clusters, n_columns).

    Args:
        rows: Shape (n_rows, n_columns).
        clusters: A number or name of the cluster of each row, shape (n_rows,).

    Raises:
        StatsError: There are not as many cluster names as rows.
    """
    names, place = np.unique(np.asarray(clusters), return_inverse=True)
    if len(place) != len(rows):
        raise StatsError(f"{len(place)} cluster names for {len(rows)} rows: each row needs one")
    totals = np.zeros((len(names), rows.shape[1]))
    np.add.at(totals, place, rows)
    return totals


def sum_if_clustered(
    rows: FloatArray, clusters: ArrayLike | None, kept: NDArray[np.bool_]
) -> FloatArray:
    """Return the rows summed by cluster, or unchanged if `clusters` is `None`.

    Args:
        rows: The rows that were kept of a longer table, shape (n_kept, n_columns).
        clusters: A number or name of the cluster of each row of that table, shape (n_rows,).
        kept: Mask of the rows that were kept, shape (n_rows,).

    Raises:
        StatsError: There are not as many cluster names as rows.
    """
    if clusters is None:
        return rows
    names = np.asarray(clusters)
    if len(names) != len(kept):
        raise StatsError(f"{len(names)} cluster names for {len(kept)} rows: each row needs one")
    return sum_by_cluster(rows, names[kept])
