"""Rates and scores corrected for what the grader gets wrong, as far as people have read.

Two ways. Rogan and Gladen's takes the grader's sensitivity and specificity from anywhere, and is
wrong where they are not the same for this system: in simulations with a grader that was lenient to
it, the correction doubled the error. The prediction-powered one takes the system's own responses,
some of them read by people, and is unbiased for any grader.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from careeval.errors import StatsError
from careeval.stats.audit import inverse_weights
from careeval.stats.intervals import MIN_CLUSTERS, TAIL, Interval, with_width
from careeval.stats.score import FloatArray

_Z = float(special.ndtri(1 - TAIL))


class CorrectedMean(NamedTuple):
    """A mean of the grader's scores, corrected by people's.

    Attributes:
        value: In the unit of the scores, unclipped.
        se: Its standard error, over scenarios like these.
        n_audited: Scenarios in which people read anything.
    """

    value: float
    se: float
    n_audited: int

    @property
    def interval(self) -> Interval:
        """95% interval, by t with n_audited - 1 degrees of freedom.

        Raises:
            StatsError: People read fewer than five scenarios, or nothing varies.
        """
        if self.n_audited < MIN_CLUSTERS:
            raise StatsError("people read fewer than five scenarios")
        margin = float(special.stdtrit(self.n_audited - 1, 1 - TAIL)) * self.se
        return with_width(self.value - margin, self.value + margin)


def rogan_gladen(rate: float, sensitivity: float, specificity: float) -> float:
    """The share truly present, from the share that the grader finds present.

    Args:
        rate: What the grader finds, 0 to 1.
        sensitivity: Its own, on judgments like these.
        specificity: Likewise.

    Returns:
        Unclipped: below 0 or above 1 the sensitivity or, most often, the specificity is not that of
        these judgments.

    Raises:
        StatsError: Sensitivity and specificity sum to at most 1: the grader says nothing of what is
            there.

    Source: Rogan and Gladen 1978, doi:10.1093/oxfordjournals.aje.a112510.
    """
    return (rate + specificity - 1) / _youden(sensitivity, specificity)


def rogan_gladen_interval(
    found: tuple[float, float],
    present_found: tuple[float, float],
    absent_not_found: tuple[float, float],
) -> Interval:
    """Interval of `rogan_gladen` where sensitivity and specificity were estimated too.

    Args:
        found: Judgments that the grader finds present, of how many, all independent.
        present_found: Of another sample, those it finds of those that are present: sensitivity.
        absent_not_found: Those it calls absent of those that are absent: specificity.

    Returns:
        Clipped to 0 to 1, so it may lie beside `rogan_gladen`, which is not.

    Raises:
        StatsError: A sample is empty, the grader tells nothing, or no share from 0 to 1 is likely.

    Source: Lang and Reiczigel 2014, doi:10.1016/j.prevetmed.2013.09.015.
    """
    if min(found[1], present_found[1], absent_not_found[1]) <= 0:
        raise StatsError("a sample is empty")
    (q, n), (se, n_se), (sp, n_sp) = (
        _added(*found, _Z**2 / 2),
        _added(*present_found, 1),
        _added(*absent_not_found, 1),
    )
    tells = _youden(se, sp)
    share = (q + sp - 1) / tells
    of_se, of_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * _Z**2 * (share * of_se - (1 - share) * of_sp)
    variance = q * (1 - q) / n + share**2 * of_se + (1 - share) ** 2 * of_sp
    margin = _Z * float(np.sqrt(variance)) / tells
    low, high = max(share + shift - margin, 0.0), min(share + shift + margin, 1.0)
    if low >= high:
        raise StatsError("the interval lies outside 0 to 1: the grader was not like this here")
    return Interval(low, high)


def prediction_powered(
    graded: FloatArray,
    human: FloatArray,
    *,
    inclusion: FloatArray | None = None,
    maxima: FloatArray | None = None,
) -> CorrectedMean:
    """Mean score by people, from the grader's scores of all responses and people's of some.

    The grader's mean over all, plus the mean by which people differ from it where both scored.
    Which responses people read must have been drawn, with known chances. Then it is unbiased
    whatever the grader does (nearly so where chances differ), and narrower the better the grader.

    Args:
        graded: The grader's score of each response, shape (n_scenarios, n_responses). NaN = missing
            or unresolved, left out.
        human: People's score of the responses they read, the same shape; NaN = not read.
        inclusion: The known chance that a response was drawn, above 0 to 1, the same shape; none
            where all had the same.
        maxima: What a scenario's scores are divided by, shape (n_scenarios,): positive points, for
            the pooled score of points. None where the scores are fractions already.

    Returns:
        A fraction of the maximum, or the unit of the scores; the error is over scenarios, with all
        their responses.

    Raises:
        StatsError: Shapes differ, people read nothing that was graded, a chance is not known, there
            are fewer than two scenarios, or no positive points.

    Source: Angelopoulos et al. 2023, doi:10.1126/science.adi6000; with scenarios as clusters, by
    linearisation, and Hájek's weights (Särndal, Swensson and Wretman 1992, Model Assisted Survey
    Sampling, §5 and §6).
    """
    if graded.shape != human.shape:
        raise StatsError(f"scores of shape {graded.shape} against {human.shape}")
    known = ~np.isnan(graded)
    read = known & ~np.isnan(human)
    if not read.any():
        raise StatsError("people read no response that was graded")
    weights = inverse_weights(read, inclusion)
    per_scenario = np.ones(len(graded)) if maxima is None else maxima
    whole = np.where(known, per_scenario[:, np.newaxis], 0.0)
    apart = np.where(read, human - graded, 0.0)
    answered = known.any(axis=1)
    all_graded = _Ratio.of(np.nansum(graded, axis=1)[answered], whole.sum(axis=1)[answered])
    difference = _Ratio.of(
        (weights * apart).sum(axis=1)[answered], (weights * whole).sum(axis=1)[answered]
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


def prediction_powered_scenarios(
    graded: FloatArray, human: FloatArray, graded_only: FloatArray, *, tuned: bool = False
) -> CorrectedMean:
    """The same for one number a scenario, where people read whole scenarios, drawn at random.

    Args:
        graded: The grader's score of each scenario that people read, shape (n_read,).
        human: People's, shape (n_read,).
        graded_only: The grader's of the scenarios that people did not read, shape (n_other,).
        tuned: Trust the grader as far as it goes with people, rather than wholly. A grader that
            does not then leaves the mean of people's own scores.

    Returns:
        In the unit of the scores.

    Raises:
        StatsError: There are fewer than two scenarios of a kind, a number is unknown, or, if tuned,
            the grader's scores do not vary.

    Source: Angelopoulos et al. 2023, doi:10.1126/science.adi6000; tuned: Angelopoulos, Duchi and
    Zrnic 2023, arXiv:2311.01453.
    """
    n, n_other = len(human), len(graded_only)
    if len(graded) != n:
        raise StatsError(f"{len(graded)} scores against {n}")
    if min(n, n_other) < 2:
        raise StatsError("fewer than two scenarios read, or not read")
    every = np.concatenate([graded, graded_only])
    if np.isnan(every).any() or np.isnan(human).any():
        raise StatsError("a scenario has no value")
    trust = 1.0
    if tuned:
        variance = float(every.var(ddof=1))
        if variance <= 0:
            raise StatsError("the grader's scores do not vary")
        covariance = float(np.mean((human - human.mean()) * (graded - graded.mean())))
        trust = covariance / ((1 + n / n_other) * variance)
    apart = human - trust * graded
    squared = trust**2 * float(graded_only.var()) / n_other + float(apart.var()) / n
    return CorrectedMean(
        value=trust * float(graded_only.mean()) + float(apart.mean()),
        se=float(np.sqrt(squared)),
        n_audited=n,
    )


class _Ratio(NamedTuple):
    """A ratio of sums over scenarios, and what each scenario moves it by, shape (n_scenarios,)."""

    value: float
    influence: FloatArray

    @classmethod
    def of(cls, numerators: FloatArray, denominators: FloatArray) -> _Ratio:
        total = float(denominators.sum())
        if total <= 0:
            raise StatsError("no positive points: the score has no maximum")
        value = float(numerators.sum()) / total
        return cls(value, (numerators - value * denominators) * (len(denominators) / total))


def _added(events: float, trials: float, each: float) -> tuple[float, float]:
    """A share, and its trials, after so many more with the event and as many without."""
    return (events + each) / (trials + 2 * each), trials + 2 * each


def _youden(sensitivity: float, specificity: float) -> float:
    """How much the grader tells, above 0."""
    if sensitivity + specificity <= 1:
        raise StatsError("sensitivity and specificity sum to 1 or less: the grader tells nothing")
    return sensitivity + specificity - 1
