"""A panel of raters: who rated, and how far they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from careeval.core.rating import Role, Scale
from careeval.core.text import counted
from careeval.errors import StatsError
from careeval.people.study.round_ratings import RoundAnswers
from careeval.people.study.scale_ratings import LEVELS
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import MIN_CLUSTERS, Interval
from careeval.stats.panels import (
    gwet_ac1,
    gwet_ac1_interval,
    gwet_ac2,
    gwet_ac2_interval,
    icc,
    icc_interval,
    identical_pairs,
    krippendorff_alpha,
    krippendorff_interval,
)
from careeval.stats.resampling import LOWEST_END
from careeval.stats.score import FloatArray
from careeval.stats.validity import MIN_RATERS

MIN_FOR_RANGE = 5
"""Fewest people for a range of years: with three, range and mean would reveal all three."""


@dataclass(frozen=True, slots=True)
class Years:
    """Years of experience of those raters of a role who gave them."""

    n: int  # Number of these raters, at least three, since the years could identify one or two
    mean: float
    low: int | None = None
    """Fewest years; `None` for three or four raters, whose years it could reveal."""
    high: int | None = None  # Most years; likewise


@dataclass(frozen=True, slots=True)
class RolePanel:
    """The people of one role over all rounds, without those who have withdrawn."""

    role: Role
    n_invited: int  # People who have a place in the study
    n_rated: int  # People who rated anything
    n_agreed: int  # Raters who agreed to the terms
    n_asked: int  # Scenarios given to them, counted in each round
    n_ratings: int  # Ratings that they gave
    n_typed: int  # Answers that somebody else typed for them
    n_too_fast: int  # Scenarios that they answered about too fast, counted in each round
    n_untimed: int  # Scenarios that they answered about in an unknown time, counted in each round
    years: Years | None  # Years of experience; `None` if fewer than three raters gave them

    @property
    def why_no_years(self) -> str:
        """Return why there are no years; else empty."""
        return "" if self.years else "fewer than three of this role rated and said"

    @property
    def why_no_range(self) -> str:
        """Return why the range is withheld; empty if it is not, or if there are no years."""
        if self.years is None or self.years.low is not None:
            return ""
        return "fewer than five of this role: a range would tell their years"


def panel(rounds: Sequence[RoundAnswers]) -> tuple[RolePanel, ...]:
    """Return the panel of each role that was invited, in the order of roles."""
    panels = (_role(rounds, role) for role in Role)
    return tuple(each for each in panels if each.n_invited)


def _role(rounds: Sequence[RoundAnswers], role: Role) -> RolePanel:
    seats = [seat for round_ in rounds for seat in round_.seats if seat.rater.role is role]
    authors = [r.rater for round_ in rounds for r in round_.ratings if r.rater.role is role]
    rated = set(authors)
    # one person may be in two rounds; the last years given count
    years = {s.rater: s.years for s in seats if s.rater in rated and s.years is not None}
    return RolePanel(
        role,
        n_invited=len({seat.rater for seat in seats}),
        n_rated=len(rated),
        n_agreed=len({seat.rater for seat in seats if seat.agreed} & rated),
        n_asked=sum(len(seat.scenarios) for seat in seats),
        n_ratings=len(authors),
        n_typed=sum(seat.n_typed for seat in seats),
        n_too_fast=sum(len(seat.too_fast) for seat in seats),
        n_untimed=sum(len(seat.untimed) for seat in seats),
        years=_years(list(years.values())),
    )


def _years(years: Sequence[int]) -> Years | None:
    if len(years) < MIN_RATERS:
        return None
    mean = float(np.mean(years))
    if len(years) < MIN_FOR_RANGE:
        return Years(len(years), mean)
    return Years(len(years), mean, min(years), max(years))


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
        return icc(ratings)

    return RaterAgreement(
        round_.number,
        scale,
        len(subjects),
        len(raters),
        int(complete.sum()),
        identical=estimate(identical_pairs, None),
        ac1=estimate(
            lambda r: gwet_ac1(r, LEVELS),
            lambda r: gwet_ac1_interval(r, LEVELS, clusters=scenarios),
        ),
        ac2=estimate(
            lambda r: gwet_ac2(r, LEVELS),
            lambda r: gwet_ac2_interval(r, LEVELS, clusters=scenarios),
        ),
        alpha=estimate(
            krippendorff_alpha,
            lambda r: krippendorff_interval(r, clusters=scenarios),
        ),
        icc=estimate(icc_of_mean, lambda r: icc_interval(r, clusters=scenarios)),
    )
