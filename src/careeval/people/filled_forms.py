"""Reading of CSV files that people fill in: all rows or none; each problem names its line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path

from careeval.errors import ReviewError
from careeval.files import open_file

MOST_PROBLEMS = 20
"""The most problems of a file that are reported at once."""


def read_rows(
    path: Path,
    needed: Sequence[str],
    columns: Sequence[str],
    take: Callable[[int, Mapping[str, str]], None],
) -> None:
    """Pass each row that is not empty to `take`, with the number of the row's last line.

    What `take` gets has every column of `columns`, with stripped values, empty if the file lacks
    the column.

    Args:
        path: The file, separated by commas or semicolons.
        needed: Columns that must be present, in lower case.
        columns: All columns that are read, in the order that a hint recommends; others are ignored.
        take: Function of a line number and its row. It raises ValueError if the row is wrong; later
            rows are still checked.

    Raises:
        OSError: The file cannot be opened.
        ReviewError: The file is not such a table, or rows are wrong: the message has the line of
            each, since all rows are checked first.
    """
    problems = []
    try:
        for line, names, cells in _rows(path, needed, columns):
            try:
                if any(cells[len(names) :]):
                    raise ValueError(
                        f"the row has {len(cells)} cells, but there are only {len(names)} columns: "
                        "put any text that contains the separator (, or ;) in quotation marks"
                    )
                row = dict(zip(names, cells, strict=False))
                take(line, {name: row.get(name, "") for name in columns})
            except ValueError as error:
                problems.append(f"{path}:{line}: {error}")
    except UnicodeDecodeError as error:
        raise ReviewError(f"{path}: not UTF-8", hint="save it as CSV in UTF-8") from error
    if problems:
        more = len(problems) - MOST_PROBLEMS
        lines = [*problems[:MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
        hint = "correct these lines, then give the file again: nothing of it was taken"
        raise ReviewError("\n".join(lines), hint=hint)


def _rows(
    path: Path, needed: Sequence[str], columns: Sequence[str]
) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield line number, column names and cells of each row that is not empty."""
    with TextIOWrapper(open_file(path), encoding="utf-8-sig", newline="") as file:
        head = file.readline()
        file.seek(0)
        reader = csv.reader(file, delimiter=";" if head.count(";") > head.count(",") else ",")
        try:
            names = [name.strip().lower() for name in next(reader, [])]
            if missing := [name for name in needed if name not in names]:
                raise ReviewError(
                    f"{path}:1: no column {', '.join(missing)}; there are "
                    f"{', '.join(names) or 'none'}",
                    hint=f"make the first line: {','.join(columns)}",
                )
            if twice := [name for name in columns if names.count(name) > 1]:
                raise ReviewError(
                    f"{path}:1: more than one column {', '.join(twice)}", hint="keep one of each"
                )
            for row in reader:
                cells = [cell.strip() for cell in row]
                # spreadsheets leave empty rows where rows were deleted
                if any(cells):
                    yield reader.line_num, names, cells
        except csv.Error as error:
            raise ReviewError(f"{path}:{reader.line_num}: {error}") from error
