"""A grader against people who read the same responses: is what it finds there?

The truth is what people say. Present and absent are kept apart from what the item is worth: look at
each point class by itself.

Where judgments were drawn by what the grader had said, the plain shares mislead, sensitivity above
all; each judgment then counts for those that it was drawn from.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum

import numpy as np

from careeval.errors import StatsError
from careeval.stats.intervals import Interval
from careeval.stats.resampling import resampled_interval
from careeval.stats.score import FloatArray


class Measure(StrEnum):
    """A number of a `Confusion` that has an interval; named and defined as there."""

    accuracy = "accuracy"
    sensitivity = "sensitivity"
    specificity = "specificity"
    ppv = "ppv"
    macro_f1 = "macro_f1"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Judgments by what people and the grader say; what is not defined raises `StatsError`.

    Attributes:
        tp: Present to both. Whole, or a sum of weights, as are the others.
        fn: Present to people, missed by the grader.
        fp: Absent to people, found by the grader.
        tn: Absent to both.

    Raises:
        StatsError: A count is negative or unknown.
    """

    tp: float
    fn: float
    fp: float
    tn: float

    def __post_init__(self) -> None:
        if not all(0 <= count < np.inf for count in astuple(self)):
            raise StatsError(f"not a count: {astuple(self)}")

    @property
    def accuracy(self) -> float:
        """Share in which the grader says what people say."""
        return self._measured(Measure.accuracy)

    @property
    def sensitivity(self) -> float:
        """Of what is present to people, the share that the grader finds; also recall."""
        return self._measured(Measure.sensitivity)

    @property
    def specificity(self) -> float:
        """Of what is absent to people, the share that the grader calls absent."""
        return self._measured(Measure.specificity)

    @property
    def ppv(self) -> float:
        """Of what the grader finds, the share that is present to people; also precision."""
        return self._measured(Measure.ppv)

    @property
    def macro_f1(self) -> float:
        """Mean of the F1 of present and that of absent, as HealthBench has it.

        Source: openai/simple-evals, healthbench_meta_eval.py.
        """
        return self._measured(Measure.macro_f1)

    def _measured(self, measure: Measure) -> float:
        value = float(_measure(np.array([astuple(self)], dtype=np.float64), measure)[0])
        if np.isnan(value):
            raise StatsError(_REASONS[measure])
        return value


def measure_interval(
    cells: FloatArray, measure: Measure, *, seed: int = 0, draws: int = 10_000
) -> Interval:
    """Percentile interval of a measure over resampled scenarios, with all their judgments.

    A rate of unweighted counts that may be near 0 or 1 has a better one in `rate_interval`, which
    does not take "none missed yet" for "none will be".

    Args:
        cells: The four counts of each scenario, as of `Confusion`, shape (n_scenarios, 4).
        measure: Which number.
        seed: Seed of the resampling; equal seeds resample the same scenarios.
        draws: Number of resamples.

    Returns:
        In the unit of the measure.

    Raises:
        StatsError: There are fewer than five scenarios; the measure is not defined in more than one
            of twenty resamples, as where few scenarios have the item present; or it does not vary.
    """
    return resampled_interval(lambda sums: _measure(sums, measure), cells, seed=seed, draws=draws)


_REASONS = {
    Measure.accuracy: "no judgment was read by people and graded",
    Measure.sensitivity: "nothing is present by people's labels",
    Measure.specificity: "nothing is absent by people's labels",
    Measure.ppv: "the grader found nothing present",
    Measure.macro_f1: "people's labels are of one class only",
}


def _measure(cells: FloatArray, measure: Measure) -> FloatArray:
    """A measure of each row of cells, NaN where it is not defined."""
    tp, fn, fp, tn = cells.T
    match measure:
        case Measure.accuracy:
            return _ratio(tp + tn, cells.sum(axis=1))
        case Measure.sensitivity:
            return _ratio(tp, tp + fn)
        case Measure.specificity:
            return _ratio(tn, tn + fp)
        case Measure.ppv:
            return _ratio(tp, tp + fp)
        case Measure.macro_f1:
            return (_f1(tp, fn, fp) + _f1(tn, fp, fn)) / 2


def _f1(tp: FloatArray, fn: FloatArray, fp: FloatArray) -> FloatArray:
    """F1 of a class, of which a grader that never names it has 0, and a truth without it none."""
    return np.where(tp + fn > 0, _ratio(2 * tp, 2 * tp + fp + fn), np.nan)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    ratios = np.full(len(whole), np.nan)
    return np.asarray(np.divide(part, whole, out=ratios, where=whole > 0))
