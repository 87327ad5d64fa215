"""Intervals by scenario: against known values, where they are refused, and for any data."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from careeval.errors import StatsError
from careeval.stats import (
    MIN_CLUSTERS,
    Interval,
    bootstrap_interval,
    bounded_ratio_interval,
    pooled_score,
    ratio_interval,
    sd_runs,
    sd_runs_interval,
    worst_run,
)
from careeval.stats.intervals import resampled_ratios
from careeval.stats.score import FloatArray

SEVERE_IN_TEN = np.array([10.0, 8, 3, 1, 0, 0, 0, 0, 0, 0])


def worst_of(runs: FloatArray) -> FloatArray:
    """The lowest run of each resample."""
    return np.asarray(runs.min(axis=1))


def half_width(interval: Interval) -> float:
    """Half of an interval that is symmetric about its value."""
    return (interval.high - interval.low) / 2


def sample_points(n_scenarios: int, n_epochs: int = 10) -> FloatArray:
    """Points up to 3, more alike within a scenario than between."""
    rng = np.random.default_rng(7)
    means = rng.normal(1, 1, size=(n_scenarios, 1))
    return np.clip(np.rint(means + rng.normal(0, 1, size=(n_scenarios, n_epochs))), -3, 3)


# The t method: few scenarios


def test_clustered_error_of_a_mean() -> None:
    """C06: over five scenarios of three runs, the half-width is t with 4 df times 0.14552586635."""
    runs = np.array(
        [[0.5, 0.7, 0.6], [0.1, 0.0, 0.3], [0.9, 0.8, 1.0], [0.4, 0.4, 0.1], [0.6, 0.9, 0.9]]
    )
    interval = ratio_interval(runs.mean(axis=1), np.ones(5))
    # 2.776445 is the 97.5% point of t with 4 degrees of freedom.
    assert half_width(interval) / 2.7764451051977987 == pytest.approx(0.14552586635295384)


def test_clustered_error_of_a_ratio() -> None:
    """C07: the interval of 7/19 over six scenarios is t with 5 df times 0.17421 either way."""
    interval = ratio_interval(np.array([2.0, -1, 3, 0, 1, 2]), np.array([3.0, 3, 4, 3, 2, 4]))
    assert sum(interval) / 2 == pytest.approx(7 / 19)
    assert half_width(interval) / 2.5705818366147395 == pytest.approx(0.17421158122578212)


def test_clustered_error_of_a_rate() -> None:
    """C18: 22 severe errors in 100 responses of ten scenarios have a clustered error of 0.118."""
    interval = ratio_interval(SEVERE_IN_TEN, np.full(10, 10.0))
    assert half_width(interval) / 2.2621571627409915 == pytest.approx(0.11813363431112901)


@given(
    st.integers(MIN_CLUSTERS, 19).flatmap(
        lambda n: st.tuples(
            arrays.arrays(np.int64, n, elements=st.integers(-3, 3)),
            arrays.arrays(np.int64, n, elements=st.integers(3, 6)),
            st.permutations(range(n)),
        )
    )
)
def test_t_interval_holds_its_value(data: tuple[FloatArray, FloatArray, list[int]]) -> None:
    """The t interval is around the ratio, whatever the order of the scenarios."""
    numerators, denominators, order = data[0].astype(float), data[1].astype(float), data[2]
    assume(np.ptp(numerators / denominators) > 0)
    interval = ratio_interval(numerators, denominators)
    assert interval.low < pooled_score(numerators[:, None], denominators) < interval.high
    again = ratio_interval(numerators[order], denominators[order])
    assert again == pytest.approx(interval, abs=1e-9)


# The bootstrap


def test_resamples_have_the_exact_variance() -> None:
    """C09: over all 27 resamples of means 0.1, 0.4 and 0.7 the variance is 0.02."""
    means = np.array([[0.1], [0.4], [0.7]])
    resampled = resampled_ratios(means, np.ones(3), seed=0, draws=20_000)
    # Σ (d - 0.4)² / 3² = 0.18 / 9; by chance it is off by about 0.0002.
    assert resampled.var() == pytest.approx(0.02, abs=0.001)
    assert resampled.mean() == pytest.approx(0.4, abs=0.005)


def test_bootstrap_is_like_t_with_many_scenarios() -> None:
    """Over 100 scenarios the bootstrap interval is the t interval within 5% of its width."""
    numerators = sample_points(100).mean(axis=1)
    low, high = ratio_interval(numerators, np.full(100, 3.0))
    mean, error = numerators.mean() / 3, stats.sem(numerators) / 3
    margin = float(stats.t.ppf(0.975, 99)) * error
    assert low == pytest.approx(mean - margin, abs=0.1 * margin)
    assert high == pytest.approx(mean + margin, abs=0.1 * margin)


def test_bootstrap_keeps_a_scenario_whole() -> None:
    """Ten copies of each response make an interval no narrower than one."""
    points, maxima = sample_points(30, 1), np.full(30, 3.0)
    once = bootstrap_interval(worst_of, points, maxima)
    assert bootstrap_interval(worst_of, np.repeat(points, 10, axis=1), maxima) == once


def test_seed_decides_the_draws() -> None:
    """The same seed gives the same interval, and another seed another one that is close."""
    numerators, maxima = sample_points(40).mean(axis=1), np.full(40, 3.0)
    first = ratio_interval(numerators, maxima, seed=1)
    assert ratio_interval(numerators, maxima, seed=1) == first
    other = ratio_interval(numerators, maxima, seed=2)
    assert other != first
    assert other == pytest.approx(first, abs=0.02)


def test_order_of_scenarios_is_bootstrap_noise() -> None:
    """Reversing the scenarios moves a bootstrap interval by no more than another seed does."""
    numerators, maxima = sample_points(40).mean(axis=1), np.full(40, 3.0)
    reverse = ratio_interval(numerators[::-1], maxima[::-1])
    assert reverse == pytest.approx(ratio_interval(numerators, maxima), abs=0.02)


def test_interval_of_the_worst_run() -> None:
    """The worst run of 60 scenarios lies within its bootstrap interval."""
    points, maxima = sample_points(60), np.full(60, 3.0)
    low, high = bootstrap_interval(worst_of, points, maxima)
    assert low < worst_run(points, maxima) < high


# Run noise


def test_interval_of_run_noise() -> None:
    """Ten runs hold the true spread between 0.688 and 1.826 times the one seen."""
    points, maxima = sample_points(60), np.full(60, 3.0)
    low, high = sd_runs_interval(points, maxima)
    # sqrt(9 / 19.0228) and sqrt(9 / 2.7004), the 97.5% and 2.5% points of chi-squared with 9 df.
    assert low / sd_runs(points, maxima) == pytest.approx(0.68783, abs=1e-4)
    assert high / sd_runs(points, maxima) == pytest.approx(1.82562, abs=1e-4)


def test_resampling_scenarios_inflates_run_noise() -> None:
    """The spread of runs over resampled scenarios is about √2 times the one seen."""
    rng = np.random.default_rng(5)
    points, maxima = rng.normal(size=(100, 200)), np.ones(100)
    spread = resampled_ratios(points, maxima, seed=0, draws=2_000).std(axis=1, ddof=1)
    assert np.median(spread) / sd_runs(points, maxima) == pytest.approx(2**0.5, abs=0.05)


# Refused


def test_fewer_than_five_scenarios() -> None:
    """Four scenarios have no interval of any kind."""
    points, maxima = sample_points(4), np.full(4, 3.0)
    reason = "fewer than five scenarios"
    with pytest.raises(StatsError, match=reason):
        ratio_interval(points.mean(axis=1), maxima)
    with pytest.raises(StatsError, match=reason):
        bootstrap_interval(worst_of, points, maxima)
    with pytest.raises(StatsError, match=reason):
        sd_runs_interval(points, maxima)


@pytest.mark.parametrize("n_scenarios", [6, 30])
def test_missing_value(n_scenarios: int) -> None:
    """A scenario without a number makes the interval unknown, whichever method is used."""
    numerators = sample_points(n_scenarios).mean(axis=1)
    numerators[2] = np.nan
    with pytest.raises(StatsError, match="a scenario has no value"):
        ratio_interval(numerators, np.full(n_scenarios, 3.0))


@pytest.mark.parametrize("n_scenarios", [6, 30])
def test_no_variation(n_scenarios: int) -> None:
    """Scenarios that all score the same have an unknown interval, not one without width."""
    with pytest.raises(StatsError, match="no variation"):
        ratio_interval(np.full(n_scenarios, 1.0), np.full(n_scenarios, 3.0))


@pytest.mark.parametrize("n_scenarios", [6, 30])
def test_no_positive_points(n_scenarios: int) -> None:
    """Where a resample could hold no positive points, the ratio has no interval."""
    with pytest.raises(StatsError, match="positive points"):
        ratio_interval(np.arange(n_scenarios, dtype=float), np.zeros(n_scenarios))


# Numerators within bounds


@given(
    st.integers(5, 24),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_interval_of_numbers_within_bounds_holds_every_settlement(
    n: int, n_open: int, random: Random
) -> None:
    """However the open numerators are settled, their interval is in that of all."""
    rng = np.random.default_rng(random.getrandbits(32))
    low, weights = rng.normal(size=n), rng.uniform(0.5, 3, n)
    high = low.copy()
    high[:n_open] += rng.exponential(size=n)[:n_open]
    found = bounded_ratio_interval(low, high, weights)
    for mixed in (low, high, (low + high) / 2, np.where(rng.random(n) < 0.5, low, high)):
        settled = ratio_interval(mixed, weights)
        assert found.low <= settled.low + 1e-9
        assert settled.high - 1e-9 <= found.high


def test_interval_of_numbers_within_bounds_by_hand() -> None:
    """With 0 or 5 twice beside 0, 0, 0, 1 the interval begins lowest where one is 0 and one 5."""
    # SD 0.41, 2 and 2.48 about means of 1/6, 1 and 11/6: from -0.26, -1.10 and -0.77
    low = np.array([0.0, 0, 0, 0, 0, 1])
    high = low + np.array([5.0, 5, 0, 0, 0, 0])
    found = bounded_ratio_interval(low, high, np.ones(6))
    one = ratio_interval(low + np.array([5.0, 0, 0, 0, 0, 0]), np.ones(6))
    ends = [ratio_interval(end, np.ones(6)) for end in (low, high)]
    assert one.low < min(end.low for end in ends)
    assert found.low == pytest.approx(one.low)
    assert found.high == pytest.approx(max(end.high for end in ends))


def test_interval_of_numbers_that_are_known() -> None:
    """Without anything open it is that of the ratio."""
    values, weights = np.arange(6.0), np.ones(6)
    assert bounded_ratio_interval(values, values, weights) == ratio_interval(values, weights)
