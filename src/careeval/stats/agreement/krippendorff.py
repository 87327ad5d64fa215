"""Krippendorff's alpha: agreement of a panel beyond chance.

If nearly all ratings are the same, alpha is low though most pairs of raters agree, so never publish
it without `identical_pairs`.
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
from careeval.stats.resampling import sum_if_clustered
from careeval.stats.score import FloatArray

RatingDistance = Literal["nominal", "ordinal", "interval"]
"""The difference of categories: nominal 0 or 1, ordinal by ranks, interval by subtraction."""


def krippendorff_alpha(ratings: FloatArray, metric: RatingDistance) -> float:
    """Return Krippendorff's alpha: 1 minus observed disagreement / disagreement by chance.

    Args:
        ratings: Shape (n_items, n_raters). An item with fewer than two ratings is left out.
        metric: How the distance between two ratings is measured.

    Returns:
        1 if all raters of each item agree, 0 if no better than chance, below 0 if worse.

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
    metric: RatingDistance,
    *,
    clusters: ArrayLike | None = None,
) -> Interval:
    """Return the interval of `krippendorff_alpha`, by a jackknife over items.

    It is not Krippendorff's bootstrap.

    Args:
        ratings: As for `krippendorff_alpha`.
        metric: As for `krippendorff_alpha`.
        clusters: The scenario of each item, shape (n_items,), if several share one.

    Raises:
        StatsError: No item has two ratings; or as for `jackknife_interval`, with the clusters that
            have such an item.

    Source: Zapf et al. 2016, doi:10.1186/s12874-016-0200-9 (on the bootstrap's
    coverage of about 60%).
    """
    values = ratings_given(ratings)
    counts = level_counts(ratings, values)
    sums = sum_if_clustered(_coincidences(rated_twice(counts)), clusters, counts.sum(axis=1) >= 2)
    alphas = partial(_alphas, values=values, metric=metric)
    return jackknife_interval(alphas, sums, mean_raters(counts))


def _coincidences(counts: FloatArray) -> FloatArray:
    """Return each item's part of the coincidence matrix, flat, shape (n_items, n_values²)."""
    n_items, n_values = counts.shape
    pairs = counts[:, :, np.newaxis] * (counts[:, np.newaxis, :] - np.eye(n_values))
    others = counts.sum(axis=1) - 1
    return np.asarray((pairs / others[:, np.newaxis, np.newaxis]).reshape(n_items, -1))


def _alphas(sums: FloatArray, values: FloatArray, metric: RatingDistance) -> FloatArray:
    """Return alpha of each flat coincidence matrix; NaN if all its ratings are the same."""
    coincidences = sums.reshape(len(sums), len(values), len(values))
    totals = coincidences.sum(axis=2)
    distances = _distances(totals, values, metric)
    observed = (coincidences * distances).sum(axis=(1, 2)) * (totals.sum(axis=1) - 1)
    expected = (totals[:, :, np.newaxis] * totals[:, np.newaxis, :] * distances).sum(axis=(1, 2))
    ratio = np.full(len(sums), np.nan)
    np.divide(observed, expected, out=ratio, where=expected > 0)
    return np.asarray(1 - ratio)


def _distances(totals: FloatArray, values: FloatArray, metric: RatingDistance) -> FloatArray:
    """Return the squared distance between every two values, shape (n_tables, n_values, n_values).

    The first axis is 1 if the distances are the same for all tables.
    """
    if metric == "nominal":
        return 1 - np.eye(len(values))[np.newaxis]
    # Krippendorff's ordinal distance is that of the categories' middle ranks.
    places = values[np.newaxis] if metric == "interval" else totals.cumsum(axis=1) - totals / 2
    return np.asarray((places[:, :, np.newaxis] - places[:, np.newaxis, :]) ** 2)
