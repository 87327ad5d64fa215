"""A sheet as a table of a page: which columns a reader sees, how a cell looks, where it leads.

The numbers, their heads and how they are written come from the sheet; a page adds links, bars,
shades and smaller lines, and no number of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from careeval.results.score.graded_rubric import Errors
from careeval.sheets.kinds import Form
from careeval.sheets.sheet import Row, Sheet
from careeval.stats import Estimate

NARROW, WIDE, _EDGE, _APART = 96, 240, 5, 28
"""Of what is drawn in a cell, in pixels: its width where a row has many such cells and where it has
few, what is left free at either end, and from one label of an axis to the next.
"""


@dataclass(frozen=True)
class Scale:
    """The numbers at the ends of the bars of one column; 0 lies on or between them.

    Attributes:
        width: Of the bars, in pixels.
    """

    low: float
    high: float
    width: int = NARROW

    @staticmethod
    def over(estimates: Iterable[Estimate], at_least: tuple[float, float] = (0.0, 1.0)) -> Scale:
        """Return a scale that estimates and their intervals fit on, in steps of a tenth."""
        known = [e for e in estimates if e.value is not None]
        return Scale.of((n for e in known for n in (e.value, *(e.ci95 or ()))), at_least)

    @staticmethod
    def of(numbers: Iterable[float | None], at_least: tuple[float, float] = (0.0, 1.0)) -> Scale:
        """Return a scale that numbers fit on, in steps of a tenth; an unknown one is left out."""
        known = [*(n for n in numbers if n is not None), *at_least]
        low, high = min(known), max(known)
        return Scale(math.floor(low * 10 + 1e-9) / 10, math.ceil(high * 10 - 1e-9) / 10)

    def place(self, number: float) -> float:
        """Return where a number stands on a bar, in pixels."""
        share = (number - self.low) / (self.high - self.low)
        return round(_EDGE + share * (self.width - 2 * _EDGE), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Where 0 stands and the ends that are far enough from it, and what they are called."""
        zero = self.place(0)
        ends = [n for n in (self.low, self.high) if abs(self.place(n) - zero) > _APART]
        return [(self.place(n), f"{n:.0%}".replace("-", "−")) for n in (0, *ends)]

    @property
    def wide(self) -> Scale:
        """The same for wide bars."""
        return replace(self, width=WIDE)


@dataclass(frozen=True)
class Strip:
    """Values drawn on one line of a cell, in pixels from the left.

    Attributes:
        dots: The values.
        ends: Of the interval of the first; `None` without one.
        zero: Where 0 stands.
        width: Of the whole.
    """

    dots: tuple[float, ...]
    ends: tuple[float, float] | None
    zero: float
    width: int

    @staticmethod
    def of_estimate(e: Estimate, scale: Scale) -> Strip | None:
        """Return a value with its interval; `None` where it is unknown."""
        if e.value is None:
            return None
        ends = (scale.place(e.ci95[0]), scale.place(e.ci95[1])) if e.ci95 else None
        return Strip((scale.place(e.value),), ends, scale.place(0), scale.width)

    @staticmethod
    def of_values(values: Iterable[float | None], scale: Scale) -> Strip:
        """Return several values as dots; an unknown one is none."""
        dots = tuple(scale.place(value) for value in values if value is not None)
        return Strip(dots, None, scale.place(0), scale.width)


def shade(fraction: float | None) -> str:
    """Return the class of a fraction's shade: ten steps from 0 to 1, one of its own below 0."""
    if fraction is None:
        return ""
    return "heat-below" if round(fraction, 3) < 0 else f"heat-{min(9, int(fraction * 10))}"


def strip_of(key: str, scale: Scale) -> Callable[[Row], Strip | None]:
    """Return what draws a row's value of a field, with its interval: for `PageColumn.strip`."""

    def strip(row: Row) -> Strip | None:
        value: Estimate | Errors = row[key]
        return Strip.of_estimate(value.share if isinstance(value, Errors) else value, scale)

    return strip


def _no_lines(_: Row) -> Iterable[str]:
    return ()


def _no_parts(_: Row) -> Sequence[int]:
    return ()


def _nothing(_: Row) -> str:
    return ""


@dataclass(frozen=True)
class PageColumn:
    """One column of a table on a page.

    Attributes:
        key: Of the field.
        head: Of the column; that of the field where not given.
        about: What the head leaves out, on a second line.
        form: How much of a value the cell itself shows.
        lines: Whether its interval and its reasons stand beneath, in smaller letters.
        beneath: More smaller lines of a row.
        link: Where a row's cell leads; empty where it leads nowhere.
        look: Classes of a row's cell, for its shade or tone.
        strip: What is drawn in a row's cell; `None` where nothing is.
        axis: Of what is drawn, where the head shows it; `None` where it does not.
        parts: How many each level holds, from the lowest, where a row's cell has a bar in parts.
        spoken: What is read out instead of the text, or of such a bar; empty where the text is
            enough.
        narrow: Lines that stand here only where the columns that have them do not fit.
        upright: Whether the head stands on end, to make room.
        wide: Whether a phone has it as lines of another column (`narrow`).
    """

    key: str
    head: str = ""
    about: str = ""
    form: Form = Form.bare
    lines: bool = True
    beneath: Callable[[Row], Iterable[str]] = _no_lines
    link: Callable[[Row], str] = _nothing
    look: Callable[[Row], str] = _nothing
    strip: Callable[[Row], Strip | None] | None = None
    axis: Scale | None = None
    parts: Callable[[Row], Sequence[int]] = _no_parts
    spoken: Callable[[Row], str] = _nothing
    narrow: Callable[[Row], Iterable[str]] = _no_lines
    upright: bool = False
    wide: bool = False


@dataclass(frozen=True)
class PageCell:
    """One cell as it is drawn.

    Attributes:
        order: What its column is sorted by; `None` where that is its text, or unknown.
    """

    text: str
    lines: tuple[str, ...]
    order: float | None
    href: str
    look: str
    strip: Strip | None
    parts: Sequence[int]
    spoken: str
    narrow: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PageTable:
    """A sheet as a table of a page; the first column names a row.

    Attributes:
        columns: What a reader sees; the sheet's files have all its fields.
        caption: What stands above it; that of the sheet where not given.
        note: What stands below it; that of the sheet where not given.
        noted: How smaller lines begin that the note says once for all rows.
        look: Classes of the whole.
        cards: Whether a phone has a card a row, each cell with its column's head.
        sortable: Whether a reader may put it in another order.
        ordered: Key of the column that it is in order of; empty where that is none.
        descending: Which way.
        is_grey: Whether a row is shown grey.
        filters: What a row is filtered by; empty where it is not.
        file: Name of its files under `data/`; empty where there are none.
        part: What its files have all of, as in "of all systems"; empty where they have just this.
    """

    sheet: Sheet
    columns: tuple[PageColumn, ...]
    caption: str = ""
    note: str = ""
    noted: tuple[str, ...] = ()
    look: str = ""
    cards: bool = False
    sortable: bool = True
    ordered: str = ""
    descending: bool = False
    is_grey: Callable[[Row], bool] = lambda _: False
    filters: Callable[[Row], Mapping[str, str]] = lambda _: {}
    file: str = ""
    part: str = ""

    @property
    def title(self) -> str:
        """What stands above it."""
        return self.caption or self.sheet.caption

    @property
    def remark(self) -> str:
        """What stands below it."""
        return self.note or self.sheet.note

    @property
    def rows(self) -> list[Row]:
        """Its rows."""
        return list(self.sheet.rows)

    def head(self, column: PageColumn) -> str:
        """Return the head of a column."""
        return column.head or self.sheet.by_key[column.key].heading

    def is_number(self, column: PageColumn) -> bool:
        """Tell whether a column stands flush right."""
        return self.sheet.by_key[column.key].kind.is_number

    def cell(self, column: PageColumn, row: Row) -> PageCell:
        """Return a row's cell of a column."""
        kind, value = self.sheet.by_key[column.key].kind, row.get(column.key)
        lines = kind.lines(value) if column.lines and value is not None else ()
        order = None if value is None else kind.order(value)
        return PageCell(
            text=kind.on_page(value, column.form),
            lines=(*(x for x in lines if not x.startswith(self.noted)), *column.beneath(row)),
            order=order,
            href=column.link(row),
            look=column.look(row) or ("weak" if kind.is_number and order is None else ""),
            strip=column.strip(row) if column.strip else None,
            parts=column.parts(row),
            spoken=column.spoken(row),
            narrow=tuple(column.narrow(row)),
        )
