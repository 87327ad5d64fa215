"""95% intervals that treat the scenario as the unit, whatever was sampled inside it.

Responses to one scenario resemble each other, so ten of them are not ten observations: taken as
independent, an interval meant to hold 95% of the time holds about 70%. Here a scenario is drawn, or
varies, as a whole, with all its epochs. The intervals are about scenarios like these, except that
of `sd_runs_interval`, which is about asking these scenarios again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import special

from careeval.errors import StatsError
from careeval.stats.score import FloatArray, sd_runs

MIN_CLUSTERS = 5
"""Fewer scenarios than this have no interval."""

MIN_BOOTSTRAP_CLUSTERS = 20
"""Below this a ratio's bootstrap interval is too narrow, and the t distribution is used."""

_TAIL = 0.025
_Z = float(special.ndtri(1 - _TAIL))

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
    n_scenarios = _count_clusters(numerators, denominators)
    if n_scenarios >= MIN_BOOTSTRAP_CLUSTERS:
        return bootstrap_interval(
            lambda ratios: ratios[:, 0],
            numerators[:, np.newaxis],
            denominators,
            seed=seed,
            draws=draws,
        )
    ratio, standard_error = _linearised_ratio(numerators, denominators)
    margin = float(special.stdtrit(n_scenarios - 1, 1 - _TAIL)) * standard_error
    return _with_width(ratio - margin, ratio + margin)


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
    _count_clusters(numerators, denominators)
    values = statistic(resampled_ratios(numerators, denominators, seed=seed, draws=draws))
    low, high = np.quantile(values, [_TAIL, 1 - _TAIL])
    return _with_width(float(low), float(high))


def resampled_ratios(
    numerators: FloatArray, denominators: FloatArray, *, seed: int, draws: int
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
    counts = _draw_counts(len(denominators), seed, draws)
    totals = counts @ denominators
    if (totals <= 0).any():
        raise StatsError("too few scenarios have positive points")
    return np.asarray((counts @ numerators) / totals[:, np.newaxis])


@lru_cache(maxsize=4)
def _draw_counts(n_scenarios: int, seed: int, draws: int) -> FloatArray:
    """How often each resample holds each scenario, shape (draws, n_scenarios).

    Kept, since every interval of a summary resamples the same scenarios; read-only, since it is
    shared.
    """
    chances = np.full(n_scenarios, 1 / n_scenarios)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(n_scenarios, chances, size=draws).astype(np.float64)
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
    _count_clusters(points, maxima)
    n_epochs = points.shape[1]
    sd = sd_runs(points, maxima)
    low, high = sd * np.sqrt((n_epochs - 1) / special.chdtri(n_epochs - 1, [_TAIL, 1 - _TAIL]))
    return _with_width(float(low), float(high))


def rate_interval(counts: FloatArray, trials: FloatArray) -> Interval:
    """Interval of a rate of events that cluster by scenario, such as severe errors per opportunity.

    The exact interval for as many independent trials as these are worth: p (1 - p) / SE², at most
    their number, times (z / t)² with G - 1 degrees of freedom for the error in SE itself.

    With no event SE would be 0, for unknown; then each scenario counts as one trial, and the
    interval is 0 .. 1 - 0.025^(1 / G). It is two-sided: the one-sided "rule of three", 3 / G, is
    lower. A few events, one a scenario, do not look clustered either, and would be worth all their
    trials; so the upper limit is never below the one with no event. The same holds in the mirror,
    where every trial is an event.

    Args:
        counts: Events, shape (n_scenarios,), 0 to `trials`.
        trials: Trials, shape (n_scenarios,). A scenario with none is no cluster, and is left out.

    Returns:
        Fractions of the trials, 0 to 1.

    Raises:
        StatsError: There is no trial, a number is missing, or fewer than five scenarios have
            trials.

    Source: Korn and Graubard 1998, Survey Methodology 24:193; Clopper and Pearson 1934, Biometrika
    26:404.
    """
    tried = trials != 0
    if not tried.any():
        raise StatsError("no opportunity: the rate is 0 of 0")
    counts, trials = counts[tried], trials[tried]
    n_scenarios = _count_clusters(counts, trials)
    with_none = clopper_pearson(0, n_scenarios)
    with_all = clopper_pearson(n_scenarios, n_scenarios)
    rate, standard_error = _linearised_ratio(counts, trials)
    if rate == 0:
        return with_none
    if rate == 1:
        return with_all
    worth = float(trials.sum())
    if standard_error > 0:
        worth = min(worth, rate * (1 - rate) / standard_error**2)
    worth *= (_Z / float(special.stdtrit(n_scenarios - 1, 1 - _TAIL))) ** 2
    low, high = clopper_pearson(rate * worth, worth)
    return Interval(min(low, with_all.low), max(high, with_none.high))


def clopper_pearson(events: float, trials: float) -> Interval:
    """Exact interval of a proportion of independent trials; neither number needs to be whole.

    Args:
        events: Events, 0 to `trials`.
        trials: Trials, more than 0.

    Returns:
        Fractions, 0 to 1.

    Source: Clopper and Pearson 1934, Biometrika 26:404, as quantiles of the beta distribution.
    """
    low = special.betaincinv(events, trials - events + 1, _TAIL) if events > 0 else 0.0
    high = special.betaincinv(events + 1, trials - events, 1 - _TAIL) if events < trials else 1.0
    return Interval(float(low), float(high))


def _linearised_ratio(numerators: FloatArray, denominators: FloatArray) -> tuple[float, float]:
    """A ratio of sums and its standard error, sqrt(G / (G - 1) Σ (y - R m)²) / Σ m."""
    n_scenarios, total = len(denominators), float(denominators.sum())
    if total <= 0:
        raise StatsError("too few scenarios have positive points")
    ratio = float(numerators.sum()) / total
    squares = float(np.sum((numerators - ratio * denominators) ** 2))
    return ratio, float(np.sqrt(n_scenarios / (n_scenarios - 1) * squares)) / total


def _count_clusters(numerators: FloatArray, denominators: FloatArray) -> int:
    """Number of scenarios, once there are enough and each has its numbers."""
    if np.isnan(numerators).any() or np.isnan(denominators).any():
        raise StatsError("a scenario has no value")
    if len(denominators) < MIN_CLUSTERS:
        raise StatsError("fewer than five scenarios")
    return len(denominators)


def _with_width(low: float, high: float) -> Interval:
    if not high - low >= _NO_WIDTH:
        raise StatsError("no variation to take an interval from")
    return Interval(low, high)
