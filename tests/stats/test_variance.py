"""Variance components: worked by hand, for any points, and in simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from careeval.errors import StatsError
from careeval.stats.intervals import draw_counts
from careeval.stats.score import FloatArray, pooled_score
from careeval.stats.variance import (
    GradingVariance,
    grading_variance,
    noise_corrected_worst,
    noise_corrected_worst_interval,
    response_reliability,
)

# Two scenarios of five responses, with means 0 and 0.6 and a variance of 0.1 within each.
STEPS = np.array([-0.4, -0.2, 0.0, 0.2, 0.4])
FIRST = np.stack([STEPS, STEPS + 0.6])
# Each graded again, 0.2 away: a variance of 0.02 between its gradings.
AGAIN = FIRST + 0.2 * np.array([1, -1, 1, -1, 1])
TWICE = np.stack([FIRST, AGAIN], axis=2)

THREE_GRADINGS = st.tuples(st.integers(2, 8), st.integers(5, 10)).flatmap(
    lambda shape: arrays.arrays(np.int64, (*shape, 3), elements=st.integers(-3, 3))
)

ITEMS = np.array([2.0, 1, 0, -1, -2])


def worst_at_n(points: FloatArray, maxima: FloatArray) -> float:
    """The score if every scenario had got the lowest of its responses."""
    return pooled_score(points.min(axis=1, keepdims=True), maxima)


def graded(present: NDArray[np.bool_], flipped: float, rng: np.random.Generator) -> FloatArray:
    """Points of every response to a five-item rubric, graded three times by a poor grader.

    Only a fifth of the responses are graded more than once.
    """
    shape = (*present.shape[:2], 3, len(ITEMS))
    points = (present[:, :, np.newaxis] ^ (rng.random(shape) < flipped)) @ ITEMS
    points[rng.random(present.shape[:2]) > 0.2, 1:] = np.nan
    return np.asarray(points)


# How alike responses are


def test_reliability_of_three_runs() -> None:
    """Three scenarios of two runs at 1 to 3, 3 to 5 and 5 to 7: ICC 0.6, design effect 1.6."""
    # Means 2, 4, 6: MSB = 2 * 4 = 8; each pair is 2 apart: MSW = 2; (8 - 2) / (8 + 2), and 6 / 8.
    result = response_reliability(np.array([[1.0, 3], [3, 5], [5, 7]]))
    assert result == pytest.approx((0.6, 1.6, 0.75))


def test_runs_that_never_differ() -> None:
    """If each scenario has one value, one response tells as much as ten."""
    result = response_reliability(np.repeat([[0.0], [1.0]], 10, axis=1))
    assert result == (1, 10, 1)


@given(THREE_GRADINGS, st.floats(0.1, 10), st.floats(-5, 5))
def test_reliability_has_no_unit(points: FloatArray, unit: float, start: float) -> None:
    """Neither the unit nor the zero of the points matters, and no correlation is above 1."""
    values = points[:, :, 0].astype(float)
    values[:, 0] += np.arange(len(values))
    try:
        result = response_reliability(values)
    except StatsError:
        assert np.ptp(values.mean(axis=1)) < 1e-9
        return
    assert -1 / (values.shape[1] - 1) <= result.icc <= 1
    assert response_reliability(start + unit * values) == pytest.approx(result, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.ones((5, 1)), "fewer than two scenarios or epochs"),
        (np.ones((1, 5)), "fewer than two scenarios or epochs"),
        (np.full((5, 2), np.nan), "missing responses: 10 of 10"),
        (np.full((5, 2), 0.1), "do not vary"),
        (np.array([[0.0, 1], [1, 0]]), "do not vary"),
    ],
)
def test_reliability_is_refused(values: FloatArray, reason: str) -> None:
    """Nothing to tell apart, or nothing that differs, has no reliability."""
    with pytest.raises(StatsError, match=reason):
        response_reliability(values)


# Scenario, response, grading


def test_variance_by_source() -> None:
    """0.18 between means and 0.1 within, of which 0.02 is grading: 0.16, 0.08 and 0.02."""
    result = grading_variance(TWICE)
    assert result == pytest.approx((0.16, 0.08, 0.02))
    assert result.shares == pytest.approx((8 / 13, 4 / 13, 1 / 13))


def test_variance_of_nothing_but_grading() -> None:
    """If gradings differ and responses do not, the responses' variance is 0, never below."""
    same = np.zeros((2, 5))
    result = grading_variance(np.stack([same, same + 1], axis=2))
    assert result == GradingVariance(0, 0, 0.5)


def test_only_a_drawn_part_is_graded_again() -> None:
    """Ten responses graded twice tell the grading variance; the others count as graded once."""
    once = np.stack([FIRST, np.full_like(FIRST, np.nan)], axis=2)
    result = grading_variance(np.concatenate([TWICE, once]))
    assert result.grading == pytest.approx(0.02)
    assert result.response == pytest.approx(0.08)


def test_what_cannot_vary_has_no_grading_variance() -> None:
    """If half of the responses cannot vary, grading is half, graded again with them or not."""
    words = np.repeat([[True, False]], 5, axis=1).repeat(2, axis=0)
    for again in (0.0, np.nan):
        nothing = np.stack([np.zeros((2, 5)), np.full((2, 5), again)], axis=2)
        result = grading_variance(np.concatenate([TWICE, nothing], axis=1), words)
        assert result.grading == pytest.approx(0.02 / 2)
        within = np.concatenate([FIRST, np.zeros((2, 5))], axis=1).var(axis=1, ddof=1).mean()
        assert result.response == pytest.approx(within - 0.02 / 2)
    nine = np.concatenate([TWICE, np.zeros((2, 5, 2))], axis=1)
    nine[0, 0, 1] = np.nan
    with pytest.raises(StatsError, match="graded twice or more: 9"):
        grading_variance(nine, words)


def test_grading_variance_is_right_on_average() -> None:
    """With refusals among the responses, the parts average what the responses were made with.

    Of 6 epochs 2 are refused. Grading of a response with words has variance 0.25, so 1/6 over all.
    """
    rng = np.random.default_rng(5)
    words = np.ones((30, 6), dtype=np.bool_)
    words[:, :2] = False
    result = []
    for _ in range(400):
        truth = 0.5 + 0.5 * rng.standard_normal((30, 6))
        graded = truth[:, :, np.newaxis] + 0.5 * rng.standard_normal((30, 6, 2))
        graded[~words] = 0
        graded[rng.random((30, 6)) > 0.4, 1] = np.nan
        result.append(grading_variance(graded, words))
    # of a scenario's six: the variance of words, 0.25, and that of words from none
    response = 0.25 * 4 / 6 + 0.5**2 * (2 * 4 / 6) / 5
    assert np.mean([f.grading for f in result]) == pytest.approx(0.25 * 4 / 6, rel=0.03)
    assert np.mean([f.response for f in result]) == pytest.approx(response, rel=0.03)


def test_the_worst_is_corrected_by_what_can_vary() -> None:
    """A run half refused loses half as much variance to the grader in its worst of n."""
    words = np.repeat([[True, False]], 5, axis=1).repeat(2, axis=0)
    points = np.concatenate([TWICE, np.zeros((2, 5, 2))], axis=1)
    first = points[:, :, 0]
    within, mean = first.var(axis=1, ddof=1), first.mean(axis=1)
    lowest = mean - np.sqrt(1 - 0.01 / within) * (mean - first.min(axis=1))
    assert noise_corrected_worst(points, np.ones(2), words) == pytest.approx(lowest.mean())


def test_too_few_graded_again() -> None:
    """Nine responses graded twice are too few, and the reason says nine."""
    nine = TWICE.copy()
    nine[1, 4, 1] = np.nan
    for asked in (grading_variance, lambda points: noise_corrected_worst(points, np.ones(2))):
        with pytest.raises(StatsError, match="graded twice or more: 9"):
            asked(nine)


def test_variance_is_refused() -> None:
    """A response without a first grading, one epoch, or nothing that varies has no split."""
    missing = TWICE.copy()
    missing[0, 0, 0] = np.nan
    with pytest.raises(StatsError, match="missing responses: 1 of 10"):
        grading_variance(missing)
    with pytest.raises(StatsError, match="fewer than two scenarios or epochs"):
        grading_variance(TWICE.reshape(10, 1, 2))
    with pytest.raises(StatsError, match="nothing varies"):
        grading_variance(np.full((2, 5, 2), 0.1))


# The worst, had the grader not varied


def test_worst_is_moved_towards_its_scenario() -> None:
    """If 0.02 of 0.1 within is grading, a minimum 0.4 below its mean becomes 0.4 √0.8 below."""
    result = noise_corrected_worst(TWICE, np.ones(2))
    assert result == pytest.approx((0.6 - 2 * 0.4 * 0.8**0.5) / 2)


def test_scenario_that_does_not_vary_gives_nothing() -> None:
    """If one of two scenarios has no variance to subtract, the other loses twice as much."""
    first = np.stack([np.zeros(5), STEPS + 0.6])
    points = np.stack([first, first + 0.2], axis=2)
    result = noise_corrected_worst(points, np.ones(2))
    assert result == pytest.approx((0 + 0.6 - 0.4 * 0.6**0.5) / 2)


def test_grader_that_does_not_vary() -> None:
    """Without grading noise the corrected worst is the worst."""
    points = np.stack([FIRST, FIRST], axis=2)
    assert noise_corrected_worst(points, np.ones(2)) == pytest.approx(worst_at_n(FIRST, np.ones(2)))


@given(THREE_GRADINGS)
def test_corrected_worst_is_between_worst_and_mean(points: FloatArray) -> None:
    """Whatever the gradings, the corrected worst is from the lowest to the mean of the first."""
    values, maxima = points.astype(float), np.full(len(points), 3.0)
    first = values[:, :, 0]
    result = noise_corrected_worst(values, maxima)
    assert worst_at_n(first, maxima) - 1e-9 <= result <= pooled_score(first, maxima) + 1e-9


@pytest.mark.parametrize("flipped", [0.02, 0.05, 0.10])
def test_grader_alone_does_not_make_a_worst(flipped: float) -> None:
    """If all ten responses are alike, flipped judgments cost the worst 0.2, corrected 0.08."""
    rng = np.random.default_rng(11)
    maxima, raw, corrected = np.full(100, 3.0), [], []
    for _ in range(10):
        present = np.repeat(rng.random((100, 1, 5)) < [0.5, 0.7, 0.3, 0.2, 0.1], 10, axis=1)
        expected = float(((1 - 2 * flipped) * present[:, 0] @ ITEMS).mean() / 3)
        points = graded(present, flipped, rng)
        raw.append(worst_at_n(points[:, :, 0], maxima) - expected)
        corrected.append(noise_corrected_worst(points, maxima) - expected)
    assert np.mean(raw) < -0.2
    assert abs(np.mean(corrected)) < 0.08


def test_interval_of_the_corrected_worst() -> None:
    """The interval holds the value, and its seed decides it."""
    rng = np.random.default_rng(3)
    points = graded(rng.random((40, 10, 5)) < [0.5, 0.7, 0.3, 0.2, 0.1], 0.05, rng)
    maxima = np.full(40, 3.0)
    interval = noise_corrected_worst_interval(points, maxima, seed=1)
    assert interval.low < noise_corrected_worst(points, maxima) < interval.high
    assert noise_corrected_worst_interval(points, maxima, seed=1) == interval
    assert noise_corrected_worst_interval(points, maxima, seed=2) != interval


def test_resamples_are_banks_of_their_own() -> None:
    """The interval's ends are quantiles of the value of each resampled bank, worked out alone."""
    rng = np.random.default_rng(4)
    points = graded(rng.random((30, 10, 5)) < [0.5, 0.7, 0.3, 0.2, 0.1], 0.1, rng)
    maxima = rng.integers(3, 7, size=30).astype(float)
    banks = [np.repeat(np.arange(30), counts.astype(int)) for counts in draw_counts(30, 0, 60)]
    values = [noise_corrected_worst(points[bank], maxima[bank]) for bank in banks]
    expected = np.quantile(values, [0.025, 0.975])
    assert noise_corrected_worst_interval(points, maxima, draws=60) == pytest.approx(expected)


def test_interval_without_noise_is_of_the_minima() -> None:
    """If no grading differs, resampling the corrected worst is resampling the minima."""
    first = np.rint(np.random.default_rng(5).normal(1, 1, size=(40, 10)))
    interval = noise_corrected_worst_interval(np.stack([first, first], axis=2), np.full(40, 3.0))
    minima = draw_counts(40, 0, 1_000) @ first.min(axis=1) / (40 * 3)
    expected = tuple(np.quantile(minima, [0.025, 0.975]))
    assert interval == pytest.approx(expected)


def test_interval_of_the_corrected_worst_is_refused() -> None:
    """Four scenarios, re-gradings in one of forty, or points all alike have no interval."""
    with pytest.raises(StatsError, match="fewer than five scenarios"):
        noise_corrected_worst_interval(np.concatenate([TWICE, TWICE]), np.ones(4))
    one = np.full((40, 10, 2), np.nan)
    one[:, :, 0] = np.arange(10)
    one[0, :, 1] = 0
    with pytest.raises(StatsError, match="too few scenarios"):
        noise_corrected_worst_interval(one, np.ones(40))
    with pytest.raises(StatsError, match="no variation"):
        noise_corrected_worst_interval(np.full((5, 2, 2), 0.1), np.ones(5))


def test_no_positive_points() -> None:
    """A rubric with nothing to gain has no corrected worst."""
    with pytest.raises(StatsError, match="no positive points"):
        noise_corrected_worst(TWICE, np.zeros(2))
