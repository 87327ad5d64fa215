"""Kinds of values that only studies have: decisions, counts of raters, coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from careeval.core.rating import Role
from careeval.core.text import signed
from careeval.people.study.panel import DESCRIBES
from careeval.people.study.scale_ratings import RoleRatings, ScaleRatings
from careeval.people.study.scenario_decisions import Decision, ScenarioResult
from careeval.sheets.kinds import (
    DASH,
    TWO_DECIMALS,
    Form,
    Kind,
    StoredColumn,
    Unit,
    estimate_kind,
    list_kind,
    number_kind,
    text_kind,
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

ROLE = text_kind(ROLES)
WHEN = text_kind({"before": "round 1, all", "after": "last, not dropped"})
INTEGERS = list_kind(pl.Int64)
DECIMALS = number_kind(TWO_DECIMALS)
YEARS = number_kind(Unit(1, "", 1))
DECIDED = replace(
    text_kind(DECISIONS),
    store=lambda value: (None if value == UNDECIDED else str(value),),
)


def _why(result: ScenarioResult, _: Form) -> str:
    """Return the reasons, then two of the things to read and the number of further ones."""
    more = len(result.to_read) - 2
    last = [f"and {more} more to read"] if more > 0 else []
    return "; ".join([*result.reasons, *result.to_read[:2], *last])


WHY = Kind(write=_why, is_number=False, is_long=True)
POINTS_LIST = Kind(
    write=lambda points, _: ", ".join(map(signed, points)) or "none", is_number=False
)


# Counts of raters


def _ends(interval: tuple[float, float], between: str = " to ") -> str:
    """Return both ends of an interval as text; a lower end of −1, a cut-off, as "≤ −1"."""
    low, high = interval
    first = "≤ −1" if low <= LOWEST_END else TWO_DECIMALS.text(low)
    return f"{first}{between}{TWO_DECIMALS.text(high)}"


def _rater_share(value: Endorsement | AikenV, form: Form) -> str:
    if form is Form.of_many and isinstance(value, Endorsement):
        return f"{value.k}/{value.n}"
    share = TWO_DECIMALS.text(value.value)
    return share if form is Form.bare else f"{share} [{_ends(value.interval, ', ')}]"


SHARE_OF_RATERS = Kind(
    (
        StoredColumn("", pl.Float64),
        StoredColumn("_ci95_low", pl.Float64, "lower end of its 95% interval"),
        StoredColumn("_ci95_high", pl.Float64, "upper end of its 95% interval"),
    ),
    _rater_share,
    lambda value: (value.value, *value.interval),
    order=lambda value: value.value,
    lines=lambda value: (_ends(value.interval),),
)
"""The share of raters who endorse, also as a count, or Aiken's V; with its interval."""
SHARE_ALONE = replace(
    SHARE_OF_RATERS, stored=SHARE_OF_RATERS.stored[:1], store=lambda value: (value.value,)
)


def _endorsed(value: ScaleRatings, form: Form) -> str:
    """Return the number who endorse, with an asterisk if the other cut decides otherwise.

    Unless the form is `bare`, the number at the other cut and Aiken's V follow.
    """
    if value.at_cut is None or value.at_other is None:
        return DASH
    count, other = (SHARE_ALONE.text(e, Form.of_many) for e in (value.at_cut, value.at_other))
    count += "*" if value.cut_sensitive else ""
    v = TWO_DECIMALS.text(value.aiken.value if value.aiken else None)
    return count if form is Form.bare else f"{count} ({other}) {v}"


def _role_lines(value: RoleRatings) -> tuple[str, ...]:
    """Return the ratings of fewer than three raters; of more raters, the interval."""
    if value.endorsed.n < MIN_RATERS:
        return f"gave {', '.join(map(str, value.values))}", f"lowest {value.lowest}"
    alone = {True: ("passes alone",), False: ("does not pass alone",), None: ()}
    return _ends(value.endorsed.interval), *alone[value.passes]


def _coefficient_lines(value: Estimate) -> tuple[str, ...]:
    if value.ci95 is not None:
        return (_ends(value.ci95),)
    if value.value is None:
        return (value.reason,)
    return () if value.reason == DESCRIBES else (f"no interval: {value.reason}",)


ENDORSED = Kind(
    write=_endorsed,
    order=lambda value: value.at_cut.value if value.at_cut else None,
    lines=lambda value: () if value.at_cut else (value.reason,),
    unit=lambda form: "" if form is Form.bare else " k/n (other cut) V",
)
OF_ROLE = Kind(
    write=lambda value, _: SHARE_ALONE.text(value.endorsed, Form.of_many),
    order=lambda value: value.endorsed.value,
    lines=_role_lines,
    if_missing="not rated",
)
AGREEMENT = replace(
    estimate_kind(TWO_DECIMALS, ends=lambda interval: _ends(interval, ", ")),
    lines=_coefficient_lines,
)
"""A coefficient of agreement; a lower end cut off at −1 is written "≤ −1"."""
