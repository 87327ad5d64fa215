"""The printed output of a command: sentences, tables, notes, and one table of data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from careeval.sheets.sheet import Sheet, View


@dataclass(frozen=True, eq=False)
class Document:
    """The printed output of a command, for any renderer."""

    blocks: tuple[str | View, ...]
    """Sentences and tables, in order. An indented sentence belongs to the nearest one above that is
    indented less."""
    notes: tuple[str, ...]  # Printed below the blocks
    data: Sheet  # The same numbers as one table, for data files
    caption: str = ""  # Text beside the numbers, for formats that do not print the notes

    @property
    def views(self) -> Iterator[View]:
        """The tables among the blocks."""
        return (block for block in self.blocks if isinstance(block, View))
