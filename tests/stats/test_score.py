"""The score, its epochs, and the worst of several: by hand, by enumeration, for any points."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from careeval.errors import StatsError
from careeval.stats.score import (
    FloatArray,
    any_of_k,
    epoch_scores,
    lowest_of_k,
    pooled_score,
    sd_epochs,
    worst_epoch,
)

NAN = np.nan
POINTS = np.array([[2.0, 1, -3], [3, 3, 1], [4, 1, -3]])
MAXIMA = np.array([3.0, 4, 4])


def worst_at_n(points: FloatArray, maxima: FloatArray) -> float:
    """The score if every scenario had got the lowest of its responses."""
    return pooled_score(points.min(axis=1, keepdims=True), maxima)


def test_scores_of_three_scenarios() -> None:
    """C01: means 0, 7/3 and 2/3 of 3, 4 and 4 give 3/11 pooled."""
    assert pooled_score(POINTS, MAXIMA) == pytest.approx(3 / 11)


def test_runs_of_three_scenarios() -> None:
    """C01: the runs score 9/11, 5/11 and -5/11, and their spread has n - 1 below it."""
    assert epoch_scores(POINTS, MAXIMA).tolist() == pytest.approx([9 / 11, 5 / 11, -5 / 11])
    # Around 3/11: 6, 2 and -8 elevenths, so sqrt((36 + 4 + 64) / 2) / 11.
    assert sd_epochs(POINTS, MAXIMA) == pytest.approx(52**0.5 / 11)
    assert sd_epochs(POINTS, MAXIMA) == pytest.approx(0.655554777357089)


def test_worst_readings_can_coincide() -> None:
    """C01: where one run is the worst in every scenario, it is the worst by both readings."""
    assert worst_at_n(POINTS, MAXIMA) == pytest.approx(-5 / 11)
    assert worst_epoch(POINTS, MAXIMA) == pytest.approx(-5 / 11)


def test_worst_readings_differ() -> None:
    """C02: scenarios that each fail in another run are 0 at worst, while every run scores 2/3."""
    points, maxima = np.array([[3.0, 0, 3], [0, 3, 3], [3, 3, 0]]), np.full(3, 3.0)
    assert pooled_score(points, maxima) == pytest.approx(2 / 3)
    assert worst_at_n(points, maxima) == 0
    assert worst_epoch(points, maxima) == pytest.approx(2 / 3)


def test_worst_of_ten_of_pure_noise() -> None:
    """C05: the lowest of ten standard normal points is on average -1.5388."""
    noise = np.random.default_rng(0).normal(size=(40_000, 10))
    # The minimum has a standard deviation of 0.59, so its mean here has 0.003.
    assert worst_at_n(noise, np.ones(40_000)) == pytest.approx(-1.538752730835173, abs=0.012)


# Missing responses


def test_missing_response_is_left_out_of_its_mean() -> None:
    """A scenario with points 2, missing and 0 has a mean of 1, not of 2/3."""
    assert pooled_score(np.array([[2.0, NAN, 0]]), np.array([2.0])) == 1 / 2


def test_scenario_without_a_response_is_left_out() -> None:
    """A scenario that was never answered is in neither sum: 3 of 3, not of 6."""
    points, maxima = np.array([[3.0, 3], [NAN, NAN]]), np.array([3.0, 3])
    assert pooled_score(points, maxima) == 1


def test_run_with_a_missing_response_has_no_score() -> None:
    """A run over fewer scenarios than the others is NaN, and the others keep their scores."""
    points = np.array([[3.0, NAN], [0, 3]])
    np.testing.assert_array_equal(epoch_scores(points, np.array([3.0, 3])), [1 / 2, NAN])


@pytest.mark.parametrize("statistic", [sd_epochs, worst_epoch])
def test_missing_response_makes_extremes_unknown(
    statistic: Callable[[FloatArray, FloatArray], float],
) -> None:
    """A spread or a minimum over the epochs that are there is another number, so it raises."""
    with pytest.raises(StatsError, match="missing responses: 1 of 4"):
        statistic(np.array([[3.0, NAN], [0, 3]]), np.array([3.0, 3]))


# Undefined


def test_one_run_has_no_spread() -> None:
    """With one epoch the spread of runs is undefined, not 0."""
    with pytest.raises(StatsError, match="fewer than two epochs"):
        sd_epochs(np.array([[1.0], [2]]), np.array([3.0, 3]))


@pytest.mark.parametrize(
    "statistic",
    [pooled_score, epoch_scores, sd_epochs, worst_epoch],
)
def test_no_positive_points(statistic: Callable[[FloatArray, FloatArray], object]) -> None:
    """Without positive points there is no score."""
    with pytest.raises(StatsError, match="no positive points"):
        statistic(np.array([[-1.0, 0]]), np.array([0.0]))


@pytest.mark.parametrize("points", [np.full((2, 2), NAN), np.empty((2, 0)), np.empty((0, 2))])
def test_no_response(points: FloatArray) -> None:
    """Without a response there is no score."""
    with pytest.raises(StatsError, match="no scenario has a response"):
        pooled_score(points, np.full(len(points), 3.0))


def test_worst_of_no_epochs() -> None:
    """The worst of no response is unknown."""
    with pytest.raises(StatsError, match="no response"):
        worst_epoch(np.empty((2, 0)), np.array([3.0, 3]))


def test_scenario_that_can_only_lose() -> None:
    """A scenario without positive points lowers the pooled score."""
    points, maxima = np.array([[3.0], [-2]]), np.array([4.0, 0])
    assert pooled_score(points, maxima) == 1 / 4


# For any points


@st.composite
def runs(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    """Complete points of 1 to 8 scenarios in 2 to 6 epochs, and their maxima."""
    shape = draw(st.tuples(st.integers(1, 8), st.integers(2, 6)))
    maxima = draw(arrays.arrays(np.int64, shape[0], elements=st.integers(1, 6)))
    points = draw(arrays.arrays(np.int64, shape, elements=st.integers(-6, 6)))
    return np.minimum(points, maxima[:, None]).astype(float), maxima.astype(float)


@given(runs())
def test_worst_is_ordered(data: tuple[FloatArray, FloatArray]) -> None:
    """The worst answers score no more than the worst run, which scores no more than the mean."""
    rounding = 1e-12
    assert worst_at_n(*data) <= worst_epoch(*data) + rounding
    assert worst_epoch(*data) <= pooled_score(*data) + rounding
    assert pooled_score(*data) <= 1 + rounding


@given(runs())
def test_score_is_the_mean_of_its_runs(data: tuple[FloatArray, FloatArray]) -> None:
    """If nothing is missing, the mean of epochs inside or outside the sum is the same."""
    assert pooled_score(*data) == pytest.approx(epoch_scores(*data).mean())


@given(runs(), st.randoms())
def test_order_of_scenarios_changes_nothing(
    data: tuple[FloatArray, FloatArray], rng: random.Random
) -> None:
    """Whatever the order of the scenarios, every number stays the same."""
    points, maxima = data
    order = list(range(len(maxima)))
    rng.shuffle(order)
    for statistic in (pooled_score, sd_epochs, worst_at_n, worst_epoch):
        shuffled = statistic(points[order], maxima[order])
        assert shuffled == pytest.approx(statistic(points, maxima), abs=1e-12)


def test_lowest_of_three() -> None:
    """Of 0, 3 and 6 the lowest is on average 3 of one, 1 of two (0, 0, 3), and 0 of three."""
    assert lowest_of_k(np.array([6.0, 0, 3])).tolist() == pytest.approx([3, 1, 0])


def test_any_of_none_and_of_all() -> None:
    """Without an event the chance is exactly 0 for every k, and 1 where every response has one."""
    assert any_of_k(np.array([[0.0] * 10, [1.0] * 10])).tolist() == [[0] * 10, [1] * 10]


def test_any_of_chances() -> None:
    """Of chances 1/2, 1/4 and 0: 1/4 in one; 5/8, 1/2 and 1/4 in two; 5/8 in all three."""
    chances = any_of_k(np.array([[1 / 2, 1 / 4, 0]]))
    assert chances[0].tolist() == pytest.approx([1 / 4, (5 / 8 + 1 / 2 + 1 / 4) / 3, 5 / 8])


# Unknown


@pytest.mark.parametrize("values", [np.array([1.0, NAN]), np.array([[1.0, 2], [NAN, 2]])])
def test_lowest_with_one_missing(values: FloatArray) -> None:
    """One missing value makes the whole unknown, as the lowest of fewer is another number."""
    with pytest.raises(StatsError, match=f"missing responses: 1 of {values.size}"):
        lowest_of_k(values)


def test_lowest_of_nothing() -> None:
    """The lowest of no response is unknown."""
    with pytest.raises(StatsError, match="no response"):
        lowest_of_k(np.empty((3, 0)))


def test_any_of_an_unknown_chance() -> None:
    """One unknown chance makes the whole unknown."""
    with pytest.raises(StatsError, match="missing responses: 1 of 4"):
        any_of_k(np.array([[1.0, 0], [NAN, 0]]))


@pytest.mark.parametrize("chances", [-0.5, 1.5])
def test_any_of_what_is_no_chance(chances: float) -> None:
    """A number that is below 0 or above 1 is no chance."""
    with pytest.raises(StatsError, match="from 0 to 1"):
        any_of_k(np.array([[0.5, chances]]))


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_events_of_nothing(shape: tuple[int, int]) -> None:
    """Without a scenario or a response there is no chance of an event."""
    with pytest.raises(StatsError, match="no response"):
        any_of_k(np.zeros(shape))


# For any values

CURVES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 6)),
    elements=st.integers(-6, 6).map(float),
)


@given(CURVES)
def test_lowest_is_the_mean_over_all_subsets(values: FloatArray) -> None:
    """The closed form is what all subsets of each size give, one by one."""
    n = values.shape[1]
    for k in range(1, n + 1):
        enumerated = np.mean([values[:, s].min(axis=1) for s in combinations(range(n), k)], axis=0)
        np.testing.assert_allclose(lowest_of_k(values)[:, k - 1], enumerated, atol=1e-12)


@given(CURVES)
def test_lowest_goes_from_the_mean_to_the_lowest(points: FloatArray) -> None:
    """The curve starts at the mean, never rises, and ends at the lowest of all."""
    curve = lowest_of_k(points)
    assert curve[:, 0] == pytest.approx(points.mean(axis=1))
    assert (np.diff(curve, axis=1) <= 1e-12).all()
    assert curve[:, -1].tolist() == points.min(axis=1).tolist()


@given(st.lists(st.sampled_from([0.0, 0.125, 0.5, 1.0]), min_size=1, max_size=7))
def test_any_is_the_mean_over_all_subsets(chances: list[float]) -> None:
    """Each is the mean over the subsets of a size of 1 - the chance that none has the event."""
    n = len(chances)
    result = any_of_k(np.array([chances]))[0]
    for k in range(1, n + 1):
        subsets = combinations(chances, k)
        mean = np.mean([1 - np.prod([1 - p for p in subset]) for subset in subsets])
        assert result[k - 1] == pytest.approx(mean)
        assert 0 <= result[k - 1] <= 1


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_any_of_events_that_are_certain(case: tuple[int, int]) -> None:
    """With c of n responses that have it, it is 1 - C(n - c, k) / C(n, k), in any order."""
    c, n = case
    result = any_of_k(np.array([[1.0] * c + [0.0] * (n - c), [0.0] * (n - c) + [1.0] * c]))
    expected = [1 - comb(n - c, k) / comb(n, k) for k in range(1, n + 1)]
    assert result.tolist() == [pytest.approx(expected)] * 2
