"""A grader against people: worked by hand, where it is refused, and for any judgments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from careeval.errors import StatsError
from careeval.stats import (
    Confusion,
    Measure,
    audit_size,
    graders_p,
    inverse_weights,
    majority_accuracy,
    mcnemar,
    mcnemar_chi_squared,
    mcnemar_exact,
    measure_interval,
    scenario_cells,
    sensitivity_range,
)
from careeval.stats.intervals import draw_counts
from careeval.stats.score import FloatArray

NAN = np.nan
COUNT = st.integers(0, 40)
TABLES = st.builds(Confusion, COUNT, COUNT, COUNT, COUNT)
VERDICT = st.sampled_from([0.0, 1.0, NAN])
JUDGMENTS = st.lists(st.tuples(VERDICT, VERDICT), min_size=1, max_size=30)


def value(table: Confusion, measure: str) -> float | None:
    """A measure of a table, none where it is not defined."""
    try:
        return float(getattr(table, measure))
    except StatsError:
        return None


def judged(n_scenarios: int, *, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Drawn labels, verdicts that are mostly right, and scenarios of ten judgments each."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(10 * n_scenarios) < 0.4).astype(float)
    graded = np.where(rng.random(truth.shape) < 0.15, 1 - truth, truth)
    return truth, graded, np.repeat(np.arange(n_scenarios), 10)


# One table


def test_table_worked_by_hand() -> None:
    """Of 40 found, 10 missed, 5 false and 145 left alone: F1 is 16/19 and 58/61."""
    table = Confusion(tp=40, fn=10, fp=5, tn=145)
    assert (table.sensitivity, table.specificity) == (0.8, pytest.approx(145 / 150))
    assert (table.ppv, table.npv) == (pytest.approx(40 / 45), pytest.approx(145 / 155))
    assert (table.prevalence, table.accuracy, table.miss_rate) == pytest.approx((0.25, 0.925, 0.2))
    assert table.f1 == pytest.approx(16 / 19)
    assert table.macro_f1 == pytest.approx((16 / 19 + 58 / 61) / 2)


def test_what_is_not_known_is_left_out() -> None:
    """An unsure label and an unresolved verdict leave a pair out, and nothing becomes absent."""
    truth = np.array([1, 1, NAN, 0, 0])
    graded = np.array([1, NAN, 1, 1, 0])
    assert Confusion.of(truth, graded) == Confusion(tp=1, fn=0, fp=1, tn=1)


def test_each_rater_is_paired_with_the_grader() -> None:
    """Two raters of one judgment, and one of another, make three pairs."""
    labels = np.array([[1, 0], [0, NAN]])
    assert Confusion.of(labels, np.array([1.0, 1])) == Confusion(tp=1, fn=0, fp=2, tn=0)


@pytest.mark.parametrize(
    ("table", "undefined"),
    [
        # No severe error in these responses, found once: no library's 0, .5 or .75.
        (
            Confusion(0, 0, 1, 3),
            {"sensitivity", "miss_rate", "f1", "balanced_accuracy", "macro_f1", "mcc"},
        ),
        # Nothing there and nothing found: all correct, and no macro F1 of 1.
        (
            Confusion(0, 0, 0, 4),
            {"sensitivity", "miss_rate", "ppv", "f1", "balanced_accuracy", "macro_f1", "mcc"},
        ),
        (Confusion(3, 1, 0, 0), {"specificity", "balanced_accuracy", "macro_f1", "mcc"}),
        # A grader that never finds anything misses all: 0 of 2, and no ppv.
        (Confusion(0, 2, 0, 2), {"ppv", "mcc"}),
    ],
)
def test_absent_class(table: Confusion, undefined: set[str]) -> None:
    """What needs a class that is not there is unknown with a reason; the rest has its value."""
    names = {*Measure, "miss_rate", "prevalence"}
    assert {str(name) for name in names if value(table, name) is None} == undefined


def test_nothing_read() -> None:
    """An audit without a judgment has no number at all."""
    empty = Confusion.of(np.array([NAN]), np.array([1.0]))
    assert all(value(empty, name) is None for name in {*Measure, "prevalence"})
    with pytest.raises(StatsError, match="no judgment was read"):
        _ = empty.accuracy


@given(TABLES)
def test_roles_exchanged(table: Confusion) -> None:
    """With grader and people exchanged, sensitivity and ppv change places, and F1 stays."""
    turned = Confusion(table.tp, table.fp, table.fn, table.tn)
    assert value(turned, "sensitivity") == value(table, "ppv")
    assert value(turned, "specificity") == value(table, "npv")
    for name in ("mcc", "accuracy", "pabak"):
        assert value(turned, name) == pytest.approx(value(table, name))


@given(TABLES)
def test_present_and_absent_exchanged(table: Confusion) -> None:
    """With present and absent exchanged, what treats both alike stays, and the rest is mirrored."""
    turned = Confusion(table.tn, table.fp, table.fn, table.tp)
    assert value(turned, "sensitivity") == value(table, "specificity")
    for name in ("mcc", "accuracy", "macro_f1", "balanced_accuracy"):
        assert value(turned, name) == pytest.approx(value(table, name))


# Weights


@given(JUDGMENTS, st.floats(0.01, 1))
def test_equal_chances_change_nothing(pairs: list[tuple[float, float]], chance: float) -> None:
    """Where each judgment was drawn with the same chance, every measure is the plain one."""
    truth, graded = np.transpose(pairs)
    plain = Confusion.of(truth, graded)
    weighted = Confusion.of(truth, graded, inclusion=np.full(len(truth), chance))
    assert weighted.n == pytest.approx(plain.n / chance)
    for name in Measure:
        assert (value(plain, name) is None) == (value(weighted, name) is None)
        if (expected := value(plain, name)) is not None:
            assert value(weighted, name) == pytest.approx(expected)


@given(TABLES, st.integers(1, 50), st.integers(1, 50))
def test_scaling_is_weighting(table: Confusion, more: int, others: int) -> None:
    """Counts scaled to what the grader said are those of judgments with chances of read / all."""
    assume(table.tp + table.fp and table.fn + table.tn)
    found, not_found = table.tp + table.fp + more, table.fn + table.tn + others
    scaled = table.scaled_to(found, not_found)
    assert scaled.tp + scaled.fp == pytest.approx(found)
    assert scaled.fn + scaled.tn == pytest.approx(not_found)
    assert (scaled.ppv, scaled.npv) == pytest.approx((table.ppv, table.npv))
    kinds = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=float)
    counts = [int(n) for n in (table.tp, table.fn, table.fp, table.tn)]
    truth, graded = np.repeat(kinds, counts, axis=0).T
    chances = (table.tp + table.fp) / found, (table.fn + table.tn) / not_found
    one_by_one = Confusion.of(truth, graded, inclusion=np.where(graded == 1, *chances))
    assert value(one_by_one, "sensitivity") == pytest.approx(value(scaled, "sensitivity"))


def test_sample_by_verdict_is_unbiased_only_with_weights() -> None:
    """With all found and a tenth of the rest read, weights give the 20 missed, shares do not."""
    rng = np.random.default_rng(0)
    truth = np.repeat([1.0, 0.0], [60, 540])
    graded = np.concatenate([np.repeat([1.0, 0.0], [40, 20]), np.repeat([1.0, 0.0], [27, 513])])
    inclusion = np.where(graded == 1, 1, 0.1)
    tables, naive = [], []
    for _ in range(400):
        labels = np.where(rng.random(600) < inclusion, truth, NAN)
        weighted = Confusion.of(labels, graded, inclusion=inclusion)
        tables.append((weighted.tp, weighted.fn))
        naive.append(Confusion.of(labels, graded).sensitivity)
    tp, fn = np.mean(tables, axis=0)
    # The standard error of the mean of fn is 13.4 / 20.
    assert (tp, fn) == (40, pytest.approx(20, abs=2))
    assert np.mean(naive) > 0.9


# Intervals


@pytest.mark.parametrize("measure", Measure)
def test_interval_is_of_resampled_scenarios(measure: Measure) -> None:
    """The interval is that of the measure of each resample, its scenarios added up."""
    cells = scenario_cells(*judged(8))
    drawn = draw_counts(8, 3, 60).astype(int)
    tables = [Confusion(*np.repeat(cells, counts, axis=0).sum(axis=0)) for counts in drawn]
    expected = np.quantile([getattr(table, measure) for table in tables], [0.025, 0.975])
    assert measure_interval(cells, measure, seed=3, draws=60) == pytest.approx(tuple(expected))


def test_cells_add_up() -> None:
    """The counts of the scenarios sum to the table, and one without a pair is left out."""
    truth, graded, scenarios = judged(6)
    truth[:10] = NAN
    cells = scenario_cells(truth, graded, scenarios)
    assert cells.shape == (5, 4)
    assert Confusion(*cells.sum(axis=0)) == Confusion.of(truth, graded)


def test_clustered_judgments_have_wider_intervals() -> None:
    """Each judgment copied ten times within its scenario leaves the interval as it was."""
    truth, graded, _ = judged(6, seed=4)
    apart = scenario_cells(truth, graded, np.arange(60))
    copied = [np.repeat(array, 10) for array in (truth, graded, np.arange(60.0))]
    together = scenario_cells(copied[0], copied[1], copied[2])
    assert measure_interval(together, Measure.accuracy) == pytest.approx(
        measure_interval(apart, Measure.accuracy)
    )


def test_rare_items_have_no_interval() -> None:
    """Where only two of 30 scenarios have the item, an eighth of resamples have it not: none."""
    truth, graded = np.zeros(30), np.zeros(30)
    truth[:2], graded[:1] = 1, 1
    cells = scenario_cells(truth, graded, np.arange(30))
    with pytest.raises(StatsError, match="one of twenty"):
        measure_interval(cells, Measure.sensitivity)
    assert measure_interval(cells, Measure.accuracy).high == 1


# Two graders


def test_mcnemar_by_hand() -> None:
    """1 against 9 is 2 × 11 / 1024; from 25 on chi-squared is taken; none apart is p = 1."""
    assert mcnemar(1, 9) == mcnemar_exact(1, 9) == pytest.approx(22 / 1024)
    assert mcnemar(8, 16) == mcnemar_exact(8, 16)
    assert mcnemar(8, 17) == mcnemar_chi_squared(8, 17)[1] == pytest.approx(0.0719, abs=5e-5)
    assert mcnemar(0, 0) == mcnemar_exact(3, 3) == 1
    assert mcnemar_chi_squared(3, 3, corrected=True) == (0, 1)


def test_graders_are_compared_by_scenario() -> None:
    """One better in all judgments of six scenarios has p = 2/64, however many they are."""
    truth = np.ones(60)
    scenarios = np.repeat(np.arange(6), 10)
    p = graders_p(truth, np.ones(60), np.zeros(60), scenarios)
    assert p == 2 / 64
    assert mcnemar(60, 0) < 1e-9


def test_what_one_grader_left_open_counts_for_neither() -> None:
    """A judgment that one grader left unresolved is no point for the other."""
    truth, first, second = np.ones(10), np.ones(10), np.ones(10)
    second[:5] = NAN
    assert graders_p(truth, first, second, np.tile(np.arange(5), 2)) == 1


# Audits


def test_size_of_an_audit() -> None:
    """A sensitivity of .9 within .05 needs 139 present: 277 judgments where half are."""
    assert audit_size(0.9, 0.05, 1) == 139
    assert audit_size(0.9, 0.05, 0.5) == 277


def test_unread_misses_leave_a_range() -> None:
    """Two misses in 94 read of 940 leave a sensitivity of .37 to .95; more reading leaves less."""
    assert sensitivity_range(42, 940, 2, 94) == pytest.approx((0.374, 0.945), abs=5e-4)
    wide, narrow = sensitivity_range(42, 940, 2, 94), sensitivity_range(42, 940, 20, 940)
    assert narrow.low > wide.low
    assert narrow.high < wide.high


@given(st.floats(0.5, 1), st.sampled_from([3, 5, 7]))
def test_majority_is_no_worse_than_one(accuracy: float, n: int) -> None:
    """Independent graders who are right at least half the time are together no less right."""
    assert majority_accuracy(accuracy, n) >= accuracy - 1e-12
    assert majority_accuracy(accuracy, 1) == pytest.approx(accuracy)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: Confusion(-1, 0, 0, 0), "not a count"),
        (lambda: Confusion(NAN, 0, 0, 0), "not a count"),
        (lambda: Confusion.of(np.array([2.0]), np.array([1.0])), "present"),
        (lambda: Confusion.of(np.array([1.0]), np.array([1.0, 0])), "1 labels against 2"),
        (lambda: Confusion.of(np.ones(2), np.ones(2), inclusion=np.array([1.0, 0])), "chance"),
        (lambda: Confusion.of(np.ones(2), np.ones(2), inclusion=np.array([1, NAN])), "chance"),
        (lambda: Confusion.of(np.ones(2), np.ones(2), inclusion=np.ones(3)), "chances of"),
        (lambda: Confusion(3, 0, 1, 0).scaled_to(9, 5), "no judgment of one"),
        (lambda: scenario_cells(np.ones(2), np.ones(2), [1]), "cluster names"),
        (lambda: measure_interval(np.ones((4, 4)), Measure.mcc), "fewer than five"),
        (lambda: measure_interval(np.ones((9, 4)), Measure.mcc), "no variation"),
        (lambda: mcnemar_chi_squared(0, 0), "never right apart"),
        (lambda: graders_p(np.ones(4), np.ones(4), np.zeros(4), range(4)), "fewer than five"),
        (lambda: graders_p(np.ones(4), np.ones(1), np.zeros(4), range(4)), "4 labels against"),
        (lambda: audit_size(1, 0.05, 0.5), "out of range"),
        (lambda: sensitivity_range(0, 9, 1, 5), "nothing"),
        (lambda: sensitivity_range(3, 9, 6, 5), "no such sample"),
        (lambda: majority_accuracy(0.8, 4), "odd"),
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
