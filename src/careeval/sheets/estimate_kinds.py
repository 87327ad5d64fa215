"""Kinds of estimates: a number with its interval, and the share of responses with an error."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from careeval.core.text import percent
from careeval.results.graded_rubric import Errors
from careeval.sheets.kinds import (
    DASH,
    PERCENT,
    TWO_DECIMALS,
    UNKNOWN,
    Form,
    Kind,
    Scalar,
    StoredColumn,
    Unit,
)
from careeval.stats.estimate import Estimate

_ESTIMATE_COLUMNS = (
    StoredColumn("", pl.Float64, "{}; null if unknown"),
    StoredColumn("_low", pl.Float64, "lowest value that the unresolved items allow"),
    StoredColumn("_high", pl.Float64, "highest value that the unresolved items allow"),
    StoredColumn("_ci95_low", pl.Float64, "lower end of its 95% interval; null if unknown"),
    StoredColumn("_ci95_high", pl.Float64, "upper end of its 95% interval; null if unknown"),
    StoredColumn("_reason", pl.String, "why the value or its interval is unknown; else empty"),
)


@dataclass(frozen=True)
class EstimateKind(Kind):
    """An estimate: a number, its interval, and the bounds that unresolved judgments allow."""

    stored: tuple[StoredColumn, ...] = _ESTIMATE_COLUMNS
    unit: Unit = PERCENT

    def data(self, value: Estimate) -> tuple[Scalar, ...]:
        """Return the value, the bounds, the interval, and why the value or interval is unknown."""
        return value.value, value.low, value.high, *(value.ci95 or (None, None)), value.reason

    def text(self, value: Estimate, form: Form = Form.short) -> str:
        """Return the value, with the bounds and the interval that the form asks for."""
        text = self.unit.text(value.value)
        bounds, interval = self._bounds(value), self._interval(value)
        match form:
            case Form.whole:
                if bounds:
                    text += f" ({bounds} by the unresolved)"
                return f"{text} [{interval}]" if interval else text
            case Form.short if interval:
                return f"{text} [{interval}]"
            case Form.short | Form.bounds if bounds:
                return f"{text} ({bounds})"
            case _:
                return text

    def sort_key(self, value: Estimate) -> float | None:
        """Return the value."""
        return value.value

    def unit_of(self, form: Form) -> str:
        """Return "%" if that is the unit, and "[95% CI]" if the form has the interval."""
        sign = " %" if self.unit.sign == "%" else ""
        return f"{sign} [95% CI]" if form in (Form.whole, Form.short) else sign

    def page_text(self, value: Estimate | None, form: Form = Form.bare) -> str:
        """Return the value with its unit, or "unknown"."""
        if value is None:
            return self.if_missing
        return UNKNOWN if value.value is None else f"{self.text(value, form)}{self.unit.sign}"

    def page_lines(self, value: Estimate) -> tuple[str, ...]:
        """Return the interval, the bounds, and why the value or the interval is unknown."""
        lines = []
        if value.ci95 is not None:
            lines.append(f"{self.unit.text(value.ci95[0])} to {self.unit.text(value.ci95[1])}")
        if bounds := self._bounds(value):
            lines.append(f"unresolved: {bounds}")
        if value.reason:
            lines.append(value.reason)
        return tuple(lines)

    def _interval(self, value: Estimate) -> str:
        if value.ci95 is None:
            return ""
        return f"{self.unit.text(value.ci95[0])}, {self.unit.text(value.ci95[1])}"

    def _bounds(self, value: Estimate) -> str:
        """Return the bounds as text; empty if both look the same once rounded."""
        low, high = self.unit.text(value.low), self.unit.text(value.high)
        return "" if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class AgreementKind(EstimateKind):
    """An estimate of agreement, whose bounds are null if no judgment is unresolved."""

    stored: tuple[StoredColumn, ...] = tuple(
        part._replace(holds=f"{part.holds}; null if none is unresolved")
        if part.suffix in ("_low", "_high")
        else part
        for part in _ESTIMATE_COLUMNS
    )

    def data(self, value: Estimate) -> tuple[Scalar, ...]:
        """Return the data of an estimate; bounds that equal the value are `None`."""
        number, low, high, *rest = super().data(value)
        return (number, None, None, *rest) if low == high else (number, low, high, *rest)


@dataclass(frozen=True)
class ErrorShareKind(Kind):
    """The share of responses with an error, and the number of such responses."""

    stored: tuple[StoredColumn, ...] = (
        *_ESTIMATE_COLUMNS,
        StoredColumn(
            "_count", pl.Int64, "responses with such an error; a minimum if any is unresolved"
        ),
        StoredColumn("_n", pl.Int64, "judged responses to scenarios whose rubric has such an item"),
        StoredColumn(
            "_upper_at_zero", pl.Float64, "if there was none, the upper 95% limit of the share"
        ),
    )

    def data(self, value: Errors) -> tuple[Scalar, ...]:
        """Return the data of the share, then the counts and the upper limit."""
        return *ESTIMATE.data(value.share), value.count, value.n, value.upper_at_zero

    def text(self, value: Errors, form: Form = Form.short) -> str:
        """Return the share, with its upper limit if it is zero.

        `Form.bare` is the share alone, `Form.of_many` the count of responses.
        """
        if form is Form.of_many or value.share.value is None:
            return self._count(value)
        if form is Form.bare:
            return percent(value.share.value)
        if value.upper_at_zero is not None:
            return f"0.0 (up to {percent(value.upper_at_zero)})"
        return ESTIMATE.text(value.share, form)

    def sort_key(self, value: Errors) -> float | None:
        """Return the share."""
        return value.share.value

    def unit_of(self, form: Form) -> str:
        """Return the unit; for counts "in", as in "severe in 2 of 36"."""
        return " in" if form is Form.of_many else ESTIMATE.unit_of(form)

    def page_text(self, value: Errors | None, form: Form = Form.bare) -> str:
        """Return the share with its unit."""
        return ESTIMATE.page_text(None if value is None else value.share, form)

    def page_lines(self, value: Errors) -> tuple[str, ...]:
        """Return the lines of the share, or its upper limit if no response can have an error.

        The lines of the share are its interval, its bounds and any reason. The counts come last,
        unless the share is unknown.
        """
        if value.share.value is None:
            return ESTIMATE.page_lines(value.share)
        limit = value.upper_at_zero
        sure = ESTIMATE.page_lines(value.share) if limit is None else (f"up to {percent(limit)}%",)
        return *sure, f"{self._count(value)} responses"

    def _count(self, value: Errors) -> str:
        share = value.share
        if share.value is None:
            return DASH
        least = "≥ " if share.low != share.high else ""
        return f"{least}{value.count:,} of {value.n:,}"


ESTIMATE = EstimateKind()
COEFFICIENT = EstimateKind(unit=TWO_DECIMALS)
AGREEMENT_SHARE = AgreementKind()
AGREEMENT_COEFFICIENT = AgreementKind(unit=TWO_DECIMALS)
ERROR_SHARE = ErrorShareKind()
