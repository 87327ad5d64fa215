"""The pooled score over all scenarios, the score of each epoch, and their standard deviation.

All functions start from two arrays: `points`, shape (n_scenarios, n_epochs), the points of each
response, NaN = missing response; and `maxima`, shape (n_scenarios,), the sum of each rubric's
positive points. Scores are fractions of the maximum, unclipped: at most 1, and below 0 if errors
outweigh the rest.

A mean leaves missing responses out. A minimum or standard deviation without them would be another
number, so both are unknown.
"""

from __future__ import annotations

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
