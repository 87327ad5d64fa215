"""YAML as plain text with places: what a bank file says, and where it says each thing.

Every scalar is read as the text that stands in the file, and the schema decides its type. So `no`,
`010` and `12:30` stay what their author typed wherever words are expected, and a number is a number
only where one belongs. Anchors, aliases and tags are refused: a bank file has no use for them, and
a hostile one does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import yaml

from careeval.bank.problems import BankProblems, Place, Problem

MAX_BYTES = 1_000_000
"""A scenario has a few kilobytes; a file of this size is not one."""

MAX_DEPTH = 20
"""Lists and mappings inside each other; a scenario has at most five."""

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


def read_yaml(path: Path) -> Document:
    """Read one YAML file.

    Raises:
        BankProblems: It cannot be read, is no YAML, or uses what a bank file may not. CE101.
    """
    shown = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _problem(Place(shown), f"cannot be read: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise _problem(Place(shown), f"is too long: a bank file has at most {MAX_BYTES:,} bytes")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        place = _place_of_byte(raw, error.start, shown)
        raise _problem(place, "is not UTF-8 text", "save it as UTF-8") from error
    return parse_yaml(text, shown)


def parse_yaml(text: str, path: str) -> Document:
    """Parse YAML text; `path` is what messages call it. Raises as `read_yaml` does."""
    try:
        _refuse_unwanted(text, path)
        node = yaml.compose(text, Loader=yaml.CBaseLoader)
    except yaml.MarkedYAMLError as error:
        place = _place(error.problem_mark or error.context_mark, path)
        hint = "quote text that has ': ' or '#' in it; indent with spaces, not tabs"
        raise _problem(place, f"is not valid YAML: {error.problem}", hint) from error
    except yaml.reader.ReaderError as error:
        place = _place_of_byte(text.encode(), error.position, path)
        raise _problem(place, "has a control character", "delete it") from error
    document = Document(path, None, {}, {})
    if node is None:
        return document
    return Document(path, _content(node, (), document), document.values, document.keys)


def _refuse_unwanted(text: str, path: str) -> None:
    """Refuse anchors, aliases, tags and deep nesting.

    This looks at events, before nodes are made of them: nodes no longer show all of it, and a
    deeply nested file would overflow the stack of the composer, which is C, and end the process.
    """
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CBaseLoader):
        place = _place(event.start_mark, path)
        if isinstance(event, yaml.AliasEvent):
            raise _problem(place, f"alias *{event.anchor} repeats a value", "write the value out")
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            unwanted = f"anchor &{event.anchor}" if event.anchor else f"tag {event.tag}"
            if event.anchor or event.tag:
                raise _problem(place, f"has the {unwanted}", "leave it out, or quote the text")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _problem(place, f"is nested more than {MAX_DEPTH} deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _content(node: yaml.Node, loc: Loc, document: Document) -> Plain:
    """The plain content of a node, whose places are noted in `document` on the way."""
    document.values[loc] = _place(node.start_mark, document.path)
    match node:
        case yaml.MappingNode():
            return _mapping(node, loc, document)
        case yaml.SequenceNode():
            return [_content(item, (*loc, i), document) for i, item in enumerate(node.value)]
        # without a quote or a block mark, these are YAML's ways to write nothing
        case yaml.ScalarNode(style=None | "", value="" | "~" | "null"):
            return None
    return str(node.value)


def _mapping(node: yaml.MappingNode, loc: Loc, document: Document) -> dict[str, Plain]:
    found: dict[str, Plain] = {}
    for key_node, value_node in node.value:
        place = _place(key_node.start_mark, document.path)
        if not isinstance(key_node, yaml.ScalarNode):
            raise _problem(place, "has a list or mapping as a key", "use a plain name")
        key = str(key_node.value)
        if key in found:
            first = document.keys[(*loc, key)]
            raise _problem(
                place, f"key {key!r} stands twice; first on line {first.line}", "keep one"
            )
        document.keys[(*loc, key)] = place
        found[key] = _content(value_node, (*loc, key), document)
    return found


class _Mark(Protocol):
    """A position that counts from 0, of the C parser or of PyYAML's own."""

    line: int
    column: int


def _place(mark: _Mark | None, path: str) -> Place:
    return Place(path, mark.line + 1, mark.column + 1) if mark else Place(path)


def _place_of_byte(raw: bytes, offset: int, path: str) -> Place:
    """The place of a byte of a text that cannot be parsed."""
    before = raw[:offset].decode(errors="replace")
    return Place(path, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _problem(place: Place, message: str, hint: str = "") -> BankProblems:
    return BankProblems([Problem(place, "CE101", message, hint)])
