"""Agreement of two readings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.errors import StatsError
from careeval.stats import cohen_kappa, kappa_interval, weighted_kappa

POINTS = (-2, -1, 0, 1, 2)
READ = st.lists(st.tuples(st.sampled_from(POINTS), st.sampled_from(POINTS)), min_size=2)


def test_two_levels_are_the_plain_kappa_worked_by_hand() -> None:
    """20 and 15 agree of 50, chance agrees in half of them: (.7 − .5) ÷ .5."""
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert weighted_kappa(first, second, (0, 1)) == pytest.approx(0.4)


def test_two_levels_apart_weigh_four_times_one() -> None:
    """By hand: each reading has 0 and 2 once; one miss by 1 costs 1, one by 2 costs 4."""
    # expected: pairs (0,1) (0,2) (2,1) (2,2), half each: (1 + 4 + 1 + 0) / 2 = 3; observed 1
    assert weighted_kappa([0, 2], [1, 2], (0, 1, 2)) == pytest.approx(1 - 1 / 3)
    # expected: pairs (0,0) (0,2) (2,0) (2,2), half each: (0 + 4 + 4 + 0) / 2 = 4; observed 8
    assert weighted_kappa([0, 2], [2, 0], (0, 1, 2)) == pytest.approx(-1)


def test_a_reading_that_says_one_thing_throughout_has_no_kappa() -> None:
    """Chance alone would agree: undefined, not 1."""
    with pytest.raises(StatsError, match="throughout"):
        weighted_kappa([2, 2], [2, 2], POINTS)
    with pytest.raises(StatsError, match="nothing"):
        weighted_kappa([], [], POINTS)
    with pytest.raises(StatsError, match="level 3"):
        weighted_kappa([3], [2], POINTS)


@given(READ)
def test_which_reading_comes_first_does_not_matter(pairs: list[tuple[int, int]]) -> None:
    """Kappa is symmetric, and at most 1."""
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    try:
        kappa = weighted_kappa(first, second, POINTS)
    except StatsError:
        return
    assert kappa == pytest.approx(weighted_kappa(second, first, POINTS))
    assert kappa <= 1


CELLS = st.lists(st.integers(0, 9), min_size=4, max_size=4)


def test_kappa_by_hand() -> None:
    """Of 50 things 35 are read alike, 25 by chance: (35 - 25) / (50 - 25)."""
    assert cohen_kappa(np.array([[20.0, 5.0], [10.0, 15.0]])) == pytest.approx(0.4)


def test_kappa_where_almost_all_is_alike() -> None:
    """95% alike is worse than chance where both readings say the same of nearly everything."""
    assert cohen_kappa(np.array([[95.0, 4.0], [1.0, 0.0]])) == pytest.approx(-0.0163, abs=5e-5)


def test_kappa_that_is_not_defined() -> None:
    """Nothing read, or one class throughout, leaves kappa undefined, and not 1."""
    with pytest.raises(StatsError, match="nothing"):
        cohen_kappa(np.zeros((2, 2)))
    with pytest.raises(StatsError, match="throughout"):
        cohen_kappa(np.array([[7.0, 0.0], [0.0, 0.0]]))


@given(CELLS)
def test_kappa_of_two_classes_is_weighted_kappa(cells: list[int]) -> None:
    """With two classes no miss is wider than another, so that the weights change nothing."""
    pairs = [(a, b) for (a, b), n in zip(np.ndindex(2, 2), cells, strict=True) for _ in range(n)]
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    table = np.array(cells, dtype=np.float64).reshape(2, 2)
    try:
        expected = weighted_kappa(first, second, (0, 1))
    except StatsError:
        with pytest.raises(StatsError):
            cohen_kappa(table)
    else:
        assert cohen_kappa(table) == pytest.approx(expected)


def test_interval_of_kappa_resamples_scenarios() -> None:
    """Ten times the readings of the same scenarios leave it as wide; more scenarios narrow it."""
    rng = np.random.default_rng(3)
    tables = rng.multinomial(10, [0.4, 0.1, 0.1, 0.4], size=30).reshape(30, 2, 2).astype(float)
    found = kappa_interval(tables)
    assert found.low < cohen_kappa(tables.sum(axis=0)) < found.high
    assert kappa_interval(10 * tables) == pytest.approx(found)
    wider = kappa_interval(tables[:8])
    assert wider.high - wider.low > found.high - found.low


def test_interval_of_kappa_that_cannot_be_had() -> None:
    """Too few scenarios, or a class that only one of them has, leave kappa without an interval."""
    both = np.array([[3.0, 1.0], [1.0, 3.0]])
    with pytest.raises(StatsError, match="fewer than five"):
        kappa_interval(np.array([both] * 4))
    with pytest.raises(StatsError, match="too many resamples"):
        kappa_interval(np.array([both] + [np.array([[4.0, 0.0], [0.0, 0.0]])] * 5))
    with pytest.raises(StatsError, match="no variation"):
        kappa_interval(np.array([both] * 5))
