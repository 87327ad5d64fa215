"""Records of a file that somebody else wrote, each with the place that a message names.

JSON, JSON lines, CSV and the first sheet of a spreadsheet; what is damaged, hostile or no table of
scenarios is an error, never half a reading.
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
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from careeval.errors import BankError
from careeval.files import read_bytes

MAX_BYTES = 50_000_000
"""A file of this size is no bank."""

MAX_UNPACKED_BYTES = 4 * MAX_BYTES
"""The same for a spreadsheet, which is a zip."""

MAX_ROWS = 100_000
"""Records of a file; a cell that says it stands further down would make rows without end."""

MAX_CELLS = 1_000_000
"""Cells of a spreadsheet, those counted that only stand before one that is further right."""

MAX_TAGS = 2_500_000
"""Tags of a spreadsheet's cells and words: sixty thousand rows of ten. They are read at a rate of
half a million a second, also where they hold nothing."""

MAX_OTHER_TAGS = 100_000
"""Tags of a spreadsheet's styles and what else it has, which take five times as long."""

MAX_VALUES = 5_000_000
"""Values of a JSON file."""

_CELLS = ("xl/worksheets/", "xl/sharedStrings.xml")
_CHUNK = 2**20

Record = tuple[str, Mapping[str, Any]]
"""Where it stands, as messages say it, and column → value."""

SURPLUS = "(more)"
"""Where a record of a CSV file has the cells for which its header has no name."""


def read_records(file: Path) -> list[Record]:
    """The records of a file.

    Raises:
        BankError: It cannot be read as what its ending says.
    """
    try:
        content = read_bytes(file, MAX_BYTES)
        match file.suffix.lower():
            case ".xlsx":
                found = _xlsx(file, content)
            case ".csv":
                found = _first(file, _csv(_text(content)))
            case ".jsonl" | ".ndjson":
                found = _first(file, _jsonl(_text(content)))
            case ".json":
                _refuse_many_values(file, content)
                found = _first(file, _json(json.loads(_text(content))))
            case other:
                raise BankError(
                    f"{file}: {other or 'no ending'} is no kind of file that can be read",
                    hint="use .json, .jsonl, .csv or .xlsx",
                )
    except OSError as error:
        raise BankError(f"{file} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BankError(f"{file} is not UTF-8 text", hint="save it as UTF-8") from error
    except (ValueError, RecursionError, csv.Error) as error:
        raise BankError(f"{file} cannot be read: {error}") from error
    if not found:
        raise BankError(f"{file} holds no scenario")
    return found


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig")


def _first(file: Path, records: Iterable[Record]) -> list[Record]:
    """All records, which are not more than a file may have."""
    found = list(islice(records, MAX_ROWS + 1))
    if len(found) > MAX_ROWS:
        raise BankError(f"{file} has more than {MAX_ROWS:,} records")
    return found


def _refuse_many_values(file: Path, content: bytes) -> None:
    """Stop before values are made that take far more memory than their text."""
    n_values = sum(map(content.count, (b",", b"[", b"{")))
    if n_values > MAX_VALUES:
        raise BankError(f"{file} is too long: {n_values:,} values, at most {MAX_VALUES:,}")


def _csv(text: str) -> Iterator[Record]:
    reader = csv.reader(io.StringIO(text, newline=""))
    head = _head(next(reader, []))
    for row in reader:
        if any(row):
            yield f"line {reader.line_num}", {**_named(head, row), SURPLUS: row[len(head) :]}


def _xlsx(file: Path, content: bytes) -> list[Record]:
    try:
        # openpyxl warns of what a workbook lacks
        with warnings.catch_warnings(action="ignore"):
            _refuse_many_tags(file, content)
            return list(_rows(file, content))
    except (BankError, OSError):
        raise
    except Exception as error:  # a damaged zip or a hostile one fails in many ways
        raise ValueError(f"it is no spreadsheet ({type(error).__name__})") from error


def _refuse_many_tags(file: Path, content: bytes) -> None:
    """Stop before a spreadsheet is read that would take minutes: it is packed, and may be small."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = archive.infolist()
        n_bytes = sum(part.file_size for part in parts)
        if n_bytes > MAX_UNPACKED_BYTES:
            raise BankError(
                f"{file} is too long: {n_bytes:,} bytes unpacked, at most {MAX_UNPACKED_BYTES:,}"
            )
        for part in parts:
            if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise BankError(f"{file} is packed in a way that no spreadsheet is")
            most = MAX_TAGS if part.filename.startswith(_CELLS) else MAX_OTHER_TAGS
            with archive.open(part) as stream:
                n_tags = sum(chunk.count(b"<") for chunk in iter(partial(stream.read, _CHUNK), b""))
            if n_tags > most:
                raise BankError(
                    f"{file} is too long: its part {part.filename[:100]} has {n_tags:,} tags, "
                    f"at most {most:,}",
                    hint="save the sheet with the scenarios alone, or as CSV",
                )


def _rows(file: Path, content: bytes) -> Iterator[Record]:
    from openpyxl import load_workbook

    with closing(load_workbook(io.BytesIO(content), read_only=True, data_only=True)) as book:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # other programs write wrong ones, and rows would be dropped
        rows = sheet.iter_rows(values_only=True)
        head = _head(next(rows, ()))
        n_cells = 0
        for number, row in enumerate(rows, start=2):
            n_cells += len(row)
            if number > MAX_ROWS:
                raise BankError(
                    f"{file} has more than {MAX_ROWS:,} rows",
                    hint="delete what stands below the scenarios, empty rows too",
                )
            if n_cells > MAX_CELLS:
                raise BankError(
                    f"{file} has more than {MAX_CELLS:,} cells",
                    hint="delete what stands beside the scenarios, empty columns too",
                )
            if any(cell is not None for cell in row):
                yield f"row {number}", _named(head, row)


def _head(cells: Iterable[Any]) -> list[str]:
    """The names of columns; an empty one names none."""
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
        raise ValueError("it is no list of scenarios")
    for number, value in enumerate(content, start=1):
        yield f"entry {number}", as_object(value, f"entry {number}")


def as_object(value: Any, where: str) -> Mapping[str, Any]:
    """A JSON object.

    Raises:
        ValueError: It is another thing.
    """
    if not isinstance(value, dict):
        raise ValueError(f"{where} is no object with names and values")
    return value


def cell_text(value: Any) -> str:
    """What stands in a cell as text; empty where nothing does."""
    if value is None or isinstance(value, (list, dict)):
        return ""
    return str(value).strip()
