"""Kinds of values: their text for people and their columns in data files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import polars as pl

from careeval.core.text import dollars, percent, signed
from careeval.results.summary import Cost
from careeval.results.tables import Column
from careeval.stats.intervals import MIN_CLUSTERS

Scalar = str | int | float | bool | None | list[Any]
DataType = pl.DataType | type[pl.DataType]

UNKNOWN = "unknown"
DASH = "–"
"""Stands for a value that is unknown or does not exist."""


class Form(StrEnum):
    """The amount of detail in a value's text.

    Bounds are the lowest and highest value that the unresolved judgments allow.

    Attributes:
        whole: The value, the bounds and the interval.
        short: The value and the interval, which includes the bounds; without interval, the bounds.
        bounds: The value and the bounds.
        bare: The value alone.
        of_many: For errors, the count: "2 of 36".
    """

    whole = "whole"
    short = "short"
    bounds = "bounds"
    bare = "bare"
    of_many = "count"


class StoredColumn(NamedTuple):
    """One of the columns that hold a field's values in data files.

    Attributes:
        suffix: Added to the field's key; empty for the value itself.
        type: The polars type of the column.
        holds: Description of the column; `{}` stands for the field's own description.
    """

    suffix: str
    type: DataType
    holds: str = "{}"


@dataclass(frozen=True)
class Kind:
    """The way in which a field's values are written and stored."""

    stored: tuple[StoredColumn, ...] = (StoredColumn("", pl.String),)  # The columns in data files
    is_number: bool = True  # True if a table aligns the values right
    if_missing: str = UNKNOWN  # The text on a page if there is no value
    is_long: bool = False  # True if the values are sentences, which LaTeX wraps

    def columns(self, key: str, holds: str) -> tuple[Column, ...]:
        """Return the data columns of a field with this key and description."""
        return tuple(Column(f"{key}{p.suffix}", p.type, p.holds.format(holds)) for p in self.stored)

    def data(self, value: Any) -> tuple[Scalar, ...]:
        """Return the values of the data columns; `None` where unknown."""
        return (value,)

    def text(self, value: Any, form: Form = Form.short) -> str:
        """Return the text of a value; a dash if it is unknown."""
        return DASH if value is None else str(value)

    def sort_key(self, value: Any) -> float | None:
        """Return the sort key of a value; `None` if unknown, or if rows sort by the text."""
        return None

    def unit_of(self, form: Form) -> str:
        """Return the unit at the end of a column head."""
        return ""

    def page_text(self, value: Any, form: Form = Form.bare) -> str:
        """Return the text of a value on a page, with the unit; `if_missing` for `None`."""
        return self.if_missing if value is None else self.text(value, form)

    def page_lines(self, value: Any) -> tuple[str, ...]:
        """Return the small lines below a value on a page, such as its interval."""
        return ()


# Text


@dataclass(frozen=True)
class TextKind(Kind):
    """A text, or a name that data files store in one form and tables show in another."""

    is_number: bool = False
    names: Mapping[str, str] | None = None  # Stored name → shown name
    shown_name: Callable[[Any], str] = str
    """Returns the shown name for a stored name that `names` lacks."""

    def data(self, value: Any) -> tuple[Scalar, ...]:
        """Return the stored name."""
        return (None if value is None else str(value),)

    def text(self, value: Any, form: Form = Form.short) -> str:
        """Return the shown name."""
        if value is None:
            return DASH
        return (self.names or {}).get(value) or self.shown_name(value)


@dataclass(frozen=True)
class ListKind(Kind):
    """A list of names or numbers in one cell."""

    is_number: bool = False
    joined: bool = False
    """True if data files store one text, joined by semicolons, instead of a list."""

    def data(self, value: Iterable[Any] | None) -> tuple[Scalar, ...]:
        """Return the list, or the joined text."""
        if value is None:
            return (None,)
        return ("; ".join(value) if self.joined else list(value),)

    def text(self, value: Iterable[Any] | None, form: Form = Form.short) -> str:
        """Return the elements, joined by semicolons."""
        return DASH if value is None else "; ".join(map(str, value))


WORDS = TextKind()
WORD_LIST = ListKind((StoredColumn("", pl.List(pl.String)),))
NUMBER_LIST = ListKind((StoredColumn("", pl.List(pl.Float64)),))
JOINED = ListKind(joined=True)


@dataclass(frozen=True)
class FlagKind(Kind):
    """A value that is true or false."""

    stored: tuple[StoredColumn, ...] = (StoredColumn("", pl.Boolean),)
    is_number: bool = False
    yes: str = "yes"  # The text for true
    no: str = "no"  # The text for false

    def text(self, value: bool | None, form: Form = Form.short) -> str:
        """Return the text for true or for false."""
        return DASH if value is None else self.yes if value else self.no


FLAG = FlagKind()


# Numbers without an interval


@dataclass(frozen=True)
class CountKind(Kind):
    """A whole number."""

    stored: tuple[StoredColumn, ...] = (StoredColumn("", pl.Int64),)
    small: bool = False  # True if an asterisk marks numbers of scenarios too small for an interval

    def text(self, value: int | None, form: Form = Form.short) -> str:
        """Return the number with thousands separators."""
        if value is None:
            return DASH
        return mark_small(value) if self.small else f"{value:,}"

    def sort_key(self, value: int | None) -> float | None:
        """Return the number."""
        return value


@dataclass(frozen=True)
class SignedKind(CountKind):
    """A whole number with its sign, such as the points of an item."""

    if_missing: str = DASH

    def text(self, value: int | None, form: Form = Form.short) -> str:
        """Return "+2", "0" or "−2"."""
        return DASH if value is None else signed(value)


@dataclass(frozen=True)
class NumberKind(Kind):
    """A number without an interval."""

    stored: tuple[StoredColumn, ...] = (StoredColumn("", pl.Float64),)
    unit: Unit | None = None  # The unit that the number is written in; percent if `None`

    def text(self, value: float | None, form: Form = Form.short) -> str:
        """Return the number in its unit."""
        return (self.unit or PERCENT).text(value)

    def page_text(self, value: float | None, form: Form = Form.bare) -> str:
        """Return the number with its unit."""
        unit = self.unit or PERCENT
        return self.if_missing if value is None else f"{unit.text(value)}{unit.sign}"

    def sort_key(self, value: float | None) -> float | None:
        """Return the number."""
        return value


class Unit(NamedTuple):
    """The unit and the decimals that a number is written with.

    Attributes:
        scale: The factor that the number is multiplied by.
        sign: Symbol after the number, where there is room.
        decimals: Number of decimals; `None`: two for numbers below ten, none from ten up.
    """

    scale: float = 100
    sign: str = "%"
    decimals: int | None = 1

    def text(self, value: float | None) -> str:
        """Return the number without its sign; a dash if it is unknown."""
        if value is None:
            return DASH
        if self.scale == 100 and self.decimals is not None:
            return percent(value, self.decimals)
        decimals = self.decimals if self.decimals is not None else 0 if abs(value) >= 10 else 2
        return f"{self.scale * value:z.{decimals}f}".replace("-", "−")


PERCENT = Unit()
POINTS = Unit(sign=" points")
PLAIN = Unit(1, "", None)
TWO_DECIMALS = Unit(1, "", 2)


@dataclass(frozen=True)
class PValueKind(Kind):
    """A p value; `None` if no test was made."""

    stored: tuple[StoredColumn, ...] = (StoredColumn("", pl.Float64),)
    if_missing: str = DASH

    def text(self, value: float | None, form: Form = Form.short) -> str:
        """Return the p value with three decimals, without the 0 before the point."""
        if value is None:
            return DASH
        return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")

    def sort_key(self, value: float | None) -> float | None:
        """Return the p value."""
        return value


@dataclass(frozen=True)
class RanksKind(Kind):
    """A rank set: the best and the worst rank that a system may have."""

    stored: tuple[StoredColumn, ...] = (
        StoredColumn(
            "_best", pl.Int64, "{}, best possible: 1 + the number of significantly better systems"
        ),
        StoredColumn(
            "_worst",
            pl.Int64,
            "{}, worst possible: the number of ranked systems that are not significantly worse",
        ),
    )
    if_missing: str = DASH

    def data(self, value: tuple[int, int] | None) -> tuple[Scalar, ...]:
        """Return both ranks; `None` twice if they are unknown."""
        return value or (None, None)

    def text(self, value: tuple[int, int] | None, form: Form = Form.short) -> str:
        """Return "1–3", or "2" if both are equal; a dash if unknown."""
        if value is None:
            return DASH
        best, worst = value
        return str(best) if best == worst else f"{best}–{worst}"

    def sort_key(self, value: tuple[int, int] | None) -> float | None:
        """Return the best rank, with the worst as the tie-breaker."""
        return value and value[0] + value[1] / 1000


@dataclass(frozen=True)
class CostKind(Kind):
    """The cost of calls in dollars."""

    stored: tuple[StoredColumn, ...] = (
        StoredColumn(".value", pl.Float64, "cost in dollars {}; null if unknown"),
        StoredColumn(".known_usd", pl.Float64, "cost in dollars of the calls with a known price"),
        StoredColumn(".reason", pl.String, "why it is unknown; else empty"),
    )

    def data(self, value: Cost) -> tuple[Scalar, ...]:
        """Return the cost, the known part of the cost, and the reason if the cost is unknown."""
        return value.value, value.known_usd, value.reason

    def text(self, value: Cost, form: Form = Form.short) -> str:
        """Return the dollars."""
        return dollars(value.value)

    def sort_key(self, value: Cost) -> float | None:
        """Return the dollars."""
        return value.value


@dataclass(frozen=True)
class SecondsKind(Kind):
    """A duration in seconds."""

    stored: tuple[StoredColumn, ...] = (StoredColumn("", pl.Float64),)

    def text(self, value: float | None, form: Form = Form.short) -> str:
        """Return a duration in seconds; from two minutes up, in minutes."""
        if value is None:
            return DASH
        return f"{value / 60:,.0f} min" if value >= 120 else f"{value:.1f} s"

    def sort_key(self, value: float | None) -> float | None:
        """Return the seconds."""
        return value


COUNT = CountKind()
SIGNED = SignedKind()
SECONDS = SecondsKind()
SMALL_COUNT = CountKind(small=True)
SHARE = NumberKind()
DECIMAL = NumberKind(unit=PLAIN)
P_VALUE = PValueKind()
RANKS = RanksKind()
DOLLARS = CostKind()


def mark_small(n: int) -> str:
    """Return a number of scenarios, with an asterisk if they are too few for an interval."""
    return f"{n}*" if 0 < n < MIN_CLUSTERS else str(n)
