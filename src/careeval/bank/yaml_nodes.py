"""YAML as plain text with places: what a bank file says, and where it says each thing.

Every scalar is read as the text that stands in the file, and the schema decides its type. So `no`,
`010` and `12:30` stay what their author typed wherever words are expected, and a number is a number
only where one belongs. Anchors, aliases and tags are refused: a bank file has no use for them, and a
hostile one does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import yaml

from careeval.bank.problems import BankProblems, Place, Problem

MAX_BYTES = 1_000_000
"""A scenario has a few kilobytes; a file of this size is not one."""

MAX_DEPTH = 20
"""Nesting of a scenario is at most five."""

Loc = tuple[str | int, ...]
"""The way from the top of a document to a value: keys and list indices."""

Plain = str | None | list["Plain"] | dict[str, "Plain"]
"""A document's content: text, nothing, lists, mappings."""


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file's content and the place of each of its values and keys."""

    path: str
    content: Plain
    values: dict[Loc, Place] = field(repr=False)
    keys: dict[Loc, Place] = field(repr=False)

    def place(self, loc: Loc, *, key: bool = False) -> Place:
        """The place of a value (or of its key), or of the nearest value around it that exists."""
        where = self.keys if key else self.values
        while loc and loc not in where:
            where, loc = self.values, loc[:-1]
        return where.get(loc, Place(self.path))


def read_yaml(path: Path, shown_as: str | None = None) -> Document:
    """Read one YAML file.

    Args:
        path: The file.
        shown_as: The path to print in messages; the file's own where not given.

    Raises:
        BankProblems: It cannot be read, is no YAML, or uses what a bank file may not. CE101.
    """
    shown = shown_as or str(path)
    try:
        raw = path.read_bytes()
        if len(raw) > MAX_BYTES:
            raise _problem(Place(shown), f"is {len(raw):,} bytes; a bank file has at most {MAX_BYTES:,}")
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise _problem(Place(shown), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise _problem(Place(shown, line), "is not UTF-8 text", "save it as UTF-8") from error
    return parse_yaml(text, shown)


def parse_yaml(text: str, path: str) -> Document:
    """Parse YAML text; `path` is what messages call it. Raises as `read_yaml` does."""
    try:
        node = yaml.compose(text, Loader=yaml.CBaseLoader)
    except (yaml.MarkedYAMLError, yaml.reader.ReaderError) as error:
        raise _syntax_problem(error, path) from error
    except RecursionError as error:
        raise _problem(Place(path), "is nested too deeply to be a bank file") from error
    document = Document(path, None, {}, {})
    if node is None:
        return document
    return Document(path, _Walk(document).content(node, ()), document.values, document.keys)


class _Walk:
    """Turns nodes into content, noting places, and refusing what a bank file may not use."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.seen: set[int] = set()

    def content(self, node: yaml.Node, loc: Loc) -> Plain:
        here = self.document.values[loc] = _place(node, self.document.path)
        if id(node) in self.seen:
            raise _problem(here, "repeats another value by an alias (*name)", "write the value out")
        self.seen.add(id(node))
        if len(loc) > MAX_DEPTH:
            raise _problem(here, f"is nested more than {MAX_DEPTH} deep")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, loc)
        if isinstance(node, yaml.SequenceNode):
            return [self.content(item, (*loc, i)) for i, item in enumerate(node.value)]
        text = str(node.value)
        return None if node.style is None and text in {"", "~", "null"} else text

    def _mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, Plain]:
        found: dict[str, Plain] = {}
        for key_node, value_node in node.value:
            place = _place(key_node, self.document.path)
            if not isinstance(key_node, yaml.ScalarNode):
                raise _problem(place, "has a list or mapping as a key", "use a plain name")
            key = str(key_node.value)
            if key in found:
                first = self.document.keys[(*loc, key)]
                raise _problem(place, f"key {key!r} stands twice; first on line {first.line}", "keep one")
            self.document.keys[(*loc, key)] = place
            found[key] = self.content(value_node, (*loc, key))
        return found


def _place(node: yaml.Node, path: str) -> Place:
    return Place(path, node.start_mark.line + 1, node.start_mark.column + 1)


def _syntax_problem(error: yaml.YAMLError, path: str) -> BankProblems:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    place = Place(path, mark.line + 1, mark.column + 1) if mark else Place(path)
    problem = getattr(error, "problem", None) or str(error)
    hint = "quote text that has ': ' or '#' in it; indent with spaces" if mark else ""
    return _problem(place, f"is not valid YAML: {problem}", hint)


def _problem(place: Place, message: str, hint: str = "") -> BankProblems:
    return BankProblems([Problem(place, "CE101", message, hint)])
