"""Reading of the files of a bank's folder, YAML and CSV, with the place of each problem."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from reprlib import repr as short_repr
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from careeval.bank import evidence
from careeval.bank.sealed import SEALED
from careeval.bank.yaml_nodes import (
    MAX_BYTES,
    BankProblems,
    FilePlace,
    FilePlaces,
    Loc,
    Problem,
    YamlDocument,
    parse_yaml,
    read_yaml,
)
from careeval.errors import BankError, did_you_mean
from careeval.files import read_given_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


class BankReader:
    """A reader of a bank's files that collects the places of their values, and all problems.

    A file's name is its path in the bank's folder without `.yaml`; names in the sealed split begin
    with `held-out.age/`.
    """

    def __init__(self, root: Path, held_out: Mapping[str, str]) -> None:
        self.root = root
        self.held_out = {f"{SEALED}/{name}": text for name, text in held_out.items()}
        self.documents: dict[str, FilePlaces] = {}
        self.problems: list[Problem] = []
        self._last: tuple[str, YamlDocument] | None = None

    def has(self, name: str) -> bool:
        """Tell whether the bank has that file."""
        return _file(name) in self.held_out or os.path.lexists(self._path(name))

    def names(self) -> list[str]:
        """Return the names of the files of scenarios and probes, in order, sealed ones last."""
        clear = (path.relative_to(self.root).as_posix() for path in self.root.glob("*/*.yaml"))
        sealed = (name for name in self.held_out if name.count("/") == 2)
        return [name.removesuffix(".yaml") for name in (*sorted(clear), *sorted(sealed))
                if name.endswith(".yaml")]  # fmt: skip

    def read(self, name: str, kind: type[T]) -> T | None:
        """Read a file as a value of type `kind`; `None` if it has problems, which are kept."""
        try:
            document = self._document(name)
            # without the content, which the value returned has
            self.documents[name] = FilePlaces(document.path, document.text)
        except BankProblems as error:
            self.problems += error.problems
            return None
        try:
            # mypy does not know that types are hashable
            adapter: TypeAdapter[T] = _adapter(kind)  # type: ignore[arg-type]
            return adapter.validate_python(document.content)
        except ValidationError as error:
            self.problems += [_problem(document, details) for details in error.errors()]
            return None

    def has_field(self, name: str, field: str) -> bool:
        """Tell whether a scenario's file has a field; a file that cannot be read has none."""
        try:
            content = self._document(name).content
        except BankProblems:
            return False
        return isinstance(content, Mapping) and field in content

    def read_bytes(self, name: str, beside: str, max_bytes: int) -> bytes | None:
        """Return the content of a file beside another; `None` if it is missing or has more bytes.

        A file beside one of the sealed split has none: what belongs to it is in its own text.
        """
        path = self._path(name).with_name(Path(beside).name)
        if _file(name) in self.held_out or not path.is_file() or path.stat().st_size > max_bytes:
            return None
        return path.read_bytes()

    def report(
        self, name: str, loc: Loc, code: str, message: str, hint: str = "", *, key: bool = False
    ) -> None:
        """Keep a problem of a file that has been read; `key` places it at the key of `loc`."""
        place = self.documents[name].place(loc, key=key)
        self.problems.append(Problem(place, code, message, hint))

    def expect_scenario_beside(self, probes: str) -> None:
        """Keep a problem if a probes file has no scenario file: the probes would never be read."""
        scenario = probes.removesuffix(".probes")
        if not self.has(scenario):
            message = f"there is no {scenario.rpartition('/')[2]}.yaml beside it"
            place, hint = FilePlace(str(self._path(probes))), "name it after its scenario"
            self.problems.append(Problem(place, "CE104", message, hint))

    def _document(self, name: str) -> YamlDocument:
        if self._last is None or self._last[0] != name:  # one is cached: it is read twice in a row
            path, text = self._path(name), self.held_out.get(_file(name))
            max_bytes = evidence.MAX_BYTES if path.name == evidence.FILE else MAX_BYTES
            read = read_yaml(path, max_bytes) if text is None else parse_yaml(text, str(path))
            self._last = name, read
        return self._last[1]

    def _path(self, name: str) -> Path:
        return self.root / _file(name)


def _file(name: str) -> str:
    return name if name.endswith(".json") else f"{name}.yaml"


_adapter = cache(TypeAdapter)  # building one is slow


_EXPECTED = {
    "dict_type": "names with values",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "mapping_type": "names with values",
    "model_type": "names with values",
    "string_type": "text",
    "tuple_type": "a list",
}
"""Type of a pydantic error → the expected type, in words for clinicians."""


def _problem(document: FilePlaces, error: ErrorDetails) -> Problem:
    loc: Loc = error["loc"]
    value, kind, hint = error["input"], error["type"], ""
    # pydantic marks an error in the key of a mapping by a last step '[key]'
    is_key = loc[-1:] == ("[key]",)
    if is_key:
        loc = loc[:-1]
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc).lstrip(".")
    match kind:
        case "missing":
            message = "is missing"
        case "extra_forbidden":
            message = "is not a field of this file"
        case "enum" | "literal_error":
            expected = str(error.get("ctx", {}).get("expected", ""))
            names = [name.strip(" '") for name in expected.replace(" or ", ",").split(",")]
            message = f"found {shown(value)}, expected {expected}"
            hint = did_you_mean(str(value), names, cutoff=0.5)
        case _ if kind in _EXPECTED:
            message = f"found {shown(value)}, expected {_EXPECTED[kind]}"
        case _:
            message = f"{error['msg']} (found {shown(value)})"
    place = document.place(loc, key=is_key or kind == "extra_forbidden")
    return Problem(place, "CE102", f"{path or 'the file'}: {message}", hint)


def shown(value: object) -> str:
    """Return a value as shown in messages: text in quotes, shortened; else its type."""
    match value:
        case None:
            return "nothing"
        case dict():
            return "names with values"
        case list():
            return "a list"
    return short_repr(value)


# CSV files of typed rows in a bank's folder or in its sealed held-out split

MAX_CSV_BYTES = 50_000_000
"""The most bytes of a file."""

Row = TypeVar("Row", bound="DataclassInstance")


def read_rows(
    bank: Path, held_out: Mapping[str, str], name: str, kind: type[Row], what: str
) -> list[Row]:
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
        texts[str(path)] = read_given_text(path, BankError, max_bytes=MAX_CSV_BYTES)
    if name in held_out:
        texts[str(bank / SEALED / name)] = held_out[name]
    return [row for where, text in texts.items() for row in parse_rows(text, kind, where, what)]


def parse_rows(text: str, kind: type[Row], path: str, what: str) -> list[Row]:
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


def rows_text(rows: Sequence[Row], kind: type[Row]) -> str:
    """Return rows as CSV text with a header."""
    out = io.StringIO()
    names = [field.name for field in fields(kind)]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([getattr(row, name) for name in names] for row in rows)
    return out.getvalue()
