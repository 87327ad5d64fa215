"""Tests of the accuracy of a grader against people's labels, and of corrected means."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from careeval.errors import StatsError
from careeval.stats.audit import (
    AccuracyMeasure,
    CorrectedMean,
    inverse_weights,
    measure_interval,
    measure_value,
    prediction_powered,
    sensitivity_range,
)
from careeval.stats.intervals import draw_counts, sum_by_scenario
from careeval.stats.score import FloatArray, pooled_score

NAN = np.nan
COUNT = st.integers(0, 40)
Table = tuple[float, float, float, float]
"""The counts `tp`, `fn`, `fp` and `tn`."""
TABLES = st.tuples(COUNT, COUNT, COUNT, COUNT)


def value(table: Table, measure: str) -> float | None:
    """A measure of a table, none where it is not defined."""
    try:
        return measure_value(np.array([table], float), AccuracyMeasure(measure))
    except StatsError:
        return None


# One table


def test_table_worked_by_hand() -> None:
    """Of 40 found, 10 missed, 5 false and 145 left alone, the F1 of either are 16/19 and 58/61."""
    values = {str(name): value((40, 10, 5, 145), name) for name in AccuracyMeasure}
    assert values == pytest.approx(
        {
            "sensitivity": 0.8,
            "specificity": 145 / 150,
            "ppv": 40 / 45,
            "accuracy": 0.925,
            "macro_f1": (16 / 19 + 58 / 61) / 2,
        }
    )


@pytest.mark.parametrize(
    ("table", "undefined"),
    [
        # No severe error in these responses, found once: no library's 0, .5 or .75.
        ((0, 0, 1, 3), {"sensitivity", "macro_f1"}),
        # Nothing there and nothing found: all correct, and no macro F1 of 1.
        ((0, 0, 0, 4), {"sensitivity", "ppv", "macro_f1"}),
        ((3, 1, 0, 0), {"specificity", "macro_f1"}),
        # A grader that never finds anything misses all: 0 of 2, and no ppv.
        ((0, 2, 0, 2), {"ppv"}),
    ],
)
def test_absent_class(table: Table, undefined: set[str]) -> None:
    """Measures of an absent class are unknown with a reason; the others have values."""
    assert {str(name) for name in AccuracyMeasure if value(table, name) is None} == undefined


def test_nothing_read() -> None:
    """An audit without a judgment has no number at all."""
    assert all(value((0, 0, 0, 0), name) is None for name in AccuracyMeasure)
    with pytest.raises(StatsError, match="no judgment was read"):
        measure_value(np.zeros((1, 4)), AccuracyMeasure.accuracy)


@given(TABLES)
def test_roles_exchanged(table: Table) -> None:
    """With grader and people exchanged, sensitivity and ppv change places; accuracy stays."""
    tp, fn, fp, tn = table
    turned = (tp, fp, fn, tn)
    assert value(turned, "sensitivity") == value(table, "ppv")
    assert value(turned, "accuracy") == value(table, "accuracy")


@given(TABLES)
def test_present_and_absent_exchanged(table: Table) -> None:
    """With present and absent exchanged, what treats both alike stays, and the rest is mirrored."""
    tp, fn, fp, tn = table
    turned = (tn, fp, fn, tp)
    assert value(turned, "sensitivity") == value(table, "specificity")
    for name in ("accuracy", "macro_f1"):
        assert value(turned, name) == pytest.approx(value(table, name))


# Intervals


@pytest.mark.parametrize("measure", AccuracyMeasure)
def test_interval_is_of_resampled_scenarios(measure: AccuracyMeasure) -> None:
    """The interval is that of the measure of each resample, its scenarios added up."""
    cells = np.random.default_rng(0).integers(1, 6, size=(8, 4)).astype(float)
    drawn = draw_counts(8, 3, 60).astype(int)
    values = [measure_value(np.repeat(cells, counts, axis=0), measure) for counts in drawn]
    expected = np.quantile(values, [0.025, 0.975])
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
        (lambda: measure_value(np.full((1, 4), -1.0), AccuracyMeasure.ppv), "negative or unknown"),
        (lambda: measure_value(np.full((1, 4), NAN), AccuracyMeasure.ppv), "negative or unknown"),
        (lambda: inverse_weights(np.full(2, True), np.array([1.0, 0])), "chance"),
        (lambda: inverse_weights(np.full(2, True), np.array([1, NAN])), "chance"),
        (lambda: inverse_weights(np.full(2, True), np.ones(3)), "the chances have shape"),
        (lambda: sum_by_scenario(np.ones((2, 4)), [1]), "names of scenarios"),
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
def test_what_cannot_be_corrected(call: Callable[[], object], reason: str) -> None:
    """An audit of nothing, unknown chances, and too few scenarios have a reason."""
    with pytest.raises(StatsError, match=reason):
        call()
