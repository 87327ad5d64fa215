"""Tables on a page: which columns of a sheet are shown, with looks and links of the cells.

Numbers, heads and number formats come from the sheet. A page adds links, pictures (`Strip`, bars),
shades and smaller lines, but no number of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from careeval.results.graded_rubric import Errors
from careeval.sheets.kinds import Form
from careeval.sheets.sheet import Row, Sheet
from careeval.stats.estimate import Estimate

NARROW, WIDE, _EDGE, _APART = 96, 240, 5, 28
"""Pixels of a strip: its width in a row of many strips and of few, the margin at either end, and
the distance from one axis label to the next.
"""


@dataclass(frozen=True)
class BarScale:
    """The scale of the strips (`Strip`) in one column, from `low` to `high`, which includes 0."""

    low: float
    high: float
    width: int = NARROW  # Width of a strip in pixels

    @staticmethod
    def of_estimates(
        estimates: Iterable[Estimate], at_least: tuple[float, float] = (0.0, 1.0)
    ) -> BarScale:
        """Return a scale over estimates, their intervals and `at_least`, rounded out to tenths."""
        with_value = [e for e in estimates if e.value is not None]
        return BarScale.of_numbers(
            (n for e in with_value for n in (e.value, *(e.ci95 or ()))), at_least
        )

    @staticmethod
    def of_numbers(
        numbers: Iterable[float | None], at_least: tuple[float, float] = (0.0, 1.0)
    ) -> BarScale:
        """Return a scale over numbers and `at_least`, rounded out to tenths; `None` is ignored."""
        values = [*(n for n in numbers if n is not None), *at_least]
        low, high = min(values), max(values)
        return BarScale(math.floor(low * 10 + 1e-9) / 10, math.ceil(high * 10 - 1e-9) / 10)

    def place(self, number: float) -> float:
        """Return the position of a number on a strip, in pixels from the left."""
        share = (number - self.low) / (self.high - self.low)
        return round(_EDGE + share * (self.width - 2 * _EDGE), 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Positions and labels of 0, and of each end that is far enough from 0."""
        zero = self.place(0)
        ends = [n for n in (self.low, self.high) if abs(self.place(n) - zero) > _APART]
        return [(self.place(n), f"{n:.0%}".replace("-", "−")) for n in (0, *ends)]

    @property
    def wide(self) -> BarScale:
        """The same scale, for wide strips."""
        return replace(self, width=WIDE)


@dataclass(frozen=True)
class Strip:
    """Values drawn as dots on one line in a cell; positions are pixels from the left."""

    dots: tuple[float, ...]  # Positions of the values
    ends: tuple[float, float] | None
    """Ends of the interval of the first value; `None` if there is no interval."""
    zero: float  # Position of 0
    width: int  # Width of the line

    @staticmethod
    def of_estimate(e: Estimate, scale: BarScale) -> Strip | None:
        """Return the strip of an estimate with its interval; `None` if the value is unknown."""
        if e.value is None:
            return None
        ends = (scale.place(e.ci95[0]), scale.place(e.ci95[1])) if e.ci95 else None
        return Strip((scale.place(e.value),), ends, scale.place(0), scale.width)

    @staticmethod
    def of_values(values: Iterable[float | None], scale: BarScale) -> Strip:
        """Return the strip of several values, a dot per value; `None` gets no dot."""
        dots = tuple(scale.place(value) for value in values if value is not None)
        return Strip(dots, None, scale.place(0), scale.width)


def shade(fraction: float | None, ci95: tuple[float, float] | None = None) -> str:
    """Return the CSS classes for the shade of a fraction; empty for `None`.

    There are ten shades from 0 to 1, and one below 0. A shade is pale if the interval holds 0.
    """
    if fraction is None:
        return ""
    is_open = ci95 is not None and ci95[0] <= 0 <= ci95[1]
    depth = "heat-below" if round(fraction, 3) < 0 else f"heat-{min(9, int(fraction * 10))}"
    return f"{depth} pale" if is_open else depth


def strip_of(key: str, scale: BarScale) -> Callable[[Row], Strip | None]:
    """Return a function for `PageColumn.strip` that draws the estimate in a field of a row."""

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
    """One column of a table on a page."""

    key: str  # Key of the field
    head: str = ""  # Column head; by default that of the field
    about: str = ""  # Second line of the column head
    form: Form = Form.bare  # Amount of detail of the value in the cell; small lines have their own
    lines: bool = True  # True if the interval and the reason are shown below, in small type
    beneath: Callable[[Row], Iterable[str]] = _no_lines  # Returns more small lines for a row
    link: Callable[[Row], str] = _nothing
    """Returns the address that a row's cell links to; empty for no link."""
    look: Callable[[Row], str] = _nothing  # Returns the CSS classes of a row's cell
    strip: Callable[[Row], Strip | None] | None = None
    """Draws the strip in a row's cell; `None` for no strip."""
    axis: BarScale | None = None  # Scale shown in the column head; `None` for no scale
    parts: Callable[[Row], Sequence[int]] = _no_parts
    """Returns the count of each level, lowest first, for a stacked bar in a row's cell."""
    spoken: Callable[[Row], str] = _nothing
    """Returns text for screen readers in place of the cell's; empty if not needed."""
    narrow: Callable[[Row], Iterable[str]] = _no_lines
    """Lines shown only on a phone, in place of columns that are `wide`."""
    omitted: Callable[[Row], str] = _nothing
    """Returns the reason that a row's cell leaves out, since the page has it elsewhere."""
    upright: bool = False  # True if the column head is written vertically to save room
    wide: bool = False
    """True if a phone hides the column and shows it as `narrow` lines of another column."""


@dataclass(frozen=True)
class PageCell:
    """One cell of a page table, ready for the template."""

    text: str
    lines: tuple[str, ...]
    order: float | None  # Sort key; `None` if the text is the sort key or the value is unknown
    href: str
    look: str
    strip: Strip | None
    parts: Sequence[int]
    spoken: str
    narrow: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PageTable:
    """A sheet shown as a table on a page; the first column names the row."""

    sheet: Sheet
    columns: tuple[PageColumn, ...]
    """The columns shown; the data files have all fields of the sheet."""
    caption: str = ""  # Text above the table; by default that of the sheet
    note: str = ""  # Text below the table; by default that of the sheet
    look: str = ""  # CSS classes of the table
    cards: bool = False  # True if a phone shows each row as a card, each cell with its column head
    sortable: bool = True  # True if a reader can sort the table
    ordered: str = ""  # Key of the column that the rows are sorted by; empty if unsorted
    descending: bool = False  # True if the rows are sorted in descending order
    is_grey: Callable[[Row], bool] = lambda _: False  # Tells whether a row is shown in grey
    filters: Callable[[Row], Mapping[str, str]] = lambda _: {}
    """Returns filter name → value of a row; empty for no filter."""
    file: str = ""  # Name of the data files under `data/`; empty for no file
    part: str = ""  # The range of the data files if wider than this table: "of all systems"

    def with_files(self, part: str = "", name: str = "") -> PageTable:
        """Return the table with a link to its data files.

        Args:
            part: The range of the files if wider than this table, such as "of all systems".
            name: Name of the files; by default that of the sheet.
        """
        return replace(self, file=name or file_name(self.sheet), part=part)

    def linked(self, key: str, link: Callable[[Row], str]) -> PageTable:
        """Return the table with links in the cells of one column."""
        columns = (replace(c, link=link) if c.key == key else c for c in self.columns)
        return replace(self, columns=tuple(columns))

    @property
    def title(self) -> str:
        """Text above the table."""
        return self.caption or self.sheet.caption

    @property
    def remark(self) -> str:
        """Text below the table."""
        return self.note or self.sheet.note

    @property
    def rows(self) -> list[Row]:
        """Rows of the table's sheet."""
        return list(self.sheet.rows)

    def head(self, column: PageColumn) -> str:
        """Return the header text of a column."""
        return column.head or self.sheet.by_key[column.key].heading

    def is_number(self, column: PageColumn) -> bool:
        """Tell whether a column holds numbers and so is aligned right."""
        return self.sheet.by_key[column.key].kind.is_number

    def cell(self, column: PageColumn, row: Row) -> PageCell:
        """Return the cell in a row and a column, ready for the template."""
        kind, value = self.sheet.by_key[column.key].kind, row.get(column.key)
        lines = kind.lines(value) if column.lines and value is not None else ()
        order = None if value is None else kind.sort_key(value)
        return PageCell(
            text=kind.page_text(value, column.form),
            lines=(
                *(line for line in lines if line != column.omitted(row)),
                *column.beneath(row),
            ),
            order=order,
            href=column.link(row),
            look=column.look(row) or ("weak" if kind.is_number and order is None else ""),
            strip=column.strip(row) if column.strip else None,
            parts=column.parts(row),
            spoken=column.spoken(row),
            narrow=tuple(column.narrow(row)),
        )


def file_name(sheet: Sheet) -> str:
    """Return the name of a sheet's data files, without suffix."""
    return sheet.name.replace("_", "-")
