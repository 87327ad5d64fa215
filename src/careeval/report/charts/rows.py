"""Figures with a row for each entry: errors and scores, also by activity, and their distributions.

A figure is a stack of blocks: small panels side by side, over the same rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from careeval.core.scenario import Adl
from careeval.core.text import percent
from careeval.report.charts.drawing import (
    HOLLOW,
    LINE_HEIGHT,
    MARGIN,
    NARROW,
    NORMAL,
    NOT_RANKED,
    SMALL,
    WIDE,
    Axis,
    Box,
    Figure,
    LegendEntry,
    Mark,
    Point,
    Segment,
    TextLine,
    as_percent,
    display_names,
    figure,
    fit_in_lines,
    grid_across,
    legend,
    map_coordinates,
    moved,
    n_epochs_text,
    percent_axis,
    plot_value,
    shift_by,
    text_width,
    x_extent,
)
from careeval.report.texts import in_full, score_name
from careeval.results.entry import Entry
from careeval.results.graded_rubric import Errors, GradedRubric
from careeval.results.metrics import MILD, SEVERE, Metric, errors_of
from careeval.sheets.kinds import ERROR_SHARE, ESTIMATE, Form
from careeval.stats.estimate import Estimate

_GAP = 12
_MAX_FOR_NAMES = 0.22
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
    longest_bar: float | None = None
    """Value of the longest bar, if the block has bars with numbers beside them and no axis; `None`
    if the block has an axis of percentages."""

    def transposed(self, title: str = "") -> Block:
        """Return the block; if it has a single row, one panel of this title with a row for each."""
        if len(self.rows) != 1:
            return self
        panel = Panel(title, [panel.cells[0] for panel in self.panels])
        return replace(self, rows=[panel.title for panel in self.panels], panels=[panel])


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
    room = 0 if above else min(widest, _MAX_FOR_NAMES * inner)
    numbers = [
        number
        for block in blocks
        if block.longest_bar is None
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
        y += height + (_LABELS if block.longest_bar is None else 0)
    return figure(marks, width, y, description)


def _split_block(block: Block, width: float, room: float) -> list[Block]:
    """Split a block into as few blocks as possible so that the panel titles fit."""
    left = room + _GAP if room else 0
    for n in range(1, len(block.panels) + 1):
        size = -(-len(block.panels) // n)
        parts = [
            replace(block, panels=block.panels[at : at + size])
            for at in range(0, len(block.panels), size)
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
        if block.longest_bar is None:
            axis = percent_axis(numbers, length)
            drawn = grid_across(axis, left, length, 0, height, within=True)
            marks += _beside_names(drawn, step, lift) if above else drawn
        else:
            axis = Axis((0, max(block.longest_bar, 1)))
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


COLUMN = 416
"""Width in pixels of `column`: at 8.5 cm, a pixel is 0.58 points, so 11 pixels are 6.4 points."""
_OVERALL = 1.8
"""Width of the overall panel relative to an activity's."""
_ROW, _ROW_OF_BARS = 30, 22
_COLOURS = {SEVERE: "harm", MILD: "mild"}
"""Shares of responses with an error, as bars → their colours."""


def overview(entries: Sequence[Entry]) -> Figure:
    """Return a figure of the shares of responses with an error, and of the scores.

    The scores are overall and by activity. Each entry has a row; if there is a single entry, each
    severity, the overall score and each activity have one. A mark is hollow if the entry may not be
    ranked, or if the activity has fewer than five scenarios and so no interval.
    """
    names = display_names(entries)
    bars = [Panel(metric.head, _bars(entries, metric)) for metric in _COLOURS]
    blocks = [
        Block(names, bars, _ROW_OF_BARS, _longest_bar(entries, *_COLOURS)).transposed(
            "Responses with an error"
        ),
        Block(names, [_whole(entries), *_by_activity(entries)], _ROW).transposed(),
    ]
    return stack_blocks(_meanings(entries), blocks, WIDE, _description(entries))


def column(entries: Sequence[Entry], width: int = COLUMN) -> Figure:
    """Return a figure for a column of a paper: severe errors and scores, a row for each entry.

    At 8.5 cm wide, `COLUMN` pixels, its smallest text has 6.4 points.
    """
    names = display_names(entries)
    bars = Panel("Responses with a severe error, %", _bars(entries, SEVERE))
    scores = [_cell("Overall", s.score, bool(s.not_ranked)) for s in entries]
    blocks = [
        Block(names, [bars], _ROW_OF_BARS, _longest_bar(entries, SEVERE)),
        Block(names, [Panel(f"{score_name(entries)}, %", scores)], _ROW_OF_BARS),
    ]
    legend = [LegendEntry("95% interval", (Segment(-10, 0, 10, 0),))]
    if any(s.not_ranked for s in entries):
        legend.append(NOT_RANKED)
    sentences = ["Responses with a severe error; beneath, the score."]
    sentences += [
        f"{name}: severe errors {in_full(s.severe.share)}; score {in_full(s.score)}."
        for name, s in zip(names, entries, strict=True)
    ]
    return stack_blocks(legend, blocks, width, " ".join(sentences))


def _whole(entries: Sequence[Entry]) -> Panel:
    cells = []
    for s in entries:
        marks = _cell("Overall", s.score, bool(s.not_ranked))
        # the worst of one response is that response
        if s.n_epochs > 1 and (at := plot_value(s.worst_at_n)) is not None:
            label = f"Overall, worst of {s.n_epochs}: {in_full(s.worst_at_n)}"
            hollow = bool(s.not_ranked)
            marks.append(Point(at.value, 0, "triangle-down", "harm", hollow, label=label))
        cells.append(marks)
    return Panel("Overall", cells, _OVERALL)


def _by_activity(entries: Sequence[Entry]) -> list[Panel]:
    activities = [adl for adl in Adl if any(adl in s.by_adl for s in entries)]
    return [Panel(adl.capitalize(), [_activity(s, adl) for s in entries]) for adl in activities]


def _activity(summary: Entry, adl: Adl) -> list[Mark]:
    cell = summary.by_adl.get(adl)
    if cell is None:
        return []
    return _cell(adl.capitalize(), cell.score, cell.small or bool(summary.not_ranked))


def _cell(part: str, score: Estimate, hollow: bool) -> list[Mark]:
    if (at := plot_value(score)) is None:
        return []
    return [
        Segment(at.low, 0, at.high, 0),
        Point(at.value, 0, hollow=hollow, label=f"{part}, score: {in_full(score)}"),
    ]


def _bars(entries: Sequence[Entry], metric: Metric[GradedRubric, Errors]) -> list[list[Mark]]:
    return [_bar(metric, errors_of(s.numbers, metric), bool(s.not_ranked)) for s in entries]


def _longest_bar(entries: Sequence[Entry], *metrics: Metric[GradedRubric, Errors]) -> float:
    shares = (plot_value(errors_of(s.numbers, metric).share) for s in entries for metric in metrics)
    return max((share.high for share in shares if share is not None), default=0.0)


def _bar(metric: Metric[GradedRubric, Errors], errors: Errors, hollow: bool) -> list[Mark]:
    if errors.share.value is None or (at := plot_value(errors.share)) is None:
        return [TextLine(0, 0, "unknown", "muted", size=SMALL)]
    length, low, high = at
    count = ERROR_SHARE.text(errors, Form.of_many)
    label = f"{metric.head}: {in_full(errors.share)}; {count} responses"
    number = f"\N{THIN SPACE}{percent(errors.share.value)}%"
    marks: list[Mark] = [Box(0, -5, length, 5, _COLOURS[metric], hollow, label)]
    if errors.share.ci95 is not None:
        marks.append(Segment(low, 0, high, 0, "ink", 1.2))
    return [*marks, TextLine(high, 0, number, size=SMALL)]


def _meanings(entries: Sequence[Entry]) -> list[LegendEntry]:
    meaning = f"{score_name(entries).lower()}, % of the points, with 95% interval"
    legend = [
        LegendEntry(
            "% of responses with an error, with 95% interval",
            (Box(-10, -5, 4, 5, "harm"), Segment(-2, 0, 10, 0, "ink", 1.2)),
        ),
        LegendEntry(meaning, (Segment(-10, 0, 10, 0), Point(0, 0))),
    ]
    if (n := n_epochs_text(entries)) != "1":
        legend.append(LegendEntry(f"worst of {n}", (Point(0, 0, "triangle-down", "harm"),)))
    if any(s.not_ranked or any(c.small for c in s.by_adl.values()) for s in entries):
        legend.append(HOLLOW)
    return legend


def _description(entries: Sequence[Entry]) -> str:
    sentences = ["Responses with an error; beneath, the score over all and by activity."]
    for name, s in zip(display_names(entries), entries, strict=True):
        parts = [f"{m.head.lower()} {in_full(errors_of(s.numbers, m).share)}" for m in _COLOURS]
        parts.append(f"score {in_full(s.score)}")
        if s.n_epochs > 1:
            parts.append(f"worst of {s.n_epochs} {ESTIMATE.page_text(s.worst_at_n)}")
        parts += [f"{adl.value} {ESTIMATE.page_text(cell.score)}" for adl, cell in s.by_adl.items()]
        sentences.append(f"{name}: {'; '.join(parts)}.")
    return " ".join(sentences)


_BIN = 10
"""Width of a bar's bin, in percentage points."""
_TALLEST = 24
"""Height of the longest bar in pixels."""
_SCORE_BELOW = 7


def distributions(entries: Sequence[Entry], width: int = WIDE) -> Figure:
    """Return a figure with a histogram for each entry: how many scenarios have which score."""
    scores = [
        [as_percent(s.score) for s in each.scenarios if s.score is not None] for each in entries
    ]
    bins = [Counter(map(_bin, each)) for each in scores]
    tallest = max((n for each in bins for n in each.values()), default=1)
    cells = [_histogram(counts, tallest, s) for counts, s in zip(bins, entries, strict=True)]
    meanings = [
        LegendEntry(
            f"scenarios with a score of so many % of their points, in steps of {_BIN}; "
            f"the longest bar is {tallest}",
            (Box(-8, 5, 0, -6, "muted"), Box(0, 5, 8, 0, "muted")),
        ),
        LegendEntry("score with 95% interval", (Segment(-10, 0, 10, 0), Point(0, 0))),
        *([HOLLOW] if any(s.not_ranked for s in entries) else []),
    ]
    sentences = ["How many scenarios have which mean score."]
    sentences += [
        f"{name}: {_spread(each)}"
        for name, each in zip(display_names(entries), scores, strict=True)
    ]
    block = Block(display_names(entries), [Panel("", cells)], _TALLEST + 14)
    return stack_blocks(meanings, [block], width, " ".join(sentences))


def _histogram(bins: Counter[int], tallest: int, summary: Entry) -> list[Mark]:
    base = _TALLEST / 2 - 5
    marks: list[Mark] = [
        Box(
            at_bin * _BIN, base, (at_bin + 1) * _BIN, base - _TALLEST * n / tallest, "muted",
            label=f"{at_bin * _BIN} to {(at_bin + 1) * _BIN}%: {n} scenarios",
        )
        for at_bin, n in sorted(bins.items())
    ]  # fmt: skip
    if (at := plot_value(summary.score)) is not None:
        y, hollow = base + _SCORE_BELOW, bool(summary.not_ranked)
        marks.append(Segment(at.low, y, at.high, y))
        label = f"score: {in_full(summary.score)}"
        marks.append(Point(at.value, y, hollow=hollow, label=label))
    return marks


def _bin(score: float) -> int:
    """Return the index of a percentage's bin in the histogram; 100% is in the last bin."""
    return math.floor(score / _BIN) - (score == 100)


def _spread(scores: Sequence[float]) -> str:
    if not scores:
        return "no scenario has a score."
    low, high = (f"{score:.1f}%".replace("-", "−") for score in (min(scores), max(scores)))
    return f"{len(scores)} scenarios from {low} to {high}."
