"""The figure of the worst of k responses to a scenario, and of severe errors in any of k."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from careeval.report.charts.drawing import (
    HOLLOW,
    MARGIN,
    ROOMY,
    SMALL,
    WIDE,
    Axis,
    Band,
    Curve,
    Figure,
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
    map_coordinates,
    moved,
    not_drawn_lines,
    percent_axis,
    plot_value,
    text_width,
)
from careeval.report.texts import in_full, percent_text
from careeval.results.entries import Entry
from careeval.stats.estimate import Estimate

_MOST_BANDS = 3
"""Up to this many entries, each curve has the band of its interval."""
_SHAPES = (
    "circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right",
    "triangle-left",
)  # fmt: skip
_COLOURS = ("accent", "ink", "muted")
_HEIGHT, _LINE = 230, 13
_LEFT, _TITLE, _BELOW, _BETWEEN = 30, 24, 40, 28
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


def worst_at_k(entries: Sequence[Entry], width: int = WIDE) -> Figure:
    """Return a figure over k: the score by the lowest of k, and severe errors in any of k.

    Each entry has a curve, which ends at the entry's name. With up to three entries, a band shows
    the interval of each.
    """
    inner = width - 2 * MARGIN
    stacked = width < ROOMY
    each = inner if stacked else (inner - _BETWEEN) / 2
    marks: list[Mark] = []
    y = 0.0
    named_entries = list(zip(display_names(entries), entries, strict=True))
    if any(each.not_ranked and _is_drawn(each) for each in entries):
        marks, y = legend([HOLLOW], inner)
        y += 14
    first, height = _panel(
        "Score by the lowest of k responses, %",
        _series(named_entries, lambda d: d.worst_at_k),
        each,
        (0, 100),
    )
    second, other = _panel(
        "Scenarios with a severe error in any of k, %",
        _series(named_entries, lambda d: d.severe_of_k),
        each,
        (0, 10),
    )
    marks += moved(first, 0, y)
    if stacked:
        marks += moved(second, 0, y + height + 16)
        y += height + 16 + other
    else:
        marks += moved(second, each + _BETWEEN, y)
        y += max(height, other)
    reasons = [f"{name}: {_reason(each)}" for name, each in named_entries if not _is_drawn(each)]
    lines, y = not_drawn_lines(reasons, inner, y)
    marks += lines
    shown = tuple(moved(marks, MARGIN, MARGIN))
    return Figure(width, y + 2 * MARGIN, shown, _description(named_entries))


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
    series_values = [(one, values) for one in series if (values := _known_values(one))]
    most_room = width * 0.36
    lines = [fit_in_lines(one.name, most_room, SMALL, 3) for one, _ in series_values]
    room = max((text_width(line, SMALL) for name in lines for line in name), default=0)
    heights = [len(name) * _LINE + 2 for name in lines]
    length = width - _LEFT - _REACH - room
    tall = max(_HEIGHT, sum(heights))
    n = max((len(one.estimates) for one in series), default=1)
    banded = len(series) <= _MOST_BANDS
    numbers = [
        number
        for _, values in series_values
        for _, at in values
        for number in (at if banded else at[:1])
    ]
    up = percent_axis(numbers, tall, ends)
    step = 1 if n <= 10 else 5
    ticks = [k for k in range(1, n + 1) if k == 1 or k % step == 0]
    across = Axis((1, n) if n > 1 else (0.5, 1.5), tuple((k, f"{k}") for k in ticks))
    bottom = _TITLE + tall
    x, y = across.along(_LEFT, length), up.along(bottom, -tall)
    marks: list[Mark] = [TextLine(0, 8, line, bold=True) for line in (title,)]
    marks += grid_up(up, bottom, tall, _LEFT, _LEFT + length)
    marks += [
        mark
        for mark in grid_across(across, _LEFT, length, _TITLE, bottom)
        if isinstance(mark, TextLine)
    ]
    marks.append(TextLine(_LEFT, bottom + 28, "k, responses to a scenario", "muted", size=SMALL))
    for one, values in series_values:
        drawn = [map_coordinates(mark, x, y) for mark in _curve(one, values, banded)]
        marks += _of_series(one, drawn) if len(series) > 1 else drawn
    wanted = [y(values[-1][1].value) for _, values in series_values]
    middles = spread_labels(wanted, heights, _TITLE - 6, bottom + 6)
    for (one, values), name, at, middle in zip(series_values, lines, wanted, middles, strict=True):
        end = x(values[-1][0])
        left = _LEFT + length + _REACH
        label: list[Mark] = [
            Segment(end + 6, at, left - 14, middle, "line", 1),
            Point(left - 8, middle, one.shape, one.colour, one.hollow, radius=2.8),
        ]
        label += [
            TextLine(left, middle + (k - (len(name) - 1) / 2) * _LINE, line, one.colour, size=SMALL)
            for k, line in enumerate(name)
        ]
        marks += _of_series(one, label) if len(series) > 1 else label
    return marks, bottom + _BELOW


def _of_series(one: _Series, marks: Iterable[Mark]) -> list[Mark]:
    return [replace(mark, series=one.name) for mark in marks]


def _reason(entry: Entry) -> str:
    return next((e.reason for e in entry.worst_at_k if e.reason), "there is no response")


def _known_values(one: _Series) -> list[tuple[int, PlotValue]]:
    """Return the known estimates as pairs of k and estimate."""
    return [
        (k, at)
        for k, estimate in enumerate(one.estimates, 1)
        if (at := plot_value(estimate)) is not None
    ]


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
            ("score", each.worst_at_k),
            ("severe", each.severe_of_k),
        ):
            if values:
                last = (
                    f" to {percent_text(values[-1])} for {len(values)}" if len(values) > 1 else ""
                )
                sentences.append(
                    f"{name}, {what}: from {percent_text(values[0])} for one response{last}."
                )
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
    least = top
    for n in order:
        middles[n] = max(wanted[n], least + heights[n] / 2)
        least = middles[n] + heights[n] / 2
    most = bottom
    for n in reversed(order):
        middles[n] = min(middles[n], most - heights[n] / 2)
        most = middles[n] - heights[n] / 2
    # if they do not all fit, they begin at the top
    if order and (above := top - (middles[order[0]] - heights[order[0]] / 2)) > 0:
        middles = [y + above for y in middles]
    return middles
