"""Tables on a terminal, and in a pipe."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 160
"""Columns where there is no terminal to ask."""


def console() -> Console:
    """Where data is printed: stdout, as wide as its terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=PIPE_WIDTH)


def new_table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    """An empty table with these columns, the first aligned left, the others right."""
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    for head in left:
        table.add_column(head, overflow="fold")
    for head in right:
        table.add_column(head, justify="right")
    return table
