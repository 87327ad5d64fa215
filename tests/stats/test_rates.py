"""Rates that cluster by scenario: worked by hand, where they are refused, and for any counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from careeval.errors import StatsError
from careeval.stats import (
    MIN_CLUSTERS,
    Interval,
    beta_binomial,
    beta_binomial_interval,
    clopper_pearson,
    jeffreys,
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


def test_one_event_allows_no_lower_rate_than_none() -> None:
    """One error in 1000 responses does not bound the rate more tightly than no error does."""
    one, trials = np.zeros(100), np.full(100, 10.0)
    one[0] = 1
    assert rate_interval(one, trials).high == rate_interval(np.zeros(100), trials).high
    assert 0 < rate_interval(one, trials).low < 1 / 1000


def test_rate_alike_in_every_scenario() -> None:
    """Where each scenario has the same share of events, all trials count, less the factor for t."""
    effective = 200 * (1.959963984540054 / 2.0930240544082634) ** 2
    interval = rate_interval(np.full(20, 5.0), np.full(20, 10.0))
    assert interval == pytest.approx(clopper_pearson(effective / 2, effective))


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


@pytest.mark.parametrize("interval", [wilson, jeffreys, clopper_pearson])
def test_no_event_and_nothing_else(interval: Callable[[float, float], Interval]) -> None:
    """No event begins at exactly 0, only events end at exactly 1, and either leaves room."""
    none, every = interval(0, 20), interval(20, 20)
    assert none.low == 0 < none.high < 0.2
    assert every == pytest.approx((1 - none.high, 1 - none.low))
    assert every.high == 1


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_exact_is_the_widest(trial: tuple[int, int]) -> None:
    """Wilson's and Jeffreys' limits hold the share seen, and the exact ones hold Jeffreys'."""
    events, n = trial
    exact = clopper_pearson(events, n)
    for interval in (wilson(events, n), jeffreys(events, n)):
        assert 0 <= interval.low <= events / n <= interval.high <= 1
    assert exact.low <= jeffreys(events, n).low
    assert jeffreys(events, n).high <= exact.high


def test_rule_of_three() -> None:
    """A rate of the upper limit shows no event in n trials one time in twenty."""
    for n in (1, 80, 1000):
        assert (1 - rule_of_three(n)) ** n == pytest.approx(0.05)
    assert rule_of_three(80) == pytest.approx(3 / 80, rel=0.02)


# The beta-binomial


def test_most_likely_of_two_trials() -> None:
    """Six scenarios with 0 of 2, two with 1 and two with 2: mean 0.3 and correlation 11/21."""
    # Three counts, two parameters: the likelihood is highest where it repeats the shares seen,
    # P(1) = 2 m (1 - m) (1 - rho) = 0.42 (1 - rho) = 0.2.
    found = beta_binomial(np.array([0.0] * 6 + [1.0] * 2 + [2.0] * 2), 2)
    assert found == pytest.approx((0.3, 11 / 21), abs=1e-5)


def test_always_or_never() -> None:
    """Where a scenario has the event each time or not at all, the correlation is 1."""
    found = beta_binomial(np.array([10.0] * 3 + [0.0] * 9), 10)
    assert found == pytest.approx((0.25, 1), abs=1e-5)


def test_alike_everywhere() -> None:
    """Where every scenario has one event, trials are independent: the correlation is put at 0."""
    found = beta_binomial(np.ones(20), 10)
    assert found == pytest.approx((0.1, 0), abs=1e-5)


def test_limits_are_less_likely_by_half_of_chi_squared() -> None:
    """At either limit no correlation makes the counts likelier than the best by exp(-1.9207)."""

    def likelihood(mean: float, rhos: FloatArray) -> float:
        size = (1 - rhos) / rhos
        terms = stats.betabinom.logpmf(
            SEVERE_IN_TEN[:, np.newaxis], 10, mean * size, (1 - mean) * size
        )
        return float(terms.sum(axis=0).max())

    rhos = np.linspace(0.01, 0.99, 981)
    best = likelihood(beta_binomial(SEVERE_IN_TEN, 10).mean, rhos)
    for limit in beta_binomial_interval(SEVERE_IN_TEN, 10):
        assert best - likelihood(limit, rhos) == pytest.approx(1.920729, abs=1e-3)


@settings(max_examples=30)
@given(COUNTS_OF_TEN)
def test_beta_binomial_interval_holds_its_mean(counts: FloatArray) -> None:
    """The interval holds the mean within 0 to 1, and that of the non-events mirrors it."""
    assume(0 < counts.sum() < 10 * len(counts))
    found, (low, high) = beta_binomial(counts, 10), beta_binomial_interval(counts, 10)
    assert 0 < low < found.mean < high < 1
    assert 0 <= found.rho <= 1
    assert beta_binomial_interval(10 - counts, 10) == pytest.approx((1 - high, 1 - low), abs=1e-4)


@pytest.mark.parametrize(
    ("counts", "n", "reason"),
    [
        ([0, 0, 0, 0, 0], 10, "no event"),
        ([10, 10, 10, 10, 10], 10, "nothing but events"),
        ([0, 1, 0, 0, 11], 10, "a count is not a whole number from 0 to 10"),
        ([0, 1, 0, 0, 0.5], 10, "a count is not a whole number"),
        ([0, 1, 0, 0, float("nan")], 10, "a scenario has no value"),
        ([0, 1, 0, 0, 1], 1, "one trial a scenario"),
        ([0, 1, 2, 3], 10, "fewer than five scenarios"),
    ],
)
def test_beta_binomial_is_refused(counts: list[float], n: int, reason: str) -> None:
    """Counts that leave the correlation unknown, or cannot be, have no beta-binomial."""
    for asked in (beta_binomial, beta_binomial_interval):
        with pytest.raises(StatsError, match=reason):
            asked(np.array(counts, dtype=float), n)


def test_rate_of_four_scenarios() -> None:
    """Four scenarios have no interval of a rate."""
    with pytest.raises(StatsError, match="fewer than five scenarios"):
        rate_interval(np.zeros(4), np.full(4, 10.0))
