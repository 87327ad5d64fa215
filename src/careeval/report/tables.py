"""Tables of the study's page, until they are sheets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes:
        says: What it says.
        asides: What is said of it in smaller letters, a line each.
        key: What its column is sorted by, a number; `None` for the text itself. A cell that is
            unknown comes last.
        look: Classes that say how it looks, next to what it says.
    """

    says: str
    asides: tuple[str, ...] = ()
    key: float | None = None
    look: str = ""


@dataclass(frozen=True)
class Head:
    """A column's head; numbers stand flush right."""

    says: str
    number: bool = False


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """What a table says, without how it looks.

    Attributes:
        look: Classes of the whole.
        note: What its marks mean.
    """

    caption: str
    heads: tuple[Head, ...]
    rows: Sequence[Row]
    note: str = ""
    look: str = ""


def text(says: str, *asides: str, look: str = "") -> Cell:
    """Return a cell of words."""
    return Cell(says, tuple(aside for aside in asides if aside), look=look)
