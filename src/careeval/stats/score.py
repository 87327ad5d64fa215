"""The score of a bank, and of its runs.

Everything here is made from two arrays: `points`, shape (n_scenarios, n_epochs), the points of each
response, NaN = missing response; and `maxima`, shape (n_scenarios,), the sum of each rubric's
positive points. Scores are fractions of the maximum, unclipped: at most 1, and below 0 where the
errors outweigh the rest. A run is one epoch over all scenarios: a column of `points`.

A missing response is left out of a mean. A minimum or a spread over the epochs that happen to be
there would be another number, so those raise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError

FloatArray = NDArray[np.float64]


def pooled_score(points: FloatArray, maxima: FloatArray) -> float:
    """The headline: points over all scenarios, mean of epochs, divided by the positive points.

    Args:
        points: Points, shape (n_scenarios, n_epochs). NaN = missing response, left out of its
            scenario's mean; a scenario with no response at all is left out of both sums.
        maxima: Positive points, shape (n_scenarios,). A scenario with 0 can only cost points here.

    Returns:
        A fraction of the maximum.

    Raises:
        StatsError: There is no response, or there are no positive points.

    Source: CareEval (HRI Companion '26) §3.4.
    """
    points, maxima = _answered(points, maxima)
    return float(np.nanmean(points, axis=1).sum() / positive_points(maxima))


def epoch_scores(points: FloatArray, maxima: FloatArray) -> FloatArray:
    """The score of each run.

    Args:
        points: Points, shape (n_scenarios, n_epochs); NaN = missing response.
        maxima: Positive points, shape (n_scenarios,).

    Returns:
        Fractions of the maximum, shape (n_epochs,). NaN for a run with a missing response: its
        score would be over other scenarios than the rest.

    Raises:
        StatsError: There are no positive points.
    """
    return np.asarray(points.sum(axis=0) / positive_points(maxima))


def sd_epochs(points: FloatArray, maxima: FloatArray) -> float:
    """Standard deviation of the run scores: run noise, on these scenarios.

    It says how far the score moves when the same scenarios are asked again, and nothing about other
    scenarios: two systems are never compared by it.

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
    """The scenarios with at least one response."""
    answered = ~np.isnan(points).all(axis=1)
    if not answered.any():
        raise StatsError("no response")
    return points[answered], maxima[answered]


def require_complete(points: FloatArray) -> None:
    """Raise `StatsError`, with how many, where a response is missing or there is none at all."""
    n_missing = int(np.isnan(points).sum())
    if n_missing:
        raise StatsError(f"missing responses: {n_missing} of {points.size}")
    if not points.size:
        raise StatsError("no response")


def positive_points(maxima: FloatArray) -> float:
    """Sum of the maxima, more than 0; `StatsError` where it is not."""
    total = float(maxima.sum())
    if total <= 0:
        raise StatsError("no positive points: the score has no maximum")
    return total
