"""Krippendorff's alpha: how far a panel's ratings can be told from chance.

Where nearly all ratings are the same there is little that raters could agree about, and alpha is
low though they agree in most pairs: it stands beside `identical_pairs`, never alone.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from careeval.errors import StatsError
from careeval.stats.agreement.jackknife import jackknife_interval
from careeval.stats.agreement.panel_ratings import (
    level_counts,
    mean_raters,
    rated_twice,
    ratings_given,
)
from careeval.stats.intervals import Interval
from careeval.stats.resampling import clustered
from careeval.stats.score import FloatArray

Metric = Literal["nominal", "ordinal", "interval"]
"""How far apart two categories are: apart or not, by ranks, or by their difference."""


def krippendorff_alpha(ratings: FloatArray, metric: Metric) -> float:
    """Krippendorff's alpha: 1 less the disagreement seen over that expected by chance.

    Args:
        ratings: Shape (n_items, n_raters). An item with fewer than two ratings is left out.
        metric: How far apart two ratings are.

    Returns:
        1 where all raters of each item agree, 0 where no better than chance; below 0 where worse.

    Raises:
        StatsError: No item has two ratings, or all ratings are the same.

    Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability".
    """
    values = ratings_given(ratings)
    sums = _coincidences(rated_twice(level_counts(ratings, values)))
    alpha = float(_alphas(sums.sum(axis=0, keepdims=True), values, metric)[0])
    if np.isnan(alpha):
        raise StatsError("all ratings are the same: there is nothing to agree about")
    return alpha


def krippendorff_interval(
    ratings: FloatArray,
    metric: Metric,
    *,
    clusters: ArrayLike | None = None,
) -> Interval:
    """Interval of `krippendorff_alpha`, a jackknife over items, and not Krippendorff's bootstrap.

    Args:
        ratings: As of `krippendorff_alpha`.
        metric: As of `krippendorff_alpha`.
        clusters: The scenario of each item, shape (n_items,), where several share one.

    Raises:
        StatsError: No item has two ratings; else as `jackknife_interval`, of the clusters that have
            such an item.

    Source: Zapf et al. 2016, doi:10.1186/s12874-016-0200-9 (who find that his covers about 60%).
    """
    values = ratings_given(ratings)
    counts = level_counts(ratings, values)
    sums = clustered(_coincidences(rated_twice(counts)), clusters, counts.sum(axis=1) >= 2)
    alphas = partial(_alphas, values=values, metric=metric)
    return jackknife_interval(alphas, sums, mean_raters(counts))


def _coincidences(counts: FloatArray) -> FloatArray:
    """What each item adds to the coincidence matrix, flat, shape (n_items, n_values²)."""
    n_items, n_values = counts.shape
    pairs = counts[:, :, np.newaxis] * (counts[:, np.newaxis, :] - np.eye(n_values))
    others = counts.sum(axis=1) - 1
    return np.asarray((pairs / others[:, np.newaxis, np.newaxis]).reshape(n_items, -1))


def _alphas(sums: FloatArray, values: FloatArray, metric: Metric) -> FloatArray:
    """Alpha of each flat coincidence matrix; NaN where all its ratings are the same."""
    seen = sums.reshape(len(sums), len(values), len(values))
    totals = seen.sum(axis=2)
    distances = _distances(totals, values, metric)
    observed = (seen * distances).sum(axis=(1, 2)) * (totals.sum(axis=1) - 1)
    expected = (totals[:, :, np.newaxis] * totals[:, np.newaxis, :] * distances).sum(axis=(1, 2))
    ratio = np.full(len(sums), np.nan)
    np.divide(observed, expected, out=ratio, where=expected > 0)
    return np.asarray(1 - ratio)


def _distances(totals: FloatArray, values: FloatArray, metric: Metric) -> FloatArray:
    """Squared distance of each two values, shape (n_tables or 1, n_values, n_values)."""
    if metric == "nominal":
        return 1 - np.eye(len(values))[np.newaxis]
    # Krippendorff's ordinal distance is that of the categories' middle ranks.
    places = values[np.newaxis] if metric == "interval" else totals.cumsum(axis=1) - totals / 2
    return np.asarray((places[:, :, np.newaxis] - places[:, np.newaxis, :]) ** 2)
