"""A page as a browser without scripts would find it."""

from __future__ import annotations

from html.parser import HTMLParser


class Outline(HTMLParser):
    """A page's tags with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(page)

    @property
    def text(self) -> str:
        """All text, with single spaces."""
        return " ".join(" ".join(self.pieces).split())

    @property
    def ids(self) -> list[str]:
        """All ids."""
        return self.attributes("id")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keep the text that is for readers."""
        if self.lasttag not in ("style", "script", "title"):
            self.pieces.append(data)

    def attributes(self, *names: str) -> list[str]:
        """Values of attributes, wherever they stand."""
        return [attrs[name] or "" for _, attrs in self.tags for name in names if name in attrs]


def text_of(page: str) -> str:
    """Return the visible words of a page, with single spaces."""
    return Outline(page).text


def section(page: str, name: str) -> str:
    """Return the visible words of the section of a page that has this id."""
    return text_of(page.partition(f'<section id="{name}"')[2].partition('<section id="')[0])
