"""Figures with two axes: a point or a curve for each entry, with the entry's name beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from careeval.core.text import percent
from careeval.report.charts.drawing import (
    HOLLOW,
    LINE_HEIGHT,
    MARGIN,
    NOT_RANKED,
    ROOMY,
    SMALL,
    WIDE,
    Axis,
    Band,
    Curve,
    Figure,
    LegendEntry,
    Mark,
    PlotValue,
    Point,
    Segment,
    TextLine,
    as_percent,
    display_names,
    figure,
    fit_in_lines,
    grid_across,
    grid_up,
    legend,
    map_coordinates,
    moved,
    n_epochs_text,
    not_drawn_lines,
    on_one_line,
    percent_axis,
    plot_value,
    text_width,
)
from careeval.report.texts import in_full
from careeval.results.entry import Entry
from careeval.results.graded_rubric import Errors
from careeval.results.metrics import SCORE, SEVERE
from careeval.sheets.kinds import ESTIMATE
from careeval.stats.estimate import Estimate

_LEFT, _RIGHT, _TITLE, _BELOW, _BETWEEN = 32, 12, 26, 42, 28
"""Pixels around the area of a plot: for numbers, at its right, for titles above and below it, and
between two plots."""
_LINE = 13
"""Height of a line of a name."""
_MAX_LABEL = 0.4
"""Share of the width that a label may take."""
_LEADER = 9
"""Distance in pixels from which a line joins a point and its label."""


@dataclass(frozen=True)
class _Plot:
    """The area of a plot: its axes with their titles, and each axis's function to pixels."""

    marks: list[Mark]
    x: Callable[[float], float]
    y: Callable[[float], float]
    top: float
    bottom: float

    @staticmethod
    def of(
        across: Axis,
        up: Axis,
        across_title: str,
        up_title: TextLine,
        size: tuple[float, float],
        top: float = 0,
    ) -> _Plot:
        """Return the plot below `top`; `size` is the width and height of its area."""
        length, tall = size
        bottom = top + _TITLE + tall
        marks: list[Mark] = [
            replace(up_title, y=top + 8),
            TextLine(_LEFT, bottom + 30, across_title, "muted", size=SMALL),
            *grid_up(up, bottom, tall, _LEFT, _LEFT + length),
            *grid_across(across, _LEFT, length, top + _TITLE, bottom),
        ]
        return _Plot(
            marks, across.along(_LEFT, length), up.along(bottom, -tall), top + _TITLE, bottom
        )


# A point for each entry


@dataclass(frozen=True)
class _Dot:
    """One entry's point, with the interval of each number."""

    x: PlotValue
    y: PlotValue
    text: str  # Both numbers in words
    name: str = ""
    hollow: bool = False


def cost_scatter(entries: Sequence[Entry], width: int = WIDE) -> Figure:
    """Return a plot of the score against the dollars of asking for a response, on a log scale.

    An entry whose cost or score is unknown, or whose cost is 0, is listed below the plot.
    """

    def dot(s: Entry) -> _Dot | str:
        dollars, score = s.cost.asking.per_response, plot_value(s.score)
        if dollars is None or score is None or dollars <= 0:
            return s.cost.asking.reason or s.score.reason or "it cost nothing"
        text = f"score {in_full(s.score)}; {_dollars(dollars)} a response"
        return _Dot(PlotValue(dollars, dollars, dollars), score, text)

    return _scatter(
        entries,
        width,
        dot,
        lambda costs, _: _log_axis(costs or [0.01]),
        ("dollars a response, on a logarithmic scale", "score, %"),
        "Score against the cost of asking for one response.",
    )


def worst_scatter(entries: Sequence[Entry], width: int = WIDE) -> Figure:
    """Return a plot of the score by the worst of n responses against the mean score."""

    def dot(s: Entry) -> _Dot | str:
        score, worst = plot_value(s.score), plot_value(s.worst_at_n)
        if score is None or worst is None:
            return s.score.reason if score is None else s.worst_at_n.reason
        text = f"score {in_full(s.score)}; worst of {s.n_epochs} {in_full(s.worst_at_n)}"
        return _Dot(score, worst, text)

    return _scatter(
        entries,
        width,
        dot,
        lambda numbers, length: percent_axis(numbers, length, None),
        ("score, %", f"worst of {n_epochs_text(entries)}, %"),
        "Score of the worst response against the mean score.",
    )


def severity_scatter(
    points: Iterable[tuple[str, Errors, Estimate, bool]],
    width: int = WIDE,
    heading: str = "",
    up_to: float = 10,
) -> Figure:
    """Return a plot of the score against severe errors.

    Args:
        points: Name, severe errors and score of each system, and whether it is not ranked; such a
            point is hollow.
        width: Width of the figure.
        heading: Text above the plot.
        up_to: Percentage of severe errors that the plot reaches at least.
    """
    dots: list[_Dot] = []
    left_out: list[str] = []
    for raw_name, severe, score, hollow in points:
        name, share = on_one_line(raw_name), severe.share
        x, y = _share_at(severe), plot_value(score)
        if x is None or y is None:
            left_out.append(f"{name}: {(share if x is None else score).reason}")
        else:
            limit = severe.upper_at_zero
            errors = in_full(share) if limit is None else f"none, up to {percent(limit)}%"
            text = f"severe errors {errors}; score {in_full(score)}"
            dots.append(_Dot(x, y, text, name, hollow))
    return _drawn(
        dots,
        left_out,
        width,
        lambda shares, length: percent_axis(shares, length, (0, up_to)),
        ("responses with a severe error, %", "score, %"),
        " ".join(filter(None, (heading, "Score against severe errors."))),
        NOT_RANKED,
        heading,
    )


def _share_at(errors: Errors) -> PlotValue | None:
    """Return a share of errors in percent; without an error, up to its one-sided limit."""
    if errors.upper_at_zero is None:
        return plot_value(errors.share)
    return PlotValue(0.0, 0.0, as_percent(errors.upper_at_zero))


def _scatter(
    entries: Sequence[Entry],
    width: int,
    dot: Callable[[Entry], _Dot | str],
    across: Callable[[Sequence[float], float], Axis],
    titles: tuple[str, str],
    description: str,
) -> Figure:
    """Return a figure with a point for each entry, and a line for each that has none.

    Args:
        entries: The entries.
        width: Width of the figure.
        dot: Returns the point of an entry, without name, or the reason why it has none.
        across: Returns the horizontal axis over these numbers with this length.
        titles: Titles of the horizontal and the vertical axis.
        description: What the figure shows, in a sentence.
    """
    dots, left_out = [], []
    for name, s in zip(display_names(entries), entries, strict=True):
        match dot(s):
            case str(reason):
                left_out.append(f"{name}: {reason}")
            case made:
                dots.append(replace(made, name=name, hollow=bool(s.not_ranked)))
    return _drawn(dots, left_out, width, across, titles, description, HOLLOW)


def _drawn(
    dots: Sequence[_Dot],
    left_out: Sequence[str],
    width: int,
    across: Callable[[Sequence[float], float], Axis],
    titles: tuple[str, str],
    description: str,
    hollow: LegendEntry,
    heading: str = "",
) -> Figure:
    """Return a figure with these points, and a line for each entry left out.

    Args:
        dots: The points, with names.
        left_out: Name and reason of each entry without a point.
        width: Width of the figure.
        across: As for `_scatter`.
        titles: As for `_scatter`.
        description: As for `_scatter`.
        hollow: Meaning of hollow points.
        heading: Text above the legend; empty for none.
    """
    inner = width - 2 * MARGIN
    length = inner - _LEFT - _RIGHT
    tall = max(length * 0.55, 300, 9.0 * len(dots))
    keys = [
        LegendEntry("95% interval", (Segment(-8, 0, 8, 0, width=1), Segment(0, -6, 0, 6, width=1)))
    ]
    if any(dot.hollow for dot in dots):
        keys.append(hollow)
    above = [TextLine(0, LINE_HEIGHT / 2, heading, bold=True)] if heading else []
    room = (LINE_HEIGHT + 6) * len(above)
    keyed, top = legend(keys, inner)
    marks = [*above, *moved(keyed, 0, room)]
    top += room
    plot = _Plot.of(
        across([number for dot in dots for number in dot.x], length),
        percent_axis((number for dot in dots for number in dot.y), tall, None),
        titles[0],
        TextLine(0, 0, titles[1], "muted", size=SMALL),
        (length, tall),
        top + 8,
    )
    marks += plot.marks
    arms = []
    for each in dots:
        x, y = plot.x(each.x.value), plot.y(each.y.value)
        arms += [
            Segment(plot.x(each.x.low), y, plot.x(each.x.high), y, width=1, faint=True),
            Segment(x, plot.y(each.y.low), x, plot.y(each.y.high), width=1, faint=True),
        ]
        marks.append(Point(x, y, hollow=each.hollow, label=f"{each.name}: {each.text}"))
    marks += [*arms, *_named(dots, plot, arms, inner)]
    lines, y = not_drawn_lines(left_out, inner, plot.bottom + _BELOW)
    sentences = [f"{each.name}: {each.text}." for each in dots]
    sentences += [f"Not drawn: {why}." for why in left_out]
    return figure([*marks, *lines], width, y, " ".join([description, *sentences]))


def _named(dots: Sequence[_Dot], plot: _Plot, arms: Sequence[Segment], inner: float) -> list[Mark]:
    """Return the names near their points; a name far from its point is joined to it by a line."""
    points = [(plot.x(dot.x.value), plot.y(dot.y.value)) for dot in dots]
    shown = [fit_in_lines(dot.name, inner * _MAX_LABEL, SMALL, 2) for dot in dots]
    sizes = [
        (max(text_width(line, SMALL) for line in lines), float(_LINE * len(lines)))
        for lines in shown
    ]
    bounds = Area(_LEFT, plot.top - 4, inner, plot.bottom)
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
            marks.append(TextLine(at, area.top + (n + 0.5) * _LINE, line, align=align, size=SMALL))
        near_x, near_y = min(max(x, area.left), area.right), min(max(y, area.top), area.bottom)
        if math.hypot(near_x - x, near_y - y) > _LEADER:
            marks.append(Segment(x, y, near_x, near_y, "muted", 0.7))
    return marks


def _log_axis(costs: Sequence[float]) -> Axis:
    """Return an axis that covers these costs, with ticks at 1, 2 and 5 times 10^n, or at 10^n."""
    low, high = min(costs) / 1.6, max(costs) * 3
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


# A curve for each entry

_MAX_BANDS = 3
"""Up to this many entries, each curve has the band of its interval."""
_SHAPES = (
    "circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
    "triangle-left",
)  # fmt: skip
_COLOURS = ("accent", "ink", "muted")
_HEIGHT = 230
_REACH = 32
"""Pixels from the end of a curve to its label."""


@dataclass(frozen=True)
class _Series:
    """One entry's curve: estimates for k = 1, 2, …, with shape and colour."""

    name: str
    estimates: Sequence[Estimate]
    shape: str
    colour: str
    dashed: bool
    hollow: bool

    @property
    def values(self) -> list[tuple[int, PlotValue]]:
        """The known estimates as pairs of k and estimate."""
        numbered = ((k, plot_value(estimate)) for k, estimate in enumerate(self.estimates, 1))
        return [(k, at) for k, at in numbered if at is not None]


def worst_at_k(entries: Sequence[Entry], width: int = WIDE) -> Figure:
    """Return a figure over k: the score by the lowest of k, and severe errors in any of k.

    Each entry has a curve, which ends at the entry's name. With up to three entries, a band shows
    the interval of each.
    """
    inner = width - 2 * MARGIN
    stacked = width < ROOMY
    each_width = inner if stacked else (inner - _BETWEEN) / 2
    marks: list[Mark] = []
    y = 0.0
    named_entries = list(zip(display_names(entries), entries, strict=True))
    if any(each.not_ranked and _is_drawn(each) for each in entries):
        marks, y = legend([HOLLOW], inner)
        y += 14
    first, height = _panel(
        "Score by the lowest of k responses, %",
        _series(named_entries, lambda d: d.worst_at_k),
        each_width,
        (0, 100),
    )
    second, other = _panel(
        "Scenarios with a severe error in any of k, %",
        _series(named_entries, lambda d: d.severe_of_k),
        each_width,
        (0, 10),
    )
    marks += moved(first, 0, y)
    if stacked:
        marks += moved(second, 0, y + height + 16)
        y += height + 16 + other
    else:
        marks += moved(second, each_width + _BETWEEN, y)
        y += max(height, other)
    reasons = [f"{name}: {_reason(each)}" for name, each in named_entries if not _is_drawn(each)]
    lines, y = not_drawn_lines(reasons, inner, y)
    return figure([*marks, *lines], width, y, _description(named_entries))


def _is_drawn(entry: Entry) -> bool:
    return any(e.value is not None for e in (*entry.worst_at_k, *entry.severe_of_k))


def _series(
    named_entries: Sequence[tuple[str, Entry]], take: Callable[[Entry], Sequence[Estimate]]
) -> list[_Series]:
    return [
        _Series(
            name,
            take(each),
            _SHAPES[n % len(_SHAPES)],
            _COLOURS[n % len(_COLOURS)],
            dashed=n // len(_SHAPES) % 2 == 1,
            hollow=bool(each.not_ranked),
        )
        for n, (name, each) in enumerate(named_entries)
    ]


def _panel(
    title: str, series: Sequence[_Series], width: float, ends: tuple[float, float]
) -> tuple[list[Mark], float]:
    """Return the marks of one panel and its height."""
    series_values = [(one, values) for one in series if (values := one.values)]
    lines = [fit_in_lines(one.name, width * 0.36, SMALL, 3) for one, _ in series_values]
    room = max((text_width(line, SMALL) for name in lines for line in name), default=0)
    heights = [len(name) * _LINE + 2 for name in lines]
    length = width - _LEFT - _REACH - room
    tall = max(_HEIGHT, sum(heights))
    n = max((len(one.estimates) for one in series), default=1)
    banded = len(series) <= _MAX_BANDS
    numbers = (
        number
        for _, values in series_values
        for _, at in values
        for number in (at if banded else at[:1])
    )
    ticks = [k for k in range(1, n + 1) if n <= 10 or k == 1 or k % 5 == 0]
    plot = _Plot.of(
        Axis((1, n) if n > 1 else (0.5, 1.5), tuple((k, f"{k}") for k in ticks), lines=False),
        percent_axis(numbers, tall, ends),
        "k, responses to a scenario",
        TextLine(0, 0, title, bold=True),
        (length, tall),
    )
    marks = plot.marks
    wanted = [plot.y(values[-1][1].value) for _, values in series_values]
    middles = spread_labels(wanted, heights, plot.top - 6, plot.bottom + 6)
    left = _LEFT + length + _REACH
    for (one, values), name, at, middle in zip(series_values, lines, wanted, middles, strict=True):
        drawn = [
            *(map_coordinates(mark, plot.x, plot.y) for mark in _curve(one, values, banded)),
            Segment(plot.x(values[-1][0]) + 6, at, left - 14, middle, "line", 1),
            Point(left - 8, middle, one.shape, one.colour, one.hollow, radius=2.8),
        ]
        for k, line in enumerate(name):
            y = middle + (k - (len(name) - 1) / 2) * _LINE
            drawn.append(TextLine(left, y, line, one.colour, size=SMALL))
        # of several entries, a reader can highlight each
        marks += [replace(mark, series=one.name if len(series) > 1 else "") for mark in drawn]
    return marks, plot.bottom + _BELOW


def _reason(entry: Entry) -> str:
    return next((e.reason for e in entry.worst_at_k if e.reason), "there is no response")


def _curve(one: _Series, values: Sequence[tuple[int, PlotValue]], banded: bool) -> list[Mark]:
    ks = [k for k, _ in values]
    marks: list[Mark] = [Curve(ks, [at.value for _, at in values], one.colour, one.dashed)]
    if banded:
        with_interval = [(k, at) for k, at in values if one.estimates[k - 1].ci95 is not None]
        lows, highs = ([at[end] for _, at in with_interval] for end in (1, 2))
        marks.append(Band([k for k, _ in with_interval], lows, highs, one.colour))
    for k, at in values:
        label = f"{one.name}, k = {k}: {in_full(one.estimates[k - 1])}"
        marks.append(Point(k, at.value, one.shape, one.colour, one.hollow, radius=2.8, label=label))
    return marks


def _description(named_entries: Sequence[tuple[str, Entry]]) -> str:
    sentences = [
        "Score if every scenario had got the lowest of k responses, "
        "and share of scenarios with a severe error in any of k."
    ]
    for name, each in named_entries:
        for what, values in (
            (SCORE.key, each.worst_at_k),
            (SEVERE.key, each.severe_of_k),
        ):
            if values:
                first, *more = map(ESTIMATE.page_text, values)
                last = f" to {more[-1]} for {len(values)}" if more else ""
                sentences.append(f"{name}, {what}: from {first} for one response{last}.")
    return " ".join(sentences)


def spread_labels(
    wanted: Sequence[float], heights: Sequence[float], top: float, bottom: float
) -> list[float]:
    """Return positions for the middles of labels in one column, near the `wanted` positions.

    Labels do not overlap and keep the order of `wanted`. They begin at `top` or below, and end at
    `bottom` or above if all of them fit.
    """
    order = sorted(range(len(wanted)), key=lambda n: wanted[n])
    middles = [0.0] * len(wanted)
    floor = top
    for n in order:
        middles[n] = max(wanted[n], floor + heights[n] / 2)
        floor = middles[n] + heights[n] / 2
    ceiling = bottom
    for n in reversed(order):
        middles[n] = min(middles[n], ceiling - heights[n] / 2)
        ceiling = middles[n] - heights[n] / 2
    # if they do not all fit, they begin at the top
    if order and (above := top - (middles[order[0]] - heights[order[0]] / 2)) > 0:
        middles = [y + above for y in middles]
    return middles
