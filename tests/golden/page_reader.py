"""HTML pages and SVG figures as lines: headings, cells, links and labels, without their looks."""

from __future__ import annotations

import base64
import gzip
import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

from golden.files import json_lines
from golden.words import digest, short, some

BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "button", "caption", "dd", "details"),
    *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"),
    *("h4", "h5", "h6", "header", "html", "label", "legend", "li", "main", "nav", "ol", "p", "pre"),
    *("section", "select", "summary", "table", "tbody", "thead", "title", "tr", "ul", "svg"),
}
"""Elements that begin and end a line."""

NAMED = {
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "caption",
    "summary",
    "button",
    "label",
    "legend",
    "title",
}
"""Elements whose name stands before their words."""

SPOKEN = ("aria-label", "alt", "placeholder", "aria-sort", "download")
"""Attributes that a reader hears or sees."""

VOID = {"br", "hr", "img", "input", "link", "meta", "path", "rect", "circle", "line", "wbr"}

LABELS_A_LINE = 10


@dataclass
class Page:
    """The content of a page.

    Attributes:
        lines: Its words, from top to bottom.
        ids: What a link can lead to in it.
        targets: Where its links lead, as they are written.
    """

    lines: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    targets: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    """Collect the lines of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self._line: list[str] = []
        self._rows: list[str] | None = None
        self._keys: list[str] = []
        self._labels: list[str] | None = None
        self._name = ""
        self._silent = 0
        self._data: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if "id" in attributes:
            self.page.ids.add(attributes["id"])
        if tag in ("style", "script"):
            is_data = "json" in attributes.get("type", "") or "data" in attributes.get("id", "")
            self._data = [] if tag == "script" and is_data else None
            self._silent += 1
            return
        if tag in BLOCKS:
            self.end_line()
        if tag in NAMED:
            self._name = tag
        if tag == "svg":
            self._labels = []
        if tag == "tbody":
            self._rows, self._keys = [], []
        self._keys += [attributes["data-key"]] if "data-key" in attributes else []
        spoken = [f"{{{name} {attributes[name]}}}" for name in SPOKEN if attributes.get(name)]
        if tag in ("td", "th"):
            self._line.append(" | ")
        if tag in ("small", "span", "br"):
            self._line.append(" ")
        if tag == "option":
            self._line.append(" / ")
        if tag == "a":
            self._line.append("[")
            self._href = attributes.get("href", "")
        if tag == "input":
            kind, name = attributes.get("type", ""), attributes.get("name", "")
            spoken.append(f"{{{kind} {name}{_checked(attributes)}}}")
        self._line += spoken

    def handle_endtag(self, tag: str) -> None:
        if tag in ("style", "script"):
            self._silent -= 1
            if self._data is not None:
                self.page.lines += _data_lines("".join(self._data))
            self._data = None
            return
        if tag == "a":
            self._line.append(f"]({self._href})")
            self.page.targets.append(self._href)
        if tag == "svg" and self._labels is not None:
            labels, self._labels = self._labels, None
            self.end_line()
            for start in range(0, len(labels), LABELS_A_LINE):
                self.page.lines.append(
                    f"figure: {' · '.join(labels[start : start + LABELS_A_LINE])}"
                )
        if tag in BLOCKS:
            self.end_line()
        if tag == "tbody" and self._rows is not None:
            rows, self._rows = self._rows, None
            self.page.lines += some(rows)
            if self._keys:
                self.page.lines.append(
                    f"sorted by {len(self._keys)} keys, #{digest(str(self._keys))}"
                )

    def handle_data(self, data: str) -> None:
        if self._data is not None:
            self._data.append(data)
        elif not self._silent and self._labels is not None:
            self._labels += [" ".join(data.split())] if data.strip() else []
        elif not self._silent:
            self._line.append(data)

    def end_line(self) -> None:
        """Add the words since the last block to the page."""
        words = " ".join("".join(self._line).split()).strip("| ") if self._line else ""
        self._line = []
        name, self._name = self._name, ""
        if not words:
            return
        line = short(f"{name}: {words}" if name else words, 240)
        (self.page.lines if self._rows is None else self._rows).append(line)


def _checked(attributes: Mapping[str, str]) -> str:
    return " checked" if "checked" in attributes else ""


def _data_lines(text: str) -> list[str]:
    """Return the data that a page's script reads."""
    text = text.strip()
    if not text:
        return []
    if re.fullmatch(r"[A-Za-z0-9+/=\s]+", text):
        text = gzip.decompress(base64.b64decode(text)).decode()
    return ["data:", *json_lines(json.loads(text), 40)]


def read_page(text: str) -> Page:
    """Read a page or a figure."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.end_line()
    return reader.page


def dead_links(pages: Mapping[str, Page], files: Iterable[str]) -> list[str]:
    """Return the links of pages that lead to no file and no place that is there.

    Args:
        pages: The pages, by their paths.
        files: Paths of all files beside them.
    """
    there = set(files)
    dead = []
    for path, page in pages.items():
        for target in dict.fromkeys(page.targets):
            name, _, anchor = target.partition("#")
            if "://" in name or name.startswith(("data:", "mailto:")):
                continue
            to = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name else path
            if to not in there or (anchor and to in pages and anchor not in pages[to].ids):
                dead.append(f"{path} → {target}")
    return dead
