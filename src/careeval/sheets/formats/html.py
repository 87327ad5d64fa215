"""Documents as plain HTML tables, for a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from careeval.sheets.document import Document
from careeval.sheets.sheet import View


def html(document: Document) -> str:
    """Return a document as HTML without styles or scripts; a notebook applies its own styles."""
    blocks = (_table(b) if isinstance(b, View) else _paragraph(b) for b in document.blocks)
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


def _table(view: View) -> str:
    return table_html(view.heads, (view.cells(row) for row in view.sheet.rows), view.title)
