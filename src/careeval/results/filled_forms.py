"""CSV files that people fill in: read whole or not at all, each problem told with its line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path

from careeval.errors import ReviewError
from careeval.files import open_file

MOST_PROBLEMS = 20
"""Of a file, that are told at once."""


def take_rows(
    path: Path,
    needed: Sequence[str],
    columns: Sequence[str],
    take: Callable[[int, Mapping[str, str]], None],
) -> None:
    """Hand on each row that is not empty, with the number of its last line.

    A row has every column, stripped of blanks around it, and empty where the file has it not.

    Args:
        path: The file, separated by commas or semicolons.
        needed: Columns that must be there, by names in lower case.
        columns: All that are read, in the order in which they are best written; others are passed
            over.
        take: Raises ValueError where a row cannot be taken; those after it are looked at too.

    Raises:
        ReviewError: With the line of each problem, once all rows have been looked at.
    """
    problems = []
    try:
        for line, names, cells in _rows(path, needed, columns):
            try:
                if any(cells[len(names) :]):
                    raise ValueError(
                        f"{len(cells)} cells under {len(names)} columns; a text with a comma in it "
                        "stands in quotation marks"
                    )
                found = dict(zip(names, cells, strict=False))
                take(line, {name: found.get(name, "") for name in columns})
            except ValueError as error:
                problems.append(f"{path}:{line}: {error}")
    except UnicodeDecodeError as error:
        raise ReviewError(f"{path}: not UTF-8", hint="save it as CSV UTF-8") from error
    if problems:
        more = len(problems) - MOST_PROBLEMS
        told = [*problems[:MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
        raise ReviewError("\n".join(told), hint="nothing of the file was taken")


def _rows(
    path: Path, needed: Sequence[str], columns: Sequence[str]
) -> Iterator[tuple[int, list[str], list[str]]]:
    """Line, names of columns and cells of each row but the first."""
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
                    hint=",".join(columns),
                )
            if twice := [name for name in columns if names.count(name) > 1]:
                raise ReviewError(f"{path}:1: more than one column {', '.join(twice)}")
            for row in reader:
                cells = [cell.strip() for cell in row]
                # empty is what a spreadsheet leaves where rows were deleted
                if any(cells):
                    yield reader.line_num, names, cells
        except csv.Error as error:
            raise ReviewError(f"{path}:{reader.line_num}: {error}") from error
