"""Agreement of two readings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.errors import StatsError
from careeval.stats import weighted_kappa

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
