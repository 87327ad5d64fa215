"""The panel of a study by role: the people who were invited, and those who rated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from careeval.core.rating import Role
from careeval.people.study.round_ratings import RoundAnswers
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
