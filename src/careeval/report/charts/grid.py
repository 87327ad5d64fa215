"""Blocks of small panels side by side: a row per entry, a panel per part of the scenarios."""

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
    LegendEntry,
    Mark,
    Segment,
    TextLine,
    fit_in_lines,
    grid_across,
    legend,
    map_coordinates,
    moved,
    percent_axis,
    shift_by,
    text_width,
    x_extent,
)

_GAP = 12
_MOST_FOR_NAMES = 0.22
"""Share of the width that names at the left may take."""
_TITLE, _LABELS, _BETWEEN = 20, 22, 18
"""Pixels for the titles above a block, for the axis labels below it, and between blocks."""
_NUMBER = 44
"""Pixels for the percentage beside a bar."""
_TWO_LINES, _APART = 30, 13
"""Pixels of a row whose name has two lines, and between those lines."""


@dataclass(frozen=True)
class Panel:
    """One panel of a block."""

    title: str  # Heading of the panel
    cells: Sequence[Sequence[Mark]]
    """The marks of each row: x in units of the axis, y in pixels from mid-row."""
    weight: float = 1  # Width relative to the other panels


@dataclass(frozen=True)
class Block:
    """Panels side by side over the same rows."""

    rows: Sequence[str]  # Names of the rows
    panels: Sequence[Panel]  # At least one
    row_height: int = 26  # Height of a row in pixels
    most: float | None = None
    """Value of the longest bar, if the block has bars with numbers beside them and no axis; `None`
    if the block has an axis of percentages."""
    ends: tuple[float, float] = (0, 100)  # The smallest range that the axis of percentages may have


def panels_beside(
    rows: Sequence[str],
    panels: Sequence[Panel],
    row_height: int,
    ends: tuple[float, float] = (0, 100),
) -> Block:
    """Return the panels as a block. Panels of one row become one panel, with a row for each."""
    if len(rows) != 1:
        return Block(rows, panels, row_height, ends=ends)
    titles = [panel.title for panel in panels]
    transposed = Panel("", [panel.cells[0] for panel in panels])
    return Block(titles, [transposed], row_height, ends=ends)


def stack_blocks(
    entries: Sequence[LegendEntry], blocks: Sequence[Block], width: int, description: str
) -> Figure:
    """Return a figure of blocks, one above the other, below a legend; too wide blocks are split.

    Row names are at the left of each block, or above each row at the width of a phone. All
    panels of percentages have the same axis.
    """
    inner = width - 2 * MARGIN
    above = width <= NARROW
    widest = max((text_width(row, NORMAL) for block in blocks for row in block.rows), default=0)
    room = 0 if above else min(widest, _MOST_FOR_NAMES * inner)
    numbers = [
        number
        for block in blocks
        if block.most is None
        for panel in block.panels
        for cell in panel.cells
        for number in x_extent(cell)
    ]
    marks, y = legend(entries, inner)
    for block in (part for whole in blocks for part in _split_block(whole, inner, room)):
        titled = any(panel.title for panel in block.panels)
        y += _BETWEEN + (_TITLE if titled else 0)
        drawn, height = _block(block, inner, room, numbers, above=above)
        marks += moved(drawn, 0, y)
        y += height + (_LABELS if block.most is None else 0)
    return Figure(width, y + 2 * MARGIN, tuple(moved(marks, MARGIN, MARGIN)), description)


def _split_block(block: Block, width: float, room: float) -> list[Block]:
    """Split a block into as few blocks as possible so that the panel titles fit."""
    left = room + _GAP if room else 0
    for n in range(1, len(block.panels) + 1):
        most = -(-len(block.panels) // n)
        parts = [
            replace(block, panels=block.panels[at : at + most])
            for at in range(0, len(block.panels), most)
        ]
        if all(_fits(part, width - left, SMALL) for part in parts):
            return parts
    return [replace(block, panels=[panel]) for panel in block.panels]


def _share(block: Block, width: float) -> float:
    """Return the width in pixels of a panel of weight 1."""
    weights = sum(panel.weight for panel in block.panels)
    return (width - _GAP * (len(block.panels) - 1)) / weights


def _fits(block: Block, width: float, size: float) -> bool:
    share = _share(block, width)
    return all(
        text_width(panel.title, size, bold=True) <= panel.weight * share for panel in block.panels
    )


def _block(
    block: Block, width: float, room: float, numbers: Sequence[float], *, above: bool
) -> tuple[list[Mark], float]:
    """Return the marks of a block, y = 0 at its first row, and the total height of its rows."""
    lift = LINE_HEIGHT if above else 0
    lines = [
        fit_in_lines(row, width if above else room, NORMAL, 1 if above else 2) for row in block.rows
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
            marks.append(TextLine(0, y, line))
        marks.append(Segment(0, (n + 1) * step, width, (n + 1) * step, "line", 1))
    share = _share(block, width - left)
    size = NORMAL if _fits(block, width - left, NORMAL) else SMALL
    for panel in block.panels:
        length = panel.weight * share
        if block.most is None:
            axis = percent_axis(numbers, length, block.ends)
            drawn = grid_across(axis, left, length, 0, height, within=True)
            marks += _beside_names(drawn, step, lift) if above else drawn
        else:
            axis = Axis((0, max(block.most, 1)))
            length -= _NUMBER
        if panel.title:
            marks.append(TextLine(left, -_TITLE / 2, panel.title, size=size, bold=True))
        to = axis.along(left, length)
        for n, cell in enumerate(panel.cells):
            middle = n * step + lift + (step - lift) / 2
            marks += [map_coordinates(mark, to, shift_by(middle)) for mark in cell]
        left += panel.weight * share + _GAP
    return marks, height


def _beside_names(marks: Sequence[Mark], step: float, lift: float) -> Iterator[Mark]:
    """Yield the marks; vertical lines are cut where the name above a row would cross them."""
    for mark in marks:
        if not isinstance(mark, Segment):
            yield mark
            continue
        for n in range(round((mark.y2 - mark.y) / step)):
            yield replace(mark, y=n * step + lift, y2=(n + 1) * step)
