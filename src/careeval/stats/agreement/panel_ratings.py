"""Ratings of items by a panel, perhaps incomplete.

Their shape is (n_items, n_raters); NaN means not rated: not asked by design, or left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from careeval.errors import StatsError
from careeval.stats.score import FloatArray


def ratings_given(ratings: FloatArray) -> FloatArray:
    """Return the different ratings that were given, ascending."""
    return np.asarray(np.unique(ratings[~np.isnan(ratings)]))


def level_counts(ratings: FloatArray, levels: ArrayLike) -> FloatArray:
    """Return the number of raters who gave each item each level, shape (n_items, n_levels).

    Raises:
        StatsError: A rating is not among the levels.
    """
    is_off = ~np.isnan(ratings) & ~np.isin(ratings, levels)
    if is_off.any():
        allowed = ", ".join(f"{level:g}" for level in np.asarray(levels).tolist())
        raise StatsError(f"a rating of {ratings[is_off][0]:g} is not among the levels {allowed}")
    counts = ratings[:, :, np.newaxis] == np.asarray(levels, dtype=np.float64)
    return np.asarray(counts.sum(axis=1), dtype=np.float64)


def rated_twice(counts: FloatArray) -> FloatArray:
    """Return the counts of the items with at least two ratings; raise `StatsError` if none has."""
    paired = counts[counts.sum(axis=1) >= 2]
    if not len(paired):
        raise StatsError("no item has two ratings")
    return np.asarray(paired)


def mean_raters(counts: FloatArray) -> float:
    """Return the mean number of raters of an item, over the items with at least two ratings."""
    return float(rated_twice(counts).sum(axis=1).mean())
