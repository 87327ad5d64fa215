"""Kinds of values that a page writes in its own way, such as with a capital or a sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from careeval.core.text import dollars, thousands
from careeval.results.summary import Cost
from careeval.sheets.estimate_kinds import EstimateKind
from careeval.sheets.kinds import (
    DASH,
    POINTS,
    CostKind,
    Form,
    Kind,
    NumberKind,
    StoredColumn,
    TextKind,
    Unit,
)
from careeval.stats.estimate import Estimate


@dataclass(frozen=True)
class PartNameKind(TextKind):
    """The name of a part of the scenarios, with a capital on a page."""

    def page_text(self, value: Any, form: Form = Form.bare) -> str:
        """Return the name with a capital."""
        text = super().page_text(value, form)
        return f"{text[:1].upper()}{text[1:]}"


@dataclass(frozen=True)
class DifferenceKind(EstimateKind):
    """A difference in percentage points, with its sign; on a page the column head has the unit."""

    unit: Unit = POINTS

    def page_text(self, value: Estimate | None, form: Form = Form.bare) -> str:
        """Return the points with their sign; 0.0 has no sign."""
        if value is None or value.value is None:
            return super().page_text(value, form)
        text = self.text(value, form)
        return text if text.startswith(("−", "0.0")) else f"+{text}"


@dataclass(frozen=True)
class PlainCostKind(CostKind):
    """The cost of calls, stored in columns whose names have no dots."""

    stored: tuple[StoredColumn, ...] = (
        StoredColumn("", pl.Float64, "cost in dollars {}; null if unknown"),
        StoredColumn("_known", pl.Float64, "cost in dollars of the calls with a known price"),
        StoredColumn("_reason", pl.String, "why it is unknown; else empty"),
    )

    def page_lines(self, value: Cost) -> tuple[str, ...]:
        """Return the reason if the cost is unknown."""
        return (value.reason,) if value.reason else ()


@dataclass(frozen=True)
class SpendingKind(CostKind):
    """The cost of calls, with the number of responses and of tokens below it."""

    def page_lines(self, value: Cost) -> tuple[str, ...]:
        """Return why the cost is unknown and its known part, or the responses; then the tokens."""
        lines = [value.reason] if value.reason else []
        if value.known_usd and value.value is None:
            lines.append(f"the rest {dollars(value.known_usd)}")
        if value.n and not value.reason:
            lines.append(f"{value.n:,} {'response' if value.n == 1 else 'responses'}")
        if value.input_tokens is not None and value.output_tokens is not None:
            tokens_in, out = thousands(value.input_tokens), thousands(value.output_tokens)
            lines.append(f"{tokens_in} tokens in, {out} out")
        return tuple(lines)


@dataclass(frozen=True)
class AmountKind(Kind):
    """An amount of dollars."""

    stored: tuple[StoredColumn, ...] = (StoredColumn("", pl.Float64),)

    def text(self, value: float | None, form: Form = Form.short) -> str:
        """Return the amount with its dollar sign."""
        return dollars(value)

    def sort_key(self, value: float | None) -> float | None:
        """Return the dollars."""
        return value


DIFFERENCE = DifferenceKind()
PERCENT_POINTS = NumberKind(if_missing=DASH, unit=POINTS)
ROUND_SHARE = NumberKind(if_missing=DASH, unit=Unit(decimals=0))
PLAIN_DOLLARS = PlainCostKind()
SPENDING = SpendingKind()
AMOUNT = AmountKind()
