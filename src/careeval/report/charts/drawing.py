"""The grammar that all figures share: marks on a plane, its axes, a key, and the page's colours.

Marks differ by shape, never by colour alone, and a hollow one is not for ranking. What is unknown
has no mark. Colours are names until a figure is shown: a reader's light or dark page gives them
their values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from careeval.report.words import visible
from careeval.results.score.summary import Summary
from careeval.sheets.words import entry_names
from careeval.stats import Estimate

WIDE, NARROW = 820, 300
"""Widths in pixels, everything included: for a desk, and for the smallest phone."""
ROOMY = 640
"""From this width on, two panels may stand side by side."""

LINE_HEIGHT = 17
"""Pixels of a line of text."""
MARGIN = 4
"""Pixels around a figure."""
SMALL, NORMAL = 11, 12
"""Font sizes in pixels."""
_LEAST_STEP = 36
"""Pixels from one label of an axis to the next, at least."""
_MOST_TICKS = 6


class Place(NamedTuple):
    """A number and the ends of its interval, in percent; without one, the number thrice."""

    value: float
    low: float
    high: float


def place(estimate: Estimate, *, interval: bool = True) -> Place | None:
    """Where an estimate stands, rounded to one decimal; `None` where its value is unknown."""
    if estimate.value is None:
        return None
    ends = (estimate.ci95 if interval else None) or (estimate.value, estimate.value)
    return Place(*(rounded(number) for number in (estimate.value, *ends)))


def rounded(fraction: float) -> float:
    """A fraction in percent, as it is drawn."""
    return round(100 * fraction, 1)


@dataclass(frozen=True)
class _Drawn:
    """What all marks have: `series` names the one that a reader may pick out, where it has one."""

    series: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Point(_Drawn):
    """A mark of one place; `said` is what it says of itself, and without it, it is decoration."""

    x: float
    y: float
    shape: str = "circle"
    colour: str = "accent"
    hollow: bool = False
    radius: float = 3.8
    said: str = ""


@dataclass(frozen=True)
class Line(_Drawn):
    """From one place straight to another."""

    x: float
    y: float
    x2: float
    y2: float
    colour: str = "accent"
    width: float = 2
    faint: bool = False


@dataclass(frozen=True)
class Box(_Drawn):
    """A bar between two corners."""

    x: float
    y: float
    x2: float
    y2: float
    colour: str = "accent"
    hollow: bool = False
    said: str = ""


@dataclass(frozen=True)
class Curve(_Drawn):
    """A line through places in order."""

    xs: Sequence[float]
    ys: Sequence[float]
    colour: str = "accent"
    dashed: bool = False
    said: str = ""


@dataclass(frozen=True)
class Band(_Drawn):
    """A light area between two curves over the same places."""

    xs: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    colour: str = "accent"


@dataclass(frozen=True)
class Words(_Drawn):
    """A line of text, its middle at `y`."""

    x: float
    y: float
    text: str
    colour: str = "ink"
    align: str = "start"
    size: int = NORMAL
    bold: bool = False


Mark = Point | Line | Box | Curve | Band | Words


@dataclass(frozen=True)
class Figure:
    """Marks on a plane of pixels, down from the top, and what they show, in words."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    description: str = ""


def alternative(figure: Figure) -> str:
    """What a figure shows, in words with its main numbers."""
    return figure.description


@dataclass(frozen=True)
class Axis:
    """What the places along one direction mean.

    Attributes:
        ends: The first and the last number.
        ticks: Numbers with a line across the panel, and their labels.
        log: Whether equal steps are equal ratios.
    """

    ends: tuple[float, float]
    ticks: tuple[tuple[float, str], ...] = ()
    log: bool = False

    def along(self, start: float, length: float) -> Callable[[float], float]:
        """From a number to its pixel, on an axis from `start`; a negative length goes up."""

        def bent(number: float) -> float:
            return math.log10(number) if self.log else number

        low, high = bent(self.ends[0]), bent(self.ends[1])
        return lambda number: start + (bent(number) - low) / (high - low) * length


def percent_axis(
    numbers: Iterable[float], length: float, ends: tuple[float, float] | None = (0, 100)
) -> Axis:
    """An axis of percentages: the ends given, moved out in tens as far as the numbers need.

    Without ends it goes as far as the numbers, and from 0 to 100 where there are none.
    """
    found = [*numbers, *(ends or ())] or [0, 100]
    low, high = 10 * math.floor(min(found) / 10), 10 * math.ceil(max(found) / 10)
    high = max(high, low + 10)
    least = max(_LEAST_STEP, length / _MOST_TICKS) / length * (high - low)
    step = next((s for s in (2, 5, 10, 20, 25, 50, 100) if s >= least), 200)
    first, last = math.ceil(low / step), math.floor(high / step)
    ticks = (step * n for n in range(first, last + 1))
    return Axis((low, high), tuple((tick, f"{tick}".replace("-", "−")) for tick in ticks))


def down(pixels: float) -> Callable[[float], float]:
    """From a place to one that much further down."""
    return lambda y: y + pixels


def mapped(mark: Mark, x: Callable[[float], float], y: Callable[[float], float]) -> Mark:
    """The mark in other coordinates."""
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
        case Line() | Box():
            return replace(mark, x=x(mark.x), x2=x(mark.x2), y=y(mark.y), y2=y(mark.y2))
        case Point() | Words():
            return replace(mark, x=x(mark.x), y=y(mark.y))


def moved(marks: Iterable[Mark], dx: float, dy: float) -> list[Mark]:
    """The marks elsewhere."""
    return [mapped(mark, lambda x: x + dx, lambda y: y + dy) for mark in marks]


def grid_across(
    axis: Axis, start: float, width: float, top: float, bottom: float, *, within: bool = False
) -> list[Mark]:
    """The lines of a panel's horizontal axis, with their labels beneath.

    Args:
        axis: The axis.
        start: Pixel of its first end.
        width: Its length.
        top: Where the lines begin.
        bottom: Where they end.
        within: Whether labels at the ends keep within the panel, beside which there is another.
    """
    to = axis.along(start, width)
    marks: list[Mark] = []
    for tick, label in axis.ticks:
        colour = "muted" if tick == 0 and axis.ends[0] < 0 else "line"
        marks.append(Line(to(tick), top, to(tick), bottom, colour, 1))
        align = {axis.ends[0]: "start", axis.ends[1]: "end"}.get(tick) if within else None
        marks.append(Words(to(tick), bottom + 11, label, "muted", align or "middle", SMALL))
    return marks


def grid_up(axis: Axis, start: float, height: float, left: float, right: float) -> list[Mark]:
    """The lines of a panel's vertical axis, up from `start`, with their labels at the left."""
    to = axis.along(start, -height)
    marks: list[Mark] = []
    for tick, label in axis.ticks:
        colour = "muted" if tick == 0 and axis.ends[0] < 0 else "line"
        marks.append(Line(left, to(tick), right, to(tick), colour, 1))
        marks.append(Words(left - 6, to(tick), label, "muted", "end", SMALL))
    return marks


@dataclass(frozen=True)
class KeyEntry:
    """A sample of some marks, about (0, 0) and 10 pixels to either side, and what they mean."""

    meaning: str
    marks: tuple[Mark, ...] = ()


HOLLOW = KeyEntry(
    "not for ranking, or fewer than five scenarios", (Point(0, 0, colour="muted", hollow=True),)
)


def key(entries: Sequence[KeyEntry], width: float) -> tuple[list[Mark], float]:
    """What the marks of a figure mean, in as many lines as it takes, and how high that is."""
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
            marks.append(Words(x + sample, y, line, "muted"))
        x += needed + 20
    return marks, y + LINE_HEIGHT / 2 if entries else 0


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """About how many pixels a line of text takes in a usual sans-serif; rather more than less."""
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
"""Of what is much narrower or wider than most, after Arial, rounded up."""


def wrapped(text: str, room: float, size: float) -> list[str]:
    """The text in lines of at most `room` pixels, broken behind spaces, `/`, `-`, `_`, `·`.

    A part that is too long by itself is broken where the room ends.
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
    """The text, its middle left out where it is wider than the room: both ends tell names apart."""
    if text_width(text, size) <= room:
        return text
    kept = len(text) - 1
    while kept > 2 and text_width(_without_middle(text, kept), size) > room:
        kept -= 1
    return _without_middle(text, kept)


def in_lines(text: str, room: float, size: float, most: int) -> list[str]:
    """The text in at most so many lines, of about one length, without its middle if need be."""
    lines = wrapped(text, room, size)
    kept = room * most
    while len(lines) > most:
        # lines break before their room ends
        kept *= 0.95
        text = shortened(text, kept, size)
        lines = wrapped(text, room, size)
    # evened out, but no word is broken for it
    widest = max((text_width(part.rstrip(), size) for part in _parts(text, room, size)), default=0)
    while len(lines) > 1 and (room := room * 0.95) >= widest:
        if len(closer := wrapped(text, room, size)) != len(lines):
            break
        lines = closer
    return lines


def _without_middle(text: str, kept: int) -> str:
    head = (kept + 1) // 2
    return f"{text[:head]}…{text[len(text) - kept // 2 :]}"


def names(summaries: Sequence[Summary]) -> list[str]:
    """A name for each entry, on one line and without control characters."""
    return [" ".join(visible(name).split()) for name in entry_names(summaries)]


def reach(marks: Iterable[Mark]) -> Iterator[float]:
    """The places across that points, lines and boxes come to: what an axis must hold."""
    for mark in marks:
        if isinstance(mark, Point | Line | Box):
            yield mark.x
        if isinstance(mark, Line | Box):
            yield mark.x2


def epochs(summaries: Sequence[Summary]) -> str:
    """How many responses a scenario has; `n` where entries differ."""
    found = {s.n_epochs for s in summaries}
    return f"{found.pop()}" if len(found) == 1 else "n"


def not_drawn(reasons: Sequence[str], width: float, y: float) -> tuple[list[Mark], float]:
    """A line for each entry without a mark and why, from `y` down, and where they end."""
    marks: list[Mark] = []
    for line in (part for why in reasons for part in wrapped(f"Not drawn: {why}", width, SMALL)):
        marks.append(Words(0, y + LINE_HEIGHT / 2, line, "muted", size=SMALL))
        y += LINE_HEIGHT
    return marks, y
