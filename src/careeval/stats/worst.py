"""The worst result of a system that is asked more than once.

The lowest of n responses depends on n: a system asked more often looks worse. So the whole curve is
given, the lowest of k for k = 1 … n, each the mean over all ways to draw k of the n. That mean has
a closed form, and is unbiased for the lowest of k new responses.

As in `careeval.stats.score`, `points` has shape (n_scenarios, n_epochs) and `maxima` has shape
(n_scenarios,). A missing response raises an error: the lowest of the others would be another
number.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np

from careeval.errors import StatsError
from careeval.stats.score import FloatArray, epoch_scores, require_complete


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
