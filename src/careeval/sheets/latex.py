"""LaTeX tables of documents, for a paper; they need only the package `booktabs`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from careeval.sheets.kinds import Kind
from careeval.sheets.sheet import Document, Row, View

MAX_ROWS = 36
"""Rows that fit on a page."""

Block = Sequence[tuple[Row, tuple[str, ...]]]
"""Rows that stay together, each with its cells."""


def latex(document: Document) -> str:
    r"""Return a document's tables as LaTeX, for `\input` in an article.

    The caption of a table is its title. One note, below the first table, has the notes of all
    tables and the caption of the document; the captions of the other tables refer to it. Labels
    depend on what the document is about but not on its numbers, so that several documents fit in
    one article, and a reference survives a further run.

    A table with too many rows for a page is split between groups of rows. If a view marks columns
    to keep, only those and the text columns are printed. Without data, the result is only a LaTeX
    comment.
    """
    if not document.data.rows:
        return "% nothing was graded\n"
    tables = [table for view in document.views for table in _tables(view.narrowed, document)]
    notes = (*(view.sheet.note for view in document.views), document.caption)
    note = " ".join(dict.fromkeys(filter(None, notes)))
    return "\n".join([r"% needs \usepackage{booktabs}", *_texts(tables, note)])


@dataclass(frozen=True)
class _Table:
    """A view, or the part of it that fits on a page."""

    view: View
    blocks: Sequence[Block]
    caption: str  # Text above the table
    subject: str  # Text that tells it from other tables, without its numbers


def _tables(view: View, document: Document) -> Iterator[_Table]:
    """Yield a view as one table, or as several if it has too many rows for a page."""
    pages: list[list[Block]] = [[]]
    for block in view.blocks():
        if pages[-1] and sum(map(len, (*pages[-1], block))) > MAX_ROWS:
            pages.append([])
        pages[-1].append(block)
    names = [place for place, kind in enumerate(view.kinds) if not kind.is_number][:1]
    for number, page in enumerate(pages, start=1):
        part = f" ({number} of {len(pages)})" if len(pages) > 1 else ""
        rows = (cells[place] for block in page for _, cells in block for place in names)
        subject = "\n".join([document.caption, view.title, *view.heads, *rows])
        yield _Table(view, page, f"{view.title}{part}", subject)


LABEL_DIGITS = 6
"""Hexadecimal digits of the document's hash in its labels."""


def _texts(tables: Sequence[_Table], note: str) -> Iterator[str]:
    """Yield the LaTeX of each table of a document, the first with the note."""
    subject = "\n".join(table.subject for table in tables)
    digest = hashlib.sha256(subject.encode()).hexdigest()[:LABEL_DIGITS]
    names = [table.view.sheet.name.replace("_", "-") for table in tables]
    labels = [
        f"tab:careeval-{digest}-{name}-{names[:place].count(name) + 1}"
        if names.count(name) > 1
        else f"tab:careeval-{digest}-{name}"
        for place, name in enumerate(names)
    ]
    for place, (label, table) in enumerate(zip(labels, tables, strict=True)):
        caption = escaped(table.caption)
        if note and place:
            caption += rf"; note below Table~\ref{{{labels[0]}}}"
        yield _text(table, caption, label, "" if place else note)


def _text(table: _Table, caption: str, label: str, note: str) -> str:
    """Return the LaTeX of one table."""
    view, blocks = table.view, table.blocks
    columns = "".join(map(_column, view.kinds))
    lines = [
        r"\begin{table}",
        r"\centering",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{4pt}",
        rf"\caption{{{caption}}}",
        rf"\label{{{label}}}",
        r"\par\smallskip",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line(view.heads),
        r"\midrule",
        *_lines(view, blocks),
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\par\smallskip\parbox{{\linewidth}}{{Note: {escaped(note)}}}"] if note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _column(kind: Kind) -> str:
    if kind.is_long:
        return r"p{.35\linewidth}"
    return "r" if kind.is_number else "l"


def _lines(view: View, blocks: Sequence[Block]) -> Iterator[str]:
    for place, block in enumerate(blocks):
        if place and len(block) > 1:
            yield r"\addlinespace"
        for number, (_, cells) in enumerate(block):
            names = ("",) * view.groups if number else cells[: view.groups]
            yield _line((*names, *cells[view.groups :]))


def _line(cells: Iterable[str]) -> str:
    line = " & ".join(map(escaped, cells)) + r" \\"
    # after the `\\` of the row before, LaTeX would take [ or * for an argument
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "`": r"\textasciigrave{}",
    "−": "$-$",
    "–": r"\textendash{}",
    "×": r"$\times$",
    "≥": r"$\ge$",
    "·": r"$\cdot$",
    "÷": r"$\div$",
}


_NOT_DRAWN = "ÐÞðþ"
"""Latin letters that LaTeX's default encoding, OT1, does not have."""


def escaped(text: str) -> str:
    """Escape a text so that LaTeX prints it literally, on one line, also by way of BibTeX.

    BibTeX counts braces, escaped ones too: those written here are in pairs.

    Names come from people and providers and may contain any character.

    A character that the default font lacks would stop LaTeX, and is printed as its code point.
    """
    printable = "".join(c for c in re.sub(r"\s+", " ", text) if c.isprintable())
    # LaTeX would join two of these into a dash or a closing quote
    return re.sub(r"([-'])(?=\1)", r"\1{}", "".join(map(_character, printable)))


def _character(c: str) -> str:
    if c in _SPECIAL:
        return _SPECIAL[c]
    drawn = c.isascii() or ("À" <= c <= "ÿ" and c not in _NOT_DRAWN)
    return c if drawn else rf"\texttt{{U+{ord(c):04X}}}"
