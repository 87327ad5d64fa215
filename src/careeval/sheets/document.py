"""What a command prints: sentences, tables and notes, and the same numbers as one table of data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from careeval.sheets.sheet import Sheet, View


@dataclass(frozen=True, eq=False)
class Document:
    """What a command prints, for any renderer.

    Attributes:
        blocks: Sentences and tables, in order; a sentence that begins with two blanks, or four,
            is of the one above it.
        notes: What must be read with them.
        data: Its numbers as one table, for files of data.
        caption: What must stand by its numbers where none of its notes does.
    """

    blocks: tuple[str | View, ...]
    notes: tuple[str, ...]
    data: Sheet
    caption: str = ""

    @property
    def views(self) -> Iterator[View]:
        """Its tables."""
        return (block for block in self.blocks if isinstance(block, View))
