"""Figures that show how the scores of scenarios are distributed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from careeval.core.scenario import Adl
from careeval.core.text import percent
from careeval.report.charts.drawing import (
    HOLLOW,
    MARGIN,
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
    grid_across,
    legend,
    map_coordinates,
    moved,
    percent_axis,
    plot_value,
    shift_by,
)
from careeval.report.charts.grid import Block, Panel, stack_blocks
from careeval.report.words import in_full, percent_text
from careeval.results.details import ScenarioScore
from careeval.results.findings import EntryFindings
from careeval.results.summary import Summary
from careeval.sheets.names import plain

_ROW, _TITLE, _GAP, _LABELS = 7, 22, 12, 22
_BETWEEN = 36
_BIN = 10
"""Width of a bar's bin, in percentage points."""
_TALLEST = 24
"""Height of the longest bar in pixels."""
_SCORE_BELOW = 7


def distribution(entry: EntryFindings) -> Figure:
    """Return a figure of one entry's scores: each scenario's responses, their mean and the lowest.

    Each scenario has a row; within an activity the best comes first. A tick marks a score; the more
    responses have that score, the taller the tick.
    """
    summary, scenarios = entry.summary, entry.detail.scenarios
    scored = [s for s in scenarios if s.score is not None]
    groups = _groups(scored)
    inner = WIDE - 2 * MARGIN
    hollow = bool(summary.not_ranked)
    entries = [
        LegendEntry("mean of a scenario’s responses, % of its points", (Point(0, 0, radius=2.4),)),
        LegendEntry("a response", (Segment(0, -4, 0, 4, "muted", 1.5),)),
        LegendEntry("lowest response", (Point(0, 0, "triangle-down", "harm", radius=2.4),)),
        *([HOLLOW] if hollow else []),
    ]
    marks, top = legend(entries, inner)
    top += 12
    columns = _columns(groups)
    each = (inner - _BETWEEN * (len(columns) - 1)) / len(columns)
    axis = percent_axis((as_percent(x) for s in scored for x in s.epochs if x is not None), each)
    lowest = top
    for n, column in enumerate(columns):
        drawn, height = _column(column, axis, each, hollow)
        marks += moved(drawn, n * (each + _BETWEEN), top)
        lowest = max(lowest, top + height)
    for n in range(len(columns)):
        left = n * (each + _BETWEEN)
        drawn = grid_across(axis, left, each, lowest, lowest, within=True)
        marks += [mark for mark in drawn if isinstance(mark, TextLine)]
    lowest += _LABELS
    shown = tuple(moved(marks, MARGIN, MARGIN))
    return Figure(WIDE, lowest + 2 * MARGIN, shown, _description(summary, scenarios))


def distributions(entries: Sequence[EntryFindings], width: int = WIDE) -> Figure:
    """Return a figure with a histogram for each entry: how many scenarios have which score."""
    summaries = [each.summary for each in entries]
    scores = [
        [as_percent(s.score) for s in each.detail.scenarios if s.score is not None]
        for each in entries
    ]
    bins = [Counter(map(_bin, each)) for each in scores]
    most = max((n for each in bins for n in each.values()), default=1)
    cells = [_bars(counts, most, s) for counts, s in zip(bins, summaries, strict=True)]
    meanings = [
        LegendEntry(
            f"scenarios with a score of so many % of their points, in steps of {_BIN}; "
            f"the longest bar is {most}",
            (Box(-8, 5, 0, -6, "muted"), Box(0, 5, 8, 0, "muted")),
        ),
        LegendEntry("score with 95% interval", (Segment(-10, 0, 10, 0), Point(0, 0))),
        *([HOLLOW] if any(s.not_ranked for s in summaries) else []),
    ]
    sentences = ["How many scenarios have which mean score."]
    sentences += [
        f"{name}: {_spread(each)}"
        for name, each in zip(display_names(summaries), scores, strict=True)
    ]
    block = Block(display_names(summaries), [Panel("", cells)], _TALLEST + 14)
    return stack_blocks(meanings, [block], width, " ".join(sentences))


def _groups(scenarios: Sequence[ScenarioScore]) -> list[tuple[str, list[ScenarioScore]]]:
    order = [*Adl, None]
    by_adl: dict[str | None, list[ScenarioScore]] = {}
    for scenario in scenarios:
        by_adl.setdefault(scenario.about.adl, []).append(scenario)
    return [
        (plain(adl).capitalize(), sorted(by_adl[adl], key=lambda s: -(s.score or 0)))
        for adl in sorted(by_adl, key=lambda adl: order.index(adl) if adl in order else len(order))
    ]


def _columns(
    groups: Sequence[tuple[str, list[ScenarioScore]]],
) -> list[list[tuple[str, list[ScenarioScore]]]]:
    """Return the groups, in order, in one or two columns of about as many scenarios each."""
    half = sum(len(scenarios) for _, scenarios in groups) / 2
    columns: list[list[tuple[str, list[ScenarioScore]]]] = [[]]
    count = 0
    for group in groups:
        if len(columns) < 2 and columns[-1] and count + len(group[1]) / 2 > half:
            columns.append([])
        columns[-1].append(group)
        count += len(group[1])
    return columns


def _column(
    groups: Sequence[tuple[str, list[ScenarioScore]]], axis: Axis, width: float, hollow: bool
) -> tuple[list[Mark], float]:
    x = axis.along(0, width)
    marks: list[Mark] = []
    y = 0.0
    for title, scenarios in groups:
        marks.append(TextLine(0, y + _TITLE / 2, title, bold=True))
        y += _TITLE
        bottom = y + _ROW * len(scenarios)
        marks += [m for m in grid_across(axis, 0, width, y, bottom) if isinstance(m, Segment)]
        for scenario in scenarios:
            middle = y + _ROW / 2
            marks += [
                map_coordinates(mark, x, shift_by(middle)) for mark in _strip(scenario, hollow)
            ]
            y += _ROW
        y += _GAP
    return marks, y - _GAP


def _strip(scenario: ScenarioScore, hollow: bool) -> list[Mark]:
    scores = [as_percent(score) for score in scenario.epochs if score is not None]
    if scenario.score is None or not scores:
        return []
    marks: list[Mark] = [Segment(min(scores), 0, max(scores), 0, "muted", 1, faint=True)]
    for score, n in Counter(scores).items():
        half = 1.2 + 1.8 * n / len(scores)
        marks.append(Segment(score, -half, score, half, "muted", 1.5))
    if scenario.worst is not None and len(scores) > 1:
        marks.append(
            Point(as_percent(scenario.worst), 0, "triangle-down", "harm", hollow, radius=2.4)
        )
    worst = "" if scenario.worst is None else f", lowest {percent(scenario.worst)}%"
    label = f"{scenario.scenario}: {percent(scenario.score)}%{worst}"
    marks.append(Point(as_percent(scenario.score), 0, hollow=hollow, radius=2.4, label=label))
    return marks


def _bars(bins: Counter[int], most: int, summary: Summary) -> list[Mark]:
    base = _TALLEST / 2 - 5
    marks: list[Mark] = [
        Box(
            at_bin * _BIN, base, (at_bin + 1) * _BIN, base - _TALLEST * n / most, "muted",
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


def _description(summary: Summary, scenarios: Sequence[ScenarioScore]) -> str:
    scores = [as_percent(s.score) for s in scenarios if s.score is not None]
    unknown = len(scenarios) - len(scores)
    sentences = [
        f"The score of every scenario, its responses and the lowest of them. "
        f"{display_names([summary])[0]}: {percent_text(summary.score)} over all; {_spread(scores)}"
    ]
    if unknown:
        sentences.append(f"{unknown} without a score are not drawn.")
    return " ".join(sentences)
