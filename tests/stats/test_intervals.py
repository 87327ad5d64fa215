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
from careeval.stats.intervals import (
    MIN_CLUSTERS,
    TRIALS_A_FAMILY,
    Interval,
    clopper_pearson,
    largest_error,
    ratio_interval,
    sd_epochs_interval,
    sum_by_cluster,
)
from careeval.stats.score import FloatArray, pooled_score, sd_epochs

SEVERE_IN_TEN = np.array([10.0, 8, 3, 1, 0, 0, 0, 0, 0, 0])


def half_width(interval: Interval) -> float:
    """Half of an interval that is symmetric about its value."""
    return (interval.high - interval.low) / 2


def sample_points(n_scenarios: int, n_epochs: int = 10) -> FloatArray:
    """Points up to 3, more alike within a scenario than between."""
    rng = np.random.default_rng(7)
    means = rng.normal(1, 1, size=(n_scenarios, 1))
    return np.clip(np.rint(means + rng.normal(0, 1, size=(n_scenarios, n_epochs))), -3, 3)


# t: a ratio that has no ends


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
    st.integers(MIN_CLUSTERS, 40).flatmap(
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


# Korn and Graubard: a ratio within its range


def test_score_of_ten_families() -> None:
    """Ten families, eight perfect and two at 0, are worth 9 trials: 6.8 after the factor for t.

    The score is .8, the squared error .16 / 9, so that .16 over it is 9 trials, and with 9 degrees
    of freedom 9 (1.95996 / 2.26216)² = 6.75605. Of these .8 are 5.40484.
    """
    numerators = np.array([5.0] * 8 + [0, 0])
    result = ratio_interval(numerators, np.full(10, 5.0), lowest=0.0)
    trials = 9 * (1.959963984540054 / 2.2621571627409915) ** 2
    assert trials == pytest.approx(6.75605, abs=1e-5)
    low = stats.beta.ppf(0.025, 0.8 * trials, 0.2 * trials + 1)
    high = stats.beta.ppf(0.975, 0.8 * trials + 1, 0.2 * trials)
    assert result == pytest.approx((low, high))


def test_score_with_points_to_lose() -> None:
    """If errors can cost as much again, the same score is .9 of a scale that is twice as wide.

    .9 × .1 × 2² is .36, and over .16 / 9 it is worth 20.25 trials.
    """
    result = ratio_interval(np.array([5.0] * 8 + [0, 0]), np.full(10, 5.0), lowest=-1.0)
    trials = 20.25 * (1.959963984540054 / 2.2621571627409915) ** 2
    low = stats.beta.ppf(0.025, 0.9 * trials, 0.1 * trials + 1)
    high = stats.beta.ppf(0.975, 0.9 * trials + 1, 0.1 * trials)
    assert result == pytest.approx((2 * low - 1, 2 * high - 1))


def test_families_that_hardly_vary() -> None:
    """Twenty families that all have .8 are worth 2 trials each, and not infinitely many."""
    result = ratio_interval(np.full(20, 4.0), np.full(20, 5.0), lowest=0.0)
    trials = TRIALS_A_FAMILY * 20 * (1.959963984540054 / 2.0930240544082634) ** 2
    assert result == pytest.approx(clopper_pearson(0.8 * trials, trials))


@pytest.mark.parametrize(("value", "lowest"), [(1.0, 0.0), (1.0, -0.5), (0.0, 0.0), (-0.5, -0.5)])
def test_score_at_an_end_of_its_scale(value: float, lowest: float) -> None:
    """Twenty perfect families, or twenty as bad as can be, are a trial for each point of scale."""
    low, high = ratio_interval(np.full(20, value), np.ones(20), lowest=lowest)
    width = 1 - lowest
    reach = width * (1 - 0.025 ** (1 / (20 * width)))
    assert (low, high) == pytest.approx((1 - reach, 1) if value == 1 else (value, value + reach))


@pytest.mark.parametrize("n", [MIN_CLUSTERS, 12, 40])
def test_score_near_the_ceiling_stays_below_it(n: int) -> None:
    """All perfect but one, which has every error: t passes 100%, and the interval does not."""
    numerators, maxima = np.full(n, 6.0), np.full(n, 6.0)
    numerators[0] = -4
    assert ratio_interval(numerators, maxima).high > 1
    result = ratio_interval(numerators, maxima, lowest=-4 / 6)
    assert -4 / 6 < result.low < numerators.sum() / maxima.sum() < result.high < 1


@given(st.integers(MIN_CLUSTERS, 60), st.floats(0, 2), st.randoms(use_true_random=False))
def test_interval_of_a_score_stays_within_its_range(n: int, floor: float, random: Random) -> None:
    """Whatever the scores, the interval holds the ratio, and neither end leaves the scale."""
    rng = np.random.default_rng(random.getrandbits(32))
    maxima = rng.integers(5, 15, n).astype(float)
    share = rng.beta(*rng.choice([0.05, 0.5, 3], 2), n)
    numerators = maxima * (share * (1 + floor) - floor)
    low, high = ratio_interval(numerators, maxima, lowest=-floor)
    assert -floor - 1e-9 <= low <= numerators.sum() / maxima.sum() + 1e-9
    assert numerators.sum() / maxima.sum() - 1e-9 <= high <= 1 + 1e-9


def test_points_and_their_unit() -> None:
    """Halving all points, or reversing the scenarios, changes no interval."""
    numerators, maxima = sample_points(30).mean(axis=1), np.full(30, 3.0)
    result = ratio_interval(numerators, maxima, lowest=-1)
    assert ratio_interval(numerators / 2, maxima / 2, lowest=-1) == pytest.approx(result)
    assert ratio_interval(numerators[::-1], maxima[::-1], lowest=-1) == pytest.approx(result)


def test_twins_are_one_family() -> None:
    """A twin that repeats its base scenario makes the interval of a family no narrower."""
    numerators, maxima = sample_points(30).mean(axis=1), np.full(30, 3.0)
    twice = np.column_stack([np.tile(numerators, 2), np.tile(maxima, 2)])
    names = [*range(30), *range(30)]
    families = sum_by_cluster(twice, names)
    once = ratio_interval(numerators, maxima, lowest=-1)
    assert ratio_interval(*families.T, lowest=-1) == pytest.approx(once)
    apart = ratio_interval(*twice.T, lowest=-1)
    assert apart.high - apart.low < 0.8 * (once.high - once.low)


# Run noise


def test_interval_of_run_noise() -> None:
    """Ten runs hold the true spread between 0.688 and 1.826 times the one seen."""
    points, maxima = sample_points(60), np.full(60, 3.0)
    low, high = sd_epochs_interval(points, maxima)
    # sqrt(9 / 19.0228) and sqrt(9 / 2.7004), the 97.5% and 2.5% points of chi-squared with 9 df.
    assert low / sd_epochs(points, maxima) == pytest.approx(0.68783, abs=1e-4)
    assert high / sd_epochs(points, maxima) == pytest.approx(1.82562, abs=1e-4)


# Refused


def test_fewer_than_five_scenarios() -> None:
    """Four scenarios have no interval of any kind."""
    points, maxima = sample_points(4), np.full(4, 3.0)
    reason = "fewer than five scenarios"
    with pytest.raises(StatsError, match=reason):
        ratio_interval(points.mean(axis=1), maxima)
    with pytest.raises(StatsError, match=reason):
        sd_epochs_interval(points, maxima)


@pytest.mark.parametrize("n_scenarios", [6, 30])
def test_missing_value(n_scenarios: int) -> None:
    """A scenario without a number makes the interval unknown, whichever method is used."""
    numerators = sample_points(n_scenarios).mean(axis=1)
    numerators[2] = np.nan
    with pytest.raises(StatsError, match="at least one scenario has no number"):
        ratio_interval(numerators, np.full(n_scenarios, 3.0))


@pytest.mark.parametrize("n_scenarios", [6, 30])
def test_no_variation(n_scenarios: int) -> None:
    """Scenarios that all score the same have an unknown interval, not one without width."""
    with pytest.raises(StatsError, match="no variation"):
        ratio_interval(np.full(n_scenarios, 1.0), np.full(n_scenarios, 3.0))


@pytest.mark.parametrize("value", [0.0, -0.5])
def test_no_variation_below_nothing(value: float) -> None:
    """Families that all have 0 points or fewer, of those that they can lose, vary too little."""
    with pytest.raises(StatsError, match="no variation"):
        ratio_interval(np.full(20, value), np.ones(20), lowest=-1.0)


@pytest.mark.parametrize("lowest", [None, -1.0])
def test_no_positive_points(lowest: float | None) -> None:
    """Without positive points there is no ratio to take an interval of."""
    with pytest.raises(StatsError, match="positive points"):
        ratio_interval(np.arange(6.0), np.zeros(6), lowest=lowest)


# Numerators within bounds


@given(
    st.integers(5, 24),
    st.integers(1, 12),
    st.sampled_from([None, 0.0, -0.7]),
    st.randoms(use_true_random=False),
)
def test_interval_of_numbers_within_bounds_holds_every_settlement(
    n: int, n_open: int, lowest: float | None, random: Random
) -> None:
    """However the open numerators are settled, their interval is in that of all."""
    rng = np.random.default_rng(random.getrandbits(32))
    weights = rng.uniform(0.5, 3, n)
    least = lowest or 0.0
    low = weights * (least + (1 - least) * rng.beta(0.5, 0.2, n).round(1))
    high = low.copy()
    high[:n_open] += (rng.random(n) * (weights - low))[:n_open]
    try:
        result = ratio_interval(low, weights, lowest=lowest, highest=high)
    except StatsError:
        # all ratios are alike, and none is open: no settlement has an interval
        with pytest.raises(StatsError):
            ratio_interval(high, weights, lowest=lowest)
        return
    for mixed in (low, high, (low + high) / 2, np.where(rng.random(n) < 0.5, low, high)):
        try:
            settled = ratio_interval(mixed, weights, lowest=lowest)
        except StatsError:
            continue  # these do not vary
        assert result.low <= settled.low + 1e-9
        assert settled.high - 1e-9 <= result.high


def test_interval_of_numbers_within_bounds_by_hand() -> None:
    """With 0 or 5 twice beside 0, 0, 0, 1 the ratio is 1/6 to 11/6, and its error 1.01 at most."""
    low = np.array([0.0, 0, 0, 0, 0, 1])
    high = low + np.array([5.0, 5, 0, 0, 0, 0])
    # of 0, 0, 0, 0, 0, 1 the sum of squares about the mean is 5/6; of 5, 0, … it is 20; of 5, 5, …
    # it is 185/6, and the error sqrt(6 / 5 × 185 / 6) / 6
    error = 37**0.5 / 6
    assert largest_error(low, high, np.ones(6)) == pytest.approx(error)
    result = ratio_interval(low, np.ones(6), highest=high)
    t = 2.5705818366147395
    assert result == pytest.approx((1 / 6 - t * error, 11 / 6 + t * error))


def test_interval_of_numbers_that_are_known() -> None:
    """Without anything open it is that of the ratio."""
    values, weights = np.arange(6.0), np.ones(6)
    assert ratio_interval(values, weights, highest=values) == ratio_interval(values, weights)
