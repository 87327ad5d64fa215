"""Rates that cluster by scenario: worked by hand, where they are refused, and for any counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from careeval.errors import StatsError
from careeval.stats.intervals import (
    MIN_CLUSTERS,
    TRIALS_A_FAMILY,
    Interval,
    clopper_pearson,
    rate_interval,
    rule_of_three,
    wilson,
)
from careeval.stats.score import FloatArray

SEVERE_IN_TEN = np.array([10.0, 8, 3, 1, 0, 0, 0, 0, 0, 0])

COUNTS_OF_TEN = st.integers(MIN_CLUSTERS, 30).flatmap(
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
    """One error in 1000 responses is worth 2 trials a family, and no limit of no error."""
    one, trials = np.zeros(100), np.full(100, 10.0)
    one[0] = 1
    worth = TRIALS_A_FAMILY * 100 * (1.959963984540054 / 1.9842169515086827) ** 2
    result = rate_interval(one, trials)
    assert result == pytest.approx(clopper_pearson(worth / 1000, worth))
    assert result.high < rate_interval(np.zeros(100), trials).high
    assert 0 < result.low < 1 / 1000 < result.high


def test_rate_alike_in_every_scenario() -> None:
    """If all have the same share of events, a family counts for 2 trials, or for all if asked."""
    factor = (1.959963984540054 / 2.0930240544082634) ** 2
    counts, trials = np.full(20, 5.0), np.full(20, 10.0)
    few, all_ = TRIALS_A_FAMILY * 20 * factor, 200 * factor
    assert rate_interval(counts, trials) == pytest.approx(clopper_pearson(few / 2, few))
    uncapped = rate_interval(counts, trials, max_a_family=np.inf)
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
