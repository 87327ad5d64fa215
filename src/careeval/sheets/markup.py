"""Documents as Markdown, for a page or an issue, and as plain HTML, for a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from itertools import groupby

from careeval.sheets.kinds import Form
from careeval.sheets.sheet import Document, View


def markdown(document: Document) -> str:
    """Return a document as Markdown, bounds included, for which a terminal has no room."""
    parts = []
    for block_type, blocks in groupby(document.blocks, _block_type):
        texts = [_markdown_table(b) if isinstance(b, View) else _sentence(b) for b in blocks]
        parts.append(("\n\n" if block_type == "table" else "\n").join(texts))
    parts.append("\n".join(f"- {plain_markdown(note)}" for note in document.notes))
    return "\n\n".join(parts) + "\n"


def _block_type(block: str | View) -> str:
    if isinstance(block, View):
        return "table"
    return "item" if block.startswith("  ") else "sentence"


def _sentence(block: str) -> str:
    """Return a sentence as Markdown; an indented one becomes a list item."""
    indent = block[: len(block) - len(block.lstrip(" "))]
    return f"{indent[2:]}{'- ' if indent else ''}{plain_markdown(block)}"


def _markdown_table(view: View) -> str:
    whole = tuple(
        replace(shown, form=Form.whole) if shown.form is Form.short else shown
        for shown in view.columns
    )
    view = replace(view, columns=whole)
    rows = (view.cells(row) for row in view.sheet.rows)
    lines = [*_lines([view.heads]), *_lines([["---"] * len(view.heads)]), *_lines(rows)]
    caption = f"**{plain_markdown(view.title)}**\n\n" if view.title else ""
    return caption + "\n".join(lines)


def _lines(rows: Iterable[Iterable[str]]) -> list[str]:
    return [f"| {' | '.join(map(plain_markdown, row))} |" for row in rows]


def plain_markdown(text: str) -> str:
    """Escape a text so that Markdown, as GitHub shows it too, shows it literally, on one line.

    Names come from people and providers and may contain any character. Control characters are left
    out, since a terminal would obey them. An underscore within a word is no markup, and stays.
    """
    shown = "".join(c for c in " ".join(text.split()) if c.isprintable())
    return re.sub(_MARKUP, r"\\\g<0>", shown)


_MARKUP = r"[\\`*<>|~]|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)"
"""Characters that markup is made of, where they stand."""


def html(document: Document) -> str:
    """Return a document as HTML without styles or scripts; a notebook applies its own styles."""
    blocks = (_html_table(b) if isinstance(b, View) else _paragraph(b) for b in document.blocks)
    notes = "".join(f"<li>{escape(note)}</li>" for note in document.notes)
    return "".join(blocks) + (f"<ul>{notes}</ul>" if notes else "")


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table as HTML; the first cell of each row is the header of the row."""
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _paragraph(sentence: str) -> str:
    return f"<p>{escape(sentence.strip())}</p>"


def _html_table(view: View) -> str:
    return table_html(view.heads, (view.cells(row) for row in view.sheet.rows), view.title)
