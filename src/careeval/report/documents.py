"""Rendering of HTML documents from templates, and of figures as files.

A document fetches nothing: its content policy allows only the styles, scripts and images inside the
document. Text from outside is escaped by the template engine and loses its control characters.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from careeval.files import write_bytes, write_text
from careeval.report import charts
from careeval.report.texts import quoted_words, strip_controls
from careeval.results.findings import Findings
from careeval.sheets.kinds import COUNT, SIGNED
from careeval.sheets.markup import plain_markdown
from careeval.sheets.words import ANSWERS

STYLES = ("base.css", "reader.css")
"""Style sheets of a document; `reader.css` is for pages with the response reader."""
SCRIPTS = ("tables.js", "reader.js")


def render_document(
    template: str,
    values: Mapping[str, Any],
    *,
    styles: Iterable[str] = STYLES,
    scripts: Iterable[str] = SCRIPTS,
) -> str:
    """Return a document as HTML. The same arguments give the same text.

    Args:
        template: Name of a template that extends `base.html`.
        values: The variables of the template.
        styles: Names of style sheets in the templates folder, in order.
        scripts: Names of scripts in the templates folder; each becomes a `<script>` element.
    """
    style = Markup("\n".join(_text(name) for name in styles))
    script_texts = [Markup(_text(name)) for name in scripts]
    return (
        environment()
        .get_template(template)
        .render(
            style=style,
            scripts=script_texts,
            policy=content_policy([style], script_texts),
            **values,
        )
    )


def render_part(template: str, values: Mapping[str, Any]) -> Markup:
    """Return the HTML of a part of a document, from its template and the variables."""
    return Markup(environment().get_template(template).render(values))


def content_policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Return the policy that allows only these styles and scripts, by hash, and `data:` images."""

    def hashes(texts: Iterable[str]) -> str:
        digests = (hashlib.sha256(text.encode()).digest() for text in texts)
        sources = (f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
        return " ".join(sources) or "'none'"

    return (
        f"default-src 'none'; style-src {hashes(styles)}; script-src {hashes(scripts)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@dataclass(frozen=True)
class FigureMarkup:
    """The SVG of one figure in two widths; a page shows the width that fits the screen."""

    wide: Markup
    narrow: Markup


def draw_figure(
    name: str, title: str, draw: Callable[[int], charts.Figure], wide: int = charts.WIDE
) -> FigureMarkup:
    """Return a figure as SVG elements in two widths: for a wide screen and for a phone.

    Args:
        name: Prefix of the ids in the SVG; unique in the document.
        title: Title, for screen readers.
        draw: Draws the figure at a width in pixels.
        wide: The width for a wide screen.
    """

    def markup(size: str, width: int) -> Markup:
        figure = draw(width)
        return Markup(charts.inline_svg(figure, f"{name}-{size}", title, figure.description))

    return FigureMarkup(markup("wide", wide), markup("narrow", charts.NARROW))


def _text(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8").strip()


@cache
def environment() -> Environment:
    """Return the template environment, with the filters that templates use."""
    templates = Environment(
        loader=PackageLoader("careeval.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: strip_controls(value) if type(value) is str else value,
    )
    templates.filters |= {
        "number": COUNT.text,
        "quoted": quoted_words,
        "shortened": _shortened,
        "signed": SIGNED.text,
    }
    templates.globals["answers"] = ANSWERS
    return templates


MAX_QUOTE = 600
"""Characters of a quote that a page shows."""


def _shortened(text: str, max_length: int = MAX_QUOTE) -> str:
    return text if len(text) <= max_length else f"{text[:max_length]} …"


Format = Literal["svg", "png"]

_NOTE = "Each file contains its title and this text."


@dataclass(frozen=True)
class _File:
    """One figure and the file name, without suffix, that it is written under."""

    name: str
    title: str
    figure: charts.Figure


def write_figures(
    findings: Findings, folder: Path, formats: Sequence[Format] = ("svg", "png")
) -> list[Path]:
    """Write every figure to files, and `figures.md` with the description of each.

    Args:
        findings: The results to draw; no figure is written if there is no entry.
        folder: The folder to write to; created if missing.
        formats: File formats. An SVG has its title and description as first elements, a PNG in
            the chunks `Title` and `Description`.

    Returns:
        The paths written, `figures.md` last.

    Raises:
        OSError: A file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    index_lines = ["# Figures", "", _NOTE]
    for file in _files(findings):
        description = file.figure.description
        drawing = charts.standalone_svg(file.figure, file.name, file.title, description)
        paths: list[Path] = []
        for ending in formats:
            path = folder / f"{file.name}.{ending}"
            if ending == "svg":
                write_text(path, drawing + "\n")
            else:
                write_bytes(path, charts.png(drawing, file.title, description))
            paths.append(path)
        index_lines += [
            "",
            f"## {plain_markdown(file.title)}",
            "",
            ", ".join(f"`{p.name}`" for p in paths),
        ]
        index_lines += ["", plain_markdown(description)]
        written += paths
    index = folder / "figures.md"
    write_text(index, "\n".join(index_lines) + "\n")
    return [*written, index]


def _files(findings: Findings) -> Iterator[_File]:
    """Yield all figures."""
    entries = findings.entries
    if not entries:
        return
    yield _File("overview", "Errors and scores", charts.overview(entries))
    title = "Severe errors and scores, for a column of a paper"
    yield _File("column", title, charts.column(entries))
    yield _File("worst-at-k", "The worst of k responses", charts.worst_at_k(entries))
    title = "Scores of the scenarios, by system"
    yield _File("distributions", title, charts.distributions(entries))
    yield _File("cost", "Score and cost", charts.cost_scatter(entries))
    yield _File("worst", "Mean and worst response", charts.worst_scatter(entries))
