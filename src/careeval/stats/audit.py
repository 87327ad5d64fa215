"""Statistics for the audit of a grader by people, whose labels are the truth.

Points play no part in the accuracy: compute it for each class of points separately. If the sample
was drawn by the grader's judgment, unweighted shares mislead, sensitivity above all. Weight each
judgment by the number of judgments that it stands for.

The correction of a mean score is unbiased for any grader. One that takes the grader's sensitivity
and specificity from other systems' responses (Rogan and Gladen 1978) is wrong if they differ for
this system: in simulations with a grader lenient to this system it doubled the error.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from careeval.errors import StatsError
from careeval.stats.intervals import (
    MIN_SCENARIOS,
    TAIL,
    Interval,
    clopper_pearson,
    count_scenarios,
    draw_counts,
    with_width,
)
from careeval.stats.score import NO_MAXIMUM, FloatArray


def sensitivity_range(confirmed: float, not_found: int, missed: int, read: int) -> Interval:
    """Return the interval of sensitivity, given a sample of what the grader called absent.

    It assumes that people read all judgments of `present`. For a rare item most of the uncertainty
    is in what the grader may have missed: with 42 confirmed, two misses in 94 read of 940 leave .37
    to .95.

    Args:
        confirmed: Judgments of present that people confirmed; above 0.
        not_found: All judgments of absent.
        missed: Judgments of absent that people read and call present.
        read: Judgments of absent that people read, independent of each other; above 0.

    Returns:
        Fractions, 0 to 1, from the exact interval of the share missed.

    Raises:
        StatsError: Nothing was confirmed or read, or the counts are inconsistent.

    Source: Clopper and Pearson 1934, Biometrika 26:404, for the share missed.
    """
    if confirmed <= 0:
        raise StatsError("people confirmed nothing that the grader found")
    if not 0 <= missed <= read <= not_found or read < 1:
        raise StatsError(
            f"{missed} missed, {read} read, {not_found} called absent: each must be at most the "
            "next, and at least one read"
        )
    share = clopper_pearson(missed, read)
    low, high = (confirmed / (confirmed + not_found * miss) for miss in reversed(share))
    return Interval(low, high)


def inverse_weights(read: NDArray[np.bool_], inclusion: FloatArray | None) -> FloatArray:
    """Return the weight of each judgment or response: 1 / its chance to be read, 0 if not read.

    Args:
        read: Mask of those that people read, any shape.
        inclusion: The known chance of being drawn, above 0 and at most 1, the same shape; ignored
            for those not read. `None` if it was the same for all.

    Returns:
        Weights of the same shape; if `inclusion` is `None`, 1 for those read.

    Raises:
        StatsError: Shapes differ, or the chance of something read is not above 0 and at most 1.

    Source: Horvitz and Thompson 1952, doi:10.1080/01621459.1952.10483446.
    """
    weights = read.astype(np.float64)
    if inclusion is None:
        return weights
    if inclusion.shape != read.shape:
        raise StatsError(
            f"the chances have shape {inclusion.shape}, what was read {read.shape}; they must be "
            "the same"
        )
    if not ((inclusion[read] > 0) & (inclusion[read] <= 1)).all():
        raise StatsError("the chance of everything read must be above 0 and at most 1")
    weights[read] /= inclusion[read]
    return weights


class AccuracyMeasure(StrEnum):
    """A share of judgments, by people's label and the grader's."""

    accuracy = "accuracy"  # Share of judgments in which the grader agrees with people
    sensitivity = "sensitivity"  # Share of what people call present that it finds; also recall
    specificity = "specificity"  # Share of what people call absent that it calls absent
    ppv = "ppv"  # Share of what it calls present that people call present; also precision
    macro_f1 = "macro_f1"
    """Mean of the F1 of present and the F1 of absent, as in HealthBench (openai/simple-evals,
    healthbench_meta_eval.py)."""


def measure_value(cells: FloatArray, measure: AccuracyMeasure) -> float:
    """Return a measure over all scenarios.

    Args:
        cells: Judgments of each scenario: both present (`tp`), people present and grader absent
            (`fn`), people absent and grader present (`fp`), both absent (`tn`). Whole numbers or
            sums of weights, shape (n_scenarios, 4).
        measure: The measure.

    Raises:
        StatsError: A count is negative or unknown, or the measure is not defined.
    """
    counts = cells.sum(axis=0)
    if not ((counts >= 0) & (counts < np.inf)).all():
        raise StatsError(
            f"tp, fn, fp and tn are {tuple(counts.tolist())}: none may be negative or unknown"
        )
    value = float(_measure(counts[np.newaxis], measure)[0])
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
        cells: The four counts of each scenario, as in `measure_value`, shape (n_scenarios, 4).
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


class CorrectedMean(NamedTuple):
    """A mean of the grader's scores, corrected by people's scores."""

    value: float  # The mean in the unit of the scores, unclipped
    se: float  # Its standard error, over scenarios like these
    n_audited: int  # Scenarios of which people read at least one response

    @property
    def interval(self) -> Interval:
        """95% interval, by t with n_audited - 1 degrees of freedom.

        Raises:
            StatsError: People read responses to fewer than five scenarios, or nothing varies.
        """
        if self.n_audited < MIN_SCENARIOS:
            raise StatsError("people read responses to fewer than five scenarios")
        margin = float(special.stdtrit(self.n_audited - 1, 1 - TAIL)) * self.se
        return with_width(self.value - margin, self.value + margin)


def prediction_powered(
    graded: FloatArray,
    human: FloatArray,
    *,
    inclusion: FloatArray | None = None,
    maxima: FloatArray | None = None,
) -> CorrectedMean:
    """Return the mean score by people, estimated from a grader's scores and some by people.

    It is the grader's mean over all responses, plus the mean of people's score minus the grader's
    where both scored. The responses that people read must have been drawn with known chances. Then
    the estimate is unbiased for any grader (nearly so if chances differ), and more precise the
    better the grader.

    Args:
        graded: The grader's score of each response, shape (n_scenarios, n_responses). NaN = missing
            or unresolved, left out.
        human: People's score of the responses that they read, the same shape; NaN = not read.
        inclusion: The known chance that a response was drawn, above 0 and at most 1, the same
            shape; `None` if it was the same for all.
        maxima: Positive points, by which a scenario's scores are divided, shape (n_scenarios,), for
            the pooled score of points. `None` if the scores are fractions already.

    Returns:
        A fraction of the maximum, or the unit of the scores. The error is over scenarios, each with
        all its responses.

    Raises:
        StatsError: Shapes differ, people read nothing that was graded, a chance is unknown, there
            are fewer than two scenarios, or no positive points.

    Source: Angelopoulos et al. 2023, doi:10.1126/science.adi6000; with the scenario as the unit, by
    linearisation, and Hájek's weights (Särndal, Swensson and Wretman 1992, Model Assisted Survey
    Sampling, §5 and §6).
    """
    if graded.shape != human.shape:
        raise StatsError(
            f"the grader's scores have shape {graded.shape}, people's {human.shape}; they must be "
            "the same"
        )
    is_graded = ~np.isnan(graded)
    read = is_graded & ~np.isnan(human)
    if not read.any():
        raise StatsError("people read no response that was graded")
    weights = inverse_weights(read, inclusion)
    per_scenario = np.ones(len(graded)) if maxima is None else maxima
    whole = np.where(is_graded, per_scenario[:, np.newaxis], 0.0)
    differences = np.where(read, human - graded, 0.0)
    answered = is_graded.any(axis=1)
    all_graded = _Ratio.of(np.nansum(graded, axis=1)[answered], whole.sum(axis=1)[answered])
    difference = _Ratio.of(
        (weights * differences).sum(axis=1)[answered], (weights * whole).sum(axis=1)[answered]
    )
    n_scenarios = int(answered.sum())
    if n_scenarios < 2:
        raise StatsError("fewer than two scenarios: no error can be estimated")
    influence = all_graded.influence + difference.influence
    return CorrectedMean(
        value=all_graded.value + difference.value,
        se=float(influence.std(ddof=1) / np.sqrt(n_scenarios)),
        n_audited=int(read.any(axis=1).sum()),
    )


class _Ratio(NamedTuple):
    """A ratio of sums over scenarios, and the influence of each scenario, shape (n_scenarios,)."""

    value: float
    influence: FloatArray

    @classmethod
    def of(cls, numerators: FloatArray, denominators: FloatArray) -> _Ratio:
        total = float(denominators.sum())
        if total <= 0:
            raise StatsError(NO_MAXIMUM)
        value = float(numerators.sum()) / total
        return cls(value, (numerators - value * denominators) * (len(denominators) / total))


# With a larger share of undefined resamples than this, there is no interval.
_MAX_UNKNOWN = 0.05


def resampled_interval(
    statistic: Callable[[FloatArray], FloatArray],
    sums: FloatArray,
    *,
    seed: int = 0,
    draws: int = 10_000,
) -> Interval:
    """Return the percentile interval of a statistic over resampled scenarios.

    Args:
        statistic: Function from sums over the scenarios of each resample, shape (draws, n_sums), to
            one number per resample, shape (draws,); NaN where it is not defined.
        sums: The contribution of each scenario to the sums, shape (n_scenarios, n_sums).
        seed: Seed of the resampling; equal seeds resample the same scenarios.
        draws: Number of resamples.

    Returns:
        An interval in the unit of the statistic.

    Raises:
        StatsError: There are fewer than five scenarios, the statistic is not defined in more than
            one of twenty resamples, or it does not vary.

    Source: Field and Welsh 2007, JRSS-B 69:369.
    """
    n_scenarios = count_scenarios(sums.sum(axis=1), np.ones(len(sums)))
    values = statistic(draw_counts(n_scenarios, seed, draws) @ sums)
    if np.isnan(values).mean() > _MAX_UNKNOWN:
        raise StatsError("not defined in more than one of twenty resamples")
    low, high = np.nanquantile(values, [TAIL, 1 - TAIL])
    return with_width(float(low), float(high))
