"""How far the raters of a round agree on a scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from careeval.core.rating import Scale
from careeval.errors import StatsError
from careeval.results.study.round_ratings import RoundSaid
from careeval.results.study.scale_ratings import LEVELS
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
"""Of `Agreement`, in the order printed."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the raters of one round agree on one scale.

    Attributes:
        n_subjects: Scenarios, or items, rated.
        n_raters: Who rated anything on it.
        n_complete: Of the scenarios, or items, those that every one of them rated.
        identical: Share of pairs of raters of an item who gave it the same rating.
        icc: ICC(2,k), of the mean of all raters, over what every one of them rated; unknown where
            that is of fewer than five scenarios.
    """

    round: int
    scale: Scale
    n_subjects: int
    n_raters: int
    n_complete: int
    identical: Estimate
    ac1: Estimate
    ac2: Estimate
    alpha: Estimate
    icc: Estimate


def any_cut(agreements: Iterable[Agreement]) -> bool:
    """Whether an interval is cut at its lower end."""
    ends = (getattr(each, name).ci95 for each in agreements for name in COEFFICIENTS)
    return any(ci95 is not None and ci95[0] <= LOWEST_END for ci95 in ends)


def rater_agreement(said: RoundSaid, scale: Scale) -> Agreement:
    """How far they agree; unknown, with the reason, where a coefficient is not defined."""
    given = [rating for rating in said.ratings if rating.scale is scale]
    subjects = list(dict.fromkeys(rating.subject for rating in given))
    raters = list(dict.fromkeys(rating.rater for rating in given))
    row = {subject: i for i, subject in enumerate(subjects)}
    column = {rater: i for i, rater in enumerate(raters)}
    ratings = np.full((len(subjects), len(raters)), np.nan)
    for rating in given:
        ratings[row[rating.subject], column[rating.rater]] = rating.value
    scenarios = np.array([subject.scenario for subject in subjects])
    complete = ~np.isnan(ratings).any(axis=1)

    def made(
        value: Callable[[FloatArray], float], interval: Callable[[FloatArray], Interval] | None
    ) -> Estimate:
        if not given:
            return Estimate.unknown("nothing was rated")
        try:
            found = value(ratings)
        except StatsError as error:
            return Estimate.unknown(str(error))
        if interval is None:
            return Estimate(found, found, found, None, DESCRIBES)
        try:
            low, high = interval(ratings)
        except StatsError as error:
            return Estimate(found, found, found, None, str(error))
        return Estimate(found, found, found, (low, high))

    def icc_of_mean(ratings: FloatArray) -> float:
        n = len(set(scenarios[complete]))
        if n < MIN_CLUSTERS:
            raise StatsError(f"fewer than five scenarios that every rater rated: {n}")
        return icc(ratings, "2,k").value

    return Agreement(
        said.number,
        scale,
        len(subjects),
        len(raters),
        int(complete.sum()),
        identical=made(identical_pairs, None),
        ac1=made(
            lambda r: gwet_ac1(r, LEVELS).value,
            lambda r: gwet_ac1_interval(r, LEVELS, clusters=scenarios),
        ),
        ac2=made(
            lambda r: gwet_ac2(r, LEVELS).value,
            lambda r: gwet_ac2_interval(r, LEVELS, clusters=scenarios),
        ),
        alpha=made(
            lambda r: krippendorff_alpha(r, "ordinal"),
            lambda r: krippendorff_interval(r, "ordinal", clusters=scenarios),
        ),
        icc=made(icc_of_mean, lambda r: icc_interval(r, "2,k", clusters=scenarios)),
    )
