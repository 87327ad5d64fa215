"""Accuracy of a grader against people's labels of the same responses.

People's labels are the truth. Points play no part here: compute the numbers for each class of
points separately.

If the sample was drawn by the grader's judgment, unweighted shares mislead, sensitivity above all.
Weight each judgment by the number of judgments that it stands for.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum

import numpy as np

from careeval.errors import StatsError
from careeval.stats.intervals import Interval
from careeval.stats.resampling import resampled_interval
from careeval.stats.score import FloatArray


class AccuracyMeasure(StrEnum):
    """The numbers of a `Confusion` that have an interval, by the names of its properties."""

    accuracy = "accuracy"
    sensitivity = "sensitivity"
    specificity = "specificity"
    ppv = "ppv"
    macro_f1 = "macro_f1"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of judgments by people's label and the grader's; undefined shares raise `StatsError`.

    Attributes:
        tp: Both present. A whole number or a sum of weights, as are the others.
        fn: People present, grader absent.
        fp: People absent, grader present.
        tn: Both absent.

    Raises:
        StatsError: A count is negative or unknown.
    """

    tp: float
    fn: float
    fp: float
    tn: float

    def __post_init__(self) -> None:
        if not all(0 <= count < np.inf for count in astuple(self)):
            raise StatsError(
                f"tp, fn, fp and tn are {astuple(self)}: none may be negative or unknown"
            )

    @property
    def accuracy(self) -> float:
        """Share of judgments in which the grader agrees with people."""
        return self._value(AccuracyMeasure.accuracy)

    @property
    def sensitivity(self) -> float:
        """Share of what people call present that the grader calls present; also recall."""
        return self._value(AccuracyMeasure.sensitivity)

    @property
    def specificity(self) -> float:
        """Share of what people call absent that the grader calls absent."""
        return self._value(AccuracyMeasure.specificity)

    @property
    def ppv(self) -> float:
        """Share of what the grader calls present that people call present; also precision."""
        return self._value(AccuracyMeasure.ppv)

    @property
    def macro_f1(self) -> float:
        """Mean of the F1 of present and the F1 of absent, as in HealthBench.

        Source: openai/simple-evals, healthbench_meta_eval.py.
        """
        return self._value(AccuracyMeasure.macro_f1)

    def _value(self, measure: AccuracyMeasure) -> float:
        value = float(_measure(np.array([astuple(self)], dtype=np.float64), measure)[0])
        if np.isnan(value):
            raise StatsError(_REASONS[measure])
        return value


def measure_interval(
    cells: FloatArray, measure: AccuracyMeasure, *, seed: int = 0, draws: int = 10_000
) -> Interval:
    """Return the percentile interval of a measure over resampled scenarios.

    For a rate of unweighted counts near 0 or 1, `rate_interval` is better: it does not take "none
    missed yet" for "none will be missed".

    Args:
        cells: The four counts of each scenario, as in `Confusion`, shape (n_scenarios, 4).
        measure: The measure.
        seed: Seed of the resampling; equal seeds resample the same scenarios.
        draws: Number of resamples.

    Returns:
        An interval in the unit of the measure.

    Raises:
        StatsError: There are fewer than five scenarios, the measure does not vary, or it is not
            defined in more than 5% of resamples, since few scenarios have the item present.
    """
    return resampled_interval(lambda sums: _measure(sums, measure), cells, seed=seed, draws=draws)


_REASONS = {
    AccuracyMeasure.accuracy: "no judgment was read by people and graded",
    AccuracyMeasure.sensitivity: "nothing is present by people's labels",
    AccuracyMeasure.specificity: "nothing is absent by people's labels",
    AccuracyMeasure.ppv: "the grader found nothing present",
    AccuracyMeasure.macro_f1: "people's labels are of one class only",
}


def _measure(cells: FloatArray, measure: AccuracyMeasure) -> FloatArray:
    """Return a measure of each row of cells, NaN where it is not defined."""
    tp, fn, fp, tn = cells.T
    match measure:
        case AccuracyMeasure.accuracy:
            return _ratio(tp + tn, cells.sum(axis=1))
        case AccuracyMeasure.sensitivity:
            return _ratio(tp, tp + fn)
        case AccuracyMeasure.specificity:
            return _ratio(tn, tn + fp)
        case AccuracyMeasure.ppv:
            return _ratio(tp, tp + fp)
        case AccuracyMeasure.macro_f1:
            return (_f1(tp, fn, fp) + _f1(tn, fp, fn)) / 2


def _f1(tp: FloatArray, fn: FloatArray, fp: FloatArray) -> FloatArray:
    """Return the F1 of a class: 0 if the grader never gives it, NaN if people never do."""
    return np.where(tp + fn > 0, _ratio(2 * tp, 2 * tp + fp + fn), np.nan)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    ratios = np.full(len(whole), np.nan)
    return np.asarray(np.divide(part, whole, out=ratios, where=whole > 0))
