"""A grader against people who read the same responses: is what it finds there?

The truth is what people say: one settled label a judgment, or every rater's own, each paired with
the grader. Labels and verdicts are 1 = present, 0 = absent, NaN = unresolved, unsure or not
labelled; a pair with NaN is left out, and for whoever prints the numbers to count. Present and
absent are kept apart from what the item is worth: look at each point class by itself.

Where judgments were drawn by what the grader had said, the plain shares mislead, sensitivity above
all; each judgment then counts as one over its chance of being drawn.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from careeval.errors import StatsError
from careeval.stats.audit import inverse_weights
from careeval.stats.intervals import Interval
from careeval.stats.paired import sign_flip_p
from careeval.stats.resampled import by_cluster, resampled_interval
from careeval.stats.score import FloatArray

# From so many judgments on, in which one grader is right and the other wrong, chi-squared is near.
_EXACT_BELOW = 25


class Measure(StrEnum):
    """A number of a `Confusion` that has an interval; named and defined as there."""

    accuracy = "accuracy"
    sensitivity = "sensitivity"
    specificity = "specificity"
    ppv = "ppv"
    npv = "npv"
    balanced_accuracy = "balanced_accuracy"
    f1 = "f1"
    macro_f1 = "macro_f1"
    mcc = "mcc"
    pabak = "pabak"


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

    @classmethod
    def of(
        cls, truth: FloatArray, graded: FloatArray, *, inclusion: FloatArray | None = None
    ) -> Confusion:
        """Counted from judgments; the arguments are those of `scenario_cells`."""
        return cls(*(float(count) for count in _cells(truth, graded, inclusion).sum(axis=0)))

    @property
    def n(self) -> float:
        """Judgments, or the sum of their weights."""
        return self.tp + self.fn + self.fp + self.tn

    @property
    def prevalence(self) -> float:
        """Share that is present to people."""
        return _defined((self.tp + self.fn) / self.n if self.n else np.nan, _NOTHING)

    @property
    def accuracy(self) -> float:
        """Share in which the grader says what people say."""
        return self._measured(Measure.accuracy)

    @property
    def sensitivity(self) -> float:
        """Of what is present to people, the share that the grader finds; also recall."""
        return self._measured(Measure.sensitivity)

    @property
    def miss_rate(self) -> float:
        """Of what is present to people, the share that the grader misses: 1 - sensitivity."""
        return 1 - self.sensitivity

    @property
    def specificity(self) -> float:
        """Of what is absent to people, the share that the grader calls absent."""
        return self._measured(Measure.specificity)

    @property
    def ppv(self) -> float:
        """Of what the grader finds, the share that is present to people; also precision."""
        return self._measured(Measure.ppv)

    @property
    def npv(self) -> float:
        """Of what the grader calls absent, the share that is absent to people."""
        return self._measured(Measure.npv)

    @property
    def balanced_accuracy(self) -> float:
        """Mean of sensitivity and specificity: 1/2 for a grader that says one thing throughout."""
        return self._measured(Measure.balanced_accuracy)

    @property
    def f1(self) -> float:
        """Harmonic mean of ppv and sensitivity; 0 where the grader finds none of what is there."""
        return self._measured(Measure.f1)

    @property
    def macro_f1(self) -> float:
        """Mean of the F1 of present and that of absent, as HealthBench has it.

        Source: openai/simple-evals, healthbench_meta_eval.py.
        """
        return self._measured(Measure.macro_f1)

    @property
    def mcc(self) -> float:
        """Matthews' correlation of grader and people, -1 to 1.

        Source: Matthews 1975, doi:10.1016/0005-2795(75)90109-9.
        """
        return self._measured(Measure.mcc)

    @property
    def pabak(self) -> float:
        """Kappa if both verdicts were as frequent: 2 × accuracy - 1.

        Source: Byrt, Bishop and Carlin 1993, doi:10.1016/0895-4356(93)90018-V.
        """
        return self._measured(Measure.pabak)

    def scaled_to(self, found: float, not_found: float) -> Confusion:
        """The whole that these judgments were drawn from, by the grader's verdict, at random.

        Args:
            found: All that the grader called present, people having read `tp` + `fp` of them.
            not_found: All that it called absent.

        Returns:
            Counts that sum to the whole, with the ppv and npv of these.

        Raises:
            StatsError: Nobody read any judgment of a verdict that the grader gave.

        Source: Begg and Greenes 1983, doi:10.2307/2530820, as inverse-probability weights.
        """
        if (found and not self.tp + self.fp) or (not_found and not self.fn + self.tn):
            raise StatsError("no judgment of one of the grader's verdicts was read by people")
        of_found = found / (self.tp + self.fp) if found else 0.0
        of_rest = not_found / (self.fn + self.tn) if not_found else 0.0
        return Confusion(
            self.tp * of_found, self.fn * of_rest, self.fp * of_found, self.tn * of_rest
        )

    def _measured(self, measure: Measure) -> float:
        value = _measure(np.array([astuple(self)], dtype=np.float64), measure)[0]
        return _defined(float(value), _REASONS[measure])


def scenario_cells(
    truth: FloatArray,
    graded: FloatArray,
    scenarios: ArrayLike,
    *,
    inclusion: FloatArray | None = None,
) -> FloatArray:
    """The four counts of each scenario, which `measure_interval` resamples.

    Args:
        truth: People's labels: one a judgment, shape (n_judgments,), or every rater's, shape
            (n_judgments, n_raters), each of which is then paired with the grader.
        graded: The grader's verdicts, shape (n_judgments,); or a rater's, against the others.
        scenarios: The scenario of each judgment, shape (n_judgments,).
        inclusion: The known chance that a judgment was drawn for labelling, above 0 to 1, shape
            (n_judgments,); none where every judgment had the same.

    Returns:
        `tp`, `fn`, `fp` and `tn`, shape (n_scenarios, 4); scenarios without any are left out.

    Raises:
        StatsError: A label is not 1, 0 or NaN, lengths differ, or a labelled judgment's chance is
            not known.
    """
    cells = by_cluster(_cells(truth, graded, inclusion), scenarios)
    return np.asarray(cells[cells.any(axis=1)])


def measure_interval(
    cells: FloatArray, measure: Measure, *, seed: int = 0, draws: int = 10_000
) -> Interval:
    """Percentile interval of a measure over resampled scenarios, with all their judgments.

    A rate of unweighted counts that may be near 0 or 1 has a better one in `rate_interval`, which
    does not take "none missed yet" for "none will be".

    Args:
        cells: As of `scenario_cells`.
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


def mcnemar(first_only: int, second_only: int) -> float:
    """Two-sided p of "both graders are right as often", from where just one of them is.

    It takes judgments as independent, which those of one scenario are not: it describes, and
    `graders_p` decides.

    Args:
        first_only: Judgments in which the first grader is right and the second wrong.
        second_only: The other way round.

    Returns:
        Exact below 25 such judgments, else by chi-squared; 1 where there is none.

    Source: McNemar 1947, doi:10.1007/BF02295996.
    """
    if first_only + second_only < _EXACT_BELOW:
        return mcnemar_exact(first_only, second_only)
    return mcnemar_chi_squared(first_only, second_only)[1]


def mcnemar_exact(first_only: int, second_only: int) -> float:
    """The p of `mcnemar` by the binomial distribution, for any number of judgments."""
    fewer, n = min(first_only, second_only), first_only + second_only
    return min(1.0, 2 * float(special.bdtr(fewer, n, 0.5)))


def mcnemar_chi_squared(
    first_only: int, second_only: int, *, corrected: bool = False
) -> tuple[float, float]:
    """McNemar's chi-squared with one degree of freedom, and its p.

    Args:
        first_only: As of `mcnemar`.
        second_only: As of `mcnemar`.
        corrected: With the correction for continuity.

    Raises:
        StatsError: There is no judgment in which just one is right.
    """
    n = first_only + second_only
    if not n:
        raise StatsError("the graders are never right apart")
    apart = max(abs(first_only - second_only) - corrected, 0)
    return apart**2 / n, float(special.chdtrc(1, apart**2 / n))


def graders_p(
    truth: FloatArray,
    first: FloatArray,
    second: FloatArray,
    scenarios: ArrayLike,
    *,
    seed: int = 0,
    draws: int = 10_000,
) -> float:
    """Two-sided p of "the two graders are exchangeable in every scenario", by sign flips.

    Args:
        truth: Settled labels, shape (n_judgments,). A judgment with an unknown label or verdict is
            left out of both graders' counts.
        first: The one grader's verdicts, shape (n_judgments,).
        second: The other's.
        scenarios: The scenario of each judgment.
        seed: Seed of the drawing.
        draws: As of `sign_flip_p`.

    Returns:
        As `sign_flip_p`, of the number of judgments by which one is more often right.

    Raises:
        StatsError: There are fewer than five scenarios, a label is not 1, 0 or NaN, or lengths
            differ.
    """
    if not len(truth) == len(first) == len(second):
        raise StatsError(f"{len(truth)} labels against {len(first)} and {len(second)} verdicts")
    for verdicts in (truth, first, second):
        _require_verdicts(verdicts)
    known = ~(np.isnan(truth) | np.isnan(first) | np.isnan(second))
    apart = (first == truth).astype(np.float64) - (second == truth)
    by_scenario = by_cluster(apart[known][:, np.newaxis], np.asarray(scenarios)[known])
    return sign_flip_p(by_scenario[:, 0], seed=seed, draws=draws)


_NOTHING = "no judgment was read by people and graded"
_NONE_PRESENT = "nothing is present by people's labels"
_NONE_ABSENT = "nothing is absent by people's labels"
_ONE_CLASS = "people's labels are of one class only"

_REASONS = {
    Measure.accuracy: _NOTHING,
    Measure.pabak: _NOTHING,
    Measure.sensitivity: _NONE_PRESENT,
    Measure.f1: _NONE_PRESENT,
    Measure.specificity: _NONE_ABSENT,
    Measure.ppv: "the grader found nothing present",
    Measure.npv: "the grader found nothing absent",
    Measure.balanced_accuracy: _ONE_CLASS,
    Measure.macro_f1: _ONE_CLASS,
    Measure.mcc: "people, or the grader, said one thing throughout",
}


def _defined(value: float, reason: str) -> float:
    if np.isnan(value):
        raise StatsError(reason)
    return value


def _measure(cells: FloatArray, measure: Measure) -> FloatArray:
    """A measure of each row of cells, NaN where it is not defined."""
    tp, fn, fp, tn = cells.T
    match measure:
        case Measure.accuracy:
            return _ratio(tp + tn, cells.sum(axis=1))
        case Measure.pabak:
            return 2 * _ratio(tp + tn, cells.sum(axis=1)) - 1
        case Measure.sensitivity:
            return _ratio(tp, tp + fn)
        case Measure.specificity:
            return _ratio(tn, tn + fp)
        case Measure.ppv:
            return _ratio(tp, tp + fp)
        case Measure.npv:
            return _ratio(tn, tn + fn)
        case Measure.balanced_accuracy:
            return (_ratio(tp, tp + fn) + _ratio(tn, tn + fp)) / 2
        case Measure.f1:
            return _f1(tp, fn, fp)
        case Measure.macro_f1:
            return (_f1(tp, fn, fp) + _f1(tn, fp, fn)) / 2
        case Measure.mcc:
            scale = np.sqrt((tp + fn) * (fp + tn)) * np.sqrt((tp + fp) * (fn + tn))
            return _ratio(tp * tn - fp * fn, scale)


def _f1(tp: FloatArray, fn: FloatArray, fp: FloatArray) -> FloatArray:
    """F1 of a class, of which a grader that never names it has 0, and a truth without it none."""
    return np.where(tp + fn > 0, _ratio(2 * tp, 2 * tp + fp + fn), np.nan)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    ratios = np.full(len(whole), np.nan)
    return np.asarray(np.divide(part, whole, out=ratios, where=whole > 0))


def _cells(truth: FloatArray, graded: FloatArray, inclusion: FloatArray | None) -> FloatArray:
    """The four counts of each judgment, over its raters, shape (n_judgments, 4)."""
    if len(truth) != len(graded):
        raise StatsError(f"{len(truth)} labels against {len(graded)} verdicts")
    _require_verdicts(truth)
    _require_verdicts(graded)
    labels, found = truth.reshape(len(truth), -1), graded[:, np.newaxis]
    pairs = [(labels == a) & (found == b) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
    cells = np.stack(pairs, axis=2).sum(axis=1).astype(np.float64)
    return np.asarray(cells * inverse_weights(cells.any(axis=1), inclusion)[:, np.newaxis])


def _require_verdicts(verdicts: FloatArray) -> None:
    if not (np.isnan(verdicts) | (verdicts == 0) | (verdicts == 1)).all():
        raise StatsError("a verdict is 1, present, or 0, absent, or unknown")
