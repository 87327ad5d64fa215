"""A table of the site: what it says to a reader, how it sorts, and the same numbers as data.

The page and the files that are offered under it are made of one `Sheet`, so that neither can say
what the other does not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from careeval.results.amounts import dollars, percent
from careeval.results.cost import Cost
from careeval.results.estimates import Errors
from careeval.results.summary import NOT_COMPARABLE
from careeval.sheets import files as table_files
from careeval.sheets.kinds import ERROR_SHARE, UNKNOWN, Form
from careeval.stats import Estimate

Scalar = str | int | float | bool | None

SCHEMA = "careeval.site.table/2"

PLAIN = ("",)
WITH_INTERVAL = ("", "ci95_low", "ci95_high")
ESTIMATE = ("", "low", "high", "ci95_low", "ci95_high", "reason")
"""Parts of a column as data: the value, its bounds, its interval, why either is unknown."""

ERRORS = (*ESTIMATE, "count", "n", "upper_at_zero")
"""The same for a share of responses with an error, and what it is of."""

COST = ("", "reason")

_BAR_WIDTH, _BAR_EDGE = 96.0, 5.0

WORTH_SAYING = 0.02
"""Width from which a table says what unresolved judgments leave open; its files always do."""


@dataclass(frozen=True)
class Scale:
    """The numbers at the ends of the bars of one column; 0 lies on or between them."""

    low: float
    high: float

    @staticmethod
    def over(estimates: Iterable[Estimate], at_least: tuple[float, float] = (0.0, 1.0)) -> Scale:
        """A scale that these estimates and their intervals fit on, in steps of a tenth."""
        found = [e for e in estimates if e.value is not None]
        numbers = [n for e in found for n in (e.value, *(e.ci95 or ())) if n is not None]
        low, high = min([*numbers, at_least[0]]), max([*numbers, at_least[1]])
        return Scale(math.floor(low * 10 + 1e-9) / 10, math.ceil(high * 10 - 1e-9) / 10)

    def place(self, number: float) -> float:
        """Where a number stands on a bar, in pixels."""
        share = (number - self.low) / (self.high - self.low)
        return round(_BAR_EDGE + share * (_BAR_WIDTH - 2 * _BAR_EDGE), 1)


@dataclass(frozen=True)
class Bar:
    """A value and its interval as they are drawn in a cell: pixels from the left.

    Attributes:
        ends: Of the interval; `None` without one.
        zero: Where 0 stands.
    """

    at: float
    ends: tuple[float, float] | None
    zero: float


@dataclass(frozen=True)
class Dots:
    """Several values on one line: pixels from the left.

    Attributes:
        zero: Where 0 stands.
    """

    at: tuple[float, ...]
    zero: float

    @staticmethod
    def of(values: Iterable[float | None], scale: Scale) -> Dots:
        """Values as dots; an unknown one is none."""
        known = (scale.place(v) for v in values if v is not None)
        return Dots(tuple(known), scale.place(0))


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table.

    Attributes:
        text: How it reads.
        data: The same for a program: a value for each part of its column.
        sort: What it is ordered by, where that is not its text; `None` goes last among numbers.
        asides: Smaller lines below.
        href: Where it leads.
        bar: The value and its interval, drawn.
        tone: `harm`, `good`, `weak`, or empty.
        narrow: Lines that stand here only where the columns that have them do not fit.
        spoken: What is read out instead of the text, where that needs its surroundings.
        heat: 0 to 10, how full a share is; `None` where it is not shaded.
        dots: Several values drawn on one bar, in pixels.
    """

    text: str
    data: tuple[Scalar, ...]
    sort: float | None = None
    asides: tuple[str, ...] = ()
    href: str = ""
    bar: Bar | None = None
    tone: str = ""
    heat: int | None = None
    dots: Dots | None = None
    narrow: tuple[str, ...] = ()
    spoken: str = ""


@dataclass(frozen=True)
class Column:
    """One column: its key as data, its head, and the parts that it has as data.

    Attributes:
        about: What the head leaves out, on a second line.
        is_number: Whether its cells stand flush right, and begin with the greatest.
        upright: Whether the head stands on end, to make room.
        hidden: Whether only the files have it.
        wide: Whether a phone has it as lines of another column (`Cell.narrow`).
        said: What it is in one line; empty where head and about say it.
    """

    key: str
    head: str
    parts: tuple[str, ...] = PLAIN
    about: str = ""
    is_number: bool = False
    upright: bool = False
    hidden: bool = False
    wide: bool = False
    said: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Its columns as data."""
        return tuple(f"{self.key}_{part}" if part else self.key for part in self.parts)

    @property
    def in_words(self) -> str:
        """What it is, in one line."""
        return self.said or ", ".join(filter(None, (self.head, self.about)))


def amounts(key: str, head: str, about: str = "", *, parts: tuple[str, ...] = PLAIN) -> Column:
    """A column of numbers."""
    return Column(key, head, parts, about, is_number=True)


def estimates(key: str, head: str, about: str = "") -> Column:
    """A column of numbers with their bounds and intervals."""
    return Column(key, head, ESTIMATE, about, is_number=True)


def error_shares(key: str, head: str, about: str = "responses with any") -> Column:
    """A column of shares of responses with an error."""
    return Column(key, head, ERRORS, about, is_number=True)


@dataclass(frozen=True)
class Sheet:
    """A table; the first cell of a row is its name.

    Attributes:
        name: Of its files under `data/`; empty where there are none.
        rows: Each as long as `columns`.
        part: Of what its files have all, as in "of all systems"; empty where they have just this.
        sortable: Whether a reader may put it in another order.
        ordered: Key of the column that it is in order of; empty where that is none.
        order: Which way: `ascending` or `descending`.
        filters: What its rows are filtered by, a mapping a row; empty where they are not.
        origins: Provenance of what each row is about; empty where it is about all entries.
        classes: For how it looks.
        n_grey: Rows at its end that are shown grey, since their entries may not be ranked.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    part: str = ""
    sortable: bool = True
    classes: str = ""
    ordered: str = ""
    order: str = "ascending"
    filters: tuple[Mapping[str, str], ...] = ()
    origins: tuple[str, ...] = ()
    n_grey: int = 0

    def records(self) -> list[dict[str, Scalar]]:
        """Its rows as data; fractions stay fractions, and what is unknown is null."""
        keys = self.keys
        return [
            dict(zip(keys, (value for cell in row for value in cell.data), strict=True))
            for row in self.rows
        ]

    @property
    def keys(self) -> list[str]:
        """The columns of its data."""
        return [key for column in self.columns for key in column.keys]


def csv_text(sheet: Sheet, canary: str | None = None, provenance: str = "") -> str:
    """A sheet as CSV: unknown is empty; a name that a spreadsheet would calculate is quoted off.

    Args:
        sheet: What.
        canary: Stands in a last column of that name.
        provenance: Of all that the site shows; stands in a column of that name, where a row has
            none of its own.
    """
    frame = pl.DataFrame(sheet.records(), sheet.keys, infer_schema_length=None, strict=False)
    origins = pl.Series(sheet.origins, dtype=pl.String) if sheet.origins else pl.lit(provenance)
    frame = frame.with_columns(provenance=origins)
    return table_files.csv_text(frame.with_columns(canary=pl.lit(canary)) if canary else frame)


def json_text(sheet: Sheet, canary: str | None = None, provenance: str = "") -> str:
    """A sheet as JSON: what it is, whence, its columns in words, its rows."""
    origins = dict.fromkeys(sheet.origins)
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "table": sheet.name,
        "caption": sheet.caption,
        "note": NOT_COMPARABLE,
        "provenance": " ".join(origins) if origins else provenance,
        "canary": canary,
        "columns": {column.key: column.in_words for column in sheet.columns},
    }
    records: list[dict[str, Scalar]] = sheet.records()
    if len(origins) > 1:
        records = [
            r | {"provenance": origin} for r, origin in zip(records, sheet.origins, strict=True)
        ]
    rows = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    return f'{json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "rows": [\n{rows}\n]}}\n'


def words(text: str | None, *, href: str = "", asides: Sequence[str] = (), tone: str = "") -> Cell:
    """A cell of words, `unknown` for `None`."""
    return Cell(text or UNKNOWN, (text or None,), None, tuple(asides), href, tone=tone)


def number(n: int | None, *, tone: str = "", mark: str = "") -> Cell:
    """A cell with a count.

    Args:
        n: The count; `None` where it is unknown.
        tone: As of a cell.
        mark: Stands behind the count, for the reader alone.
    """
    return Cell(UNKNOWN if n is None else f"{n:,}{mark}", (n,), n, tone=tone)


def decimal(value: float | None, text: str) -> Cell:
    """A cell with any number, and how it reads."""
    return Cell(text, (value,), value)


def share(value: float | None, n: int | None = None, *, tone: str = "", heat: bool = False) -> Cell:
    """A cell with a share that has no interval."""
    asides = () if n is None else (f"of {n:,}",)
    filled = None if value is None or not heat else round(10 * value)
    text = "–" if value is None else f"{value:.0%}"
    return Cell(text, (value,), value, asides, tone=tone, heat=filled)


def score(
    value: float | None, *, unit: str = "%", scale: Scale | None = None, tone: str = ""
) -> Cell:
    """A cell with a fraction as a percentage, without an interval of its own."""
    text = UNKNOWN if value is None else f"{percent(value)}{unit}"
    bar = Bar(scale.place(value), None, scale.place(0)) if scale and value is not None else None
    return Cell(text, (value,), value, bar=bar, tone=tone)


def correlation(value: float | None, ci95: tuple[float, float] | None) -> Cell:
    """A cell with a number from −1 to 1 and its interval, where it has one."""
    if value is None:
        return Cell(UNKNOWN, (None, None, None), tone="weak")
    low, high = ci95 or (None, None)
    asides = () if ci95 is None else (f"{ci95[0]:.2f} to {ci95[1]:.2f}".replace("-", "−"),)
    return Cell(f"{value:.2f}".replace("-", "−"), (value, low, high), value, asides)


def coefficient(e: Estimate) -> Cell:
    """A cell with an agreement beyond chance, −1 to 1; its column is one of `estimates`."""
    cell = correlation(e.value, e.ci95)
    data = (e.value, e.low, e.high, *(e.ci95 or (None, None)), e.reason or None)
    return Cell(cell.text, data, cell.sort, cell.asides, tone=cell.tone)


def estimate(
    e: Estimate, scale: Scale | None = None, *, unit: str = "%", tone: str = "", brief: bool = False
) -> Cell:
    """A cell with a number, its interval and what is unresolved; or why there is none.

    Args:
        e: A fraction.
        scale: Of the column, if its bars are drawn.
        unit: What stands behind the value.
        tone: As of a cell.
        brief: Leave out the reason of a missing interval: a note under the table says it.
    """
    data = (e.value, e.low, e.high, *(e.ci95 or (None, None)), e.reason or None)
    if e.value is None:
        return Cell(UNKNOWN, data, None, () if brief else (e.reason,), tone="weak")
    asides = [between(e.ci95)] if e.ci95 else [] if brief else [f"no interval: {e.reason}"]
    if e.low is not None and e.high is not None and e.high - e.low >= WORTH_SAYING:
        asides.append(f"unresolved: {between((e.low, e.high))}")
    ends = (scale.place(e.ci95[0]), scale.place(e.ci95[1])) if scale and e.ci95 else None
    bar = Bar(scale.place(e.value), ends, scale.place(0)) if scale else None
    return Cell(f"{percent(e.value)}{unit}", data, e.value, tuple(asides), bar=bar, tone=tone)


def errors(e: Errors, scale: Scale | None = None, *, tone: str = "", brief: bool = False) -> Cell:
    """A cell with the share of responses with an error, and how many of how many these are.

    Args:
        e: The errors; its column is one of `error_shares`.
        scale: As of `estimate`.
        tone: As of a cell; a share of 0 has none.
        brief: As of `estimate`.
    """
    cell = estimate(e.share, scale, tone=tone if e.share.value else "", brief=brief)
    data = (*cell.data, e.count, e.n, e.upper_at_zero)
    if e.share.value is None:
        return replace(cell, data=data)
    sure = cell.asides
    if e.upper_at_zero is not None:
        sure = (f"up to {percent(e.upper_at_zero)}%",)
    return replace(cell, data=data, asides=(*sure, ERROR_SHARE.text(e, Form.of_many)))


def cost(asked: Cost) -> Cell:
    """A cell with dollars, or that they are unknown and why."""
    asides = (asked.reason,) if asked.reason else ()
    return Cell(dollars(asked.value), (asked.value, asked.reason or None), asked.value, asides)


def between(ci95: tuple[float, float]) -> str:
    """An interval in percent."""
    return f"{percent(ci95[0])} to {percent(ci95[1])}"


def signed_points(value: float | None) -> str:
    """A difference in percentage points, with its sign; `unknown` for `None`."""
    if value is None:
        return UNKNOWN
    text = percent(value)
    return text if text.startswith("−") or text == "0.0" else f"+{text}"


def p_value(p: float | None) -> str:
    """A p value with two digits; a dash for `None`."""
    if p is None:
        return "–"
    return "< .001" if p < 0.001 else f"{p:.3f}"[1:] if p < 0.1 else f"{min(p, 1):.2f}"


def data_files(
    sheets: Iterable[Sheet], canary: str | None, provenance: str = ""
) -> Mapping[str, str]:
    """Path in the site → text, for each sheet that has a name."""
    files = {}
    for sheet in sheets:
        if sheet.name:
            files[f"data/{sheet.name}.csv"] = csv_text(sheet, canary, provenance)
            files[f"data/{sheet.name}.json"] = json_text(sheet, canary, provenance)
    return files
