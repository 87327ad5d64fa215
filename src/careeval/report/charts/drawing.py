"""The parts that all figures share: marks, axes, a legend and text layout.

Marks differ by shape, never by colour alone. A hollow mark is not for ranking, or over too few
scenarios. An unknown value has no mark. Colours are names here, since a light and a dark page give
them different values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from careeval.report.texts import strip_controls
from careeval.results.entry import Entry
from careeval.sheets.words import entry_names
from careeval.stats.estimate import Estimate

WIDE, NARROW = 820, 300
"""Full widths of a figure in pixels: for a desktop, and for the smallest phone."""
ROOMY = 640
"""Smallest width in pixels at which two panels fit side by side."""

LINE_HEIGHT = 17
"""Pixels of a line of text."""
MARGIN = 4
"""Pixels around a figure."""
SMALL, NORMAL = 11, 12
"""Font sizes in pixels."""
_MIN_STEP = 36
"""Smallest distance in pixels between two labels of an axis."""
_MAX_TICKS = 6


class PlotValue(NamedTuple):
    """A number and the ends of its interval; if there is no interval, both ends are the number."""

    value: float
    low: float
    high: float


def plot_value(estimate: Estimate) -> PlotValue | None:
    """Return an estimate in percent, to one decimal; `None` if its value is unknown."""
    if estimate.value is None:
        return None
    ends = estimate.ci95 or (estimate.value, estimate.value)
    return PlotValue(*(as_percent(number) for number in (estimate.value, *ends)))


def as_percent(fraction: float) -> float:
    """Return a fraction in percent, rounded to one decimal as figures draw it."""
    return round(100 * fraction, 1) or 0.0  # never a minus before 0.0


@dataclass(frozen=True)
class _MarkBase:
    """Base of all marks; `series` names the group that a reader can highlight, if any."""

    series: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Point(_MarkBase):
    """A mark at one point; without a `label` the mark is only decoration."""

    x: float
    y: float
    shape: str = "circle"
    colour: str = "accent"
    hollow: bool = False
    radius: float = 3.8
    label: str = ""


@dataclass(frozen=True)
class Segment(_MarkBase):
    """A straight line between two points."""

    x: float
    y: float
    x2: float
    y2: float
    colour: str = "accent"
    width: float = 2
    faint: bool = False


@dataclass(frozen=True)
class Box(_MarkBase):
    """A bar between two corners."""

    x: float
    y: float
    x2: float
    y2: float
    colour: str = "accent"
    hollow: bool = False
    label: str = ""


@dataclass(frozen=True)
class Curve(_MarkBase):
    """A line through several points in order."""

    xs: Sequence[float]
    ys: Sequence[float]
    colour: str = "accent"
    dashed: bool = False
    label: str = ""


@dataclass(frozen=True)
class Band(_MarkBase):
    """A light area between two curves with the same x values."""

    xs: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    colour: str = "accent"


@dataclass(frozen=True)
class TextLine(_MarkBase):
    """A line of text, its middle at `y`."""

    x: float
    y: float
    text: str
    colour: str = "ink"
    align: str = "start"
    size: int = NORMAL
    bold: bool = False


Mark = Point | Segment | Box | Curve | Band | TextLine


@dataclass(frozen=True)
class Figure:
    """Marks in pixels from the top left, and a description with the main numbers."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    description: str = ""


def figure(marks: Iterable[Mark], width: float, height: float, description: str) -> Figure:
    """Return a figure of marks that lie in an area of this height, with a margin around it."""
    shown = tuple(moved(marks, MARGIN, MARGIN))
    return Figure(width, height + 2 * MARGIN, shown, description)


@dataclass(frozen=True)
class Axis:
    """An axis: a mapping of numbers to pixels, with ticks."""

    ends: tuple[float, float]  # The first and the last number
    ticks: tuple[tuple[float, str], ...] = ()
    """Numbers and their labels."""
    log: bool = False  # True if the axis is logarithmic
    lines: bool = True  # True if ticks have a line across the panel

    def along(self, start: float, length: float) -> Callable[[float], float]:
        """Return the function from a number to its pixel: the axis begins at `start`.

        With a negative length, pixels fall as numbers rise: a vertical axis runs up.
        """

        def scaled(number: float) -> float:
            return math.log10(number) if self.log else number

        low, high = scaled(self.ends[0]), scaled(self.ends[1])
        return lambda number: start + (scaled(number) - low) / (high - low) * length


def percent_axis(
    numbers: Iterable[float], length: float, ends: tuple[float, float] | None = (0, 100)
) -> Axis:
    """Return an axis of percentages that covers the numbers and the ends, rounded out to tens.

    Without `ends` and without numbers, the axis runs from 0 to 100.
    """
    values = [*numbers, *(ends or ())] or [0, 100]
    low, high = 10 * math.floor(min(values) / 10), 10 * math.ceil(max(values) / 10)
    high = max(high, low + 10)
    min_step = max(_MIN_STEP, length / _MAX_TICKS) / length * (high - low)
    step = next((s for s in (2, 5, 10, 20, 25, 50, 100) if s >= min_step), 200)
    first, last = math.ceil(low / step), math.floor(high / step)
    ticks = (step * n for n in range(first, last + 1))
    return Axis((low, high), tuple((tick, f"{tick}".replace("-", "−")) for tick in ticks))


def shift_by(pixels: float) -> Callable[[float], float]:
    """Return a function that adds this number of pixels to a coordinate."""
    return lambda y: y + pixels


def map_coordinates(mark: Mark, x: Callable[[float], float], y: Callable[[float], float]) -> Mark:
    """Return a mark with its coordinates mapped by two functions."""
    match mark:
        case Band():
            return replace(
                mark,
                xs=[x(n) for n in mark.xs],
                lows=[y(n) for n in mark.lows],
                highs=[y(n) for n in mark.highs],
            )
        case Curve():
            return replace(mark, xs=[x(n) for n in mark.xs], ys=[y(n) for n in mark.ys])
        case Segment() | Box():
            return replace(mark, x=x(mark.x), x2=x(mark.x2), y=y(mark.y), y2=y(mark.y2))
        case Point() | TextLine():
            return replace(mark, x=x(mark.x), y=y(mark.y))


def moved(marks: Iterable[Mark], dx: float, dy: float) -> list[Mark]:
    """Return the marks, moved by these numbers of pixels."""
    return [map_coordinates(mark, lambda x: x + dx, lambda y: y + dy) for mark in marks]


def grid_across(
    axis: Axis, start: float, width: float, top: float, bottom: float, *, within: bool = False
) -> list[Mark]:
    """Return the vertical grid lines of a panel's horizontal axis, with labels below.

    Args:
        axis: The axis.
        start: Left end in pixels.
        width: Length in pixels.
        top: Upper end of the lines.
        bottom: Lower end of the lines.
        within: Whether labels at the ends stay within the panel, since another panel is beside it.
    """
    to = axis.along(start, width)
    marks: list[Mark] = []
    for tick, label in axis.ticks:
        if axis.lines:
            marks.append(Segment(to(tick), top, to(tick), bottom, _tick_colour(axis, tick), 1))
        align = {axis.ends[0]: "start", axis.ends[1]: "end"}.get(tick) if within else None
        marks.append(TextLine(to(tick), bottom + 11, label, "muted", align or "middle", SMALL))
    return marks


def grid_up(axis: Axis, start: float, height: float, left: float, right: float) -> list[Mark]:
    """Return the horizontal grid lines of a vertical axis, up from `start`, with labels left."""
    to = axis.along(start, -height)
    marks: list[Mark] = []
    for tick, label in axis.ticks:
        marks.append(Segment(left, to(tick), right, to(tick), _tick_colour(axis, tick), 1))
        marks.append(TextLine(left - 6, to(tick), label, "muted", "end", SMALL))
    return marks


def _tick_colour(axis: Axis, tick: float) -> str:
    return "muted" if tick == 0 and axis.ends[0] < 0 else "line"


@dataclass(frozen=True)
class LegendEntry:
    """An entry of a legend: sample marks and their meaning.

    The marks are drawn around (0, 0), at most 10 pixels to either side; `legend` moves them into
    place.
    """

    meaning: str
    marks: tuple[Mark, ...] = ()


HOLLOW = LegendEntry(
    "not for ranking, or fewer than five scenarios", (Point(0, 0, colour="muted", hollow=True),)
)


NOT_RANKED = LegendEntry("not ranked", HOLLOW.marks)


def legend(entries: Sequence[LegendEntry], width: float) -> tuple[list[Mark], float]:
    """Return the marks of a legend, on as many lines as needed, and the height of the legend."""
    marks: list[Mark] = []
    x, y = 0.0, LINE_HEIGHT / 2
    for entry in entries:
        sample = 26 if entry.marks else 0
        lines = wrapped(entry.meaning, width - sample, NORMAL)
        needed = sample + max(text_width(line, NORMAL) for line in lines)
        if x and x + needed > width:
            x, y = 0.0, y + LINE_HEIGHT + 2
        marks += moved(entry.marks, x + 10, y)
        for n, line in enumerate(lines):
            y += LINE_HEIGHT if n else 0
            marks.append(TextLine(x + sample, y, line, "muted"))
        x += needed + 20
    return marks, y + LINE_HEIGHT / 2 if entries else 0


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width in pixels of a line in a common sans-serif, estimated rather too wide."""
    ems = sum(_ems(character) for character in text)
    return ems * size * (1.07 if bold else 1)


def _ems(character: str) -> float:
    for characters, ems in _WIDTHS.items():
        if character in characters:
            return ems
    if character.isupper():
        return 0.72
    return 0.58 if ord(character) < 0x2E80 else 1.05


_WIDTHS = {"ijl.,:;'’| ": 0.29, "ftrI()[]-/·": 0.36, "sckvxyzJ": 0.53, "mwMW@%—…": 0.94}
"""Widths in em of characters much narrower or wider than most, from Arial, rounded up."""


def wrapped(text: str, room: float, size: float) -> list[str]:
    """Break a text into lines of at most `room` pixels, after ` `, `/`, `-`, `_` or `·`.

    A part that is too long for a line is broken anywhere.
    """
    lines, line = [], ""
    for part in _parts(text, room, size):
        if line and text_width((line + part).rstrip(), size) > room:
            lines.append(line.rstrip())
            line = part.lstrip()
        else:
            line += part
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _parts(text: str, room: float, size: float) -> Iterator[str]:
    part = ""
    for character in text:
        if part and text_width(part + character, size) > room:
            yield part
            part = ""
        part += character
        if character in " /-_·":
            yield part
            part = ""
    yield part


def shortened(text: str, room: float, size: float) -> str:
    """Return the text; if too wide, with `…` for its middle, since both ends tell names apart."""
    if text_width(text, size) <= room:
        return text
    kept = len(text) - 1
    while kept > 2 and text_width(_without_middle(text, kept), size) > room:
        kept -= 1
    return _without_middle(text, kept)


def fit_in_lines(text: str, room: float, size: float, max_lines: int) -> list[str]:
    """Return the text in at most that many lines of like width; `…` for its middle if needed."""
    lines = wrapped(text, room, size)
    kept = room * max_lines
    while len(lines) > max_lines:
        # a line can break before the room is full
        kept *= 0.95
        text = shortened(text, kept, size)
        lines = wrapped(text, room, size)
    # make the lines about equal, without breaking a word
    widest = max((text_width(part.rstrip(), size) for part in _parts(text, room, size)), default=0)
    while len(lines) > 1 and (room := room * 0.95) >= widest:
        if len(closer := wrapped(text, room, size)) != len(lines):
            break
        lines = closer
    return lines


def _without_middle(text: str, kept: int) -> str:
    head = (kept + 1) // 2
    return f"{text[:head]}…{text[len(text) - kept // 2 :]}"


def display_names(entries: Sequence[Entry]) -> list[str]:
    """Return the name of each entry, on one line and without control characters."""
    return [on_one_line(name) for name in entry_names(entries)]


def on_one_line(name: str) -> str:
    """Return a name on one line and without control characters."""
    return " ".join(strip_controls(name).split())


def x_extent(marks: Iterable[Mark]) -> Iterator[float]:
    """Yield the x values that an axis must cover: those of points, segments and boxes."""
    for mark in marks:
        if isinstance(mark, Point | Segment | Box):
            yield mark.x
        if isinstance(mark, Segment | Box):
            yield mark.x2


def n_epochs_text(entries: Sequence[Entry]) -> str:
    """Return the number of responses per scenario as text; `n` if entries differ in it."""
    counts = {s.n_epochs for s in entries}
    return f"{counts.pop()}" if len(counts) == 1 else "n"


def not_drawn_lines(reasons: Sequence[str], width: float, y: float) -> tuple[list[Mark], float]:
    """Return the text lines of entries that are not drawn, with the reasons, and where they end."""
    marks: list[Mark] = []
    for line in (part for why in reasons for part in wrapped(f"Not drawn: {why}", width, SMALL)):
        marks.append(TextLine(0, y + LINE_HEIGHT / 2, line, "muted", size=SMALL))
        y += LINE_HEIGHT
    return marks, y
