"""The share of pairs of raters who agree, and Gwet's chance-corrected coefficients.

Ratings have shape (n_items, n_raters). NaN means not rated: not asked by design, or left out. If
ratings are nearly all alike, as experts' ratings of good scenarios are, Gwet's coefficients rise
and Krippendorff's alpha falls, so publish both, and the share of identical pairs with them.

Intervals leave out each item in turn, with all its ratings, and keep the raters fixed: they are
about items like these. If items belong together, as those of one scenario do, pass `clusters`, and
each cluster is left out in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

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

MIN_PAIRS = 60
"""The fewest pairs of ratings for an interval: six items by five raters, or twenty by three.

With fewer pairs, an interval would contain the truth in some 85% of studies.
"""


class Gwet(NamedTuple):
    """An agreement coefficient and its two parts.

    Attributes:
        value: 1 if all agree, 0 if no better than chance, below 0 if worse.
        observed: Agreement of two raters of an item, weighted, mean over items; 0 to 1.
        by_chance: Agreement expected by chance; 0 if every rating is the same.
    """

    value: float
    observed: float
    by_chance: float


def identical_pairs(ratings: FloatArray) -> float:
    """Return the share of pairs of raters who gave an item the same rating, mean over items.

    Args:
        ratings: Shape (n_items, n_raters). An item with fewer than two ratings is left out.

    Returns:
        A fraction, 0 to 1.

    Raises:
        StatsError: No item has two ratings.
    """
    paired = rated_twice(level_counts(ratings, ratings_given(ratings)))
    return float(_pair_agreement(paired, np.eye(paired.shape[1])).mean())


def gwet_ac1(ratings: FloatArray, levels: Sequence[float]) -> Gwet:
    """Return Gwet's AC1: agreement on the same category, beyond chance.

    Args:
        ratings: Shape (n_items, n_raters). An item with one rating counts for the shares of the
            categories; an item without a rating is left out.
        levels: Every category of the scale, used or not: their number changes the value.

    Returns:
        The coefficient and its parts.

    Raises:
        StatsError: No item has two ratings, the scale has one category, or a rating is not on it.

    Source: Gwet 2008, doi:10.1348/000711006X126600; do not read it by the labels made for kappa
    (Vach and Gerke 2023, doi:10.1016/j.mex.2023.102212).
    """
    return _coefficient(ratings, levels, _identity(levels))


def gwet_ac2(ratings: FloatArray, levels: Sequence[float]) -> Gwet:
    """Return Gwet's AC2 with quadratic weights: neighbouring categories agree in part.

    Args:
        ratings: As for `gwet_ac1`.
        levels: As for `gwet_ac1`, ascending and evenly spaced.

    Returns:
        The coefficient and its parts.

    Raises:
        StatsError: As for `gwet_ac1`.

    Source: Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition, Advanced Analytics; AC1,
    which it weights, is Gwet 2008, doi:10.1348/000711006X126600.
    """
    return _coefficient(ratings, levels, _quadratic(levels))


def gwet_ac1_interval(
    ratings: FloatArray,
    levels: Sequence[float],
    *,
    clusters: ArrayLike | None = None,
) -> Interval:
    """Return the interval of `gwet_ac1`, by a jackknife over items.

    Args:
        ratings: As for `gwet_ac1`.
        levels: As for `gwet_ac1`.
        clusters: The scenario of each item, shape (n_items,), if several share one.

    Raises:
        StatsError: As for `gwet_ac1` and `jackknife_interval`, or there are fewer pairs of
            ratings than `MIN_PAIRS`.
    """
    return _gwet_interval(ratings, levels, _identity(levels), clusters)


def gwet_ac2_interval(
    ratings: FloatArray,
    levels: Sequence[float],
    *,
    clusters: ArrayLike | None = None,
) -> Interval:
    """Return the interval of `gwet_ac2`, by a jackknife over items; see `gwet_ac1_interval`."""
    return _gwet_interval(ratings, levels, _quadratic(levels), clusters)


def _identity(levels: Sequence[float]) -> FloatArray:
    return np.eye(len(levels))


def _quadratic(levels: Sequence[float]) -> FloatArray:
    places = np.linspace(0, 1, len(levels))
    return np.asarray(1 - np.subtract.outer(places, places) ** 2)


def _rated(ratings: FloatArray, levels: Sequence[float]) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return how many raters gave each level, for items with any rating, and a mask of these.

    Raises:
        StatsError: The coefficient is not defined for these ratings.
    """
    if len(set(levels)) < 2:
        raise StatsError("the scale has fewer than two categories, so agreement is not defined")
    counts = level_counts(ratings, levels)
    rated_twice(counts)
    rated = counts.sum(axis=1) > 0
    return counts[rated], rated


def _coefficient(ratings: FloatArray, levels: Sequence[float], weights: FloatArray) -> Gwet:
    counts, _ = _rated(ratings, levels)
    parts = _gwet(_gwet_sums(counts, weights).sum(axis=0, keepdims=True), weights)
    return Gwet(*(float(part[0]) for part in parts))


def _gwet_interval(
    ratings: FloatArray,
    levels: Sequence[float],
    weights: FloatArray,
    clusters: ArrayLike | None,
) -> Interval:
    counts, rated = _rated(ratings, levels)
    sums = sum_if_clustered(_gwet_sums(counts, weights), clusters, rated)
    n_raters = counts.sum(axis=1)
    pairs = float((n_raters * (n_raters - 1) / 2).sum())
    if pairs < MIN_PAIRS:
        raise StatsError(f"fewer than {MIN_PAIRS} pairs of ratings: {pairs:.0f}")
    return jackknife_interval(lambda rows: _gwet(rows, weights)[0], sums, mean_raters(counts))


def _pair_agreement(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """Return, for items with pairs of raters, the mean weighted agreement over these pairs."""
    raters = counts.sum(axis=1)
    agreeing = (counts * (counts @ weights - 1)).sum(axis=1)
    return np.asarray(agreeing / (raters * (raters - 1)))


def _gwet_sums(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """Return, for each rated item: pair agreement, has pairs (0 or 1), 1, share of each level."""
    raters = counts.sum(axis=1)
    paired = raters >= 2
    agreement = np.zeros(len(counts))
    agreement[paired] = _pair_agreement(counts[paired], weights)
    return np.column_stack(
        [agreement, paired, np.ones(len(counts)), counts / raters[:, np.newaxis]]
    )


def _gwet(sums: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the coefficient, observed agreement and chance agreement of each row of sums."""
    with_pairs, shares = sums[:, 1], sums[:, 3:] / sums[:, [2]]
    observed = np.full(len(sums), np.nan)
    np.divide(sums[:, 0], with_pairs, out=observed, where=with_pairs > 0)
    n_levels = len(weights)
    spread = (shares * (1 - shares)).sum(axis=1)
    by_chance = weights.sum() / (n_levels * (n_levels - 1)) * spread
    return (observed - by_chance) / (1 - by_chance), observed, by_chance
