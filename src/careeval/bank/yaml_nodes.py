"""Parsing of YAML into plain text, with the place of each value and of each problem.

Every scalar is read as the text in the file, and the schema decides its type. So `no`, `010` and
`12:30` stay as typed if a text is expected, and become numbers only if a number is expected.
Anchors, aliases and tags are refused: bank files need none, and hostile files can misuse them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import yaml

from careeval.core.text import counted
from careeval.errors import BankError
from careeval.files import open_file

MAX_BYTES = 1_000_000
"""The most bytes of a file; a scenario has a few kilobytes."""

MAX_DEPTH = 60
"""The deepest nesting of lists and mappings: a scenario has five levels, a plan up to 53."""

Loc = tuple[str | int, ...]
"""The path from the top of a document to a value, as keys and list indices."""

Finding = tuple[Loc, str, str]
"""A finding of a rule in a file: the place, a message, and a hint."""

Plain = str | None | list["Plain"] | dict[str, "Plain"]
"""Content of a document: text, nothing, lists, mappings."""


@dataclass(frozen=True, slots=True, order=True)
class FilePlace:
    """A position in a file; line and column count from 1."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A problem in a file of a bank."""

    place: FilePlace
    code: str  # Code of the rule that found it, `CE101` …
    message: str  # The value found and the value expected
    hint: str = ""  # The next step; empty if the message says it

    def __str__(self) -> str:
        text = f"{self.place}  {self.code} {self.message}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class BankProblems(BankError):  # noqa: N818 - named for what it holds
    """All problems of a bank, as `problems`, in the order of files and lines."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        lines = "\n".join(str(problem) for problem in self.problems)
        n_problems = counted(len(self.problems), "problem")
        n_files = counted(len({problem.place.path for problem in self.problems}), "file")
        super().__init__(f"{lines}\n{n_problems} in {n_files}.")


@dataclass(frozen=True)
class FilePlaces:
    """The places of the values and keys of a valid YAML file.

    The places are computed at first use, since most files have no problems.
    """

    path: str  # The file's name in messages
    text: str = field(repr=False)

    def place(self, loc: Loc, *, key: bool = False) -> FilePlace:
        """Return the place of a value, or of its key; if it has none, of the value around it."""
        values, keys = self._places
        where = keys if key else values
        while loc and loc not in where:
            where, loc = values, loc[:-1]
        return where.get(loc, FilePlace(self.path))

    @cached_property
    def _places(self) -> tuple[dict[Loc, FilePlace], dict[Loc, FilePlace]]:
        values: dict[Loc, FilePlace] = {}
        keys: dict[Loc, FilePlace] = {}

        def note(node: yaml.Node, loc: Loc) -> None:
            values[loc] = _place(node.start_mark, self.path)
            if isinstance(node, yaml.SequenceNode):
                for i, item in enumerate(node.value):
                    note(item, (*loc, i))
            elif isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    at = (*loc, str(key.value))
                    keys[at] = _place(key.start_mark, self.path)
                    note(value, at)

        root = yaml.compose(self.text, Loader=yaml.CBaseLoader)
        if root is not None:
            note(root, ())
        return values, keys


@dataclass(frozen=True)
class YamlDocument(FilePlaces):
    """The content of a YAML file, with the places of its values and keys."""

    content: Plain


def read_yaml(path: Path, max_bytes: int = MAX_BYTES) -> YamlDocument:
    """Read one file of at most `max_bytes` bytes, in YAML or in JSON, which is YAML.

    Raises:
        BankProblems: The file cannot be read, is not YAML, or uses a refused feature. CE101.
    """
    shown = str(path)
    try:
        with open_file(path) as file:
            raw = file.read(max_bytes + 1)
    except OSError as error:
        raise _problem(FilePlace(shown), f"cannot be read: {error.strerror}") from error
    if len(raw) > max_bytes:
        raise _problem(FilePlace(shown), f"is too large: it may have at most {max_bytes:,} bytes")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        place = _place_of_byte(raw, error.start, shown)
        raise _problem(place, "is not UTF-8 text", "save it as UTF-8") from error
    return parse_yaml(text, shown)


def parse_yaml(text: str, path: str) -> YamlDocument:
    """Parse YAML text. `path` is its name in messages. Raises as `read_yaml` does."""
    try:
        return YamlDocument(path, text, _Parser(text, path).content())
    except yaml.MarkedYAMLError as error:
        place = _place(error.problem_mark or error.context_mark, path)
        hint = "quote text that has ': ' or '#' in it; indent with spaces, not tabs"
        raise _problem(place, f"is not valid YAML: {error.problem}", hint) from error
    except yaml.reader.ReaderError as error:
        place = _place_of_byte(text.encode(), error.position, path)
        raise _problem(place, "has a control character", "delete it") from error


_NOTHING = frozenset({"", "~", "null"})
"""YAML's ways to write nothing, if they are not quoted."""


class _Parser:
    """A parser that makes plain content straight from YAML events, without PyYAML's tree of nodes.

    Making the tree takes three times as long, and deeply nested files overflow the stack of
    PyYAML's C code.
    """

    def __init__(self, text: str, path: str) -> None:
        self._next: Callable[[], Any] = yaml.CBaseLoader(text).get_event
        self._path = path

    def content(self) -> Plain:
        """Return the content of the text's only document; `None` for an empty text."""
        self._next()  # the stream begins
        if isinstance(self._next(), yaml.StreamEndEvent):
            return None
        content = self._value(self._next(), 0)
        self._next()  # the document ends
        if not isinstance(after := self._next(), yaml.StreamEndEvent):
            hint = "keep one: a line '---' begins another"
            raise self._refused(after, "holds a second YAML document", hint)
        return content

    def _value(self, event: Any, depth: int) -> Plain:
        kind = type(event)
        if kind is yaml.AliasEvent:
            message = f"alias *{event.anchor} repeats a value"
            raise self._refused(event, message, "write the value out")
        if event.anchor or event.tag:
            unwanted = f"anchor &{event.anchor}" if event.anchor else f"tag {event.tag}"
            raise self._refused(event, f"has the {unwanted}", "leave it out, or quote the text")
        if kind is yaml.ScalarEvent:
            value: str = event.value
            return None if value in _NOTHING and not event.style else value
        if depth == MAX_DEPTH:
            raise self._refused(event, f"is nested more than {MAX_DEPTH} deep")
        if kind is yaml.MappingStartEvent:
            return self._mapping(depth + 1)
        items = []
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            items.append(self._value(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, Plain]:
        """Return the mapping whose start event was just read."""
        mapping: dict[str, Plain] = {}
        lines: dict[str, int] = {}
        while type(event := self._next()) is not yaml.MappingEndEvent:
            key = self._key(event, depth)
            if key in lines:
                message = f"key {key!r} appears twice; first on line {lines[key]}"
                raise self._refused(event, message, "keep one of the two")
            lines[key] = event.start_mark.line + 1
            mapping[key] = self._value(self._next(), depth)
        return mapping

    def _key(self, event: Any, depth: int) -> str:
        self._value(event, depth)  # refuses an alias, an anchor or a tag
        if type(event) is not yaml.ScalarEvent:
            raise self._refused(event, "has a list or mapping as a key", "use a plain name")
        key: str = event.value
        return key

    def _refused(self, event: Any, message: str, hint: str = "") -> BankProblems:
        return _problem(_place(event.start_mark, self._path), message, hint)


class _Mark(Protocol):
    """A position given by PyYAML's parser, in C or in Python; line and column count from 0."""

    line: int
    column: int


def _place(mark: _Mark | None, path: str) -> FilePlace:
    return FilePlace(path, mark.line + 1, mark.column + 1) if mark else FilePlace(path)


def _place_of_byte(raw: bytes, offset: int, path: str) -> FilePlace:
    before = raw[:offset].decode(errors="replace")
    return FilePlace(path, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _problem(place: FilePlace, message: str, hint: str = "") -> BankProblems:
    return BankProblems([Problem(place, "CE101", message, hint)])


def yaml_text(content: object) -> str:
    """Return plain values as YAML text, with keys in the order given."""
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    return text
