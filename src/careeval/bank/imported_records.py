"""Reading the records of another bank's file, and their graded options.

The file may be JSON, JSON lines, CSV or the first sheet of a spreadsheet. A file that is damaged,
hostile or not a table of scenarios is an error; it is never read in part.
"""

from __future__ import annotations

import csv
import io
import json
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from careeval.core.scenario import Domain, Rung
from careeval.errors import BankError
from careeval.files import read_bytes

MAX_BYTES = 50_000_000
"""The most bytes of a file."""

MAX_UNPACKED_BYTES = 2 * MAX_BYTES
"""The most bytes of an unzipped spreadsheet."""

MAX_ROWS = 100_000
"""The most records of a file. A hostile cell can claim a position that makes endless rows."""

Record = tuple[str, Mapping[str, Any]]
"""Place of the record for messages, and column → value."""

SURPLUS = "(more)"
"""Column of a CSV record for the cells beyond the header."""


def read_records(file: Path) -> list[Record]:
    """Return the records of a file, in the format that its ending says.

    Raises:
        BankError: The file cannot be read, is too large, has no record, or is of another format.
    """
    try:
        content = read_bytes(file, MAX_BYTES)
        match file.suffix.lower():
            case ".xlsx":
                records = _xlsx(file, content)
            case ".csv":
                records = _limited(file, _csv(_text(content)))
            case ".jsonl" | ".ndjson":
                records = _limited(file, _jsonl(_text(content)))
            case ".json":
                records = _limited(file, _json(json.loads(_text(content))))
            case other:
                ending = f"the ending {other}" if other else "no ending"
                raise BankError(
                    f"{file} has {ending}, so it cannot be imported",
                    hint="use .json, .jsonl, .csv or .xlsx",
                )
    except OSError as error:
        raise BankError(f"{file} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BankError(f"{file} is not UTF-8 text", hint="save it as UTF-8") from error
    except (ValueError, RecursionError, csv.Error) as error:
        raise BankError(f"{file} cannot be read: {error}") from error
    if not records:
        raise BankError(f"{file} has no scenario")
    return records


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig")


def _limited(file: Path, records: Iterable[Record]) -> list[Record]:
    first = list(islice(records, MAX_ROWS + 1))
    if len(first) > MAX_ROWS:
        raise BankError(f"{file} has more than {MAX_ROWS:,} records")
    return first


def _csv(text: str) -> Iterator[Record]:
    reader = csv.reader(io.StringIO(text, newline=""))
    head = _head(next(reader, []))
    for row in reader:
        if any(row):
            yield f"line {reader.line_num}", {**_named(head, row), SURPLUS: row[len(head) :]}


def _xlsx(file: Path, content: bytes) -> list[Record]:
    try:
        # openpyxl warns of missing parts that do not matter here
        with warnings.catch_warnings(action="ignore"):
            _refuse_long(file, content)
            return list(_rows(file, content))
    except (BankError, OSError):
        raise
    except Exception as error:  # a damaged or hostile zip fails in many ways
        raise ValueError(f"it is not a spreadsheet ({type(error).__name__})") from error


def _refuse_long(file: Path, content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        n_bytes = sum(part.file_size for part in archive.infolist())
    if n_bytes > MAX_UNPACKED_BYTES:
        raise BankError(
            f"{file} is too large: {n_bytes:,} bytes unpacked, at most {MAX_UNPACKED_BYTES:,}",
            hint="save the sheet with the scenarios alone, or as CSV",
        )


def _rows(file: Path, content: bytes) -> Iterator[Record]:
    from openpyxl import load_workbook

    with closing(load_workbook(io.BytesIO(content), read_only=True, data_only=True)) as book:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # some programs write wrong ones, which would drop rows
        rows = sheet.iter_rows(values_only=True)
        head = _head(next(rows, ()))
        for number, row in enumerate(rows, start=2):
            if number > MAX_ROWS:
                raise BankError(
                    f"{file} has more than {MAX_ROWS:,} rows",
                    hint="delete what is below the scenarios, empty rows too",
                )
            if any(cell is not None for cell in row):
                yield f"row {number}", _named(head, row)


def _head(cells: Iterable[Any]) -> list[str]:
    """Return the name of every column; empty if it has none, so that `_named` leaves it out."""
    head = [cell_text(cell) for cell in cells]
    for name, n in Counter(head).items():
        if name and n > 1:
            raise BankError(
                f"the header names the column {name!r} {n} times", hint="rename all but one"
            )
    return head


def _named(head: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {name: cell for name, cell in zip(head, row) if name}  # noqa: B905 - a row may be short


def _jsonl(text: str) -> Iterator[Record]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield f"line {number}", as_object(json.loads(line), f"line {number}")


def _json(content: Any) -> Iterator[Record]:
    if isinstance(content, dict):
        lists = [value for value in content.values() if isinstance(value, list)]
        content = lists[0] if len(lists) == 1 else [content]
    if not isinstance(content, list):
        raise ValueError("it is not a list of scenarios")
    for number, value in enumerate(content, start=1):
        yield f"entry {number}", as_object(value, f"entry {number}")


def as_object(value: Any, where: str) -> Mapping[str, Any]:
    """Return a value if it is a JSON object; raise `ValueError` if not."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} is not an object with names and values")
    return value


def cell_text(value: Any) -> str:
    """Return the value of a cell as text; empty for null, a list or an object."""
    if value is None or isinstance(value, (list, dict)):
        return ""
    return str(value).strip()


def options_in(row: Mapping[str, Any], columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the graded options of a record as rungs.

    Raises:
        ValueError: The record has no list of options, or an option is not valid.
    """
    if "options" not in columns:
        return [_option(row, columns)]
    options = row.get(columns["options"])
    if not isinstance(options, list) or not options:
        raise ValueError(f"{columns['options']!r} is not a list of options")
    return [
        _option(as_object(option, f"option {i}"), columns, f"option {i}: ")
        for i, option in enumerate(options, 1)
    ]


def _option(
    values: Mapping[str, Any], columns: Mapping[str, str], where: str = ""
) -> dict[str, Any]:
    flat = {**values}
    for value in values.values():
        if isinstance(value, dict):
            flat |= value
    text = cell_text(flat.get(columns["option"]))
    if not text:
        raise ValueError(f"{where}{columns['option']!r} is missing or empty")
    points = _whole(flat.get(columns["points"]), f"{where}{columns['points']}", -2, 2)
    if points is None:
        raise ValueError(f"{where}{columns['points']!r} is missing or empty")
    rated = {
        domain.value: _whole(flat.get(columns[domain]), f"{where}{columns[domain]}", 0, 2)
        for domain in Domain
        if domain in columns
    }
    domains = {domain: level for domain, level in rated.items() if level is not None}
    rung = {"points": points, "text": text, "domains": domains}
    Rung.model_validate(rung)
    return rung


def _whole(value: Any, name: str, minimum: int, maximum: int) -> int | None:
    """Return a whole number within bounds; `None` for an empty cell."""
    text = cell_text(value).replace("−", "-")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not number.is_integer() or not minimum <= number <= maximum:
        raise ValueError(f"{name} is {text[:60]!r}, expected a whole number {minimum} to {maximum}")
    return int(number)
