"""Variance of points between scenarios, between responses, and between gradings.

A response that is graded again need not get the same points. So part of a worst of n is
noise of the grader. Grading a random sample of the responses again tells how much.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError
from careeval.stats.intervals import TAIL, Interval, count_scenarios, draw_counts, with_width
from careeval.stats.score import FloatArray, positive_points, require_complete

BoolArray = NDArray[np.bool_]

MIN_REGRADED = 10
"""The fewest responses graded twice from which the grading variance is estimated."""

# A variance below this, in squared fractions of the maximum, is rounding error.
_NO_VARIANCE = 1e-24

# With a larger share of resamples without a response graded twice, there is no interval.
_MAX_UNKNOWN = 0.05


class Reliability(NamedTuple):
    """The correlation of the K responses to one scenario, and the gain from repeating them."""

    icc: float  # ICC(1), the correlation of two responses to one scenario; -1 / (K - 1) to 1
    design_effect: float
    """1 + (K - 1) icc. K responses to each of G scenarios count for as many as G K / design_effect
    independent responses."""
    of_mean: float
    """Reliability of a scenario's mean over its K responses, at most 1; below 0 if responses vary
    more within scenarios than between them."""


class GradingVariance(NamedTuple):
    """Components of the variance of a response's points / its rubric's maximum, each at least 0."""

    scenario: float  # Variance between scenarios, of their expected points
    response: float  # Variance between responses to one scenario, if the grader did not vary
    grading: float  # Variance between gradings of one response

    @property
    def shares(self) -> GradingVariance:
        """The three components as fractions of their sum."""
        total = self.scenario + self.response + self.grading
        return GradingVariance(*(part / total for part in self))


def response_reliability(values: FloatArray) -> Reliability:
    """Return the reliability of K responses to each scenario.

    Args:
        values: One number per response, shape (n_scenarios, n_epochs), at least two of each.

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
    """Return the variance components: gradings nested in responses, nested in scenarios.

    They are estimated by moments. `grading` is the variance between gradings of one response, over
    responses graded more than once, times the share of responses whose grading can vary. So all
    three are means over all responses, whether or not responses that cannot vary were graded again.
    `response` is the variance within scenarios of the first gradings, minus `grading`. `scenario`
    is the variance of the scenarios' means of first gradings, minus the part of the other two in a
    mean. A difference below 0 is set to 0, so a small `response` or `scenario` is overstated on
    average.

    Args:
        values: Points / maximum, shape (n_scenarios, n_epochs, n_gradings). The first gradings are
            complete; NaN elsewhere = not graded again.
        varies: Whether the grading of a response can vary, shape (n_scenarios, n_epochs). A
            response without words always has 0 points, and does not count as graded again. By
            default all can vary.

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
    """Return the worst of n corrected for the noise of the grader.

    The grading variance is subtracted from the variance within each scenario: the same amount from
    each, or all that a scenario has if that is less, so that the remainder averages the response
    variance.
    Each response is then moved towards its scenario's mean until the scenario has the remaining
    variance, and the lowest response of each scenario counts.

    Known bias, in simulations of five-item rubrics (+2 to -2, maximum 3; 100 scenarios, ten
    responses, a fifth graded three times; 2, 5 and 10% of judgments flipped): against the worst of
    n of each response's expected points, the error is -0.04 to +0.04 of the maximum, and that of
    the plain minimum -0.03 to -0.54. The result is too low if responses hardly differ, and too high
    if they differ much and the grader is poor. With seven actions the error was -0.02 to +0.03, and
    that of the plain minimum -0.02 to -0.33. Subtracting the same share from every scenario is
    worse: -0.13 to 0. Errors that the grader makes every time are not corrected: flips also pull
    the expected points to the middle of the rubric.

    Args:
        points: Points, shape (n_scenarios, n_epochs, n_gradings). The first gradings are complete;
            NaN elsewhere = not graded again.
        maxima: Positive points, shape (n_scenarios,).
        varies: As for `grading_variance`.

    Returns:
        A fraction of the maximum, from the worst of n to `pooled_score` of the first gradings.

    Raises:
        StatsError: As for `grading_variance`, except that nothing needs to vary; or there are no
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
    """Return the percentile interval of `noise_corrected_worst` over resampled scenarios.

    Each resample estimates the grading variance from its own scenarios. The interval shares the
    known bias of the value: in the same simulations it contained the worst of n of the expected
    points in 87 to 97% of banks, least often if responses do not differ and the grader is poor.

    Args:
        points: As for `noise_corrected_worst`.
        maxima: Positive points, shape (n_scenarios,).
        varies: As for `grading_variance`.
        seed: Seed of the resampling; equal seeds resample the same scenarios.
        draws: Number of resamples.

    Returns:
        Fractions of the maximum.

    Raises:
        StatsError: As for `noise_corrected_worst`, or there are fewer than five scenarios, no
            variation, or too few scenarios with a response graded twice.
    """
    n_scenarios = count_scenarios(points[:, :, 0], maxima)
    values = _corrected(points, maxima, varies, draw_counts(n_scenarios, seed, draws))
    if np.isnan(values).mean() > _MAX_UNKNOWN:
        raise StatsError("too few scenarios have a response that was graded twice")
    low, high = np.nanquantile(values, [TAIL, 1 - TAIL])
    return with_width(float(low), float(high))


def _corrected(
    points: FloatArray, maxima: FloatArray, varies: BoolArray | None, counts: FloatArray
) -> FloatArray:
    """Return `noise_corrected_worst` of each resample; NaN if it has no response graded twice.

    A row of `counts` says how often a resample contains each scenario.
    """
    first = points[:, :, 0]
    _require_repeats(first)
    between = _between_gradings(points, varies)
    positive_points(maxima)
    within = first.var(axis=1, ddof=1)
    degrees = counts @ between.degrees
    unknown = np.full(len(counts), np.nan)
    variance = np.divide(counts @ between.squares, degrees, out=unknown, where=degrees > 0)
    grading = variance * (counts @ between.share) / counts.sum(axis=1)
    removed = np.minimum(within, _even_share(within, grading, counts)[:, np.newaxis])
    kept = 1 - np.divide(removed, within, out=np.ones_like(removed), where=within > 0)
    mean = first.mean(axis=1)
    lowest = mean - np.sqrt(kept) * (mean - first.min(axis=1))
    return np.asarray((counts * lowest).sum(axis=1) / (counts @ maxima))


def _even_share(within: FloatArray, grading: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the most to subtract from any scenario, so that the mean subtracted is `grading`.

    The mean of min(within, x) is piecewise linear in x, with a knot at each scenario's
    variance, and is solved for `grading`. If it never reaches `grading`, the result is the largest
    variance.

    Args:
        within: Variance within each scenario, shape (n_scenarios,).
        grading: Grading variance of each resample, shape (draws,).
        counts: How often each resample contains each scenario, shape (draws, n_scenarios).

    Returns:
        Variances, shape (draws,).
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
    """Sums over repeated gradings of each scenario's responses, shape (n_scenarios,) each."""

    squares: FloatArray  # Sum of the squared deviations of gradings from their response's mean
    degrees: FloatArray  # Sum of the degrees of freedom of these deviations
    share: FloatArray  # Share of the responses whose grading can vary


def _between_gradings(values: FloatArray, varies: BoolArray | None) -> _Between:
    if varies is None:
        varies = np.ones(values.shape[:2], dtype=np.bool_)
    gradings = np.where(varies, (~np.isnan(values)).sum(axis=2), 1)
    n_twice = int((gradings > 1).sum())
    if n_twice < MIN_REGRADED:
        raise StatsError(
            f"responses graded twice or more: {n_twice}; at least {MIN_REGRADED} are needed: grade "
            "more of them again"
        )
    deviations = (values - np.nanmean(values, axis=2, keepdims=True)) * varies[:, :, np.newaxis]
    return _Between(
        np.nansum(deviations**2, axis=(1, 2)),
        (gradings - 1).sum(axis=1).astype(np.float64),
        varies.mean(axis=1),
    )


def _require_repeats(values: FloatArray) -> int:
    """Return the number of epochs.

    Raises:
        StatsError: There are fewer than two scenarios or epochs, or a response is missing.
    """
    if min(values.shape) < 2:
        raise StatsError("fewer than two scenarios or epochs: there is nothing to tell apart")
    require_complete(values)
    return int(values.shape[1])
