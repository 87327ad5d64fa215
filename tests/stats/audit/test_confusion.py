"""A grader against people: worked by hand, where it is refused, and for any judgments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.errors import StatsError
from careeval.stats.audit.confusion import AccuracyMeasure, Confusion, measure_interval
from careeval.stats.audit.sample_weights import inverse_weights, sensitivity_range
from careeval.stats.intervals import draw_counts
from careeval.stats.resampling import sum_by_cluster

NAN = np.nan
COUNT = st.integers(0, 40)
TABLES = st.builds(Confusion, COUNT, COUNT, COUNT, COUNT)


def value(table: Confusion, measure: str) -> float | None:
    """A measure of a table, none where it is not defined."""
    try:
        return float(getattr(table, measure))
    except StatsError:
        return None


# One table


def test_table_worked_by_hand() -> None:
    """Of 40 found, 10 missed, 5 false and 145 left alone, the F1 of either are 16/19 and 58/61."""
    table = Confusion(tp=40, fn=10, fp=5, tn=145)
    assert (table.sensitivity, table.specificity) == (0.8, pytest.approx(145 / 150))
    assert (table.ppv, table.accuracy) == (pytest.approx(40 / 45), pytest.approx(0.925))
    assert table.macro_f1 == pytest.approx((16 / 19 + 58 / 61) / 2)


@pytest.mark.parametrize(
    ("table", "undefined"),
    [
        # No severe error in these responses, found once: no library's 0, .5 or .75.
        (
            Confusion(0, 0, 1, 3),
            {"sensitivity", "macro_f1"},
        ),
        # Nothing there and nothing found: all correct, and no macro F1 of 1.
        (
            Confusion(0, 0, 0, 4),
            {"sensitivity", "ppv", "macro_f1"},
        ),
        (Confusion(3, 1, 0, 0), {"specificity", "macro_f1"}),
        # A grader that never finds anything misses all: 0 of 2, and no ppv.
        (Confusion(0, 2, 0, 2), {"ppv"}),
    ],
)
def test_absent_class(table: Confusion, undefined: set[str]) -> None:
    """Measures of an absent class are unknown with a reason; the others have values."""
    assert {str(name) for name in AccuracyMeasure if value(table, name) is None} == undefined


def test_nothing_read() -> None:
    """An audit without a judgment has no number at all."""
    empty = Confusion(0, 0, 0, 0)
    assert all(value(empty, name) is None for name in AccuracyMeasure)
    with pytest.raises(StatsError, match="no judgment was read"):
        _ = empty.accuracy


@given(TABLES)
def test_roles_exchanged(table: Confusion) -> None:
    """With grader and people exchanged, sensitivity and ppv change places; accuracy stays."""
    turned = Confusion(table.tp, table.fp, table.fn, table.tn)
    assert value(turned, "sensitivity") == value(table, "ppv")
    assert value(turned, "accuracy") == value(table, "accuracy")


@given(TABLES)
def test_present_and_absent_exchanged(table: Confusion) -> None:
    """With present and absent exchanged, what treats both alike stays, and the rest is mirrored."""
    turned = Confusion(table.tn, table.fp, table.fn, table.tp)
    assert value(turned, "sensitivity") == value(table, "specificity")
    for name in ("accuracy", "macro_f1"):
        assert value(turned, name) == pytest.approx(value(table, name))


# Intervals


@pytest.mark.parametrize("measure", AccuracyMeasure)
def test_interval_is_of_resampled_scenarios(measure: AccuracyMeasure) -> None:
    """The interval is that of the measure of each resample, its scenarios added up."""
    cells = np.random.default_rng(0).integers(1, 6, size=(8, 4)).astype(float)
    drawn = draw_counts(8, 3, 60).astype(int)
    tables = [Confusion(*np.repeat(cells, counts, axis=0).sum(axis=0)) for counts in drawn]
    expected = np.quantile([getattr(table, measure) for table in tables], [0.025, 0.975])
    assert measure_interval(cells, measure, seed=3, draws=60) == pytest.approx(tuple(expected))


def test_rare_items_have_no_interval() -> None:
    """If only two of 30 scenarios have the item, an eighth of resamples lack it: no interval."""
    cells = np.tile([0.0, 0, 0, 1], (30, 1))
    cells[:2] = [[1, 0, 0, 0], [0, 1, 0, 0]]
    with pytest.raises(StatsError, match="one of twenty"):
        measure_interval(cells, AccuracyMeasure.sensitivity)
    assert measure_interval(cells, AccuracyMeasure.accuracy).high == 1


# Audits


def test_unread_misses_leave_a_range() -> None:
    """Two misses in 94 read of 940 leave a sensitivity of .37 to .95; more reading leaves less."""
    assert sensitivity_range(42, 940, 2, 94) == pytest.approx((0.374, 0.945), abs=5e-4)
    wide, narrow = sensitivity_range(42, 940, 2, 94), sensitivity_range(42, 940, 20, 940)
    assert narrow.low > wide.low
    assert narrow.high < wide.high


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: Confusion(-1, 0, 0, 0), "negative or unknown"),
        (lambda: Confusion(NAN, 0, 0, 0), "negative or unknown"),
        (lambda: inverse_weights(np.full(2, True), np.array([1.0, 0])), "chance"),
        (lambda: inverse_weights(np.full(2, True), np.array([1, NAN])), "chance"),
        (lambda: inverse_weights(np.full(2, True), np.ones(3)), "the chances have shape"),
        (lambda: sum_by_cluster(np.ones((2, 4)), [1]), "cluster names"),
        (lambda: measure_interval(np.ones((4, 4)), AccuracyMeasure.ppv), "fewer than five"),
        (lambda: measure_interval(np.ones((9, 4)), AccuracyMeasure.ppv), "no variation"),
        (lambda: sensitivity_range(0, 9, 1, 5), "nothing"),
        (lambda: sensitivity_range(3, 9, 6, 5), "6 missed, 5 read, 9 called absent"),
    ],
)
def test_what_is_not_defined(call: Callable[[], object], reason: str) -> None:
    """Impossible counts, unknown chances, and too few scenarios are refused with the reason."""
    with pytest.raises(StatsError, match=reason):
        call()


def test_chances_of_what_was_not_read_do_not_matter() -> None:
    """A judgment that nobody read weighs nothing, whatever its chance was."""
    read = np.array([True, False, True])
    assert inverse_weights(read, np.array([0.5, NAN, 0.1])) == pytest.approx([2, 0, 10])
    assert list(inverse_weights(read, None)) == [1, 0, 1]
