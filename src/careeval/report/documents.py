"""What every document of the report is made with: templates, styles, scripts, content policy.

Everything a document needs stands in it, and its policy lets nothing else in: no address is
fetched, and no script runs but those named here. What anybody wrote is escaped by the template
engine and loses its control characters.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from careeval.report import charts, words
from careeval.sheets.kinds import COUNT, SIGNED

STYLES = ("base.css", "reader.css")
"""What every document looks like; the reader's part may be left out where there is none."""
SCRIPTS = ("tables.js", "reader.js")


def document(
    template: str,
    values: Mapping[str, Any],
    *,
    styles: Iterable[str] = STYLES,
    scripts: Iterable[str] = SCRIPTS,
) -> str:
    """A document as HTML: the same for the same arguments.

    Args:
        template: Name of a template that extends `base.html`.
        values: What it is filled with.
        styles: Files among the templates, in order.
        scripts: The same; each is a script of its own.
    """
    style = Markup("\n".join(_text(name) for name in styles))
    running = [Markup(_text(name)) for name in scripts]
    return (
        environment()
        .get_template(template)
        .render(style=style, scripts=running, policy=content_policy([style], running), **values)
    )


def part(template: str, values: Mapping[str, Any]) -> Markup:
    """Return a part of a document.

    Args:
        template: Its name.
        values: What it is filled with.
    """
    return Markup(environment().get_template(template).render(values))


def content_policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """The policy that lets in these styles and scripts, by their hashes, and nothing else."""

    def hashes(texts: Iterable[str]) -> str:
        found = (hashlib.sha256(text.encode()).digest() for text in texts)
        return " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in found) or "'none'"

    return (
        f"default-src 'none'; style-src {hashes(styles)}; script-src {hashes(scripts)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@dataclass(frozen=True)
class Drawn:
    """One figure, drawn for two widths: a document shows the one that fits."""

    wide: Markup
    narrow: Markup


def figure(name: str, title: str, draw: Callable[[int], charts.Figure]) -> Drawn:
    """Return a figure of the whole width of a page, as SVG elements.

    Args:
        name: Prefix of the ids in it; unique in the document.
        title: What it is.
        draw: Draws it so many pixels wide.
    """
    return drawn(draw(charts.WIDE), draw(charts.NARROW), name, title)


def drawn(wide: charts.Figure, narrow: charts.Figure, name: str, title: str) -> Drawn:
    """A figure as SVG elements.

    Args:
        wide: Drawn for `charts.WIDE`.
        narrow: Drawn for `charts.NARROW`.
        name: Prefix of the ids in it; unique in the document.
        title: What it is.
    """
    return Drawn(
        *(
            Markup(charts.inline_svg(figure, f"{name}-{size}", title, charts.alternative(figure)))
            for figure, size in ((wide, "wide"), (narrow, "narrow"))
        )
    )


def _text(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8").strip()


@cache
def environment() -> Environment:
    """The templates, with the words that they use as filters."""
    made = Environment(
        loader=PackageLoader("careeval.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: words.visible(value) if type(value) is str else value,
    )
    made.filters |= {
        "number": COUNT.text,
        "shortened": _shortened,
        "signed": SIGNED.text,
    }
    return made


LONGEST_QUOTE = 600


def _shortened(text: str, most: int = LONGEST_QUOTE) -> str:
    return text if len(text) <= most else f"{text[:most]} …"
