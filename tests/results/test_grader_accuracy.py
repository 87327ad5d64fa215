"""A grader's numbers: by hand, their bounds, and what weights may and may not do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.results import grader_accuracy
from careeval.results.grader_accuracy import GraderAccuracy
from careeval.stats.audit import sensitivity_range
from careeval.stats.intervals import Interval

# ten scenarios alike: 3 found of 4, 5 cleared of 6
CELLS = np.array([[3.0, 1, 1, 5]] * 10)
NAMES = ("sensitivity", "specificity", "ppv", "macro_f1")


def test_numbers_by_hand() -> None:
    """Sensitivity, specificity, ppv and macro F1 are those of the summed cells."""
    found = GraderAccuracy.of(CELLS)
    assert (found.n, found.n_present, found.n_unresolved) == (100, 40, 0)
    assert found.sensitivity.value == 3 / 4
    assert found.specificity.value == 5 / 6
    assert found.ppv.value == 3 / 4
    assert found.macro_f1.value == pytest.approx((6 / 8 + 10 / 12) / 2)
    assert found.miss_rate.value == 1 / 4


def test_miss_rate_is_the_mirror_of_sensitivity() -> None:
    """Its interval is that of sensitivity turned round, and without sensitivity there is none."""
    found = GraderAccuracy.of(CELLS)
    low, high = found.sensitivity.ci95 or (0, 0)
    assert found.miss_rate.ci95 == pytest.approx((1 - high, 1 - low))
    assert GraderAccuracy.of(CELLS * [0, 0, 1, 1]).miss_rate.value is None


def test_unresolved_are_in_neither_share_and_widen_both() -> None:
    """One unresolved judgment a scenario leaves the value, and bounds settle it both ways."""
    open_ = np.zeros((10, 2))
    open_[:, 0] = 1
    found = GraderAccuracy.of(CELLS, open_)
    assert (found.n, found.n_present, found.n_unresolved) == (110, 50, 10)
    bounds = found.sensitivity
    assert (bounds.low, bounds.value, bounds.high) == (3 / 5, 3 / 4, 4 / 5)
    assert found.specificity == GraderAccuracy.of(CELLS).specificity


def test_nothing_there_is_unknown_not_zero() -> None:
    """If no item is there, sensitivity has a reason and specificity a number."""
    found = GraderAccuracy.of(CELLS * [0, 0, 1, 1])
    assert found.sensitivity.value is None
    assert "nothing is present" in found.sensitivity.reason
    assert found.specificity.value == 5 / 6


def test_few_scenarios_have_no_interval() -> None:
    """Four scenarios give every value and no interval."""
    found = GraderAccuracy.of(CELLS[:4])
    assert found.sensitivity.value == 3 / 4
    assert all(getattr(found, name).ci95 is None for name in NAMES)


def test_all_found_leaves_open_what_nobody_read() -> None:
    """With none missed among 40 read of 4,000, sensitivity is 1 and its interval is not narrow."""
    read = np.array([[5.0, 0, 0, 4]] * 10)
    found = GraderAccuracy.weighted(read * [1, 100, 1, 100], read)
    assert found.sensitivity.value == 1
    left = sensitivity_range(50, 4000, 0, 40)
    assert left.low < 0.15
    assert found.sensitivity.ci95 == pytest.approx((left.low, 1.0))
    # read to the last, there is nothing left open but other scenarios
    whole = GraderAccuracy.weighted(read, read).sensitivity.ci95
    assert whole is not None
    assert whole[0] > 0.6


def test_audits_hold_the_truth_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 300 simulated audits 93% hold the truth, in intervals half as wide again at most."""
    # slow, and not what this is about
    monkeypatch.setattr(grader_accuracy, "measure_interval", lambda *_: Interval(0, 1))
    rng = np.random.default_rng(20)
    n_scenarios, n_each, share_read = 60, 20, np.array([0.7, 0.2])  # of found, of called absent
    seen: dict[str, list[tuple[float, float, float]]] = {"sensitivity": [], "specificity": []}
    for _ in range(300):
        there = rng.random((n_scenarios, n_each)) < rng.beta(2, 8, size=(n_scenarios, 1))
        found = rng.random(there.shape) < np.where(there, 0.85, 0.05)
        drawn = rng.random(there.shape) < np.where(found, *share_read)
        ways = [there & found, there & ~found, ~there & found, ~there & ~found]
        read = np.stack([(way & drawn).sum(axis=1) for way in ways], axis=1).astype(np.float64)
        weights = [found.sum() / (drawn & found).sum(), (~found).sum() / (drawn & ~found).sum()]
        of = GraderAccuracy.weighted(read * np.array(weights)[[0, 1, 0, 1]], read)
        for name, values in seen.items():
            estimate = getattr(of, name)
            values.append((estimate.value, *estimate.ci95))
    for (_, values), truth in zip(seen.items(), (0.85, 0.95), strict=True):
        value, low, high = np.array(values).T
        assert ((low <= truth) & (truth <= high)).mean() >= 0.93
        assert (high - low).mean() < 1.5 * 2 * 1.96 * value.std(ddof=1)


def test_strata_can_be_worth_more_than_was_read() -> None:
    """A few errors in a small stratum leave specificity an interval narrower than its count."""
    read = np.array([[2.0, 0, 0, 4], [1, 0, 1, 4], [2, 1, 0, 4], [1, 0, 1, 4], [2, 0, 0, 4]] * 4)
    found = GraderAccuracy.weighted(read * [1, 10, 1, 10], read).specificity
    # 8 invented of 8 read, 800 cleared for 80 read
    assert found.value == 800 / 808
    low, high = found.ci95 or (0, 1)
    assert low < 800 / 808 < high
    assert high - low < 0.02


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=5, max_size=9).filter(
    lambda rows: all(map(sum, rows))
))  # fmt: skip
def test_a_census_needs_no_weights(rows: list[tuple[int, ...]]) -> None:
    """Judgments that all count once have the same numbers by either way."""
    cells = np.array(rows, dtype=np.float64)
    plain, weighted = GraderAccuracy.of(cells), GraderAccuracy.weighted(cells, cells)
    for name in NAMES:
        one, other = getattr(plain, name), getattr(weighted, name)
        assert (one.value, one.ci95) == (other.value, other.ci95)


@given(st.integers(2, 50))
def test_weights_have_no_unit(times: int) -> None:
    """Weights that are all larger by a factor move no value; ppv's interval stays too."""
    read = np.array([[3.0, 1, 1, 5], [2, 0, 1, 4], [1, 1, 0, 7], [4, 0, 2, 2], [0, 1, 1, 3.0]])
    once, more = (GraderAccuracy.weighted(read * w, read) for w in (1, times))
    for name in NAMES:
        assert getattr(once, name).value == pytest.approx(getattr(more, name).value)
    assert once.ppv.ci95 == pytest.approx(more.ppv.ci95)
