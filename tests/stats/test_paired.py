"""Systems compared by scenario: by hand, against scipy and enumeration, then for any data."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from careeval.errors import StatsError
from careeval.stats.intervals import linearised_ratio, ratio_errors, ratio_interval
from careeval.stats.paired import (
    detectable_after,
    detectable_difference,
    difference_intervals,
    holm,
    one_scenario_error,
    rank_sets,
    sign_flip_draws,
    sign_flip_p_values,
    smallest_p,
    t_test_p_values,
)
from careeval.stats.score import FloatArray

NAN = np.nan
SIX = np.array([0.3, 0.1, -0.05, 0.2, 0.15, 0.25])


def sign_flip_p(differences: FloatArray, **options: int) -> float:
    """The p of one pair by itself."""
    return float(sign_flip_p_values(differences[np.newaxis], **options)[0])


def t_p(differences: FloatArray) -> float:
    """The same by t, over scenarios of equal weight."""
    rows = differences[np.newaxis]
    return float(t_test_p_values(rows, rows, np.ones(len(differences)))[0])


def test_six_differences() -> None:
    """C08: six differences with a mean of .158 have p = .026 by t, and .0625 by sign flips."""
    assert t_p(SIX) == pytest.approx(0.02614625251160817)
    # As far from 0 as 0.95 are all +, all but 0.05 +, and their mirrors: 4 of 64.
    assert sign_flip_p(SIX) == 4 / 64


# Sign flips


def test_ties_of_rounding_count() -> None:
    """Of .1, .2 and -.3, each twice, whose sum is rounding, every pattern is as extreme."""
    assert sign_flip_p(np.array([0.1, 0.2, -0.3, -0.3, 0.1, 0.2])) == 1


def test_no_difference_at_all() -> None:
    """If no scenario differs, p is 1, though no test statistic is defined."""
    assert sign_flip_p(np.zeros(5)) == 1


def test_scenarios_without_a_difference_change_nothing() -> None:
    """A hundred scenarios of which six differ have the p value of these six, exactly."""
    assert sign_flip_p(np.concatenate([np.zeros(94), SIX])) == 4 / 64


def test_drawn_patterns_come_near_all_patterns() -> None:
    """The p value of 5,000 drawn patterns is within .02 of that of all 16,384."""
    differences = np.random.default_rng(3).normal(0.3, 1, size=14)
    exact = sign_flip_p(differences, draws=2**14)
    # Each draw is extreme or not, so the standard error is at most 0.5 / sqrt(5000) = 0.007.
    assert sign_flip_p(differences, draws=5_000) == pytest.approx(exact, abs=0.02)
    assert 0.1 < exact < 0.9


def test_drawn_p_is_never_zero() -> None:
    """If no drawn pattern is as extreme as the observed one, p is 1 / (draws + 1)."""
    assert sign_flip_p(np.full(40, 0.5), draws=20_000) == 1 / 20_001


def test_small_p_gets_a_hundred_thousand_draws() -> None:
    """P of 1 in 100,001 where no pattern is as extreme; one in ten has its first 10,000 alone."""
    assert sign_flip_p(np.full(40, 0.5)) == 1 / 100_001
    likely = np.random.default_rng(4).normal(0.2, 1, size=40)
    p = sign_flip_p(likely)
    assert 0.05 < p < 1
    assert p == sign_flip_p(likely, draws=10_000)


def test_draws_in_blocks_are_all_counted() -> None:
    """More scenarios than one block can hold give as many draws: p is still 1 / (draws + 1)."""
    assert sign_flip_p(np.full(30_000, 1.0), draws=300) == 1 / 301


def test_seed_decides_the_draws() -> None:
    """Equal seeds give equal p values, and another seed another one."""
    differences = np.random.default_rng(0).normal(0.2, 1, size=30)
    assert sign_flip_p(differences, seed=1) == sign_flip_p(differences, seed=1)
    assert sign_flip_p(differences, seed=1) != sign_flip_p(differences, seed=2)


def test_share_of_false_findings() -> None:
    """Of 500 comparisons of equal systems about 5% have p at or below .05, not 10."""
    rng = np.random.default_rng(0)
    p_values = [sign_flip_p(rng.normal(size=20), seed=i, draws=500) for i in range(500)]
    # The standard error of the share is 0.0097.
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=0.03)


def brute_force(differences: FloatArray) -> float:
    """Share of all sign patterns of whole numbers that are as extreme."""
    signs = np.array(list(product([1, -1], repeat=len(differences))))
    return float(np.mean(np.abs(signs @ differences) >= abs(differences.sum())))


WHOLE = st.integers(5, 9).flatmap(
    lambda n: arrays.arrays(np.float64, n, elements=st.integers(-4, 4).map(float))
)


@given(WHOLE)
def test_every_pattern_is_enumerated(differences: FloatArray) -> None:
    """For whole numbers, where no sum is rounded, p is the share found one pattern at a time."""
    assert sign_flip_p(differences) == pytest.approx(brute_force(differences))


@given(WHOLE, st.sampled_from([1 / 3, 0.1, 1 / 7, -1.0]))
def test_unit_and_direction_change_no_p(differences: FloatArray, unit: float) -> None:
    """In another unit, or with the systems exchanged, p stays the same, rounding and all."""
    assert sign_flip_p(differences * unit) == sign_flip_p(differences)


@given(st.integers(5, 9), st.integers(1, 5), st.data())
def test_many_pairs_at_once(n: int, n_pairs: int, data: st.DataObject) -> None:
    """The p of each of many pairs is that of the pair alone, found one pattern at a time."""
    shape = (n_pairs, n)
    result = data.draw(arrays.arrays(np.float64, shape, elements=st.integers(-4, 4).map(float)))
    assert sign_flip_p_values(result) == pytest.approx([brute_force(row) for row in result])


def test_drawn_p_does_not_hang_on_the_others() -> None:
    """Among 300 pairs, more than a block of draws can hold whole, a pair has the p it has alone."""
    rng = np.random.default_rng(2)
    result = rng.normal(0.1, 1, size=(300, 70))
    together = sign_flip_p_values(result)
    assert together[7] == sign_flip_p(result[7])
    assert together[::60] == pytest.approx([sign_flip_p(row) for row in result[::60]], abs=0)


def test_more_draws_begin_with_the_same() -> None:
    """A large p is the same with more draws; a small one is found more finely, near the first."""
    rng = np.random.default_rng(4)
    result = np.stack([rng.normal(0.0, 1, 40), np.full(40, 0.5), rng.normal(0.45, 1, 40)])
    few, many = sign_flip_p_values(result, draws=10_000), sign_flip_p_values(result, draws=100_000)
    assert few[0] == many[0] > 0.05
    assert (few[1], many[1]) == (1 / 10_001, 1 / 100_001)
    assert few[2] != many[2]
    # of 10,000 draws, with p near .005 the standard error is 0.0007
    assert many[2] == pytest.approx(few[2], abs=0.003)


def test_ties_in_single_precision() -> None:
    """Drawn sums that tie but for rounding count: of 0.1 thirty times, p is that of coins.

    Half of a hundred thousand fall further than 20 to 10, 2 × 0.0494 of all patterns.
    """
    result = np.array([0.1] * 20 + [-0.1] * 10)
    exact = 2 * stats.binom.sf(19, 30, 0.5)
    # the standard error is 0.003
    assert sign_flip_p(result) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("pairs", [1, 105, 120, 4950])
def test_the_smallest_p_of_a_family_can_be_a_finding(pairs: int) -> None:
    """However many pairs there are, the smallest drawn p times their number is 1/40 at most."""
    smallest = sign_flip_p_values(np.full((1, 50), 0.3), draws=sign_flip_draws(pairs))[0]
    assert smallest * pairs == pytest.approx(smallest_p(50, pairs))
    assert smallest_p(50, pairs) <= 1 / 40


def test_smallest_p_of_few_scenarios() -> None:
    """Five scenarios have 2 of 32 patterns alike; eight, among ten pairs, 10 × 2 of 256."""
    assert smallest_p(5) == 2 / 32 == sign_flip_p(np.ones(5))
    assert smallest_p(8, 10) == 10 * 2 / 256
    assert smallest_p(5, 100) == 1


# Intervals of many pairs


def test_interval_is_that_of_t() -> None:
    """C08: over scenarios of equal weight the interval is the mean .158 ± 2.5706 × 0.0507."""
    (result,) = difference_intervals(SIX[np.newaxis], SIX[np.newaxis], np.ones(6))
    margin = 2.5705818366147395 * 0.05068968775248517
    assert result == pytest.approx([0.95 / 6 - margin, 0.95 / 6 + margin])


@pytest.mark.parametrize("n", [6, 19, 20, 45])
def test_intervals_of_many_pairs(n: int) -> None:
    """Each interval is that of the pair alone, also where numerators are open."""
    rng = np.random.default_rng(n)
    low, weights = rng.normal(0.3, 1, (20, n)), rng.integers(1, 5, n).astype(float)
    high = low + (rng.random((20, n)) < 0.1)
    intervals = difference_intervals(low, high, weights)
    alone = [ratio_interval(a, weights, highest=b) for a, b in zip(low, high, strict=True)]
    assert intervals == pytest.approx(np.array(alone))
    errors = [linearised_ratio(row, weights)[1] for row in low]
    assert ratio_errors(low, weights) == pytest.approx(errors)


def test_an_interval_that_leaves_out_zero_is_a_t_test() -> None:
    """Of a hundred samples the interval leaves out 0 just where Student's p is below .05."""
    samples = np.random.default_rng(8).normal(0.3, 1, (100, 20))
    leaves_out = (difference_intervals(samples, samples, np.ones(20)) > 0).sum(axis=1) != 1
    assert leaves_out.tolist() == [stats.ttest_1samp(row, 0).pvalue < 0.05 for row in samples]
    assert 0 < leaves_out.sum() < 100


@pytest.mark.parametrize("n", [6, 30])
def test_no_interval_without_variation(n: int) -> None:
    """A pair of equal differences has no interval and an error of 0, beside one that varies."""
    result = np.stack([np.full(n, 0.3), np.arange(n) / n])
    intervals = difference_intervals(result, result, np.ones(n))
    assert np.isnan(intervals).tolist() == [[True, True], [False, False]]
    assert ratio_errors(result, np.ones(n))[0] == 0


def test_rare_errors_leave_room_for_one_scenario() -> None:
    """Without an error in twenty scenarios, the difference may be as if one had them all."""
    none, one = np.zeros(20), np.eye(20)[0]
    assert one_scenario_error(20) == pytest.approx(linearised_ratio(one, np.ones(20))[1])
    result = np.stack([none, one / 10])
    margin = 2.0930240544082634 / 20
    intervals = difference_intervals(result, result, np.ones(20), counts_errors=True)
    assert intervals == pytest.approx(
        np.array([[-margin, margin], [0.005 - margin, 0.005 + margin]])
    )


@pytest.mark.parametrize(
    ("weights", "reason"), [(np.ones(4), "fewer than five"), (np.zeros(30), "positive points")]
)
def test_intervals_of_nothing(weights: FloatArray, reason: str) -> None:
    """Too few scenarios, or none with points, have no interval for any pair."""
    with pytest.raises(StatsError, match=reason):
        difference_intervals(*np.ones((2, 2, len(weights))), weights)


# t


@given(WHOLE)
def test_t_is_that_of_scipy(differences: FloatArray) -> None:
    """Wherever the differences vary, p by t is that of an independent library."""
    assume(np.ptp(differences) > 0)
    assert t_p(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


@pytest.mark.parametrize("statistic", [sign_flip_p, t_p])
@pytest.mark.parametrize(
    ("differences", "reason"),
    [([0.1, 0.2, 0.3, 0.4], "fewer than five"), ([0.1, 0.2, 0.3, 0.4, NAN], "has no number")],
)
def test_too_little_to_compare(
    statistic: Callable[[FloatArray], object], differences: list[float], reason: str
) -> None:
    """Four scenarios, or one without a difference, are not compared."""
    with pytest.raises(StatsError, match=reason):
        statistic(np.array(differences))


# Families


def test_holm_of_four() -> None:
    """C10: .01, .04, .03 and .005 become .03, .06, .06 and .02: times 3, 2 at least, 2 and 4."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_of_none() -> None:
    """A family without a comparison has nothing to adjust."""
    assert holm([]) == []


@pytest.mark.parametrize("p", [NAN, -0.1, 1.1])
def test_holm_of_what_is_no_p(p: float) -> None:
    """An unknown or impossible p value is refused, as it would adjust the others wrongly."""
    with pytest.raises(StatsError, match="not from 0 to 1"):
        holm([0.5, p])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms())
def test_holm_lies_between_none_and_bonferroni(p_values: list[float], rng: random.Random) -> None:
    """Each value is raised, at most times the family's size, whatever the order of the family."""
    adjusted = holm(p_values)
    for p, q in zip(p_values, adjusted, strict=True):
        assert p <= q <= min(1, len(p_values) * p)
    order = list(range(len(p_values)))
    rng.shuffle(order)
    assert holm([p_values[i] for i in order]) == [adjusted[i] for i in order]


def test_rank_sets_of_four() -> None:
    """C11: where 0 beats 2 and 3, and 1 beats 3, the sets are 1-2, 1-3, 2-4 and 3-4."""
    better = np.zeros((4, 4), dtype=bool)
    better[[0, 0, 1], [2, 3, 3]] = True
    assert rank_sets(better) == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_rank_sets_without_a_finding() -> None:
    """If nothing is significant, every system may have every rank."""
    assert rank_sets(np.zeros((3, 3), dtype=bool)) == [(1, 3)] * 3


@pytest.mark.parametrize("pairs", [[(0, 1), (1, 0)], [(1, 1)]])
def test_rank_sets_of_a_contradiction(pairs: list[tuple[int, int]]) -> None:
    """Two systems that are each better than the other have no ranks."""
    better = np.zeros((2, 2), dtype=bool)
    for pair in pairs:
        better[pair] = True
    with pytest.raises(StatsError, match="each be better"):
        rank_sets(better)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=5))
def test_rank_sets_are_those_of_all_consistent_orders(systems: list[tuple[int, int]]) -> None:
    """For decisions by intervals, the sets are the ranks in all orders that they allow."""
    better = np.array([[a - wa > b + wb for b, wb in systems] for a, wa in systems])
    allowed = [
        order
        for order in permutations(range(len(systems)))
        if not any(better[j, i] for place, i in enumerate(order) for j in order[place + 1 :])
    ]
    ranks = [[order.index(i) + 1 for order in allowed] for i in range(len(systems))]
    assert rank_sets(better) == [(min(of_one), max(of_one)) for of_one in ranks]


# Power


def test_runs_of_each_system_count_for_it() -> None:
    """Variances of .3 in 3 runs and .2 in 1 add up to .1 + .2, as one of .3 over scenarios does."""
    of_runs = detectable_difference(80, 0, (0.3, 0.2), (3, 1))
    assert of_runs == pytest.approx(detectable_difference(80, 0.3, (0, 0), (1, 1)))


def test_planned_power_is_reached() -> None:
    """At the difference said to be detectable with 60 scenarios, about 80% of samples find it."""
    rng = np.random.default_rng(0)
    difference = detectable_difference(60, 0.04, (0.1, 0.1), (5, 5))
    samples = rng.normal(difference, (0.04 + 0.2 / 5) ** 0.5, size=(2_000, 60))
    result = np.mean(stats.ttest_1samp(samples, 0, axis=1).pvalue <= 0.05)
    # The standard error is 0.009, and t asks for a little more than the normal formula.
    assert result == pytest.approx(0.79, abs=0.03)


def test_detectable_with_few_degrees() -> None:
    """Over six scenarios noncentral t with 5 degrees passes 2.5706 four times in five from 3.514.

    An error that is found is taken as sqrt(5 / 1.6103) times as large, with 1.6103 the point of
    chi-squared with 5 degrees above which nine in ten lie.
    """
    planned = detectable_difference(6, 0.06, (0, 0), (1, 1), degrees=5)
    assert stats.nct.sf(2.5705818366147395, 5, planned / 0.1) == pytest.approx(0.8)
    after = detectable_after(0.1, degrees=5)
    assert after == pytest.approx(planned * (5 / stats.chi2.ppf(0.1, 5)) ** 0.5)
    assert after > planned > 0.1 * (1.96 + 0.84)


def test_power_of_what_is_said_to_be_detectable() -> None:
    """A normal difference as large as the comparison before said is found 80% of times or more."""
    rng = np.random.default_rng(1)
    n = 20
    detectable = [
        detectable_after(rng.normal(0, 1, n).std(ddof=1) / n**0.5, degrees=n - 1)
        for _ in range(1_000)
    ]
    result = np.mean([t_p(rng.normal(d, 1, n)) <= 0.05 for d in detectable])
    # the standard error is 0.012; without the larger spread it is 0.77
    assert 0.8 < result < 0.95


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: detectable_difference(80, 0, (0, 0), (10, 10)), "zero variance"),
        (lambda: detectable_difference(80, NAN, (0.1, 0.1), (10, 10)), "zero variance"),
        (lambda: detectable_difference(0, 0.1, (0.1, 0.1), (10, 10)), "no scenario"),
        (lambda: detectable_difference(80, 0.1, (0.1, 0.1), (10, 0)), "no run"),
        (lambda: detectable_after(0), "zero variance"),
        (lambda: detectable_after(NAN), "zero variance"),
    ],
)
def test_plans_from_nothing(call: Callable[[], float], reason: str) -> None:
    """Without scenarios, runs or any variation there is no plan, rather than a difference of 0."""
    with pytest.raises(StatsError, match=reason):
        call()
