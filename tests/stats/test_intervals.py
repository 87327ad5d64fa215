"""Intervals of scores, rates and correlations: by hand, where refused, and for any data."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from careeval.errors import StatsError
from careeval.stats.intervals import (
    MAX_TRIALS_PER_SCENARIO,
    MIN_SCENARIOS,
    Interval,
    clopper_pearson,
    fisher_interval,
    largest_error,
    rate_interval,
    ratio_interval,
    rule_of_three,
    sd_epochs_interval,
    sum_by_scenario,
    wilson,
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
    st.integers(MIN_SCENARIOS, 40).flatmap(
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


def test_score_of_ten_scenarios() -> None:
    """Ten scenarios, eight perfect and two at 0, are worth 9 trials: 6.8 after the factor for t.

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


def test_scenarios_that_hardly_vary() -> None:
    """Twenty scenarios that all have .8 are worth 2 trials each, and not infinitely many."""
    result = ratio_interval(np.full(20, 4.0), np.full(20, 5.0), lowest=0.0)
    trials = MAX_TRIALS_PER_SCENARIO * 20 * (1.959963984540054 / 2.0930240544082634) ** 2
    assert result == pytest.approx(clopper_pearson(0.8 * trials, trials))


@pytest.mark.parametrize(("value", "lowest"), [(1.0, 0.0), (1.0, -0.5), (0.0, 0.0), (-0.5, -0.5)])
def test_score_at_an_end_of_its_scale(value: float, lowest: float) -> None:
    """Twenty perfect scenarios, or twenty as bad as can be, are a trial for each point of scale."""
    low, high = ratio_interval(np.full(20, value), np.ones(20), lowest=lowest)
    width = 1 - lowest
    reach = width * (1 - 0.025 ** (1 / (20 * width)))
    assert (low, high) == pytest.approx((1 - reach, 1) if value == 1 else (value, value + reach))


@pytest.mark.parametrize("n", [MIN_SCENARIOS, 12, 40])
def test_score_near_the_ceiling_stays_below_it(n: int) -> None:
    """All perfect but one, which has every error: t passes 100%, and the interval does not."""
    numerators, maxima = np.full(n, 6.0), np.full(n, 6.0)
    numerators[0] = -4
    assert ratio_interval(numerators, maxima).high > 1
    result = ratio_interval(numerators, maxima, lowest=-4 / 6)
    assert -4 / 6 < result.low < numerators.sum() / maxima.sum() < result.high < 1


@given(st.integers(MIN_SCENARIOS, 60), st.floats(0, 2), st.randoms(use_true_random=False))
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


def test_a_scenario_and_its_twin_are_one() -> None:
    """A twin that repeats its base scenario makes the interval no narrower."""
    numerators, maxima = sample_points(30).mean(axis=1), np.full(30, 3.0)
    twice = np.column_stack([np.tile(numerators, 2), np.tile(maxima, 2)])
    names = [*range(30), *range(30)]
    summed = sum_by_scenario(twice, names)
    once = ratio_interval(numerators, maxima, lowest=-1)
    assert ratio_interval(*summed.T, lowest=-1) == pytest.approx(once)
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


COUNTS_OF_TEN = st.integers(MIN_SCENARIOS, 30).flatmap(
    lambda n: arrays.arrays(np.int64, n, elements=st.integers(0, 10))
)


# Clustered by scenario


def test_rate_of_clustered_errors() -> None:
    """C18: 22 of 100 in ten scenarios, worth 12.3 trials before t, is within 0.0285 .. 0.5927."""
    interval = rate_interval(SEVERE_IN_TEN, np.full(10, 10.0))
    assert interval == pytest.approx((0.02853580661944598, 0.5926732478124367), abs=1e-8)


@pytest.mark.parametrize(("n_scenarios", "upper"), [(80, 0.0450640350676923), (100, 0.0362166927)])
def test_no_event_is_not_a_rate_of_zero(n_scenarios: int, upper: float) -> None:
    """C17: no event in 80 scenarios leaves 4.5%, though each was asked ten times."""
    none, ten = np.zeros(n_scenarios), np.full(n_scenarios, 10.0)
    assert rate_interval(none, ten) == pytest.approx((0, upper))
    assert rate_interval(none, ten).high == pytest.approx(1 - 0.025 ** (1 / n_scenarios))
    assert rate_interval(ten, ten) == pytest.approx((1 - upper, 1))


def test_floor_for_no_event_is_for_no_event() -> None:
    """One error in 1000 responses is worth 2 trials a scenario, and no limit of no error."""
    one, trials = np.zeros(100), np.full(100, 10.0)
    one[0] = 1
    worth = MAX_TRIALS_PER_SCENARIO * 100 * (1.959963984540054 / 1.9842169515086827) ** 2
    result = rate_interval(one, trials)
    assert result == pytest.approx(clopper_pearson(worth / 1000, worth))
    assert result.high < rate_interval(np.zeros(100), trials).high
    assert 0 < result.low < 1 / 1000 < result.high


def test_rate_alike_in_every_scenario() -> None:
    """If all have the same share of events, a scenario counts for 2 trials, or for all if asked."""
    factor = (1.959963984540054 / 2.0930240544082634) ** 2
    counts, trials = np.full(20, 5.0), np.full(20, 10.0)
    few, all_ = MAX_TRIALS_PER_SCENARIO * 20 * factor, 200 * factor
    assert rate_interval(counts, trials) == pytest.approx(clopper_pearson(few / 2, few))
    uncapped = rate_interval(counts, trials, max_per_scenario=np.inf)
    assert uncapped == pytest.approx(clopper_pearson(all_ / 2, all_))


def test_one_response_a_scenario_is_one_trial() -> None:
    """Independent trials are worth no more than they are: 4 of 20 have the exact limits, less t."""
    counts = np.array([1.0] * 4 + [0] * 16)
    worth = 19 * (1.959963984540054 / 2.0930240544082634) ** 2
    result = rate_interval(counts, np.ones(20))
    # p (1 - p) / SE² is 19, one less than the trials, since SE has G / (G - 1)
    assert result == pytest.approx(clopper_pearson(0.2 * worth, worth))


def test_scenarios_without_opportunity_are_no_clusters() -> None:
    """Scenarios without trials change no rate, and without any trial there is no rate."""
    trials = np.full(10, 10.0)
    padded = np.concatenate([SEVERE_IN_TEN, np.zeros(5)]), np.concatenate([trials, np.zeros(5)])
    assert rate_interval(*padded) == rate_interval(SEVERE_IN_TEN, trials)
    with pytest.raises(StatsError, match="0 of 0"):
        rate_interval(np.zeros(10), np.zeros(10))


@given(COUNTS_OF_TEN)
def test_rate_interval_holds_its_rate(counts: FloatArray) -> None:
    """Any rate lies within its interval, and that within 0 to 1."""
    low, high = rate_interval(counts.astype(float), np.full(len(counts), 10.0))
    assert 0 <= low <= counts.mean() / 10 <= high <= 1


# Independent trials


def test_exact_intervals() -> None:
    """C16: Clopper-Pearson gives the published limits for 81/263, 0/20, 1/29 and 5/25."""
    cases = {
        (81, 263): (0.25273674558527126, 0.36762192260135135),
        (15, 148): (0.05784401008344857, 0.161650490349479),
        (0, 20): (0, 0.1684334709830853),
        (1, 29): (0.000872646883579922, 0.1776442954887229),
        (5, 25): (0.06831146401248402, 0.4070374322786773),
        (23, 60): (0.2607070580159992, 0.5178850485688385),
        (0, 100): (0, 0.03621669264517641),
    }
    for (events, trials), expected in cases.items():
        assert clopper_pearson(events, trials) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
def test_no_event_and_nothing_else(interval: Callable[[float, float], Interval]) -> None:
    """No event begins at exactly 0, only events end at exactly 1, and either leaves room."""
    none, every = interval(0, 20), interval(20, 20)
    assert none.low == 0 < none.high < 0.2
    assert every == pytest.approx((1 - none.high, 1 - none.low))
    assert every.high == 1


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_limits_hold_the_share_seen(trial: tuple[int, int]) -> None:
    """Wilson's limits and the exact ones hold the share seen, within 0 to 1."""
    events, n = trial
    for interval in (wilson(events, n), clopper_pearson(events, n)):
        assert 0 <= interval.low <= events / n <= interval.high <= 1


def test_rule_of_three() -> None:
    """A rate of the upper limit shows no event in n trials one time in twenty."""
    for n in (1, 80, 1000):
        assert (1 - rule_of_three(n)) ** n == pytest.approx(0.05)
    assert rule_of_three(80) == pytest.approx(3 / 80, rel=0.02)


def test_rate_of_four_scenarios() -> None:
    """Four scenarios have no interval of a rate."""
    with pytest.raises(StatsError, match="fewer than five scenarios"):
        rate_interval(np.zeros(4), np.full(4, 10.0))


@pytest.mark.parametrize(
    ("r", "n", "reason"),
    [
        (0.5, 3, "fewer than four pairs"),
        (1.0, 9, "no variation"),
        (-1.0, 9, "no variation"),
        (1 - 2**-53, 9, "no variation"),
        (np.nan, 9, "not a correlation"),
        (1.2, 9, "not a correlation"),
    ],
)
def test_correlation_without_an_interval(r: float, n: int, reason: str) -> None:
    """Three pairs, or a correlation of 1, give no interval, rather than a certain one."""
    with pytest.raises(StatsError, match=reason):
        fisher_interval(r, n)


NUMBERS = st.integers(-5, 5).map(float)


PAIRS = st.integers(4, 12).flatmap(lambda n: arrays.arrays(np.float64, (2, n), elements=NUMBERS))


@given(PAIRS)
def test_interval_is_that_of_scipy(pair: FloatArray) -> None:
    """The Fisher interval of Pearson's correlation is that of an independent library."""
    assume((np.ptp(pair, axis=1) > 0).all())
    theirs = stats.pearsonr(*pair)
    assume(abs(theirs.statistic) < 1 - 1e-9)
    expected = tuple(theirs.confidence_interval())
    result = fisher_interval(theirs.statistic, pair.shape[1])
    assert result == pytest.approx(expected, abs=1e-6)
