"""Data files: tables as CSV, safe in spreadsheets, as JSON lines and Parquet, described."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from careeval.files import atomic_write, write_text
from careeval.results.entry import NOT_COMPARABLE
from careeval.results.tables import Column, write_parquet
from careeval.sheets.sheet import DataTable

TableForm = Literal["csv", "jsonl", "parquet"]

LIST_SEPARATOR = "; "
"""Separates the elements of a list in CSV."""

_FORMULA = r"^(?:[\s\p{Cf}]*[=+\-@＝＋－＠]|[\t\r])"
"""The beginning of a cell that a spreadsheet would compute, after blanks and invisible marks.

Source: OWASP, CSV injection.
"""
_NUMERAL = r"^[+-]?[0-9]+$"
"""The name of a rung, such as `+2`, which begins like a formula but is not one."""
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"

_TYPES: dict[str, str] = {
    "String": "string",
    "Boolean": "boolean",
    "Int32": "integer",
    "Int64": "integer",
    "Float64": "number",
    "List": "array",
}
"""Type in polars → its name in `columns.md`."""


def csv_text(frame: pl.DataFrame) -> str:
    """Return a table as CSV: null as an empty cell, lists joined by a semicolon and a space.

    A model's text may be anything, so a cell that a spreadsheet would take for a formula gets an
    apostrophe in front, and control characters are left out. Numbers stay numbers, in a list too.
    Text is quoted, so that it stays one cell in spreadsheets that use other separators.
    """
    cells = frame.select(_cell(name, kind) for name, kind in frame.schema.items())
    return cells.write_csv(quote_style="non_numeric")


MAX_ROWS = 50_000
"""Rows turned into text at once, since text takes many times the memory of a table."""


def _write_csv(frame: pl.DataFrame, path: Path) -> None:
    """Write a table as `csv_text` to a file, in pieces, to save memory."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_text(frame[:MAX_ROWS]))
        for start in range(MAX_ROWS, frame.height, MAX_ROWS):
            _, _, rows = csv_text(frame[start : start + MAX_ROWS]).partition("\n")
            file.write(rows)


def _cell(name: str, kind: pl.DataType) -> pl.Expr:
    cell = pl.col(name)
    if isinstance(kind, pl.List):
        is_text = kind.inner == pl.String
        cell = cell.list.eval(pl.element().cast(pl.String).fill_null("")).list.join(LIST_SEPARATOR)
        if not is_text:
            return cell
    elif kind != pl.String:
        return cell
    cell = cell.str.replace_all(_CONTROL, "")
    is_formula = cell.str.contains(_FORMULA) & ~cell.str.contains(_NUMERAL)
    return pl.when(is_formula).then(pl.lit("'") + cell).otherwise(cell).alias(name)


def conventions(intervals: str) -> str:
    """Return a paragraph on the conventions of the values in data files.

    Args:
        intervals: Description of the intervals, such as "95%".
    """
    return (
        "Scores, shares and p values are fractions. An unknown number is null, empty in CSV, never "
        f"0, and a column that ends in `reason` says why. Intervals are {intervals}. In CSV a list "
        "is joined by semicolons, a text that a spreadsheet would take for a formula begins with "
        "an apostrophe, and control characters are left out; Parquet has the text as it is."
    )


OF_RUNS = f"{NOT_COMPARABLE} {conventions('95%, clustered by scenario')}"


def write_tables(
    tables: Iterable[DataTable],
    folder: Path,
    forms: Sequence[TableForm],
    about: str,
    read_as: str = OF_RUNS,
) -> list[Path]:
    """Write tables to `folder/FORM`, such as `folder/csv`, and `columns.md`, on their columns.

    Args:
        tables: The tables; each is written before the next is computed.
        folder: Created if it does not exist; files of the same names are replaced.
        forms: The file formats, at least one.
        about: A paragraph on the origin of the tables.
        read_as: A paragraph on the conventions of the values.

    Returns:
        The paths of the written files, in order; `columns.md` last.
    """
    written: list[Path] = []
    dictionary = ["# What the columns hold", "", about, "", read_as, ""]
    for form in forms:
        (folder / form).mkdir(parents=True, exist_ok=True)
    for table in tables:
        for form in forms:
            path = folder / form / f"{table.name}.{form}"
            if form == "csv":
                with atomic_write(path) as beside:
                    _write_csv(table.frame, beside)
            elif form == "jsonl":
                with atomic_write(path) as beside:
                    table.frame.write_ndjson(beside)
            else:
                write_parquet(path, table.frame)
            written.append(path)
        dictionary += [f"## {table.name}", "", f"A row is {table.holds}.", ""]
        dictionary += ["| column | type | holds |", "| --- | --- | --- |"]
        dictionary += [f"| `{c.name}` | {_type(c)} | {c.holds} |" for c in table.columns]
        dictionary.append("")
    about_columns = folder / "columns.md"
    write_text(about_columns, "\n".join(dictionary))
    return [*written, about_columns]


def _type(column: Column) -> str:
    kind = column.kind
    return _TYPES[str(kind.base_type())]
