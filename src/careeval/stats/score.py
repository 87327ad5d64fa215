"""The pooled score over all scenarios, the score of each epoch, and the worst of several responses.

All functions start from two arrays: `points`, shape (n_scenarios, n_epochs), the points of each
response, NaN = missing response; and `maxima`, shape (n_scenarios,), the sum of each rubric's
positive points. Scores are fractions of the maximum, unclipped: at most 1, and below 0 if errors
outweigh the rest.

A mean leaves missing responses out. A minimum or standard deviation without them would be another
number, so both are unknown.

The lowest of n responses depends on n: a system asked more often looks worse. So the whole curve is
given, the lowest of k for k = 1 … n, each the mean over all ways to draw k of the n. That mean has
a closed form, and is unbiased for the lowest of k new responses.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError

FloatArray = NDArray[np.float64]

NO_MAXIMUM = "there are no positive points to earn, so the score has no maximum"


def pooled_score(points: FloatArray, maxima: FloatArray) -> float:
    """Return the headline score: the sum of the scenarios' mean points / the sum of the maxima.

    Args:
        points: Points, shape (n_scenarios, n_epochs). NaN = missing response, left out of its
            scenario's mean; a scenario without any response is left out of both sums.
        maxima: Positive points, shape (n_scenarios,). A scenario with 0 can only lose points.

    Returns:
        A fraction of the maximum.

    Raises:
        StatsError: There is no response, or there are no positive points.

    Source: CareEval (HRI Companion '26) §3.4.
    """
    points, maxima = _answered(points, maxima)
    return float(np.nanmean(points, axis=1).sum() / positive_points(maxima))


def epoch_scores(points: FloatArray, maxima: FloatArray) -> FloatArray:
    """Return the score of each epoch over all scenarios.

    Args:
        points: Points, shape (n_scenarios, n_epochs); NaN = missing response.
        maxima: Positive points, shape (n_scenarios,).

    Returns:
        Fractions of the maximum, shape (n_epochs,). NaN for an epoch with a missing response, as
        its score would be over fewer scenarios.

    Raises:
        StatsError: There are no positive points.
    """
    return np.asarray(points.sum(axis=0) / positive_points(maxima))


def sd_epochs(points: FloatArray, maxima: FloatArray) -> float:
    """Return the standard deviation of the epoch scores, on these scenarios.

    It tells how much the score varies if the same scenarios are asked again, and nothing about
    other scenarios, so never compare two systems by it.

    Args:
        points: Points, shape (n_scenarios, n_epochs).
        maxima: Positive points, shape (n_scenarios,).

    Returns:
        A fraction of the maximum, with n_epochs - 1 in the denominator of the variance.

    Raises:
        StatsError: There are fewer than two epochs, a response is missing, or there are no positive
            points.
    """
    require_complete(points)
    if points.shape[1] < 2:
        raise StatsError("fewer than two epochs: one run has no spread")
    return float(epoch_scores(points, maxima).std(ddof=1))


def _answered(points: FloatArray, maxima: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the points and maxima of the scenarios with at least one response."""
    answered = ~np.isnan(points).all(axis=1)
    if not answered.any():
        raise StatsError("no scenario has a response, so there is no score")
    return points[answered], maxima[answered]


def require_complete(points: FloatArray) -> None:
    """Raise `StatsError` if a response is missing, or if there are no responses."""
    n_missing = int(np.isnan(points).sum())
    if n_missing:
        raise StatsError(f"missing responses: {n_missing} of {points.size}")
    if not points.size:
        raise StatsError("there is no response")


def positive_points(maxima: FloatArray) -> float:
    """Return the sum of the maxima; raise `StatsError` if it is not above 0."""
    total = float(maxima.sum())
    if total <= 0:
        raise StatsError(NO_MAXIMUM, hint="score scenarios with an item of +1 or +2 points")
    return total


def worst_epoch(points: FloatArray, maxima: FloatArray) -> float:
    """Return the lowest of the epoch scores.

    Args:
        points: Points, shape (n_scenarios, n_epochs).
        maxima: Positive points, shape (n_scenarios,).

    Returns:
        A fraction of the maximum, at most `pooled_score`, and at least the score that the lowest
        points of each scenario would give.

    Raises:
        StatsError: A response is missing, there is none, or there are no positive points.

    Source: CareEval (HRI Companion '26) Fig. 2, "worst-of-ten runs".
    """
    require_complete(points)
    return float(epoch_scores(points, maxima).min())


def lowest_of_k(values: FloatArray) -> FloatArray:
    """Return the mean of the lowest of k, over all ways to draw k of n values, for k = 1 … n.

    With x₁ ≤ … ≤ xₙ the sorted values, it is Σᵢ xᵢ C(n - i, k - 1) / C(n, k): xᵢ is the lowest if
    the other k - 1 are drawn from the n - i above it. Unbiased for the expected lowest of k.

    Args:
        values: Shape (…, n): the n values of one scenario along the last axis.

    Returns:
        Shape (…, n), in the unit of the values; the last axis is k - 1. It is the mean at k = 1 and
        the lowest of all at k = n.

    Raises:
        StatsError: A value is missing, or there is none.

    Source: HealthBench (arXiv:2505.08775), worst-at-k.
    """
    require_complete(values)
    return np.asarray(np.sort(values, axis=-1) @ _chances_lowest(values.shape[-1]))


def any_of_k(chances: FloatArray) -> FloatArray:
    """Return the chance that at least one of k responses has an event, for k = 1 … n.

    It is the mean over all ways to draw k of the n responses, 1 - e_k(1 - p) / C(n, k), with e_k
    the sum of the products of k factors. If each p is 0 or 1 and c of n responses have the event,
    this is 1 - C(n - c, k) / C(n, k).

    Args:
        chances: Chance that each response has the event, shape (n_scenarios, n).

    Returns:
        Fractions from 0 to 1, shape (n_scenarios, n); the second axis is k - 1.

    Raises:
        StatsError: There is no scenario or no response, a chance is unknown, or it is not from 0
            to 1.

    Source: pass@k, Chen et al. 2021, arXiv:2107.03374; the sum over products is ours.
    """
    require_complete(chances)
    if chances.min() < 0 or chances.max() > 1:
        raise StatsError(
            f"chances are {chances.min()} to {chances.max()}; they must be from 0 to 1"
        )
    n_scenarios, n = chances.shape
    products = np.zeros((n_scenarios, n + 1))
    products[:, 0] = 1
    for free in (1 - chances).T:
        products[:, 1:] += products[:, :-1] * free[:, np.newaxis]
    drawn = np.array([comb(n, k) for k in range(1, n + 1)], dtype=np.float64)
    return np.asarray(1 - products[:, 1:] / drawn)


@lru_cache(maxsize=16)
def _chances_lowest(n: int) -> FloatArray:
    """Return the chance that the i-th lowest of n is the lowest of k drawn from the n.

    It is in row i - 1 and column k - 1. Cached, so read-only.
    """
    chances = np.array(
        [[comb(n - i, k - 1) / comb(n, k) for k in range(1, n + 1)] for i in range(1, n + 1)]
    )
    chances.flags.writeable = False
    return chances
