"""Kinds of estimates: a number with its interval, and how often responses hold an error."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from careeval.results.amounts import percent
from careeval.results.score.graded_rubric import Errors
from careeval.sheets.kinds import (
    DASH,
    PERCENT,
    TWO_DECIMALS,
    UNKNOWN,
    Form,
    Kind,
    Part,
    Scalar,
    Unit,
)
from careeval.stats import Estimate

_ESTIMATE = (
    Part("", pl.Float64, "{}; null if unknown"),
    Part("_low", pl.Float64, "the least that the unresolved items could make of it"),
    Part("_high", pl.Float64, "the most that the unresolved items could make of it"),
    Part("_ci95_low", pl.Float64, "where its 95% interval begins; null if unknown"),
    Part("_ci95_high", pl.Float64, "where its 95% interval ends; null if unknown"),
    Part("_reason", pl.String, "why it, or else its interval, is unknown; else empty"),
)


@dataclass(frozen=True)
class Measure(Kind):
    """A number with its interval, and with what unresolved judgments could make of it."""

    parts: tuple[Part, ...] = _ESTIMATE
    unit: Unit = PERCENT

    def data(self, value: Estimate) -> tuple[Scalar, ...]:
        """Return the value, its bounds, its interval, and why either is unknown."""
        return value.value, value.low, value.high, *(value.ci95 or (None, None)), value.reason

    def text(self, value: Estimate, form: Form = Form.short) -> str:
        """Return the value with as much beside it as the form has."""
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

    def order(self, value: Estimate) -> float | None:
        """Return the value."""
        return value.value

    def unit_of(self, form: Form) -> str:
        """Return the unit, and that there is an interval."""
        sign = " %" if self.unit.sign == "%" else ""
        return f"{sign} [95% CI]" if form in (Form.whole, Form.short) else sign

    def on_page(self, value: Estimate | None, form: Form = Form.bare) -> str:
        """Return the value with its unit."""
        if value is None:
            return self.lacking
        return UNKNOWN if value.value is None else f"{self.text(value, form)}{self.unit.sign}"

    def lines(self, value: Estimate) -> tuple[str, ...]:
        """Return its interval, what is unresolved, and why it or the value is unknown."""
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
        """Return what is unresolved, where it moves the value by anything that is printed."""
        low, high = self.unit.text(value.low), self.unit.text(value.high)
        return "" if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class AgreementShare(Measure):
    """How far two readings agree: its bounds are null where nothing is unresolved."""

    parts: tuple[Part, ...] = tuple(
        part._replace(holds=f"{part.holds}; null where none is unresolved")
        if part.suffix in ("_low", "_high")
        else part
        for part in _ESTIMATE
    )

    def data(self, value: Estimate) -> tuple[Scalar, ...]:
        """Return what a measure has; no bounds that only say the value again."""
        number, low, high, *rest = super().data(value)
        return (number, None, None, *rest) if low == high else (number, low, high, *rest)


@dataclass(frozen=True)
class ErrorShare(Kind):
    """The share of responses with an error, and how many of how many these are."""

    parts: tuple[Part, ...] = (
        *_ESTIMATE,
        Part("_count", pl.Int64, "responses with any; at least, where any is unresolved"),
        Part("_n", pl.Int64, "responses judged, where the rubric has such an item"),
        Part("_upper_at_zero", pl.Float64, "where there was none, the most there may be"),
    )

    def data(self, value: Errors) -> tuple[Scalar, ...]:
        """Return the share as a measure has it, then the counts and the upper limit."""
        return *MEASURE.data(value.share), value.count, value.n, value.upper_at_zero

    def text(self, value: Errors, form: Form = Form.short) -> str:
        """Return the share; where there was none, with the most that the data still allow."""
        if form is Form.of_many or value.share.value is None:
            return self._count(value)
        if form is Form.bare:
            return percent(value.share.value)
        if value.upper_at_zero is not None:
            return f"0.0 (up to {percent(value.upper_at_zero)})"
        return MEASURE.text(value.share, form)

    def order(self, value: Errors) -> float | None:
        """Return the share."""
        return value.share.value

    def unit_of(self, form: Form) -> str:
        """Return the unit; of counts, "in", as in "severe in 2 of 36"."""
        return " in" if form is Form.of_many else MEASURE.unit_of(form)

    def on_page(self, value: Errors | None, form: Form = Form.bare) -> str:
        """Return the share with its unit."""
        return MEASURE.on_page(None if value is None else value.share, form)

    def lines(self, value: Errors) -> tuple[str, ...]:
        """Return its interval, or the most that there may be, and the counts."""
        if value.share.value is None:
            return MEASURE.lines(value.share)
        limit = value.upper_at_zero
        sure = MEASURE.lines(value.share) if limit is None else (f"up to {percent(limit)}%",)
        return *sure, f"{self._count(value)} responses"

    def _count(self, value: Errors) -> str:
        share = value.share
        if share.value is None:
            return DASH
        least = "≥ " if share.low != share.high else ""
        return f"{least}{value.count:,} of {value.n:,}"


MEASURE = Measure()
COEFFICIENT = Measure(unit=TWO_DECIMALS)
AGREEMENT_SHARE = AgreementShare()
AGREEMENT_COEFFICIENT = AgreementShare(unit=TWO_DECIMALS)
ERROR_SHARE = ErrorShare()
