"""Kinds of values that only studies have: decisions, counts of raters, coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from careeval.core.rating import Role
from careeval.core.text import signed
from careeval.people.study.panel import DESCRIBES
from careeval.people.study.scale_ratings import RoleRatings, ScaleRatings
from careeval.people.study.scenario_decisions import Decision, ScenarioResult
from careeval.sheets import kinds
from careeval.sheets.estimate_kinds import EstimateKind
from careeval.sheets.kinds import (
    DASH,
    TWO_DECIMALS,
    Form,
    Kind,
    ListKind,
    Scalar,
    StoredColumn,
    TextKind,
)
from careeval.stats.estimate import Estimate
from careeval.stats.resampling import LOWEST_END
from careeval.stats.validity import MIN_RATERS, AikenV, Endorsement

UNDECIDED = "undecided"
"""Stands for no decision, because too few have rated; files have null."""

DECISIONS: Mapping[str, str] = {
    Decision.keep: "Keep",
    Decision.revise: "Revise",
    Decision.drop: "Drop",
    UNDECIDED: "Undecided",
}

ROLES: Mapping[str, str] = {
    Role.occupational_therapist: "occupational therapist",
    Role.family_caregiver: "family caregiver",
    Role.person_with_disability: "person with a disability",
    Role.nurse: "nurse",
    Role.roboticist: "roboticist",
    Role.other: "other",
}

ROLE = TextKind(names=ROLES)
WHEN = TextKind(names={"before": "round 1, all", "after": "last, not dropped"})
INTEGERS = ListKind((StoredColumn("", pl.List(pl.Int64)),))
DECIMALS = kinds.NumberKind(unit=TWO_DECIMALS)
YEARS = kinds.NumberKind(unit=kinds.Unit(1, "", 1))


@dataclass(frozen=True)
class _DecisionKind(TextKind):
    def data(self, value: str) -> tuple[Scalar, ...]:
        return (None if value == UNDECIDED else str(value),)


@dataclass(frozen=True)
class _ReasonsKind(Kind):
    """The reasons for a decision, then two of the things to read and the number of further ones."""

    def text(self, value: ScenarioResult, form: Form = Form.short) -> str:
        more = len(value.to_read) - 2
        last = [f"and {more} more to read"] if more > 0 else []
        return "; ".join([*value.reasons, *value.to_read[:2], *last])


@dataclass(frozen=True)
class _PointsListKind(ListKind):
    def text(self, value: Iterable[int] | None, form: Form = Form.short) -> str:
        return DASH if value is None else ", ".join(map(signed, value)) or "none"


DECIDED = _DecisionKind(names=DECISIONS)
WHY = _ReasonsKind(is_number=False, is_long=True)
POINTS_LIST = _PointsListKind()


# Counts of raters


@dataclass(frozen=True)
class _RaterShareKind(Kind):
    """The share of raters who endorse, also as a count, or Aiken's V; with its interval."""

    def data(self, value: Endorsement | AikenV) -> tuple[Scalar, ...]:
        return (value.value, *value.interval)[: len(self.stored)]

    def text(self, value: Endorsement | AikenV, form: Form = Form.short) -> str:
        if form is Form.of_many and isinstance(value, Endorsement):
            return f"{value.k}/{value.n}"
        share = TWO_DECIMALS.text(value.value)
        return share if form is Form.bare else f"{share} [{_ends(value.interval, ', ')}]"

    def sort_key(self, value: Endorsement | AikenV) -> float | None:
        return value.value

    def page_lines(self, value: Endorsement | AikenV) -> tuple[str, ...]:
        return (_ends(value.interval),)


SHARE_ALONE = _RaterShareKind((StoredColumn("", pl.Float64),))
SHARE_OF_RATERS = _RaterShareKind(
    (
        *SHARE_ALONE.stored,
        StoredColumn("_ci95_low", pl.Float64, "lower end of its 95% interval"),
        StoredColumn("_ci95_high", pl.Float64, "upper end of its 95% interval"),
    )
)


@dataclass(frozen=True)
class _EndorsementKind(Kind):
    """The number of raters who endorse, with an asterisk if the other cut decides otherwise.

    Unless the form is `bare`, the number at the other cut and Aiken's V follow.
    """

    def text(self, value: ScaleRatings, form: Form = Form.short) -> str:
        if value.at_cut is None or value.at_other is None:
            return DASH
        count, other = (SHARE_ALONE.text(e, Form.of_many) for e in (value.at_cut, value.at_other))
        count += "*" if value.cut_sensitive else ""
        v = TWO_DECIMALS.text(value.aiken.value if value.aiken else None)
        return count if form is Form.bare else f"{count} ({other}) {v}"

    def sort_key(self, value: ScaleRatings) -> float | None:
        return value.at_cut.value if value.at_cut else None

    def page_lines(self, value: ScaleRatings) -> tuple[str, ...]:
        return () if value.at_cut else (value.reason,)

    def unit_of(self, form: Form) -> str:
        return "" if form is Form.bare else " k/n (other cut) V"


@dataclass(frozen=True)
class _RoleKind(Kind):
    """The number of raters of one role who endorse.

    Small lines show the ratings of fewer than three raters; of more raters, the interval.
    """

    def text(self, value: RoleRatings, form: Form = Form.short) -> str:
        return SHARE_ALONE.text(value.endorsed, Form.of_many)

    def page_text(self, value: RoleRatings | None, form: Form = Form.bare) -> str:
        return "not rated" if value is None else self.text(value)

    def sort_key(self, value: RoleRatings) -> float | None:
        return value.endorsed.value

    def page_lines(self, value: RoleRatings) -> tuple[str, ...]:
        if value.endorsed.n < MIN_RATERS:
            return f"gave {', '.join(map(str, value.values))}", f"lowest {value.lowest}"
        alone = {True: ("passes alone",), False: ("does not pass alone",), None: ()}
        return _ends(value.endorsed.interval), *alone[value.passes]


@dataclass(frozen=True)
class _CoefficientKind(EstimateKind):
    """A coefficient of agreement; a lower end cut off at −1 is written "≤ −1"."""

    def page_lines(self, value: Estimate) -> tuple[str, ...]:
        if value.ci95 is not None:
            return (_ends(value.ci95),)
        if value.value is None:
            return (value.reason,)
        return () if value.reason == DESCRIBES else (f"no interval: {value.reason}",)

    def _interval(self, value: Estimate) -> str:
        return _ends(value.ci95, ", ") if value.ci95 else ""


ENDORSED = _EndorsementKind()
OF_ROLE = _RoleKind()
AGREEMENT = _CoefficientKind(unit=TWO_DECIMALS)


def _ends(interval: tuple[float, float], between: str = " to ") -> str:
    """Return both ends of an interval as text; a lower end of −1, a cut-off, as "≤ −1"."""
    low, high = interval
    first = "≤ −1" if low <= LOWEST_END else TWO_DECIMALS.text(low)
    return f"{first}{between}{TWO_DECIMALS.text(high)}"
