"""Where the spread of scores comes from: the scenario, the response, or its grading.

The same response graded again need not get the same points. Of ten gradings the lowest is then
lower than the response deserves, so a worst of n is partly the grader's. A drawn part of the
responses, graded again, tells how much.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError
from careeval.stats.intervals import TAIL, Interval, count_clusters, draw_counts, with_width
from careeval.stats.score import FloatArray, positive_points, require_complete

BoolArray = NDArray[np.bool_]

MIN_REGRADED = 10
"""With fewer responses graded twice, nothing is said of the grader's noise."""

# Below this, in squared fractions of the maximum, a variance is rounding.
_NO_VARIANCE = 1e-24

# More resamples than this without a response graded twice, and there is no interval.
_MAX_UNKNOWN = 0.05


class Reliability(NamedTuple):
    """How alike the responses to one scenario are, and what that makes of repeating them.

    Attributes:
        icc: ICC(1), the correlation of two responses to one scenario; -1 / (K - 1) to 1.
        design_effect: 1 + (K - 1) icc: how many times fewer independent responses the K responses
            to each of G scenarios are worth than G K.
        of_mean: Reliability of a scenario's mean over its K responses, at most 1; below 0 where
            responses differ more within scenarios than scenarios do.
    """

    icc: float
    design_effect: float
    of_mean: float


class GradingVariance(NamedTuple):
    """Variance of a response's points over its rubric's maximum, by where it comes from; none < 0.

    Attributes:
        scenario: Between scenarios, of their expected points.
        response: Between responses to one scenario, if the grader did not vary.
        grading: Between gradings of one response.
    """

    scenario: float
    response: float
    grading: float

    @property
    def shares(self) -> GradingVariance:
        """The three as fractions of their sum."""
        total = self.scenario + self.response + self.grading
        return GradingVariance(*(part / total for part in self))


def response_reliability(values: FloatArray) -> Reliability:
    """How well K responses to each scenario tell the scenarios apart.

    Args:
        values: One number a response, shape (n_scenarios, n_epochs), at least two of each.

    Returns:
        From the one-way analysis of variance; `of_mean` is (MSB - MSW) / MSB, which is the
        Spearman-Brown formula for K responses.

    Raises:
        StatsError: There are fewer than two scenarios or epochs, a response is missing, or the
            scenarios' means do not vary.

    Source: Shrout and Fleiss 1979, doi:10.1037/0033-2909.86.2.420, ICC(1,1) and ICC(1,k); Kish
    1965, Survey Sampling (design effect).
    """
    n_epochs = _require_repeats(values)
    between = n_epochs * float(values.mean(axis=1).var(ddof=1))
    within = float(values.var(axis=1, ddof=1).mean())
    if between <= _NO_VARIANCE:
        raise StatsError("the scenarios' means do not vary")
    icc = (between - within) / (between + (n_epochs - 1) * within)
    return Reliability(icc, 1 + (n_epochs - 1) * icc, (between - within) / between)


def grading_variance(values: FloatArray, varies: BoolArray | None = None) -> GradingVariance:
    """Splits the variance of graded responses by moments: gradings within responses in scenarios.

    Grading is the variance between gradings of one response, over those graded more than once,
    times the share of the responses whose grading can vary at all: so all three are means over all
    responses, and it does not matter whether what cannot vary was among those graded again.
    Response is the variance within scenarios of the first gradings, less grading. Scenario is the
    variance of the scenarios' means of first gradings, less what both leave in a mean. A difference
    below 0 is put at 0, so a small response or scenario variance is on average overstated.

    Args:
        values: Points over the maximum, shape (n_scenarios, n_epochs, n_gradings). The first
            gradings are complete; NaN elsewhere = not graded again.
        varies: Whether a grading of the response can vary, shape (n_scenarios, n_epochs); one
            without words has 0 points whoever looks, and is not counted as graded again. Without
            it all can.

    Returns:
        Variances in squared fractions of the maximum.

    Raises:
        StatsError: Fewer than ten responses were graded twice, there are fewer than two scenarios
            or epochs, a response is missing, or nothing varies.

    Source: Searle, Casella and McCulloch 1992, Variance Components, §5 (nested, by moments).
    """
    first = values[:, :, 0]
    n_epochs = _require_repeats(first)
    between = _between_gradings(values, varies)
    grading = float(between.squares.sum() / between.degrees.sum() * between.share.mean())
    within = float(first.var(axis=1, ddof=1).mean())
    scenario = float(first.mean(axis=1).var(ddof=1)) - within / n_epochs
    parts = GradingVariance(max(scenario, 0.0), max(within - grading, 0.0), grading)
    if sum(parts) <= _NO_VARIANCE:
        raise StatsError("nothing varies")
    return parts


def noise_corrected_worst(
    points: FloatArray, maxima: FloatArray, varies: BoolArray | None = None
) -> float:
    """The worst of n if the grader did not vary: without what noise of grading adds to it.

    The grading variance is taken out of every scenario's variance within: from all the same amount,
    from those that have less all they have, so that what is left averages the response variance.
    Each response is then moved towards its scenario's mean until the scenario has the variance
    left to it, and the lowest of each counts.

    Known bias, in simulations of five-item rubrics (+2 to -2, maximum 3; 100 scenarios, ten
    responses, a fifth graded three times; 2, 5 and 10% of judgments flipped): against the worst of
    n of each response's expected points it is off by -0.04 to +0.04 of the maximum, where the plain
    minimum is off by -0.03 to -0.54. It is too low where responses hardly differ, too high where
    they differ much and the grader is poor. With seven actions it was off by -0.02 to +0.03, and
    the plain minimum by -0.02 to -0.33. To take the same share from every scenario is worse: -0.13
    to 0. What a grader gets wrong each time, no repeat shows: flips also pull the expected points
    to the middle of the rubric, and this is not corrected.

    Args:
        points: Points, shape (n_scenarios, n_epochs, n_gradings). The first gradings are complete;
            NaN elsewhere = not graded again.
        maxima: Positive points, shape (n_scenarios,).
        varies: As of `grading_variance`.

    Returns:
        A fraction of the maximum, from the worst of n to `pooled_score` of the first gradings.

    Raises:
        StatsError: As `grading_variance`, though nothing needs to vary, and where there are no
            positive points.
    """
    once = np.ones((1, len(maxima)))
    return float(_corrected(points, maxima, varies, once)[0])


def noise_corrected_worst_interval(
    points: FloatArray,
    maxima: FloatArray,
    varies: BoolArray | None = None,
    *,
    seed: int = 0,
    draws: int = 1_000,
) -> Interval:
    """Percentile interval of `noise_corrected_worst` over resampled scenarios.

    Each resample estimates the grading variance anew, from its own scenarios. The known bias of the
    value is in it: in the same simulations it held the worst of n of the expected points in 87 to
    97% of banks, least often where responses do not differ and the grader is poor.

    Args:
        points: As of `noise_corrected_worst`.
        maxima: Positive points, shape (n_scenarios,).
        varies: As of `grading_variance`.
        seed: Seed of the resampling; equal seeds resample the same scenarios.
        draws: Number of resamples.

    Returns:
        Fractions of the maximum.

    Raises:
        StatsError: As `noise_corrected_worst`, and where there are fewer than five scenarios, no
            variation, or too few scenarios with a response graded twice.
    """
    n_scenarios = count_clusters(points[:, :, 0], maxima)
    values = _corrected(points, maxima, varies, draw_counts(n_scenarios, seed, draws))
    if np.isnan(values).mean() > _MAX_UNKNOWN:
        raise StatsError("too few scenarios have a response that was graded twice")
    low, high = np.nanquantile(values, [TAIL, 1 - TAIL])
    return with_width(float(low), float(high))


def _corrected(
    points: FloatArray, maxima: FloatArray, varies: BoolArray | None, counts: FloatArray
) -> FloatArray:
    """`noise_corrected_worst` where each scenario is there so often, one a row of counts.

    NaN where a row holds no response graded twice.
    """
    first = points[:, :, 0]
    _require_repeats(first)
    between = _between_gradings(points, varies)
    positive_points(maxima)
    within = first.var(axis=1, ddof=1)
    known = counts @ between.degrees
    unknown = np.full(len(counts), np.nan)
    of_one = np.divide(counts @ between.squares, known, out=unknown, where=known > 0)
    grading = of_one * (counts @ between.share) / counts.sum(axis=1)
    taken = np.minimum(within, _even_share(within, grading, counts)[:, np.newaxis])
    kept = 1 - np.divide(taken, within, out=np.ones_like(taken), where=within > 0)
    mean = first.mean(axis=1)
    lowest = mean - np.sqrt(kept) * (mean - first.min(axis=1))
    return np.asarray((counts * lowest).sum(axis=1) / (counts @ maxima))


def _even_share(within: FloatArray, grading: FloatArray, counts: FloatArray) -> FloatArray:
    """The most to take from a scenario, so that what is taken averages the grading variance.

    The average of min(within, most) rises with `most` in straight pieces from one scenario's
    variance to the next; the piece that reaches `grading` is found, and the place on it. Where all
    that there is does not reach it, this is the largest variance.

    Args:
        within: Variance within each scenario, shape (n_scenarios,).
        grading: Of each draw, shape (draws,).
        counts: How often each scenario is there, shape (draws, n_scenarios).

    Returns:
        Shape (draws,).
    """
    order = np.argsort(within)
    ends = np.concatenate([[0.0], within[order]])
    counts = np.insert(counts[:, order], 0, 0, axis=1)
    wanted = grading * counts.sum(axis=1)
    wider = counts.sum(axis=1, keepdims=True) - np.cumsum(counts, axis=1)
    reached = np.cumsum(counts * ends, axis=1) + wider * ends
    last = np.maximum((reached < wanted[:, np.newaxis]).sum(axis=1) - 1, 0)
    row = np.arange(len(counts))
    sharing, missing = wider[row, last], wanted - reached[row, last]
    beyond = np.divide(missing, sharing, out=np.zeros_like(missing), where=sharing > 0)
    return np.asarray(ends[last] + beyond)


class _Between(NamedTuple):
    """What gradings of one response tell, by scenario, shape (n_scenarios,) each.

    Attributes:
        squares: Squared deviations of the gradings from their response's mean, summed.
        degrees: Their degrees of freedom, summed.
        share: Of the responses whose grading can vary.
    """

    squares: FloatArray
    degrees: FloatArray
    share: FloatArray


def _between_gradings(values: FloatArray, varies: BoolArray | None) -> _Between:
    if varies is None:
        varies = np.ones(values.shape[:2], dtype=np.bool_)
    gradings = np.where(varies, (~np.isnan(values)).sum(axis=2), 1)
    n_twice = int((gradings > 1).sum())
    if n_twice < MIN_REGRADED:
        raise StatsError(f"responses graded twice: {n_twice}, of at least {MIN_REGRADED} needed")
    deviations = (values - np.nanmean(values, axis=2, keepdims=True)) * varies[:, :, np.newaxis]
    return _Between(
        np.nansum(deviations**2, axis=(1, 2)),
        (gradings - 1).sum(axis=1).astype(np.float64),
        varies.mean(axis=1),
    )


def _require_repeats(values: FloatArray) -> int:
    """Number of epochs, once there are at least two scenarios and epochs and nothing is missing."""
    if min(values.shape) < 2:
        raise StatsError("fewer than two scenarios or epochs: there is nothing to tell apart")
    require_complete(values)
    return int(values.shape[1])
