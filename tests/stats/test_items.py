"""Single items: by hand, against scipy, and where nothing is defined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from careeval.errors import StatsError
from careeval.results.item_statistics import item_rest
from careeval.stats.intervals import fisher_interval
from careeval.stats.score import FloatArray

NAN = np.nan


def test_items_of_six_respondents() -> None:
    """C14: three items correlate with the other two by 0, .612 and .158."""
    present = [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 1, 1]]
    expected = [0, 0.6123724356957945, 0.15811388300841897]
    assert item_rest(np.array(present, dtype=float)).tolist() == pytest.approx(expected)


def test_item_is_left_out_of_its_rest() -> None:
    """Two items that are each other's opposite correlate by -1, though their sum is constant."""
    present = np.array([[1.0, 0], [0, 1], [1, 0], [0, 1]])
    assert item_rest(present).tolist() == pytest.approx([-1, -1])


def test_item_that_is_always_present() -> None:
    """An item in every answer has no correlation, and is of no weight in the rest of the others."""
    present = np.array([[1.0, 1, 1], [1, 0, 0], [1, 1, 1]])
    np.testing.assert_allclose(item_rest(present), [NAN, 1, 1])


def test_rest_that_is_rounding_does_not_vary() -> None:
    """Points of .1, .2 and -.3 that cancel in every respondent leave no rest to correlate with."""
    rest = [[0.1, 0.2, -0.3], [0.2, 0.1, -0.3], [-0.3, 0.1, 0.2]]
    present = np.column_stack([[1.0, 2, 3], rest])
    assert np.isnan(item_rest(present)[0])


def test_unresolved_item_takes_its_respondent_out() -> None:
    """A respondent with an unresolved item has no rest, and the others correlate without it."""
    whole = np.array([[1.0, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 1]])
    unresolved = np.vstack([whole, [NAN, 1, 0]])
    np.testing.assert_array_equal(item_rest(unresolved), item_rest(whole))


def test_items_of_two_respondents() -> None:
    """Two respondents always lie on a line, so that their correlation is no number."""
    present = np.array([[1.0, 1], [0, 0], [NAN, 1]])
    np.testing.assert_array_equal(item_rest(present), [NAN, NAN])


def test_no_correlation_over_nine_systems() -> None:
    """C15: over nine systems a correlation of 0 is anything within ± 0.66."""
    assert fisher_interval(0, 9) == pytest.approx((-0.6641217079267975, 0.6641217079267975))


@pytest.mark.parametrize(
    ("r", "n", "reason"),
    [
        (0.5, 3, "fewer than four pairs"),
        (1.0, 9, "no variation"),
        (-1.0, 9, "no variation"),
        (1 - 2**-53, 9, "no variation"),
        (NAN, 9, "not a correlation"),
        (1.2, 9, "not a correlation"),
    ],
)
def test_correlation_without_an_interval(r: float, n: int, reason: str) -> None:
    """Three pairs, or a correlation of 1, give no interval, rather than a certain one."""
    with pytest.raises(StatsError, match=reason):
        fisher_interval(r, n)


# For any numbers

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


@given(arrays.arrays(np.float64, (6, 4), elements=NUMBERS))
def test_every_item_has_the_correlation_with_its_rest(present: FloatArray) -> None:
    """Each entry is the correlation of one column with the sum of the others, or undefined."""
    for i, result in enumerate(item_rest(present)):
        rest = np.delete(present, i, axis=1).sum(axis=1)
        if np.ptp(rest) == 0 or np.ptp(present[:, i]) == 0:
            assert np.isnan(result)
        else:
            expected = stats.pearsonr(present[:, i], rest).statistic
            assert result == pytest.approx(expected, abs=1e-9)
