"""Mean scores of the grader, corrected with people's scores of some of the same system's responses.

The correction is unbiased for any grader. A correction that takes the grader's sensitivity and
specificity from other systems' responses (Rogan and Gladen 1978) is wrong if they differ for this
system: in simulations with a grader lenient to this system it doubled the error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from careeval.errors import StatsError
from careeval.stats.audit.sample_weights import inverse_weights
from careeval.stats.intervals import MIN_CLUSTERS, TAIL, Interval, with_width
from careeval.stats.score import NO_MAXIMUM, FloatArray


class CorrectedMean(NamedTuple):
    """A mean of the grader's scores, corrected by people's scores.

    Attributes:
        value: The mean in the unit of the scores, unclipped.
        se: Its standard error, over scenarios like these.
        n_audited: Scenarios of which people read at least one response.
    """

    value: float
    se: float
    n_audited: int

    @property
    def interval(self) -> Interval:
        """95% interval, by t with n_audited - 1 degrees of freedom.

        Raises:
            StatsError: People read responses to fewer than five scenarios, or nothing varies.
        """
        if self.n_audited < MIN_CLUSTERS:
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

    Source: Angelopoulos et al. 2023, doi:10.1126/science.adi6000; with scenarios as clusters, by
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
