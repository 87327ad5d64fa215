"""What raters gave one scenario or item on one scale, and what a rule says of it.

Panels are small, so decisions go by counts, and nothing is decided by one or two raters. A rating
that is missing, by design or not, is left out; how many were asked stands beside how many rated.
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
    Rule,
    aiken_v,
    cut_sensitive,
    i_cvi,
    modified_kappa,
)

LEVELS = tuple(range(LOWEST, HIGHEST + 1))

LOW = 2
"""A family caregiver's rating up to this is read by somebody, however the others rate."""

NOBODY = "nobody has rated it"


@dataclass(frozen=True, slots=True)
class Terms:
    """What decides, stated before the ratings are looked at.

    Attributes:
        rule: How many of the raters must endorse.
        cut: The lowest rating that endorses.
        other_cut: The cut that is reported beside it.

    Raises:
        ReviewError: A cut would call every rating an endorsement, or none, or both are the same.
    """

    rule: Rule = Rule.paper
    cut: int = 4
    other_cut: int = 3

    def __post_init__(self) -> None:
        for cut in (self.cut, self.other_cut):
            if not LOWEST < cut <= HIGHEST:
                raise ReviewError(f"a cut of {cut}: it is from {LOWEST + 1} to {HIGHEST}")
        if self.cut == self.other_cut:
            raise ReviewError(f"both cuts are {self.cut}", hint="the other shows what hangs on it")

    @property
    def endorsing(self) -> str:
        """The ratings that endorse, in words: "4 or 5"."""
        *first, last = map(str, range(self.cut, HIGHEST + 1))
        return f"{', '.join(first)} or {last}" if first else last


PAPER = Terms()
"""As the paper has it, at the cut that the literature takes; ours, since the paper names none."""


@dataclass(frozen=True, slots=True)
class RoleRatings:
    """What those of one role gave, ascending; with one or two of them, that is all there is.

    Attributes:
        endorsed: Their count at the cut.
        passes: What the rule says of occupational therapists alone, three at least; of any other
            role `None`: a decision is everybody's, or theirs whose profession it is.
    """

    role: Role
    values: tuple[int, ...]
    endorsed: Endorsement
    passes: bool | None

    @property
    def lowest(self) -> int:
        """The lowest."""
        return self.values[0]


@dataclass(frozen=True, slots=True)
class Judged:
    """What raters gave one scenario or item on one scale, and what follows.

    Attributes:
        ratings: At most one a rater.
        n_asked: Raters who were to rate it.
    """

    subject: Subject
    scale: Scale
    ratings: tuple[Rating, ...]
    n_asked: int
    terms: Terms

    @property
    def counts(self) -> tuple[int, ...]:
        """How many gave each category, from the lowest."""
        return tuple(sum(r.value == level for r in self.ratings) for level in LEVELS)

    @property
    def at_cut(self) -> Endorsement | None:
        """The I-CVI at the declared cut; `None` where nobody rated it."""
        return self._at(self.terms.cut)

    @property
    def at_other(self) -> Endorsement | None:
        """The same at the other cut."""
        return self._at(self.terms.other_cut)

    @property
    def strict(self) -> Endorsement | None:
        """The I-CVI if those who were asked and did not rate it had not endorsed it."""
        found = self.at_cut
        return None if found is None else Endorsement(found.k, max(self.n_asked, found.n))

    @property
    def kappa(self) -> float | None:
        """Polit's modified kappa; `None` with fewer than three ratings."""
        found = self.at_cut
        return modified_kappa(found.k, found.n) if found and found.n >= MIN_RATERS else None

    @property
    def aiken(self) -> AikenV | None:
        """Aiken's V; `None` with fewer than three ratings."""
        enough = len(self.ratings) >= MIN_RATERS
        return aiken_v(self._values, LOWEST, HIGHEST) if enough else None

    @property
    def least(self) -> int | None:
        """How many of its raters the rule asks for; `None` where it says nothing."""
        return None if self.reason else self.terms.rule.least(len(self.ratings))

    @property
    def passes(self) -> bool | None:
        """What the rule says; `None` where it says nothing, and `reason` says why."""
        return None if self.reason else bool(self.at_cut and self.at_cut.passes(self.terms.rule))

    @property
    def falls_short(self) -> str:
        """How, or why nothing is decided, in words; empty where it passes."""
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
        """Whether the other cut would decide otherwise; `None` where nothing is decided."""
        if self.reason:
            return None
        return cut_sensitive(self._values, self.terms.rule, (self.terms.cut, self.terms.other_cut))

    @property
    def reason(self) -> str:
        """Why nothing is decided; empty where something is."""
        if not self.ratings:
            return NOBODY
        try:
            self.terms.rule.least(len(self.ratings))
        except StatsError as error:
            return str(error)
        return ""

    @property
    def by_role(self) -> tuple[RoleRatings, ...]:
        """What each role gave, those that gave something, in the order of roles."""
        found = []
        for role in Role:
            values = tuple(sorted(r.value for r in self.ratings if r.rater.role is role))
            if values:
                given = Endorsement(sum(v >= self.terms.cut for v in values), len(values))
                found.append(RoleRatings(role, values, given, self._alone(role, given)))
        return tuple(found)

    @property
    def low_ratings(self) -> tuple[str, ...]:
        """Low ratings that are read by somebody, whatever is decided."""
        return tuple(
            f"a family caregiver rated its {self.scale} {rating.value}"
            for rating in self.ratings
            if rating.rater.role is Role.family_caregiver and rating.value <= LOW
        )

    def _alone(self, role: Role, given: Endorsement) -> bool | None:
        if role is not Role.occupational_therapist:
            return None
        try:
            return given.passes(self.terms.rule)
        except StatsError:
            return None

    @property
    def _values(self) -> FloatArray:
        return np.array([rating.value for rating in self.ratings], dtype=np.float64)

    def _at(self, cut: int) -> Endorsement | None:
        return i_cvi(self._values, cut) if self.ratings else None
