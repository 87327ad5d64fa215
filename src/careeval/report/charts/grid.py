"""Blocks of small panels: a row an entry, a column a part, all rows aligned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from careeval.report.charts.drawing import (
    LINE_HEIGHT,
    MARGIN,
    NARROW,
    NORMAL,
    SMALL,
    Axis,
    Figure,
    KeyEntry,
    Line,
    Mark,
    Words,
    down,
    grid_across,
    in_lines,
    key,
    mapped,
    moved,
    percent_axis,
    reach,
    text_width,
)

_GAP = 12
_MOST_FOR_NAMES = 0.22
"""Share of the width that names may take at the left."""
_TITLE, _LABELS, _BETWEEN = 20, 22, 18
"""Pixels of a block's titles above its rows, of its axes' labels below, and between blocks."""
_NUMBER = 44
"""Pixels of a percentage beside a bar."""
_TWO_LINES, _APART = 30, 13
"""Pixels of a row whose name takes two lines, and from one line to the other."""


@dataclass(frozen=True)
class Column:
    """One panel of a block.

    Attributes:
        title: What it is of.
        cells: The marks of each row; across in the unit, down in pixels from the row's middle.
        weight: Its share of the width, against the others'.
    """

    title: str
    cells: Sequence[Sequence[Mark]]
    weight: float = 1


@dataclass(frozen=True)
class Block:
    """Columns side by side over the same rows.

    Attributes:
        rows: Their names.
        columns: One at least.
        row_height: Pixels.
        most: The longest bar of marks that say their own number and need no axis; without it, an
            axis of percentages.
        ends: What that axis shows at least.
    """

    rows: Sequence[str]
    columns: Sequence[Column]
    row_height: int = 26
    most: float | None = None
    ends: tuple[float, float] = (0, 100)


def beside(
    rows: Sequence[str],
    columns: Sequence[Column],
    row_height: int,
    ends: tuple[float, float] = (0, 100),
) -> Block:
    """The columns over their rows; of a single row, each column becomes a row of one panel."""
    if len(rows) != 1:
        return Block(rows, columns, row_height, ends=ends)
    titles = [column.title for column in columns]
    turned = Column("", [column.cells[0] for column in columns])
    return Block(titles, [turned], row_height, ends=ends)


def stacked(
    entries: Sequence[KeyEntry], blocks: Sequence[Block], width: int, description: str
) -> Figure:
    """Blocks one under the other, below a key; one too wide goes on under itself.

    The rows' names stand at the left of each block, and above each row where the width is a
    phone's. All panels of percentages have the same ends.
    """
    inner = width - 2 * MARGIN
    above = width <= NARROW
    widest = max((text_width(row, NORMAL) for block in blocks for row in block.rows), default=0)
    room = 0 if above else min(widest, _MOST_FOR_NAMES * inner)
    numbers = [
        number
        for block in blocks
        if block.most is None
        for column in block.columns
        for cell in column.cells
        for number in reach(cell)
    ]
    marks, y = key(entries, inner)
    for block in (part for whole in blocks for part in _lines(whole, inner, room)):
        titled = any(column.title for column in block.columns)
        y += _BETWEEN + (_TITLE if titled else 0)
        drawn, height = _block(block, inner, room, numbers, above=above)
        marks += moved(drawn, 0, y)
        y += height + (_LABELS if block.most is None else 0)
    return Figure(width, y + 2 * MARGIN, tuple(moved(marks, MARGIN, MARGIN)), description)


def _lines(block: Block, width: float, room: float) -> list[Block]:
    """The block, or as few parts of it as there must be for its titles to fit."""
    left = room + _GAP if room else 0
    for n in range(1, len(block.columns) + 1):
        most = -(-len(block.columns) // n)
        parts = [
            replace(block, columns=block.columns[at : at + most])
            for at in range(0, len(block.columns), most)
        ]
        if all(_fits(part, width - left, SMALL) for part in parts):
            return parts
    return [replace(block, columns=[column]) for column in block.columns]


def _share(block: Block, width: float) -> float:
    """Pixels of a column of weight 1."""
    weights = sum(column.weight for column in block.columns)
    return (width - _GAP * (len(block.columns) - 1)) / weights


def _fits(block: Block, width: float, size: float) -> bool:
    share = _share(block, width)
    return all(
        text_width(column.title, size, bold=True) <= column.weight * share
        for column in block.columns
    )


def _block(
    block: Block, width: float, room: float, numbers: Sequence[float], *, above: bool
) -> tuple[list[Mark], float]:
    """The marks of a block from its first row down, and the height of its rows."""
    lift = LINE_HEIGHT if above else 0
    lines = [
        in_lines(row, width if above else room, NORMAL, 1 if above else 2) for row in block.rows
    ]
    tall = any(len(name) > 1 for name in lines)
    step = max(block.row_height, _TWO_LINES if tall else 0) + lift
    height = step * len(block.rows)
    left = 0 if above else room + _GAP
    marks: list[Mark] = []
    for n, name in enumerate(lines):
        middle = n * step + (LINE_HEIGHT / 2 + 2 if above else step / 2)
        for place, line in enumerate(name):
            y = middle + (place - (len(name) - 1) / 2) * _APART
            marks.append(Words(0, y, line))
        marks.append(Line(0, (n + 1) * step, width, (n + 1) * step, "line", 1))
    share = _share(block, width - left)
    size = NORMAL if _fits(block, width - left, NORMAL) else SMALL
    for column in block.columns:
        length = column.weight * share
        if block.most is None:
            axis = percent_axis(numbers, length, block.ends)
            drawn = grid_across(axis, left, length, 0, height, within=True)
            marks += _beside_names(drawn, step, lift) if above else drawn
        else:
            axis = Axis((0, max(block.most, 1)))
            length -= _NUMBER
        if column.title:
            marks.append(Words(left, -_TITLE / 2, column.title, size=size, bold=True))
        to = axis.along(left, length)
        for n, cell in enumerate(column.cells):
            middle = n * step + lift + (step - lift) / 2
            marks += [mapped(mark, to, down(middle)) for mark in cell]
        left += column.weight * share + _GAP
    return marks, height


def _beside_names(marks: Sequence[Mark], step: float, lift: float) -> Iterator[Mark]:
    """The lines across rows without their parts behind names, which stand above each row."""
    for mark in marks:
        if not isinstance(mark, Line):
            yield mark
            continue
        for n in range(round((mark.y2 - mark.y) / step)):
            yield replace(mark, y=n * step + lift, y2=(n + 1) * step)
