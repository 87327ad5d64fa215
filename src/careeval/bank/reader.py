"""Read the files of a bank's folder one by one, keeping each problem with its place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from reprlib import repr as short_repr
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from careeval.bank import evidence
from careeval.bank.problems import BankProblems, Place, Problem
from careeval.bank.sealed import SEALED
from careeval.bank.yaml_nodes import MAX_BYTES, Document, Loc, Places, parse_yaml, read_yaml
from careeval.errors import did_you_mean

T = TypeVar("T")


class BankReader:
    """Reads a bank's files one by one, keeping the places of each and each problem.

    A name is a file's in the bank's folder, without `.yaml` where it ends so; in the sealed split,
    `held-out.age/` stands before it.
    """

    def __init__(self, root: Path, held_out: Mapping[str, str]) -> None:
        self.root = root
        self.held_out = {f"{SEALED}/{name}": text for name, text in held_out.items()}
        self.documents: dict[str, Places] = {}
        self.problems: list[Problem] = []
        self._last: tuple[str, Document] | None = None

    def has(self, name: str) -> bool:
        """Whether the bank has that file; which of them it must have is the caller's to know."""
        return _file(name) in self.held_out or os.path.lexists(self._path(name))

    def names(self) -> list[str]:
        """Scenarios and probes, in the order of their names."""
        clear = (path.relative_to(self.root).as_posix() for path in self.root.glob("*/*.yaml"))
        sealed = (name for name in self.held_out if name.count("/") == 2)
        return [name.removesuffix(".yaml") for name in (*sorted(clear), *sorted(sealed))
                if name.endswith(".yaml")]  # fmt: skip

    def read(self, name: str, kind: type[T]) -> T | None:
        """One file as `kind`; None when it has problems, which are kept."""
        try:
            document = self._document(name)
            # the content is in what is made of it
            self.documents[name] = Places(document.path, document.text)
        except BankProblems as error:
            self.problems += error.problems
            return None
        try:
            # mypy does not know that a type can be hashed
            adapter: TypeAdapter[T] = _adapter(kind)  # type: ignore[arg-type]
            return adapter.validate_python(document.content)
        except ValidationError as error:
            self.problems += [_problem(document, details) for details in error.errors()]
            return None

    def has_field(self, name: str, field: str) -> bool:
        """Return if a scenario's file has a field; a file that cannot be read has none."""
        try:
            content = self._document(name).content
        except BankProblems:
            return False
        return isinstance(content, Mapping) and field in content

    def report(
        self, name: str, loc: Loc, code: str, message: str, hint: str = "", *, key: bool = False
    ) -> None:
        """Keep a problem of a document that has been read; `key` places it at the key of `loc`."""
        place = self.documents[name].place(loc, key=key)
        self.problems.append(Problem(place, code, message, hint))

    def expect_scenario_beside(self, probes: str) -> None:
        """Keep a problem where a probes file has no scenario beside it: nobody would read it."""
        scenario = probes.removesuffix(".probes")
        if not self.has(scenario):
            message = f"there is no {scenario.rpartition('/')[2]}.yaml beside it"
            place, hint = Place(str(self._path(probes))), "name it after its scenario"
            self.problems.append(Problem(place, "CE104", message, hint))

    def _document(self, name: str) -> Document:
        """A file as YAML; the last is kept, for whoever asks for it again."""
        if self._last is None or self._last[0] != name:
            path, text = self._path(name), self.held_out.get(_file(name))
            most = evidence.MAX_BYTES if path.name == evidence.FILE else MAX_BYTES
            read = read_yaml(path, most) if text is None else parse_yaml(text, str(path))
            self._last = name, read
        return self._last[1]

    def _path(self, name: str) -> Path:
        return self.root / _file(name)


def _file(name: str) -> str:
    return name if name.endswith(".json") else f"{name}.yaml"


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    """The validator of a kind of file: building one costs more than a file's validation."""
    return TypeAdapter(kind)


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
"""What a clinician calls the types that pydantic asks for, by the type of its error."""


def _problem(document: Places, error: ErrorDetails) -> Problem:
    """One pydantic error as CE102, at the place of what it is about, in a clinician's words."""
    loc: Loc = error["loc"]
    found, kind, hint = error["input"], error["type"], ""
    # pydantic marks an error in a mapping's key by a last step '[key]'
    of_key = loc[-1:] == ("[key]",)
    if of_key:
        loc = loc[:-1]
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc).lstrip(".")
    match kind:
        case "missing":
            message = "is not there"
        case "extra_forbidden":
            message = "is no field of this file"
        case "enum" | "literal_error":
            expected = str(error.get("ctx", {}).get("expected", ""))
            names = [name.strip(" '") for name in expected.replace(" or ", ",").split(",")]
            message = f"found {shown(found)}, expected {expected}"
            hint = did_you_mean(str(found), names, cutoff=0.5)
        case _ if kind in _EXPECTED:
            message = f"found {shown(found)}, expected {_EXPECTED[kind]}"
        case _:
            message = f"{error['msg']} (found {shown(found)})"
    place = document.place(loc, key=of_key or kind == "extra_forbidden")
    return Problem(place, "CE102", f"{path or 'the file'}: {message}", hint)


def shown(value: object) -> str:
    """A value of a file in a message: text in quotes and not all of a long one, else its kind."""
    match value:
        case None:
            return "nothing"
        case dict():
            return "names with values"
        case list():
            return "a list"
    return short_repr(value)
