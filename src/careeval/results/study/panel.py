"""Who was invited to a study and who rated, a role at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from careeval.core.rating import Role
from careeval.results.study.round_ratings import RoundSaid
from careeval.stats.validity import MIN_RATERS

MIN_FOR_RANGE = 5
"""People whose years of experience have a range: of three, it and the mean give all three."""


@dataclass(frozen=True, slots=True)
class Years:
    """Years of experience of those of a role who rated and said how many.

    Attributes:
        n: They, three at least: of one or two, the years would tell who they are.
        low: The fewest; `None` of three or four, whose years mean and range would tell.
        high: The most; the same.
    """

    n: int
    mean: float
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class RolePanel:
    """Those of one role, over all rounds; who has withdrawn is not among them.

    Attributes:
        n_invited: Who has a place in the study.
        n_rated: Of them, who rated anything.
        n_agreed: Of those who rated, who agreed to the terms.
        n_asked: Scenarios that they were given, each in each round.
        n_ratings: Ratings that they gave.
        n_typed: Answers that somebody else typed for them.
        years: `None` where fewer than three of those who rated said.
    """

    role: Role
    n_invited: int
    n_rated: int
    n_agreed: int
    n_asked: int
    n_ratings: int
    n_typed: int
    years: Years | None

    @property
    def why_no_years(self) -> str:
        """Why there are none; empty where there are."""
        return "" if self.years else "fewer than three of this role rated and said"

    @property
    def why_no_range(self) -> str:
        """Why their range is not told; empty where it is, and where there are no years."""
        if self.years is None or self.years.low is not None:
            return ""
        return "fewer than five of this role: a range would tell their years"


def panel(rounds: Sequence[RoundSaid]) -> tuple[RolePanel, ...]:
    """The roles that were invited, in the order of roles."""
    found = (_role(rounds, role) for role in Role)
    return tuple(each for each in found if each.n_invited)


def _role(rounds: Sequence[RoundSaid], role: Role) -> RolePanel:
    seats = [seat for said in rounds for seat in said.seats if seat.rater.role is role]
    given = [r.rater for said in rounds for r in said.ratings if r.rater.role is role]
    rated = set(given)
    # who is in two rounds is one person, and may have said since
    years = {s.rater: s.years for s in seats if s.rater in rated and s.years is not None}
    return RolePanel(
        role,
        n_invited=len({seat.rater for seat in seats}),
        n_rated=len(rated),
        n_agreed=len({seat.rater for seat in seats if seat.agreed} & rated),
        n_asked=sum(len(seat.scenarios) for seat in seats),
        n_ratings=len(given),
        n_typed=sum(seat.n_typed for seat in seats),
        years=_years(list(years.values())),
    )


def _years(said: Sequence[int]) -> Years | None:
    if len(said) < MIN_RATERS:
        return None
    mean = float(np.mean(said))
    if len(said) < MIN_FOR_RANGE:
        return Years(len(said), mean)
    return Years(len(said), mean, min(said), max(said))
