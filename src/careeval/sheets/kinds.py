"""Kinds of values: how one is written for people, and which columns it has as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import polars as pl

from careeval.core.text import signed
from careeval.results.amounts import dollars, percent
from careeval.results.score.cost import Cost
from careeval.results.tables import Column
from careeval.stats import MIN_CLUSTERS

Scalar = str | int | float | bool | None | list[Any]
DataType = pl.DataType | type[pl.DataType]

UNKNOWN = "unknown"
DASH = "–"
"""Stands for what is unknown, or what there is none of."""


class Form(StrEnum):
    """How much of a value a text gives.

    Attributes:
        whole: With what unresolved judgments could make of it, and its interval.
        short: With its interval, which takes in the bounds; with the bounds where it has none.
        bounds: With the bounds, and never the interval.
        bare: Alone.
        of_many: Of errors, how many of how many.
    """

    whole = "whole"
    short = "short"
    bounds = "bounds"
    bare = "bare"
    of_many = "count"


class Part(NamedTuple):
    """One column of a value as data.

    Attributes:
        suffix: What is added to the field's key; empty for the value itself.
        type: Of polars.
        holds: What it holds; `{}` stands for what the field holds.
    """

    suffix: str
    type: DataType
    holds: str = "{}"


@dataclass(frozen=True)
class Kind:
    """How values of a field are written and stored.

    Attributes:
        parts: Its columns as data.
        is_number: Whether a column of it stands flush right.
        lacking: What a page has where there is no value.
        is_long: Whether it is sentences, for which a line on paper has no room.
    """

    parts: tuple[Part, ...] = (Part("", pl.String),)
    is_number: bool = True
    lacking: str = UNKNOWN
    is_long: bool = False

    def columns(self, key: str, holds: str) -> tuple[Column, ...]:
        """Return its columns as data, of a field with this key."""
        return tuple(Column(f"{key}{p.suffix}", p.type, p.holds.format(holds)) for p in self.parts)

    def data(self, value: Any) -> tuple[Scalar, ...]:
        """Return a value as data, one for each part; null where it is unknown."""
        return (value,)

    def text(self, value: Any, form: Form = Form.short) -> str:
        """Return a value as people read it; a dash where it is unknown."""
        return DASH if value is None else str(value)

    def order(self, value: Any) -> float | None:
        """Return what a column is sorted by; `None` where that is the text, or unknown."""
        return None

    def unit_of(self, form: Form) -> str:
        """Return what a head says of its numbers, behind what they are."""
        return ""

    def on_page(self, value: Any, form: Form = Form.bare) -> str:
        """Return a value as a cell of a page has it, with its unit; `lacking` for `None`."""
        return self.lacking if value is None else self.text(value, form)

    def lines(self, value: Any) -> tuple[str, ...]:
        """Return what a page says of a value beneath it: its interval, or why it has none."""
        return ()


# Words


@dataclass(frozen=True)
class Words(Kind):
    """Words, or a name, of which people read another form than files have.

    Attributes:
        names: Name in files → what people read; a name that is not in it stands for itself.
        say: The same as a function.
    """

    is_number: bool = False
    names: Mapping[str, str] | None = None
    say: Callable[[Any], str] = str

    def data(self, value: Any) -> tuple[Scalar, ...]:
        """Return the name as files have it."""
        return (None if value is None else str(value),)

    def text(self, value: Any, form: Form = Form.short) -> str:
        """Return what people read."""
        if value is None:
            return DASH
        return (self.names or {}).get(value) or self.say(value)


@dataclass(frozen=True)
class Listed(Kind):
    """Several words, or numbers, in one cell; a list in data, or one text.

    Attributes:
        joined: Whether data have one text, with semicolons between.
    """

    is_number: bool = False
    joined: bool = False

    def data(self, value: Iterable[Any] | None) -> tuple[Scalar, ...]:
        """Return a list, or one text."""
        if value is None:
            return (None,)
        return ("; ".join(value) if self.joined else list(value),)

    def text(self, value: Iterable[Any] | None, form: Form = Form.short) -> str:
        """Return the words with semicolons between."""
        return DASH if value is None else "; ".join(map(str, value))


WORDS = Words()
WORD_LIST = Listed((Part("", pl.List(pl.String)),))
NUMBER_LIST = Listed((Part("", pl.List(pl.Float64)),))
JOINED = Listed(joined=True)


@dataclass(frozen=True)
class Flag(Kind):
    """Whether something is so.

    Attributes:
        yes: What people read where it is.
        no: And where it is not.
    """

    parts: tuple[Part, ...] = (Part("", pl.Boolean),)
    is_number: bool = False
    yes: str = "yes"
    no: str = "no"

    def text(self, value: bool | None, form: Form = Form.short) -> str:
        """Return the words for it."""
        return DASH if value is None else self.yes if value else self.no


FLAG = Flag()


# Numbers that nothing makes uncertain


@dataclass(frozen=True)
class Count(Kind):
    """A whole number.

    Attributes:
        small: Whether an asterisk marks what is too small for an interval, which a note explains.
    """

    parts: tuple[Part, ...] = (Part("", pl.Int64),)
    small: bool = False

    def text(self, value: int | None, form: Form = Form.short) -> str:
        """Return the number with separators."""
        if value is None:
            return DASH
        return marked(value) if self.small else f"{value:,}"

    def order(self, value: int | None) -> float | None:
        """Return the number."""
        return value


@dataclass(frozen=True)
class Signed(Count):
    """A whole number with its sign, as the points of an item are; a page has a dash for none."""

    lacking: str = DASH

    def text(self, value: int | None, form: Form = Form.short) -> str:
        """Return "+2", "0" or "−2"."""
        return DASH if value is None else signed(value)


@dataclass(frozen=True)
class Number(Kind):
    """A number without an interval.

    Attributes:
        unit: In which it is written.
    """

    parts: tuple[Part, ...] = (Part("", pl.Float64),)
    unit: Unit | None = None

    def text(self, value: float | None, form: Form = Form.short) -> str:
        """Return the number in its unit."""
        return (self.unit or PERCENT).text(value)

    def on_page(self, value: float | None, form: Form = Form.bare) -> str:
        """Return the number with its unit."""
        unit = self.unit or PERCENT
        return self.lacking if value is None else f"{unit.text(value)}{unit.sign}"

    def order(self, value: float | None) -> float | None:
        """Return the number."""
        return value


class Unit(NamedTuple):
    """What a number is written in.

    Attributes:
        scale: What the number is multiplied with.
        sign: Stands behind the number where there is room.
        decimals: How many; `None` for two, or none from ten up.
    """

    scale: float = 100
    sign: str = "%"
    decimals: int | None = 1

    def text(self, value: float | None) -> str:
        """Return a number; a dash where it is unknown."""
        if value is None:
            return DASH
        if self.scale == 100 and self.decimals is not None:
            return percent(value, self.decimals)
        decimals = self.decimals if self.decimals is not None else 0 if abs(value) >= 10 else 2
        return f"{self.scale * value:.{decimals}f}".replace("-", "−")


PERCENT = Unit()
POINTS = Unit(sign=" points")
PLAIN = Unit(1, "", None)
TWO_DECIMALS = Unit(1, "", 2)


@dataclass(frozen=True)
class PValue(Kind):
    """A p value; a page has a dash where nothing was tested."""

    parts: tuple[Part, ...] = (Part("", pl.Float64),)
    lacking: str = DASH

    def text(self, value: float | None, form: Form = Form.short) -> str:
        """Return three decimals, without the 0 before them."""
        if value is None:
            return DASH
        return "<.001" if value < 0.001 else f"{value:.3f}".removeprefix("0")

    def order(self, value: float | None) -> float | None:
        """Return the p value."""
        return value


@dataclass(frozen=True)
class Ranks(Kind):
    """The best and the worst rank that a system may have; a page has a dash where it has none."""

    parts: tuple[Part, ...] = (
        Part("_best", pl.Int64, "{}: one more than those that are significantly better"),
        Part("_worst", pl.Int64, "{}: all but those that are significantly worse"),
    )
    lacking: str = DASH

    def data(self, value: tuple[int, int] | None) -> tuple[Scalar, ...]:
        """Return both; null where they are unknown."""
        return value or (None, None)

    def text(self, value: tuple[int, int] | None, form: Form = Form.short) -> str:
        """Return "1–3", "2", or a dash if unknown."""
        if value is None:
            return DASH
        best, worst = value
        return str(best) if best == worst else f"{best}–{worst}"

    def order(self, value: tuple[int, int] | None) -> float | None:
        """Return the best rank; among equal ones the worst decides."""
        return value and value[0] + value[1] / 1000


@dataclass(frozen=True)
class Dollars(Kind):
    """What calls cost, or why that is unknown."""

    parts: tuple[Part, ...] = (
        Part(".value", pl.Float64, "dollars {}; null if unknown"),
        Part(".known_usd", pl.Float64, "dollars of those with a known price"),
        Part(".reason", pl.String, "why it is unknown; else empty"),
    )

    def data(self, value: Cost) -> tuple[Scalar, ...]:
        """Return the dollars, those known, and the reason."""
        return value.value, value.known_usd, value.reason

    def text(self, value: Cost, form: Form = Form.short) -> str:
        """Return the dollars."""
        return dollars(value.value)

    def order(self, value: Cost) -> float | None:
        """Return the dollars."""
        return value.value


@dataclass(frozen=True)
class Seconds(Kind):
    """How long something took."""

    parts: tuple[Part, ...] = (Part("", pl.Float64),)

    def text(self, value: float | None, form: Form = Form.short) -> str:
        """Return seconds; minutes from two of them up."""
        if value is None:
            return DASH
        return f"{value / 60:,.0f} min" if value >= 120 else f"{value:.1f} s"

    def order(self, value: float | None) -> float | None:
        """Return the seconds."""
        return value


COUNT = Count()
SIGNED = Signed()
SECONDS = Seconds()
SMALL_COUNT = Count(small=True)
SHARE = Number()
DECIMAL = Number(unit=PLAIN)
P_VALUE = PValue()
RANKS = Ranks()
DOLLARS = Dollars()


def marked(n: int) -> str:
    """Return a number of scenarios, with an asterisk where they are too few for an interval."""
    return f"{n}*" if 0 < n < MIN_CLUSTERS else str(n)
