"""95% intervals that treat the scenario as the unit, whatever was sampled inside it.

Responses to one scenario resemble each other, so ten of them are not ten observations: taken as
independent, an interval meant to hold 95% of the time holds about 70%. Here a scenario is drawn, or
varies, as a whole, with all its epochs. The intervals are about scenarios like these, except that
of `sd_runs_interval`, which is about asking these scenarios again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import special

from careeval.errors import StatsError
from careeval.stats.score import FloatArray, sd_runs

MIN_CLUSTERS = 5
"""Fewer scenarios than this have no interval."""

MIN_BOOTSTRAP_CLUSTERS = 20
"""Below this a ratio's bootstrap interval is too narrow, and the t distribution is used."""

# Where no more numerators than this are open, every way to settle them is tried.
_MAX_OPEN = 8

TAIL = 0.025
"""What a 95% interval leaves out on either side."""

# Below this, in fractions of the maximum, a width is rounding and not variation.
_NO_WIDTH = 1e-12


class Interval(NamedTuple):
    """A two-sided 95% interval, in the unit of the number it is about."""

    low: float
    high: float


def ratio_interval(
    numerators: FloatArray, denominators: FloatArray, *, seed: int = 0, draws: int = 10_000
) -> Interval:
    """Interval of a ratio of sums over scenarios, such as the pooled score.

    From 20 scenarios on, percentiles of the ratio over resampled scenarios. Below, the ratio plus
    or minus t with G - 1 degrees of freedom times its linearised standard error; this one is not
    clipped, and can pass the end of the scale.

    Args:
        numerators: One number a scenario, already the mean over its epochs, shape (n_scenarios,).
        denominators: Positive points or opportunities, shape (n_scenarios,).
        seed: Seed of the resampling; equal seeds resample the same scenarios.
        draws: Number of resamples.

    Returns:
        An interval in the unit of the ratio.

    Raises:
        StatsError: There are fewer than five scenarios, one has no number, or they do not vary: no
            width would claim certainty.

    Source: Miller 2024, arXiv:2411.00640 (clustered errors); Field and Welsh 2007, JRSS-B 69:369
    (scenarios are resampled and their epochs are not).
    """
    n_scenarios = count_clusters(numerators, denominators)
    if n_scenarios >= MIN_BOOTSTRAP_CLUSTERS:
        return bootstrap_interval(
            lambda ratios: ratios[:, 0],
            numerators[:, np.newaxis],
            denominators,
            seed=seed,
            draws=draws,
        )
    ratio, standard_error = linearised_ratio(numerators, denominators)
    margin = float(special.stdtrit(n_scenarios - 1, 1 - TAIL)) * standard_error
    return with_width(ratio - margin, ratio + margin)


def bounded_ratio_interval(low: FloatArray, high: FloatArray, denominators: FloatArray) -> Interval:
    """An interval that holds `ratio_interval` of any numerators from `low` to `high`.

    From 20 scenarios on it is that of both ends: the ratio of every resample rises with each
    numerator. Below, numerators in between, some low and some high, can vary more than either end.
    The lower end of an interval is concave in the numerators, the upper convex, so that the
    furthest is at a corner: all are tried where up to eight numerators are open. With more, the
    standard error is bounded by the triangle inequality: it is that of the middle and at most
    sqrt(G / (G - 1)) ‖P‖ ‖h‖ / Σ m, with h half the widths and ‖P‖ = sqrt(G) ‖m‖ / Σ m the norm of
    the projection that takes numerators to their residuals.

    Args:
        low: The least that each may be, shape (n_scenarios,).
        high: The most.
        denominators: Positive points or opportunities, shape (n_scenarios,).

    Returns:
        An interval in the unit of the ratio.

    Raises:
        StatsError: As `ratio_interval`, at either end.
    """
    if np.array_equal(low, high):
        return ratio_interval(low, denominators)
    count_clusters(low, denominators)
    n_scenarios, total = count_clusters(high, denominators), float(denominators.sum())
    if n_scenarios >= MIN_BOOTSTRAP_CLUSTERS:
        ratios = resampled_ratios(np.column_stack([low, high]), denominators)
        at_low, at_high = (_percentiles(end) for end in ratios.T)
        return Interval(at_low.low, at_high.high)
    for end in (low, high):
        ratio_interval(end, denominators)  # for what it raises: an end that does not vary has none
    t = float(special.stdtrit(n_scenarios - 1, 1 - TAIL))
    if np.count_nonzero(low != high) <= _MAX_OPEN:
        found = [linearised_ratio(corner, denominators) for corner in _corners(low, high)]
        return Interval(
            min(ratio - t * error for ratio, error in found),
            max(ratio + t * error for ratio, error in found),
        )
    _, error = linearised_ratio((low + high) / 2, denominators)
    projection = np.sqrt(n_scenarios) * np.linalg.norm(denominators) / total
    reach = float(projection * np.linalg.norm((high - low) / 2)) / total
    margin = t * (error + float(np.sqrt(n_scenarios / (n_scenarios - 1))) * reach)
    return Interval(float(low.sum()) / total - margin, float(high.sum()) / total + margin)


def _corners(low: FloatArray, high: FloatArray) -> Iterator[FloatArray]:
    """Each way to take the low or the high of what differs."""
    for chosen in product(*({a, b} for a, b in zip(low.tolist(), high.tolist(), strict=True))):
        yield np.array(chosen)


def bootstrap_interval(
    statistic: Callable[[FloatArray], FloatArray],
    numerators: FloatArray,
    denominators: FloatArray,
    *,
    seed: int = 0,
    draws: int = 10_000,
) -> Interval:
    """Percentile interval, over resampled scenarios, of a statistic of run scores.

    `bootstrap_interval(lambda runs: runs.min(axis=1), points, maxima)` is the interval of
    `worst_run`. It is not for a spread of runs: resampled scenarios repeat each other's noise,
    which widens the spread by a factor near the square root of two (see `sd_runs_interval`). Below
    20 scenarios the interval is rather narrow.

    Args:
        statistic: From run scores, shape (draws, n_epochs), to one number a draw, shape (draws,).
        numerators: Points, shape (n_scenarios, n_epochs).
        denominators: Positive points, shape (n_scenarios,).
        seed: Seed of the resampling; equal seeds resample the same scenarios.
        draws: Number of resamples.

    Returns:
        An interval in the unit of the statistic.

    Raises:
        StatsError: There are fewer than five scenarios, a number is missing, or the statistic does
            not vary.
    """
    count_clusters(numerators, denominators)
    return _percentiles(
        statistic(resampled_ratios(numerators, denominators, seed=seed, draws=draws))
    )


def _percentiles(values: FloatArray) -> Interval:
    low, high = np.quantile(values, [TAIL, 1 - TAIL])
    return with_width(float(low), float(high))


def resampled_ratios(
    numerators: FloatArray, denominators: FloatArray, *, seed: int = 0, draws: int = 10_000
) -> FloatArray:
    """Ratios of sums, column by column, each row over one resample of the scenarios.

    A resample is as many scenarios as there are, drawn with replacement. Drawn as counts, it makes
    all resamples one matrix product.

    Args:
        numerators: Shape (n_scenarios, n_columns).
        denominators: Shape (n_scenarios,).
        seed: Seed of the resampling.
        draws: Number of resamples.

    Returns:
        Ratios, shape (draws, n_columns).

    Raises:
        StatsError: A resample has no positive points.
    """
    counts = draw_counts(len(denominators), seed, draws)
    if (denominators == denominators[0]).all():
        # every resample has the same sum, and half the work is saved
        total = len(denominators) * float(denominators[0])
        if total <= 0:
            raise StatsError("too few scenarios have positive points")
        return np.asarray((counts @ numerators) / total)
    # one product for both: the counts are many times larger than what they are multiplied with
    sums = counts @ np.column_stack([numerators, denominators])
    totals = sums[:, -1:]
    if (totals <= 0).any():
        raise StatsError("too few scenarios have positive points")
    return np.asarray(sums[:, :-1] / totals)


@lru_cache(maxsize=16)
def draw_counts(n_scenarios: int, seed: int, draws: int) -> FloatArray:
    """How often each resample holds each scenario, shape (draws, n_scenarios).

    Kept, since every interval of a summary resamples the same scenarios, and those of its parts
    other numbers of them; read-only, since it is shared.
    """
    drawn = np.random.default_rng(seed).integers(n_scenarios, size=(draws, n_scenarios))
    drawn += n_scenarios * np.arange(draws)[:, np.newaxis]
    flat = np.bincount(drawn.ravel(), minlength=draws * n_scenarios)
    counts = flat.reshape(draws, n_scenarios).astype(np.float64)
    counts.flags.writeable = False
    return counts


def sd_runs_interval(points: FloatArray, maxima: FloatArray) -> Interval:
    """Interval of the run noise, by chi-squared with n_epochs - 1 degrees of freedom.

    Asking the same scenarios again gives independent runs, and a run score, a sum over many
    scenarios, is close to normal. So the run is the unit here; the scenarios are held.

    Args:
        points: Points, shape (n_scenarios, n_epochs).
        maxima: Positive points, shape (n_scenarios,).

    Returns:
        Fractions of the maximum, around `sd_runs`.

    Raises:
        StatsError: As `sd_runs`, and where there are fewer than five scenarios or all runs score
            the same.
    """
    count_clusters(points, maxima)
    n_epochs = points.shape[1]
    sd = sd_runs(points, maxima)
    low, high = sd * np.sqrt((n_epochs - 1) / special.chdtri(n_epochs - 1, [TAIL, 1 - TAIL]))
    return with_width(float(low), float(high))


def linearised_ratio(numerators: FloatArray, denominators: FloatArray) -> tuple[float, float]:
    """A ratio of sums over scenarios and its standard error, sqrt(G / (G - 1) Σ (y - R m)²) / Σ m.

    Args:
        numerators: One number a scenario, shape (n_scenarios,), of at least two scenarios.
        denominators: Shape (n_scenarios,).

    Returns:
        The ratio R and its error, in the same unit.

    Raises:
        StatsError: There are no positive points.

    Source: Miller 2024, arXiv:2411.00640, with G / (G - 1).
    """
    n_scenarios, total = len(denominators), float(denominators.sum())
    if total <= 0:
        raise StatsError("too few scenarios have positive points")
    ratio = float(numerators.sum()) / total
    squares = float(np.sum((numerators - ratio * denominators) ** 2))
    return ratio, float(np.sqrt(n_scenarios / (n_scenarios - 1) * squares)) / total


def count_clusters(numerators: FloatArray, denominators: FloatArray) -> int:
    """Number of scenarios, once there are enough and each has its numbers."""
    if np.isnan(numerators).any() or np.isnan(denominators).any():
        raise StatsError("a scenario has no value")
    if len(denominators) < MIN_CLUSTERS:
        raise StatsError("fewer than five scenarios")
    return len(denominators)


def with_width(low: float, high: float) -> Interval:
    """An interval that has a width: one without would claim certainty, and raises StatsError."""
    if not high - low >= _NO_WIDTH:
        raise StatsError("no variation to take an interval from")
    return Interval(low, high)
