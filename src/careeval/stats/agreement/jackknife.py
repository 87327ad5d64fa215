"""Intervals of agreement coefficients, each scenario left out in turn.

With few scenarios, percentiles over resamples are too narrow: with eight raters and eight scenarios
they hold the truth in 83 to 86% of studies instead of 95. An agreement's error also
depends on its height: where the scenarios of a study happen to be alike, alpha and its error are
both too low. On Fisher's scale, which the number of raters shapes, the error is nearly the same at
any height, and Student's t there holds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from careeval.errors import StatsError
from careeval.stats.intervals import TAIL, Interval, count_clusters, with_width
from careeval.stats.score import FloatArray

LOWEST_END = -1.0
"""An interval goes no further down: below, there is no more disagreement to be told apart."""


def jackknife_interval(
    statistic: Callable[[FloatArray], FloatArray], sums: FloatArray, n_raters: float
) -> Interval:
    """Jackknife interval of an agreement, by t with G - 1 degrees of freedom on Fisher's scale.

    That scale is log((1 + (k - 1) a) / (1 - a)) for an agreement a of one rater with another among
    k; of the mean of k raters it is -log(1 - a), which is that of k = 1. Its ends are put back on
    the coefficient's own scale, where the upper never passes 1 and the lower stops at -1, or at the
    coefficient where that is lower.

    Args:
        statistic: From sums over clusters, shape (n_sets, n_sums), to one coefficient a set, shape
            (n_sets,); NaN where it is not defined.
        sums: What each cluster adds to the sums, shape (n_clusters, n_sums).
        n_raters: k, at least 1; where items have unequally many raters, their mean.

    Returns:
        An interval on the coefficient's scale.

    Raises:
        StatsError: There are fewer than five clusters; the coefficient does not vary; or it is not
            defined, or is 1, once a cluster is left out.

    Source: Efron and Stein 1981, doi:10.1214/aos/1176345462 (jackknife); Fisher 1925, "Statistical
    Methods for Research Workers", §40 (the scale for k raters). Its coverage is simulated in
    `bench/agreement.py`.
    """
    n = count_clusters(sums.sum(axis=1), np.ones(len(sums)))
    total = sums.sum(axis=0)
    value = float(statistic(total[np.newaxis])[0])
    without = statistic(total - sums)
    if np.isnan(value):
        raise StatsError("the coefficient is not defined: there is no variation")
    if np.isnan(without).any():
        raise StatsError("without one of the scenarios the coefficient is not defined")
    if value == 1 and (without == 1).all():
        raise StatsError("no variation to take an interval from")
    with np.errstate(divide="ignore", invalid="ignore"):
        centre, moved = _fisher(np.array([value]), n_raters)[0], _fisher(without, n_raters)
    if not (np.isfinite(centre) and np.isfinite(moved).all()):
        raise StatsError("without one of the scenarios the coefficient is at the end of its scale")
    error = np.sqrt((n - 1) / n * np.sum((moved - centre) ** 2))
    margin = special.stdtrit(n - 1, 1 - TAIL) * error
    low, high = _back(np.array([centre - margin, centre + margin]), n_raters)
    return with_width(max(float(low), min(LOWEST_END, value)), float(high))


def _fisher(values: FloatArray, k: float) -> FloatArray:
    return np.asarray(np.log1p((k - 1) * values) - np.log1p(-values))


def _back(z: FloatArray, k: float) -> FloatArray:
    # as 1 - k / (e^z + k - 1), which does not overflow at the upper end
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray(1 - k / (np.exp(z) + k - 1))
