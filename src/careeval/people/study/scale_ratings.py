"""The ratings of one scenario or item on one scale, and the decision by a rule.

Panels are small, so decisions go by counts, and one or two raters decide nothing. Missing ratings
are left out; the number of raters asked is kept beside the number who rated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from careeval.core.rating import HIGHEST, LOWEST, Rating, Role, Scale, Subject
from careeval.errors import ReviewError, StatsError
from careeval.stats.score import FloatArray
from careeval.stats.validity import (
    MIN_RATERS,
    AikenV,
    Endorsement,
    EndorsementRule,
    aiken_v,
    cut_sensitive,
    i_cvi,
    modified_kappa,
)

LEVELS = tuple(range(LOWEST, HIGHEST + 1))

LOW = 2
"""A family caregiver's rating up to this must be read, whatever the others rate."""

NOBODY = "nobody has rated it"


@dataclass(frozen=True, slots=True)
class DecisionTerms:
    """The terms of decisions, declared before anybody looks at the ratings.

    Attributes:
        rule: Rule for the number of raters who must endorse.
        cut: Lowest rating that endorses.
        other_cut: Second cut, reported beside the first.

    Raises:
        ReviewError: A cut would make every rating an endorsement, or none, or both cuts are equal.
    """

    rule: EndorsementRule = EndorsementRule.paper
    cut: int = 4
    other_cut: int = 3

    def __post_init__(self) -> None:
        for cut in (self.cut, self.other_cut):
            if not LOWEST < cut <= HIGHEST:
                raise ReviewError(f"a cut of {cut}: it must be from {LOWEST + 1} to {HIGHEST}")
        if self.cut == self.other_cut:
            raise ReviewError(
                f"both cuts are {self.cut}",
                hint="give two different cuts: they show which decisions depend on the cut",
            )

    @property
    def endorsing(self) -> str:
        """Return the ratings that endorse, as text: "4 or 5"."""
        *first, last = map(str, range(self.cut, HIGHEST + 1))
        return f"{', '.join(first)} or {last}" if first else last


PAPER = DecisionTerms()
"""The paper's rule, at the cut usual in the literature, since the paper names no cut."""


@dataclass(frozen=True, slots=True)
class RoleRatings:
    """The ratings by one role."""

    role: Role
    values: tuple[int, ...]  # The ratings, ascending
    endorsed: Endorsement  # Endorsements at the cut
    passes: bool | None
    """Decision by the rule for occupational therapists alone, if at least three rated; else `None`,
    since no other role decides alone."""

    @property
    def lowest(self) -> int:
        """Return the lowest rating by this role."""
        return self.values[0]


@dataclass(frozen=True, slots=True)
class ScaleRatings:
    """The ratings of one scenario or item on one scale, and the decision."""

    subject: Subject
    scale: Scale
    ratings: tuple[Rating, ...]  # The ratings, at most one by each rater
    n_asked: int  # Number of raters who were asked for this rating
    terms: DecisionTerms

    @property
    def counts(self) -> tuple[int, ...]:
        """Return the number of ratings at each level, from the lowest."""
        return tuple(sum(r.value == level for r in self.ratings) for level in LEVELS)

    @property
    def at_cut(self) -> Endorsement | None:
        """Return the I-CVI at the declared cut; `None` without ratings."""
        return self._at(self.terms.cut)

    @property
    def at_other(self) -> Endorsement | None:
        """Return the I-CVI at the other cut; `None` without ratings."""
        return self._at(self.terms.other_cut)

    @property
    def strict(self) -> Endorsement | None:
        """Return the I-CVI with raters who were asked and did not rate counted as not endorsing.

        `None` without ratings.
        """
        at_cut = self.at_cut
        return None if at_cut is None else Endorsement(at_cut.k, max(self.n_asked, at_cut.n))

    @property
    def kappa(self) -> float | None:
        """Return Polit's modified kappa; `None` with fewer than three ratings."""
        at_cut = self.at_cut
        return modified_kappa(at_cut.k, at_cut.n) if at_cut and at_cut.n >= MIN_RATERS else None

    @property
    def aiken(self) -> AikenV | None:
        """Return Aiken's V; `None` with fewer than three ratings."""
        enough = len(self.ratings) >= MIN_RATERS
        return aiken_v(self._values, LOWEST, HIGHEST) if enough else None

    @property
    def least(self) -> int | None:
        """Return the number of endorsements that the rule needs; `None` if it decides nothing."""
        return None if self.reason else self.terms.rule.min_endorsements(len(self.ratings))

    @property
    def passes(self) -> bool | None:
        """Return the decision by the rule; `None` if it decides nothing, for `reason`."""
        return None if self.reason else bool(self.at_cut and self.at_cut.passes(self.terms.rule))

    @property
    def falls_short(self) -> str:
        """Return how the scale fails the rule, or why nothing is decided; empty if it passes."""
        if self.passes:
            return ""
        if self.at_cut is None or self.reason:
            return f"{self.scale}: {self.reason}"
        k, n = self.at_cut.k, self.at_cut.n
        # no semicolon: lists of these are joined by one
        return (
            f"{self.scale}: {k} of {n} gave {self.terms.endorsing}, where {self.least} were needed"
        )

    @property
    def cut_sensitive(self) -> bool | None:
        """Tell whether the other cut would decide otherwise; `None` if nothing is decided."""
        if self.reason:
            return None
        return cut_sensitive(self._values, self.terms.rule, (self.terms.cut, self.terms.other_cut))

    @property
    def reason(self) -> str:
        """Return why the rule decides nothing; empty if it decides."""
        if not self.ratings:
            return NOBODY
        try:
            self.terms.rule.min_endorsements(len(self.ratings))
        except StatsError as error:
            return str(error)
        return ""

    @property
    def by_role(self) -> tuple[RoleRatings, ...]:
        """Return the ratings by each role that rated, in the order of roles."""
        by_role = []
        for role in Role:
            values = tuple(sorted(r.value for r in self.ratings if r.rater.role is role))
            if values:
                endorsed = Endorsement(sum(v >= self.terms.cut for v in values), len(values))
                passes = self._passes_alone(role, endorsed)
                by_role.append(RoleRatings(role, values, endorsed, passes))
        return tuple(by_role)

    @property
    def low_ratings(self) -> tuple[str, ...]:
        """Return a sentence on each low rating by a family caregiver, to be read in any case."""
        return tuple(
            f"a family caregiver rated its {self.scale} {rating.value}"
            for rating in self.ratings
            if rating.rater.role is Role.family_caregiver and rating.value <= LOW
        )

    def _passes_alone(self, role: Role, endorsed: Endorsement) -> bool | None:
        if role is not Role.occupational_therapist:
            return None
        try:
            return endorsed.passes(self.terms.rule)
        except StatsError:
            return None

    @property
    def _values(self) -> FloatArray:
        return np.array([rating.value for rating in self.ratings], dtype=np.float64)

    def _at(self, cut: int) -> Endorsement | None:
        return i_cvi(self._values, cut) if self.ratings else None
