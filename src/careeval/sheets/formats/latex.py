"""LaTeX tables of documents, for a paper; they need only the package `booktabs`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from careeval.sheets.document import Document
from careeval.sheets.kinds import Kind
from careeval.sheets.sheet import Row, View

MOST_ROWS = 36
"""Rows that fit on a page."""

Block = Sequence[tuple[Row, tuple[str, ...]]]
"""Rows that stay together, each with its cells."""


def latex(document: Document) -> str:
    r"""Return a document's tables as LaTeX, for `\input` in an article.

    Each table caption includes the note of the table and the caption of the document. A table with
    too many rows for a page is split between groups of rows. If a view marks columns to keep, only
    those and the text columns are printed. Without data, the result is only a LaTeX comment.
    """
    if not document.data.rows:
        return "% nothing was graded\n"
    tables = [table for view in document.views for table in _tables(view, document.caption)]
    return "\n".join([r"% needs \usepackage{booktabs}", *tables])


def _tables(view: View, document_caption: str) -> Iterator[str]:
    """Yield a view as one table, or as several if it has too many rows for a page."""
    view = view.narrowed
    pages: list[list[Block]] = [[]]
    for block in view.blocks():
        if pages[-1] and sum(map(len, (*pages[-1], block))) > MOST_ROWS:
            pages.append([])
        pages[-1].append(block)
    caption = ". ".join(filter(None, (view.title, view.sheet.note.rstrip("."), document_caption)))
    label = view.sheet.name.replace("_", "-")
    for number, page in enumerate(pages, start=1):
        part = f" ({number} of {len(pages)})" if len(pages) > 1 else ""
        yield _table(f"{label}-{number}" if part else label, f"{caption}{part}", view, page)


def _table(label: str, caption: str, view: View, blocks: Sequence[Block]) -> str:
    columns = "".join(map(_column, view.kinds))
    lines = [
        r"\begin{table}",
        r"\centering",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{4pt}",
        rf"\caption{{{escaped(caption)}}}",
        rf"\label{{tab:careeval-{label}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _line(view.heads),
        r"\midrule",
        *_lines(view, blocks),
        r"\bottomrule",
        r"\end{tabular}",
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
    "{": r"\{",
    "}": r"\}",
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
    """Escape a text so that LaTeX prints it literally, on one line.

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
