"""CSV files of typed rows in a bank's folder or in its sealed held-out split."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from careeval.bank.sealed import SEALED
from careeval.errors import BankError
from careeval.files import read_given_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MAX_BYTES = 50_000_000
"""The most bytes of a file."""

T = TypeVar("T", bound="DataclassInstance")


def read_rows(
    bank: Path, held_out: Mapping[str, str], name: str, kind: type[T], what: str
) -> list[T]:
    """Return the public rows of a CSV file, then its held-out rows; empty if there is no such file.

    Args:
        bank: The bank's folder.
        held_out: File name → text, from the opened held-out split; empty if it is not opened.
        name: Path of the file in the bank's folder.
        kind: A dataclass whose fields are the file's columns.
        what: Name of a row for messages, such as "second reading".

    Raises:
        BankError: A file cannot be read, or has a wrong row.
    """
    path, texts = bank / name, dict[str, str]()
    if os.path.lexists(path):
        texts[str(path)] = read_given_text(path, BankError, max_bytes=MAX_BYTES)
    if name in held_out:
        texts[str(bank / SEALED / name)] = held_out[name]
    return [row for where, text in texts.items() for row in parse_rows(text, kind, where, what)]


def parse_rows(text: str, kind: type[T], path: str, what: str) -> list[T]:
    """Return the rows of a file's text.

    Raises:
        BankError: It is not CSV, a column is missing, or a value has the wrong type.
    """
    adapter = TypeAdapter(kind)
    typed_rows = []
    try:
        rows = list(csv.DictReader(io.StringIO(text)))
    except csv.Error as error:
        raise BankError(f"{path} is not CSV: {error}") from error
    for number, row in enumerate(rows, start=2):
        try:
            typed_rows.append(adapter.validate_python(row))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            raise BankError(
                f"{path}:{number} is not a {what}: {field}: {first['msg']}",
                hint=f"its columns are {', '.join(field.name for field in fields(kind))}",
            ) from error
    return typed_rows


def rows_text(rows: Sequence[T], kind: type[T]) -> str:
    """Return rows as CSV text with a header."""
    out = io.StringIO()
    names = [field.name for field in fields(kind)]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([getattr(row, name) for name in names] for row in rows)
    return out.getvalue()
