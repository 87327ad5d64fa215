"""Corrected scores: worked by hand, by enumeration, by simulation, and refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from careeval.errors import StatsError
from careeval.stats.audit.corrected_mean import CorrectedMean, prediction_powered
from careeval.stats.score import FloatArray, pooled_score

NAN = np.nan
SCORES = st.tuples(st.integers(2, 6), st.integers(1, 4)).flatmap(
    lambda shape: arrays.arrays(np.float64, (2, *shape), elements=st.integers(-3, 3).map(float))
)


# Rates


# Scores


def test_scores_worked_by_hand() -> None:
    """A mean of 1 by the grader, whom people correct by -1 in one of the two they read, is 1/2."""
    graded = np.array([[2.0, 0], [1, 1]])
    human = np.array([[1.0, NAN], [1, NAN]])
    result = prediction_powered(graded, human)
    # Influence: (1 - 1) + (-1 + 1/2) and (1 - 1) + (0 + 1/2); SD .7071 over √2.
    assert result == pytest.approx((0.5, 0.5, 2))


@given(SCORES)
def test_all_read_is_what_people_say(both: FloatArray) -> None:
    """If people read every response, the grader's scores change neither value nor error."""
    graded, human = both
    result = prediction_powered(graded, human)
    assert result.value == pytest.approx(human.mean())
    error = human.mean(axis=1).std(ddof=1) / np.sqrt(len(human))
    assert result.se == pytest.approx(error, abs=1e-9)


@given(SCORES, st.floats(-2, 2), st.floats(0.05, 1))
def test_constant_bias_and_equal_chances_change_nothing(
    both: FloatArray, bias: float, chance: float
) -> None:
    """A grader that adds the same everywhere, and chances that are all the same, change nothing."""
    graded, human = both
    human = human.copy()
    human[0, 0] = NAN
    plain = prediction_powered(graded, human)
    biased = prediction_powered(graded + bias, human, inclusion=np.full(graded.shape, chance))
    assert biased == pytest.approx(plain, abs=1e-9)


@given(SCORES)
def test_grader_who_is_right(both: FloatArray) -> None:
    """If people only confirm the grader, the value is the grader's mean."""
    graded, _ = both
    human = np.where(np.arange(graded.shape[1]) == 0, graded, NAN)
    assert prediction_powered(graded, human).value == pytest.approx(graded.mean())


@given(SCORES, st.data())
def test_maxima_make_it_the_pooled_score(both: FloatArray, data: st.DataObject) -> None:
    """Of points over maxima, all read, the corrected score is people's pooled score."""
    graded, human = both
    maxima = data.draw(
        arrays.arrays(np.float64, len(graded), elements=st.integers(1, 6).map(float))
    )
    result = prediction_powered(graded, human, maxima=maxima)
    assert result.value == pytest.approx(pooled_score(human, maxima))


def test_unequal_chances_need_their_weights() -> None:
    """If low grades are read more often and were too low, weights remove the bias."""
    rng = np.random.default_rng(1)
    graded = rng.integers(0, 4, size=(60, 5)).astype(float)
    human = graded + (graded < 2)
    inclusion = np.where(graded < 2, 0.6, 0.1)
    weighted, plain = [], []
    for _ in range(200):
        seen = np.where(rng.random(graded.shape) < inclusion, human, NAN)
        weighted.append(prediction_powered(graded, seen, inclusion=inclusion).value)
        plain.append(prediction_powered(graded, seen).value)
    assert np.mean(weighted) == pytest.approx(human.mean(), abs=0.03)
    assert np.mean(plain) > human.mean() + 0.2


def test_missing_grades_are_left_out() -> None:
    """A response that was not graded counts for nothing, nor does what people say of it."""
    graded = np.array([[2.0, 0, NAN], [1, 1, NAN], [NAN, NAN, NAN]])
    human = np.array([[1.0, NAN, 3], [1, NAN, NAN], [2, NAN, NAN]])
    result = prediction_powered(graded, human)
    assert result.value == prediction_powered(graded[:2, :2], human[:2, :2]).value
    assert result.n_audited == 2


def test_interval_of_clustered_audits() -> None:
    """With a grader lenient to this system, about 95% of intervals hold the true mean, not 87."""
    rng = np.random.default_rng(2)
    held = []
    for _ in range(300):
        ability = rng.normal(0, 1, size=(60, 1))
        human = ability + rng.normal(0, 0.5, size=(60, 6))
        graded = human + 0.5 + rng.normal(0, 0.6, size=(60, 1)) + rng.normal(0, 0.3, size=(60, 6))
        seen = np.where(rng.random(human.shape) < 0.3, human, NAN)
        low, high = prediction_powered(graded, seen).interval
        held.append(low <= 0 <= high)
    # The standard error is .0126.
    assert np.mean(held) == pytest.approx(0.95, abs=0.04)


# What is refused


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: prediction_powered(np.ones((3, 2)), np.full((3, 2), NAN)), "no response"),
        (lambda: prediction_powered(np.ones((3, 2)), np.ones((3, 1))), "shape"),
        (lambda: prediction_powered(np.ones((1, 2)), np.ones((1, 2))), "fewer than two"),
        (
            lambda: prediction_powered(np.ones((3, 2)), np.ones((3, 2)), maxima=np.zeros(3)),
            "positive",
        ),
        (
            lambda: prediction_powered(
                np.ones((3, 1)), np.ones((3, 1)), inclusion=np.full((3, 1), 1.5)
            ),
            "chance",
        ),
        (lambda: CorrectedMean(0.5, 0.1, 4).interval, "fewer than five"),
        (lambda: CorrectedMean(0.5, 0.0, 40).interval, "no variation"),
    ],
)
def test_what_is_not_defined(call: Callable[[], object], reason: str) -> None:
    """An audit of nothing, unknown chances, and too few scenarios have a reason."""
    with pytest.raises(StatsError, match=reason):
        call()
