"""Sheets, which are named tables of published numbers, views of them, and documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import polars as pl

from careeval.results.tables import Column, table
from careeval.sheets.kinds import WORDS, Form, Kind, Scalar

Row = dict[str, Any]
"""Key of a field → its value; a missing key means unknown."""


@dataclass(frozen=True)
class Field:
    """One published number or name: a column of a sheet."""

    key: str  # Column name in data files
    holds: str  # Description, as in `columns.md`
    kind: Kind = WORDS  # The form in which values are written and stored
    head: str = ""  # Column head on a page; if empty, the key as words
    brief: str = ""  # Column head where there is little room; if empty, the head in lower case
    in_files: bool = True
    """True if data files have the field. A field that only repeats others, for people, is not in
    them."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns in data files; none if not `in_files`."""
        return self.kind.columns(self.key, self.holds) if self.in_files else ()

    @property
    def heading(self) -> str:
        """The column head on a page."""
        return self.head or self.key.replace("_", " ").capitalize()

    def within(self, name: str, holds: str = "{}") -> Field:
        """Return this field as a field of a nested record, with the key `name.key`.

        Args:
            name: Name of the record.
            holds: New description; `{}` stands for the field's own description.
        """
        return replace(
            self,
            key=f"{name}.{self.key}",
            holds=holds.format(self.holds),
            head=self.heading,
        )

    def data(self, row: Row) -> Iterable[tuple[str, Scalar]]:
        """Return pairs of data column and value in a row; none if the row lacks this field."""
        if row.get(self.key) is None or not self.in_files:
            return ()
        names = (column.name for column in self.columns)
        return zip(names, self.kind.store(row[self.key]), strict=True)


def row_of(record: object, fields: Iterable[Field], within: str = "") -> Row:
    """Return a row from the attributes of a record that these fields name.

    Args:
        record: The record.
        fields: The fields; a key is the name of an attribute, or `a.b` for an attribute of `a`.
        within: Prefix of the keys in the row: see `Field.within`.
    """
    before = f"{within}." if within else ""
    return {f"{before}{field.key}": attrgetter(field.key)(record) for field in fields}


@dataclass(frozen=True, eq=False)
class DataTable:
    """A table as written to data files."""

    name: str  # Name of the data file, without suffix
    holds: str  # Description of one row
    columns: tuple[Column, ...]  # The columns, in order, with their descriptions
    frame: pl.DataFrame  # The rows, with the columns of `columns`

    @staticmethod
    def of(
        name: str, holds: str, columns: Iterable[Column], rows: Iterable[Mapping[str, Any]]
    ) -> DataTable:
        """Return a table of rows; a key that a row lacks is null."""
        columns = tuple(columns)
        return DataTable(name, holds, columns, table(rows, columns))


@dataclass(frozen=True, eq=False)
class Sheet:
    """A named table of published numbers: fields and rows."""

    name: str  # Name of its files
    holds: str  # Description of one row
    fields: tuple[Field, ...]  # The fields, in the order of data files
    rows: Sequence[Row]  # The rows; a value that a row lacks is unknown
    caption: str = ""  # Text above the table
    note: str = ""  # Text below the table

    @cached_property
    def by_key(self) -> Mapping[str, Field]:
        """The fields by their keys."""
        return {field.key: field for field in self.fields}

    def where(self, **values: object) -> Sheet:
        """Return the sheet with only the rows that have these values in these fields."""
        rows = [
            row for row in self.rows if all(row.get(key) == value for key, value in values.items())
        ]
        return replace(self, rows=rows)

    def with_fields(self, *fields: Field, rows: Iterable[Row]) -> Sheet:
        """Return the sheet with more fields.

        Args:
            fields: The fields to add.
            rows: Values of the new fields for each row of the sheet, in the same order.
        """
        joined = [row | added for row, added in zip(self.rows, rows, strict=True)]
        return replace(self, fields=(*self.fields, *fields), rows=joined)

    @cached_property
    def data(self) -> DataTable:
        """The rows as data: fractions stay fractions, and unknown values are null."""
        columns = (column for field in self.fields for column in field.columns)
        rows = (
            {name: value for field in self.fields for name, value in field.data(row)}
            for row in self.rows
        )
        return DataTable.of(self.name, self.holds, columns, rows)


@dataclass(frozen=True)
class Shown:
    """One column that a view shows."""

    key: str  # Key of the field
    form: Form = Form.short  # Amount of detail of the values
    head: str = ""  # Column head; if empty, that of the field
    keep: bool = False  # True if the column stays where there is room for few numbers


@dataclass(frozen=True)
class View:
    """The columns of a sheet that a reader is shown."""

    sheet: Sheet  # The sheet
    columns: tuple[Shown, ...]  # The shown columns, in order
    caption: str = ""  # Text above the table; if empty, that of the sheet
    groups: int = 0  # Number of columns at the left whose text is not repeated in successive rows
    faint: str = ""  # Key of a field; rows in which it is not empty are printed faintly

    @property
    def title(self) -> str:
        """The text above the table."""
        return self.caption or self.sheet.caption

    @property
    def narrowed(self) -> View:
        """The view with its text columns and only those number columns that are marked `keep`.

        If no column is marked, the view has all columns.
        """
        if not any(shown.keep for shown in self.columns):
            return self
        kept = zip(self.columns, self.are_numbers, strict=True)
        return replace(self, columns=tuple(s for s, number in kept if s.keep or not number))

    def is_faint(self, row: Row) -> bool:
        """Tell whether a row is printed faintly."""
        return bool(self.faint and row.get(self.faint))

    @property
    def heads(self) -> tuple[str, ...]:
        """The head of each column: that of `Shown`, else the field's brief head with its unit."""
        return tuple(self._head(shown) for shown in self.columns)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of the values of each column."""
        return tuple(self.sheet.by_key[shown.key].kind for shown in self.columns)

    @property
    def are_numbers(self) -> tuple[bool, ...]:
        """For each column, whether it holds numbers."""
        return tuple(kind.is_number for kind in self.kinds)

    def cells(self, row: Row) -> tuple[str, ...]:
        """Return the texts of the cells in a row."""
        return tuple(self._text(shown, row) for shown in self.columns)

    def blocks(self) -> list[list[tuple[Row, tuple[str, ...]]]]:
        """Return the rows in blocks, each row with the texts of its cells.

        Successive rows with the same texts in the first `groups` columns are one block. Without
        groups, each row is a block.
        """
        blocks: list[list[tuple[Row, tuple[str, ...]]]] = []
        for row in self.sheet.rows:
            cells = self.cells(row)
            if self.groups and blocks and blocks[-1][0][1][: self.groups] == cells[: self.groups]:
                blocks[-1].append((row, cells))
            else:
                blocks.append([(row, cells)])
        return blocks

    def _text(self, shown: Shown, row: Row) -> str:
        return self.sheet.by_key[shown.key].kind.text(row.get(shown.key), shown.form)

    def _head(self, shown: Shown) -> str:
        field = self.sheet.by_key[shown.key]
        return shown.head or f"{field.brief or field.heading.lower()}{field.kind.unit(shown.form)}"


@dataclass(frozen=True, eq=False)
class Document:
    """The printed output of a command, for any renderer."""

    blocks: tuple[str | View, ...]
    """Sentences and tables, in order. An indented sentence belongs to the nearest one above that is
    indented less."""
    notes: tuple[str, ...]  # Printed below the blocks
    data: Sheet  # The same numbers as one table, for data files
    caption: str = ""  # Text beside the numbers, for formats that do not print the notes

    @property
    def views(self) -> Iterator[View]:
        """The tables among the blocks."""
        return (block for block in self.blocks if isinstance(block, View))
