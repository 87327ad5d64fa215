"""Scatter plots, a point per entry: score against cost, and worst response against score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from careeval.report.charts.drawing import (
    HOLLOW,
    MARGIN,
    SMALL,
    WIDE,
    Axis,
    Figure,
    LegendEntry,
    Mark,
    PlotValue,
    Point,
    Segment,
    TextLine,
    display_names,
    fit_in_lines,
    grid_across,
    grid_up,
    legend,
    moved,
    n_epochs_text,
    not_drawn_lines,
    percent_axis,
    plot_value,
    text_width,
)
from careeval.report.texts import in_full
from careeval.results.entries import Entry

_LEFT, _RIGHT, _TITLE, _BELOW = 32, 12, 26, 42
_LABEL = 13
_MOST_LABEL = 0.4
"""Share of the width that a label may take."""
_LEADER = 9
"""Distance in pixels from which a line joins a point and its label."""


@dataclass(frozen=True)
class _Dot:
    """One entry's point, with the interval of each number."""

    name: str
    x: PlotValue
    y: PlotValue
    hollow: bool
    label: str


def cost_scatter(entries: Sequence[Entry], width: int = WIDE) -> Figure:
    """Return a plot of the score against the dollars of asking for a response, on a log scale.

    An entry whose cost or score is unknown, or whose cost is 0, is listed below the plot.
    """
    dots, left_out = [], []
    for name, s in zip(display_names(entries), entries, strict=True):
        dollars, score = s.cost.asking.per_response, plot_value(s.score)
        if dollars is None or score is None or dollars <= 0:
            why = s.cost.asking.reason or s.score.reason or "it cost nothing"
            left_out.append(f"{name}: {why}")
            continue
        label = f"{name}: score {in_full(s.score)}; {_dollars(dollars)} a response"
        dots.append(
            _Dot(name, PlotValue(dollars, dollars, dollars), score, bool(s.not_ranked), label)
        )
    costs = [dot.x.value for dot in dots] or [0.01]
    across = _log_axis(min(costs), max(costs))
    description = ["Score against the cost of asking for one response."]
    description += [f"{dot.label}." for dot in dots] + [f"Not drawn: {why}." for why in left_out]
    return _scatter(
        dots, across, "score, %", "dollars a response, on a logarithmic scale",
        left_out, width, " ".join(description),
    )  # fmt: skip


def worst_scatter(entries: Sequence[Entry], width: int = WIDE) -> Figure:
    """Return a plot of the score by the worst of n responses against the mean score."""
    dots, left_out = [], []
    for name, s in zip(display_names(entries), entries, strict=True):
        score, worst = plot_value(s.score), plot_value(s.worst_at_n)
        if score is None or worst is None:
            left_out.append(f"{name}: {s.score.reason if score is None else s.worst_at_n.reason}")
            continue
        label = f"{name}: score {in_full(s.score)}; worst of {s.n_epochs} {in_full(s.worst_at_n)}"
        dots.append(_Dot(name, score, worst, bool(s.not_ranked), label))
    plot = width - 2 * MARGIN - _LEFT - _RIGHT
    across = percent_axis((number for dot in dots for number in dot.x), plot, None)
    description = ["Score of the worst response against the mean score."]
    description += [f"{dot.label}." for dot in dots] + [f"Not drawn: {why}." for why in left_out]
    return _scatter(
        dots, across, f"worst of {n_epochs_text(entries)}, %", "score, %",
        left_out, width, " ".join(description),
    )  # fmt: skip


def _scatter(
    dots: Sequence[_Dot],
    across: Axis,
    up_title: str,
    across_title: str,
    left_out: Sequence[str],
    width: int,
    description: str,
) -> Figure:
    inner = width - 2 * MARGIN
    plot = inner - _LEFT - _RIGHT
    tall = max(plot * 0.55, 300, 9.0 * len(dots))
    up = percent_axis((number for dot in dots for number in dot.y), tall, None)
    entries = [
        LegendEntry("95% interval", (Segment(-8, 0, 8, 0, width=1), Segment(0, -6, 0, 6, width=1)))
    ]
    if any(dot.hollow for dot in dots):
        entries.append(HOLLOW)
    marks, top = legend(entries, inner)
    frame, to_x, to_y = _frame(across, up, up_title, across_title, plot, tall, top + 8)
    marks += frame
    arms = []
    for dot in dots:
        x, y = to_x(dot.x.value), to_y(dot.y.value)
        for arm in (
            Segment(to_x(dot.x.low), y, to_x(dot.x.high), y, width=1, faint=True),
            Segment(x, to_y(dot.y.low), x, to_y(dot.y.high), width=1, faint=True),
        ):
            arms.append(arm)
        marks.append(Point(x, y, hollow=dot.hollow, label=dot.label))
    marks += arms
    marks += _named(
        dots, [(to_x(d.x.value), to_y(d.y.value)) for d in dots], arms, inner, top, tall
    )
    y = top + 8 + _TITLE + tall + _BELOW
    lines, y = not_drawn_lines(left_out, inner, y)
    marks += lines
    return Figure(width, y + 2 * MARGIN, tuple(moved(marks, MARGIN, MARGIN)), description)


def _named(
    dots: Sequence[_Dot],
    points: Sequence[tuple[float, float]],
    arms: Sequence[Segment],
    inner: float,
    top: float,
    tall: float,
) -> list[Mark]:
    """Return the names near their points; a name far from its point is joined to it by a line."""
    shown = [fit_in_lines(dot.name, inner * _MOST_LABEL, SMALL, 2) for dot in dots]
    sizes = [
        (max(text_width(line, SMALL) for line in lines), float(_LABEL * len(lines)))
        for lines in shown
    ]
    bounds = Area(_LEFT, top + 8 + _TITLE - 4, inner, top + 8 + _TITLE + tall)
    taken = [
        Area(min(a.x, a.x2), min(a.y, a.y2) - 1, max(a.x, a.x2) + 1, max(a.y, a.y2) + 1)
        for a in arms
    ]
    marks: list[Mark] = []
    for lines, (x, y), area in zip(
        shown, points, place_labels(points, sizes, bounds, taken), strict=True
    ):
        # widths are only estimated: leave spare room on the side away from the point
        at, align = (area.left + area.right) / 2, "middle"
        if area.left > x:
            at, align = area.left, "start"
        elif area.right < x:
            at, align = area.right, "end"
        for n, line in enumerate(lines):
            marks.append(TextLine(at, area.top + (n + 0.5) * _LABEL, line, align=align, size=SMALL))
        near_x, near_y = min(max(x, area.left), area.right), min(max(y, area.top), area.bottom)
        if math.hypot(near_x - x, near_y - y) > _LEADER:
            marks.append(Segment(x, y, near_x, near_y, "muted", 0.7))
    return marks


def _frame(
    across: Axis,
    up: Axis,
    up_title: str,
    across_title: str,
    plot: float,
    tall: float,
    top: float,
) -> tuple[list[Mark], Callable[[float], float], Callable[[float], float]]:
    """Return the marks of both axes, from `top` down, and each axis's function to pixels."""
    bottom = top + _TITLE + tall
    marks: list[Mark] = [
        TextLine(0, top + 8, up_title, "muted", size=SMALL),
        TextLine(_LEFT, bottom + 30, across_title, "muted", size=SMALL),
        *grid_up(up, bottom, tall, _LEFT, _LEFT + plot),
        *grid_across(across, _LEFT, plot, top + _TITLE, bottom),
    ]
    return marks, across.along(_LEFT, plot), up.along(bottom, -tall)


def _log_axis(least: float, most: float) -> Axis:
    """Return an axis that covers these costs, with ticks at 1, 2 and 5 times 10^n, or at 10^n."""
    low, high = least / 1.6, most * 3
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [n * 10.0**power for power in powers for n in (1, 2, 5)]
    if high / low > 300:
        ticks = ticks[::3]
    kept = tuple((tick, _dollars(tick)) for tick in ticks if low <= tick <= high)
    return Axis((low, high), kept, log=True)


def _dollars(amount: float) -> str:
    """Return an amount with two decimals; below $0.10, with two significant digits."""
    digits = max(2, 1 - math.floor(math.log10(amount)))
    text = f"{amount:.{digits}f}"
    return f"${text.rstrip('0').rstrip('.') if '.' in text else text}"


class Area(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Area) -> float:
        """Return the area that two rectangles share, in square pixels."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across * down if across > 0 and down > 0 else 0.0

    def outside(self, bounds: Area) -> float:
        """Return how much of the rectangle lies outside the bounds, in square pixels."""
        whole = (self.right - self.left) * (self.bottom - self.top)
        return whole - self.overlap(bounds)


def place_labels(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    bounds: Area,
    taken: Sequence[Area] = (),
) -> list[Area]:
    """Return an area for the label of each point, near it and away from the others.

    Labels are placed one after the other; those that still overlap are placed again.

    Args:
        points: Positions in pixels.
        sizes: Width and height of each label.
        bounds: The area that labels may use.
        taken: Other areas that they should not cover.
    """
    around = [Area(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    placed: dict[int, Area] = {}

    def put(n: int) -> None:
        def cost(at: tuple[float, Area]) -> float:
            far, area = at
            on_labels = sum(area.overlap(other) for k, other in placed.items() if k != n)
            on_points = sum(area.overlap(other) for k, other in enumerate(around) if k != n)
            on_marks = sum(area.overlap(other) for other in taken)
            out = area.outside(bounds)
            return 1000 * out + 10 * on_labels + 4 * on_points + on_marks + far

        placed[n] = min(_candidates(*points[n], *sizes[n]), key=cost)[1]

    for n in range(len(points)):
        put(n)
    # the first were placed before the last: place those that overlap again
    for n in range(len(points)):
        if any(placed[n].overlap(placed[k]) for k in placed if k != n):
            put(n)
    return [placed[n] for n in range(len(points))]


def _candidates(x: float, y: float, width: float, height: float) -> Iterator[tuple[float, Area]]:
    """Yield possible areas of a label, the nearest first, each with the cost of its distance."""
    for away in (7, 14, 24, 38, 56, 80, 110):
        for across, down in (
            (1, 0), (-1, 0), (0, -1), (0, 1), (0.7, -0.7), (0.7, 0.7), (-0.7, -0.7), (-0.7, 0.7),
        ):  # fmt: skip
            middle_x = x + across * (away + width / 2)
            middle_y = y + down * (away + height / 2)
            yield 0.5 * (away - 7), Area(
                middle_x - width / 2, middle_y - height / 2,
                middle_x + width / 2, middle_y + height / 2,
            )  # fmt: skip
