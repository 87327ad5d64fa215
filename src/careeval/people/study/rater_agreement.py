"""The agreement of the raters of a round on a scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from careeval.core.rating import Scale
from careeval.core.text import counted
from careeval.errors import StatsError
from careeval.people.study.round_ratings import RoundAnswers
from careeval.people.study.scale_ratings import LEVELS
from careeval.stats import Estimate
from careeval.stats.agreement.gwet import (
    gwet_ac1,
    gwet_ac1_interval,
    gwet_ac2,
    gwet_ac2_interval,
    identical_pairs,
)
from careeval.stats.agreement.intraclass import icc, icc_interval
from careeval.stats.agreement.jackknife import LOWEST_END
from careeval.stats.agreement.krippendorff import krippendorff_alpha, krippendorff_interval
from careeval.stats.intervals import MIN_CLUSTERS, Interval
from careeval.stats.score import FloatArray

DESCRIBES = "it describes these ratings: no interval"

COEFFICIENTS = ("identical", "ac1", "ac2", "alpha", "icc")
"""Coefficients of `RaterAgreement`, in the order printed."""


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """The agreement of the raters of one round on one scale."""

    round: int
    scale: Scale
    n_subjects: int  # Scenarios or items rated
    n_raters: int  # Raters who rated anything on the scale
    n_complete: int  # Scenarios or items that every one of these raters rated
    identical: Estimate
    """Share of pairs of raters who gave a scenario or item the same rating, mean over the scenarios
    or items with two ratings or more."""
    ac1: Estimate
    ac2: Estimate
    alpha: Estimate
    icc: Estimate
    """ICC(2,k), of the mean of all raters, over the complete scenarios or items; unknown if these
    are of fewer than five scenarios."""


def any_cut(agreements: Iterable[RaterAgreement]) -> bool:
    """Tell whether an interval is cut at its lower end."""
    ends = (getattr(each, name).ci95 for each in agreements for name in COEFFICIENTS)
    return any(ci95 is not None and ci95[0] <= LOWEST_END for ci95 in ends)


def rater_agreement(round_: RoundAnswers, scale: Scale) -> RaterAgreement:
    """Return the raters' agreement; an undefined coefficient is unknown, with the reason."""
    own = [rating for rating in round_.ratings if rating.scale is scale]
    subjects = list(dict.fromkeys(rating.subject for rating in own))
    raters = list(dict.fromkeys(rating.rater for rating in own))
    row = {subject: i for i, subject in enumerate(subjects)}
    column = {rater: i for i, rater in enumerate(raters)}
    ratings = np.full((len(subjects), len(raters)), np.nan)
    for rating in own:
        ratings[row[rating.subject], column[rating.rater]] = rating.value
    scenarios = np.array([subject.scenario for subject in subjects])
    complete = ~np.isnan(ratings).any(axis=1)

    def estimate(
        value: Callable[[FloatArray], float], interval: Callable[[FloatArray], Interval] | None
    ) -> Estimate:
        if not own:
            return Estimate.unknown("nothing was rated")
        try:
            coefficient = value(ratings)
        except StatsError as error:
            return Estimate.unknown(str(error))
        if interval is None:
            return Estimate(coefficient, coefficient, coefficient, None, DESCRIBES)
        try:
            low, high = interval(ratings)
        except StatsError as error:
            return Estimate(coefficient, coefficient, coefficient, None, str(error))
        return Estimate(coefficient, coefficient, coefficient, (low, high))

    def icc_of_mean(ratings: FloatArray) -> float:
        n = len(set(scenarios[complete]))
        if n < MIN_CLUSTERS:
            raise StatsError(
                f"only {counted(n, 'scenario has', 'scenarios have')} anything that every rater "
                f"rated; at least {MIN_CLUSTERS} are needed"
            )
        return icc(ratings, "2,k").value

    return RaterAgreement(
        round_.number,
        scale,
        len(subjects),
        len(raters),
        int(complete.sum()),
        identical=estimate(identical_pairs, None),
        ac1=estimate(
            lambda r: gwet_ac1(r, LEVELS).value,
            lambda r: gwet_ac1_interval(r, LEVELS, clusters=scenarios),
        ),
        ac2=estimate(
            lambda r: gwet_ac2(r, LEVELS).value,
            lambda r: gwet_ac2_interval(r, LEVELS, clusters=scenarios),
        ),
        alpha=estimate(
            lambda r: krippendorff_alpha(r, "ordinal"),
            lambda r: krippendorff_interval(r, "ordinal", clusters=scenarios),
        ),
        icc=estimate(icc_of_mean, lambda r: icc_interval(r, "2,k", clusters=scenarios)),
    )
