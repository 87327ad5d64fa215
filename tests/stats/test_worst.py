"""The worst of several responses: by hand, by enumeration, then for any values."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from careeval.errors import StatsError
from careeval.stats.score import FloatArray, any_of_k, lowest_of_k

NAN = np.nan


def test_lowest_of_three() -> None:
    """Of 0, 3 and 6 the lowest is on average 3 of one, 1 of two (0, 0, 3), and 0 of three."""
    assert lowest_of_k(np.array([6.0, 0, 3])).tolist() == pytest.approx([3, 1, 0])


def test_any_of_ten() -> None:
    """C04: with 2 of 10 an event is seen in .2 of single responses, and in 8/15 of triples."""
    chances = any_of_k(np.array([[1.0, 1, 0, 0, 0, 0, 0, 0, 0, 0]]))
    # 1 - C(8, 3) / C(10, 3) = 1 - 56 / 120
    assert chances[0, [0, 2, 8, 9]].tolist() == pytest.approx([0.2, 8 / 15, 1, 1])


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

POINTS = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 6)),
    elements=st.integers(-6, 6).map(float),
)


@given(POINTS)
def test_lowest_is_the_mean_over_all_subsets(values: FloatArray) -> None:
    """The closed form is what all subsets of each size give, one by one."""
    n = values.shape[1]
    for k in range(1, n + 1):
        enumerated = np.mean([values[:, s].min(axis=1) for s in combinations(range(n), k)], axis=0)
        np.testing.assert_allclose(lowest_of_k(values)[:, k - 1], enumerated, atol=1e-12)


@given(POINTS)
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
