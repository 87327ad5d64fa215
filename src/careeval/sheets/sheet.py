"""A sheet: a named table of published numbers; and a view: the columns of it that are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import polars as pl

from careeval.results.tables import Column, table
from careeval.sheets.kinds import DASH, WORDS, Form, Kind, Scalar

Row = dict[str, Any]
"""Key of a field → its value; a field that is not in it is unknown."""


@dataclass(frozen=True)
class Field:
    """One published number, or name.

    Attributes:
        key: Its name in files.
        holds: What it is, as the dictionary of columns says.
        kind: How it is written and stored.
        head: Of its column on a page; the key in words where not given.
        brief: Of its column where there is little room; the head in small letters where not given.
        in_files: Whether files have it; other fields repeat for people what stands elsewhere.
    """

    key: str
    holds: str
    kind: Kind = WORDS
    head: str = ""
    brief: str = ""
    in_files: bool = True

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns as data."""
        return self.kind.columns(self.key, self.holds) if self.in_files else ()

    @property
    def heading(self) -> str:
        """Its head."""
        return self.head or self.key.replace("_", " ").capitalize()

    def within(self, name: str, holds: str = "{}") -> Field:
        """Return it as a part of something: its key behind that name and a dot.

        Args:
            name: Of what it is a part of.
            holds: What it is there; `{}` stands for what it is by itself.
        """
        return replace(
            self,
            key=f"{name}.{self.key}",
            holds=holds.format(self.holds),
            head=self.heading,
        )

    def data(self, row: Row) -> Iterable[tuple[str, Scalar]]:
        """Return its columns of a row, with their names; nothing where the row lacks it."""
        if row.get(self.key) is None or not self.in_files:
            return ()
        names = (column.name for column in self.columns)
        return zip(names, self.kind.data(row[self.key]), strict=True)


def row_of(record: object, fields: Iterable[Field], within: str = "") -> Row:
    """Return what a record has under the keys of fields; `a.b` is an attribute of an attribute.

    Args:
        record: What has the attributes.
        fields: Of each the key is the attribute's name.
        within: What the fields of the row are a part of: see `Field.within`.
    """
    before = f"{within}." if within else ""
    return {f"{before}{field.key}": attrgetter(field.key)(record) for field in fields}


@dataclass(frozen=True, eq=False)
class DataTable:
    """A table as files of data have it.

    Attributes:
        name: As its file is called.
        holds: What one row is.
        columns: In order, with what each holds.
        frame: The rows, of these columns.
    """

    name: str
    holds: str
    columns: tuple[Column, ...]
    frame: pl.DataFrame

    @staticmethod
    def of(
        name: str, holds: str, columns: Iterable[Column], rows: Iterable[Mapping[str, Any]]
    ) -> DataTable:
        """Return a table from rows; a column that a row lacks is null."""
        known = tuple(columns)
        return DataTable(name, holds, known, table(rows, known))


@dataclass(frozen=True, eq=False)
class Sheet:
    """A named table.

    Attributes:
        name: As its files are called.
        holds: What one row is.
        fields: In the order in which files have them.
        rows: A value for each field that is known.
        caption: What people read above it.
        note: What must be read below it.
    """

    name: str
    holds: str
    fields: tuple[Field, ...]
    rows: Sequence[Row]
    caption: str = ""
    note: str = ""

    @cached_property
    def by_key(self) -> Mapping[str, Field]:
        """Key → field."""
        return {field.key: field for field in self.fields}

    def where(self, **values: object) -> Sheet:
        """Return the rows that have these values."""
        wanted = values.items()
        rows = [row for row in self.rows if all(row.get(key) == value for key, value in wanted)]
        return replace(self, rows=rows)

    def adding(self, *fields: Field, rows: Iterable[Row]) -> Sheet:
        """Return itself with more fields.

        Args:
            fields: Which.
            rows: What each row has besides, in the same order.
        """
        more = [row | besides for row, besides in zip(self.rows, rows, strict=True)]
        return replace(self, fields=(*self.fields, *fields), rows=more)

    @cached_property
    def data(self) -> DataTable:
        """Its rows as data: fractions stay fractions, and what is unknown is null."""
        columns = (column for field in self.fields for column in field.columns)
        rows = (
            {name: value for field in self.fields for name, value in field.data(row)}
            for row in self.rows
        )
        return DataTable.of(self.name, self.holds, columns, rows)


@dataclass(frozen=True)
class Shown:
    """One column of a view.

    Attributes:
        key: Of the field.
        form: How much of a value it shows.
        head: Of the column; that of the field where not given.
        keep: Whether it stays where there is room for few numbers.
    """

    key: str
    form: Form = Form.short
    head: str = ""
    keep: bool = False


@dataclass(frozen=True)
class View:
    """A sheet as one kind of reader sees it.

    Attributes:
        columns: What is shown, in order.
        caption: What stands above it; that of the sheet where not given.
        groups: How many columns at the left are said once for rows that stand together.
        faint: Key of a field; a row in which it says anything is shown in faint letters.
    """

    sheet: Sheet
    columns: tuple[Shown, ...]
    caption: str = ""
    groups: int = 0
    faint: str = ""

    @property
    def title(self) -> str:
        """What stands above it."""
        return self.caption or self.sheet.caption

    @property
    def narrowed(self) -> View:
        """Itself with the names, and of the numbers those that are kept; all where none is."""
        if not any(shown.keep for shown in self.columns):
            return self
        kept = zip(self.columns, self.are_numbers, strict=True)
        return replace(self, columns=tuple(s for s, number in kept if s.keep or not number))

    def is_faint(self, row: Row) -> bool:
        """Tell whether a row is shown in faint letters."""
        return bool(self.faint and row.get(self.faint))

    @property
    def heads(self) -> tuple[str, ...]:
        """The head of each column, with the unit of its numbers."""
        return tuple(self._head(shown) for shown in self.columns)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of each column's values."""
        return tuple(self.sheet.by_key[shown.key].kind for shown in self.columns)

    @property
    def are_numbers(self) -> tuple[bool, ...]:
        """Of each column, whether it holds numbers."""
        return tuple(kind.is_number for kind in self.kinds)

    def cells(self, row: Row) -> tuple[str, ...]:
        """Return what a row's columns read."""
        return tuple(self._text(shown, row) for shown in self.columns)

    def blocks(self) -> list[list[tuple[Row, tuple[str, ...]]]]:
        """Return the rows with their cells, those of one group together."""
        blocks: list[list[tuple[Row, tuple[str, ...]]]] = []
        for row in self.sheet.rows:
            cells = self.cells(row)
            if self.groups and blocks and blocks[-1][0][1][: self.groups] == cells[: self.groups]:
                blocks[-1].append((row, cells))
            else:
                blocks.append([(row, cells)])
        return blocks

    def _text(self, shown: Shown, row: Row) -> str:
        value = row.get(shown.key)
        kind = self.sheet.by_key[shown.key].kind
        return DASH if value is None else kind.text(value, shown.form)

    def _head(self, shown: Shown) -> str:
        field = self.sheet.by_key[shown.key]
        return (
            shown.head or f"{field.brief or field.heading.lower()}{field.kind.unit_of(shown.form)}"
        )
