"""A grader's numbers: by hand, their bounds, and what weights may and may not do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.results.measured import Measured
from careeval.stats import sensitivity_range

# ten scenarios alike: 3 found of 4, 5 cleared of 6
CELLS = np.array([[3.0, 1, 1, 5]] * 10)
NAMES = ("sensitivity", "specificity", "ppv", "macro_f1", "kappa")


def test_numbers_by_hand() -> None:
    """Sensitivity, specificity, ppv, macro F1 and kappa are those of the summed cells."""
    found = Measured.of(CELLS)
    assert (found.n, found.n_present, found.n_unresolved) == (100, 40, 0)
    assert found.sensitivity.value == 3 / 4
    assert found.specificity.value == 5 / 6
    assert found.ppv.value == 3 / 4
    assert found.macro_f1.value == pytest.approx((6 / 8 + 10 / 12) / 2)
    # 8 of 10 agree; by chance .4 × .4 + .6 × .6
    assert found.kappa.value == pytest.approx((0.8 - 0.52) / 0.48)
    assert found.miss_rate.value == 1 / 4


def test_miss_rate_is_the_mirror_of_sensitivity() -> None:
    """Its interval is that of sensitivity turned round, and without sensitivity there is none."""
    found = Measured.of(CELLS)
    low, high = found.sensitivity.ci95 or (0, 0)
    assert found.miss_rate.ci95 == pytest.approx((1 - high, 1 - low))
    assert Measured.of(CELLS * [0, 0, 1, 1]).miss_rate.value is None


def test_unresolved_are_in_neither_share_and_widen_both() -> None:
    """One unresolved judgment a scenario leaves the value, and bounds settle it both ways."""
    open_ = np.zeros((10, 2))
    open_[:, 0] = 1
    found = Measured.of(CELLS, open_)
    assert (found.n, found.n_present, found.n_unresolved) == (110, 50, 10)
    bounds = found.sensitivity
    assert (bounds.low, bounds.value, bounds.high) == (3 / 5, 3 / 4, 4 / 5)
    assert found.specificity == Measured.of(CELLS).specificity


def test_nothing_there_is_unknown_not_zero() -> None:
    """Where no item is there, sensitivity has a reason and specificity a number."""
    found = Measured.of(CELLS * [0, 0, 1, 1])
    assert found.sensitivity.value is None
    assert "nothing is present" in found.sensitivity.reason
    assert found.specificity.value == 5 / 6


def test_few_scenarios_have_no_interval() -> None:
    """Four scenarios give every value and no interval."""
    found = Measured.of(CELLS[:4])
    assert found.sensitivity.value == 3 / 4
    assert all(getattr(found, name).ci95 is None for name in NAMES)


def test_all_found_leaves_open_what_nobody_read() -> None:
    """With none missed among 40 read of 4,000, sensitivity is 1 and its interval is not narrow."""
    read = np.array([[5.0, 0, 0, 4]] * 10)
    found = Measured.weighted(read * [1, 100, 1, 100], read)
    assert found.sensitivity.value == 1
    left = sensitivity_range(50, 4000, 0, 40)
    assert left.low < 0.15
    assert found.sensitivity.ci95 == pytest.approx((left.low, 1.0))
    # read to the last, there is nothing left open but other scenarios
    whole = Measured.weighted(read, read).sensitivity.ci95
    assert whole is not None
    assert whole[0] > 0.6


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=5, max_size=9).filter(
    lambda rows: all(map(sum, rows))
))  # fmt: skip
def test_a_census_needs_no_weights(rows: list[tuple[int, ...]]) -> None:
    """Judgments that all count once have the same numbers by either way."""
    cells = np.array(rows, dtype=np.float64)
    plain, weighted = Measured.of(cells), Measured.weighted(cells, cells)
    for name in NAMES:
        one, other = getattr(plain, name), getattr(weighted, name)
        assert (one.value, one.ci95) == (other.value, other.ci95)


@given(st.integers(2, 50))
def test_weights_have_no_unit(times: int) -> None:
    """Weights that are all larger by a factor move no value; ppv's interval stays too."""
    read = np.array([[3.0, 1, 1, 5], [2, 0, 1, 4], [1, 1, 0, 7], [4, 0, 2, 2], [0, 1, 1, 3.0]])
    once, more = (Measured.weighted(read * w, read) for w in (1, times))
    for name in NAMES:
        assert getattr(once, name).value == pytest.approx(getattr(more, name).value)
    assert once.ppv.ci95 == pytest.approx(more.ppv.ci95)
