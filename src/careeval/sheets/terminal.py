"""Documents and tables on a terminal or in a pipe; columns that do not fit are left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from careeval.core.text import plain

if TYPE_CHECKING:
    # importing these is slow, and a command's help does not need them
    from careeval.sheets.sheet import Document, View

MORE = "A wider terminal, or --format md,"
"""The ways to see the columns that are left out."""

PIPE_WIDTH = 160
"""Width in characters without a terminal and without the variable COLUMNS."""

NAME_WIDTH = 16
"""Smallest width in characters of a column of names; longer names fold."""


def console() -> Console:
    """Return the console for stdout, as wide as the terminal, COLUMNS, or `PIPE_WIDTH`."""
    console = Console(highlight=False)
    has_width = console.is_terminal or os.environ.get("COLUMNS", "").lstrip("0").isdecimal()
    return console if has_width else Console(highlight=False, width=PIPE_WIDTH)


def new_table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    """Return an empty table with these columns.

    Args:
        title: Text above the table.
        left: Heads of text columns, which are aligned left and may wrap.
        right: Heads of number columns, which are aligned right and do not wrap.
    """
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    for head in left:
        table.add_column(head, overflow="fold")
    for head in right:
        table.add_column(head, justify="right")
    return table


def print_document(document: Document) -> None:
    """Print a document: sentences and tables, then the notes in a dim style."""
    out = console()
    for block in document.blocks:
        if isinstance(block, str):
            out.print(Text(plain(block)))
        else:
            print_view(out, block)
    for note in document.notes:
        out.print(Text(plain(f"  {note}"), style="dim"))


def print_view(out: Console, view: View) -> None:
    """Print a view; a name that successive rows share is printed only in the first of them."""
    table = Table(
        title=escape(plain(view.title)) if view.title else None,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    for head, number in zip(view.heads, view.are_numbers, strict=True):
        if number:
            table.add_column(escape(head), justify="right")
        else:
            table.add_column(escape(head), overflow="fold")
    for block in view.blocks():
        for place, (row, cells) in enumerate(block):
            names = ("",) * view.groups if place else cells[: view.groups]
            # Text, so that a name is not read as markup
            table.add_row(
                *(Text(plain(cell)) for cell in (*names, *cells[view.groups :])),
                style="dim" if view.is_faint(row) else None,
                end_section=bool(view.groups) and place == len(block) - 1,
            )
    first = [head for head, shown in zip(view.heads, view.columns, strict=True) if shown.keep]
    print_table(out, table, first, MORE)


def print_table(
    out: Console, table: Table, first: Sequence[str] = (), more: str = "A wider terminal"
) -> None:
    """Print a table with the columns that fit, and name the others below it.

    Args:
        out: The console.
        table: From `new_table`, with its rows.
        first: Heads of number columns, the most important first; the other number columns follow,
            from left to right. The last in this order are left out first, text columns never.
        more: The options that show the columns left out, as text.
    """
    shown, left_out = fit_columns(out, table, first)
    out.print(shown)
    if left_out:
        note = f"  Not shown in {out.width} columns: {', '.join(left_out)}. {more} shows them."
        out.print(Text(plain(note), style="dim"))


def fit_columns(out: Console, table: Table, first: Sequence[str] = ()) -> tuple[Table, list[str]]:
    """Return the table with the columns that fit, and the heads of the others."""
    whole = [_widest(out, [column.header, *column.cells]) for column in table.columns]
    if sum(whole) + _between(out, len(whole)) <= out.width:
        return table, []
    min_widths = [
        # a head may wrap, a number may not
        max(_widest(out, column.cells), _longest_word(out, column.header))
        if _is_number(column)
        else min(width, NAME_WIDTH)
        for column, width in zip(table.columns, whole, strict=True)
    ]
    heads = [str(column.header) for column in table.columns]
    kept = {i for i, column in enumerate(table.columns) if not _is_number(column)}
    ranks = {head: rank for rank, head in enumerate(first)}
    numbers = [i for i in range(len(heads)) if i not in kept]
    for i in sorted(numbers, key=lambda i: ranks.get(heads[i], len(ranks))):
        if sum(min_widths[k] for k in (*kept, i)) + _between(out, len(kept) + 1) > out.width:
            break
        kept.add(i)
    # the remaining width goes to names that would fold, then to heads that would wrap
    left = out.width - sum(min_widths[i] for i in kept) - _between(out, len(kept))
    widths = list(min_widths)
    for i in sorted(kept, key=lambda i: (i in numbers, i)):
        more = max(0, min(left, whole[i] - min_widths[i]))
        widths[i] += more
        left -= more
    shown = Table(
        title=table.title,
        title_justify=table.title_justify,
        title_style=table.title_style,
        box=table.box,
        pad_edge=table.pad_edge,
    )
    columns = [(i, column) for i, column in enumerate(table.columns) if i in kept]
    for i, column in columns:
        # without a number column, the names may be too wide for the terminal: let rich fold them
        width = widths[i] if kept & set(numbers) else None
        shown.add_column(
            column.header, justify=column.justify, overflow=column.overflow, width=width
        )
    cells = zip(*(column.cells for _, column in columns), strict=True)
    for row, values in zip(table.rows, cells, strict=True):
        shown.add_row(*values, style=row.style, end_section=row.end_section)
    return shown, [head for i, head in enumerate(heads) if i not in kept]


def _is_number(column: Column) -> bool:
    return column.justify == "right"


def _widest(out: Console, cells: Iterable[RenderableType]) -> int:
    """Return the width in characters of the widest cell, without wrapping."""
    return max((_measured(out, cell).maximum for cell in cells), default=0)


def _longest_word(out: Console, head: RenderableType) -> int:
    return _measured(out, head).minimum


def _between(out: Console, n_columns: int) -> int:
    """Return the width in characters that a table of so many columns has besides its cells."""
    empty = new_table("", ["x"] * n_columns, ())
    return _measured(out, empty).maximum - n_columns


def _measured(out: Console, content: RenderableType) -> Measurement:
    return Measurement.get(out, out.options.update(max_width=10_000), content)
