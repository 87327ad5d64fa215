"""How the scenarios' scores spread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from careeval.core.scenario import Adl
from careeval.report.charts.drawing import (
    HOLLOW,
    MARGIN,
    WIDE,
    Axis,
    Box,
    Figure,
    KeyEntry,
    Line,
    Mark,
    Point,
    Words,
    down,
    grid_across,
    key,
    mapped,
    moved,
    names,
    percent_axis,
    place,
    rounded,
)
from careeval.report.charts.grid import Block, Column, stacked
from careeval.report.words import in_full, value
from careeval.results.amounts import percent
from careeval.results.findings import Graded
from careeval.results.score.entry_details import ScenarioScore
from careeval.results.score.summary import Summary
from careeval.sheets.names import plain

_ROW, _TITLE, _GAP, _LABELS = 7, 22, 12, 22
_BETWEEN = 36
_BIN = 10
"""Percentages in one bar."""
_TALLEST = 24
"""Pixels of the longest bar."""
_SCORE_BELOW = 7


def distribution(entry: Graded) -> Figure:
    """Return every scenario's score: its responses, their mean and the lowest of them.

    A row a scenario, best first within its activity. A response's tick is the taller, the more of
    the scenario's responses have its score.
    """
    summary, scenarios = entry.summary, entry.detail.scenarios
    known = [s for s in scenarios if s.score is not None]
    groups = _groups(known)
    inner = WIDE - 2 * MARGIN
    hollow = bool(summary.not_ranked)
    entries = [
        KeyEntry("mean of a scenario’s responses, % of its points", (Point(0, 0, radius=2.4),)),
        KeyEntry("a response", (Line(0, -4, 0, 4, "muted", 1.5),)),
        KeyEntry("lowest response", (Point(0, 0, "triangle-down", "harm", radius=2.4),)),
        *([HOLLOW] if hollow else []),
    ]
    marks, top = key(entries, inner)
    top += 12
    columns = _columns(groups)
    each = (inner - _BETWEEN * (len(columns) - 1)) / len(columns)
    axis = percent_axis((rounded(x) for s in known for x in s.epochs if x is not None), each)
    lowest = top
    for n, column in enumerate(columns):
        drawn, height = _column(column, axis, each, hollow)
        marks += moved(drawn, n * (each + _BETWEEN), top)
        lowest = max(lowest, top + height)
    for n in range(len(columns)):
        left = n * (each + _BETWEEN)
        drawn = grid_across(axis, left, each, lowest, lowest, within=True)
        marks += [mark for mark in drawn if isinstance(mark, Words)]
    lowest += _LABELS
    shown = tuple(moved(marks, MARGIN, MARGIN))
    return Figure(WIDE, lowest + 2 * MARGIN, shown, _description(summary, scenarios))


def distributions(entries: Sequence[Graded], width: int = WIDE) -> Figure:
    """Return how many scenarios have which score, a row of bars an entry."""
    summaries = [each.summary for each in entries]
    scores = [
        [rounded(s.score) for s in each.detail.scenarios if s.score is not None] for each in entries
    ]
    bins = [Counter(map(_bin, each)) for each in scores]
    most = max((n for each in bins for n in each.values()), default=1)
    cells = [_bars(counts, most, s) for counts, s in zip(bins, summaries, strict=True)]
    meanings = [
        KeyEntry(
            f"scenarios with a score of so many % of their points, in steps of {_BIN}; "
            f"the longest bar is {most}",
            (Box(-8, 5, 0, -6, "muted"), Box(0, 5, 8, 0, "muted")),
        ),
        KeyEntry("score with 95% interval", (Line(-10, 0, 10, 0), Point(0, 0))),
        *([HOLLOW] if any(s.not_ranked for s in summaries) else []),
    ]
    said = ["How many scenarios have which mean score."]
    said += [
        f"{name}: {_spread(each)}" for name, each in zip(names(summaries), scores, strict=True)
    ]
    block = Block(names(summaries), [Column("", cells)], _TALLEST + 14)
    return stacked(meanings, [block], width, " ".join(said))


def _groups(scenarios: Sequence[ScenarioScore]) -> list[tuple[str, list[ScenarioScore]]]:
    order = [*Adl, None]
    found: dict[str | None, list[ScenarioScore]] = {}
    for scenario in scenarios:
        found.setdefault(scenario.about.adl, []).append(scenario)
    return [
        (plain(adl).capitalize(), sorted(found[adl], key=lambda s: -(s.score or 0)))
        for adl in sorted(found, key=lambda adl: order.index(adl) if adl in order else len(order))
    ]


def _columns(
    groups: Sequence[tuple[str, list[ScenarioScore]]],
) -> list[list[tuple[str, list[ScenarioScore]]]]:
    """The groups in order, in two columns; the first ends where half of the scenarios are in it."""
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
        marks.append(Words(0, y + _TITLE / 2, title, bold=True))
        y += _TITLE
        bottom = y + _ROW * len(scenarios)
        marks += [m for m in grid_across(axis, 0, width, y, bottom) if isinstance(m, Line)]
        for scenario in scenarios:
            middle = y + _ROW / 2
            marks += [mapped(mark, x, down(middle)) for mark in _strip(scenario, hollow)]
            y += _ROW
        y += _GAP
    return marks, y - _GAP


def _strip(scenario: ScenarioScore, hollow: bool) -> list[Mark]:
    scores = [rounded(score) for score in scenario.epochs if score is not None]
    if scenario.score is None or not scores:
        return []
    marks: list[Mark] = [Line(min(scores), 0, max(scores), 0, "muted", 1, faint=True)]
    for score, n in Counter(scores).items():
        half = 1.2 + 1.8 * n / len(scores)
        marks.append(Line(score, -half, score, half, "muted", 1.5))
    if scenario.worst is not None and len(scores) > 1:
        marks.append(Point(rounded(scenario.worst), 0, "triangle-down", "harm", hollow, radius=2.4))
    worst = "" if scenario.worst is None else f", lowest {percent(scenario.worst)}%"
    said = f"{scenario.scenario}: {percent(scenario.score)}%{worst}"
    marks.append(Point(rounded(scenario.score), 0, hollow=hollow, radius=2.4, said=said))
    return marks


def _bars(bins: Counter[int], most: int, summary: Summary) -> list[Mark]:
    base = _TALLEST / 2 - 5
    marks: list[Mark] = [
        Box(
            at_bin * _BIN, base, (at_bin + 1) * _BIN, base - _TALLEST * n / most, "muted",
            said=f"{at_bin * _BIN} to {(at_bin + 1) * _BIN}%: {n} scenarios",
        )
        for at_bin, n in sorted(bins.items())
    ]  # fmt: skip
    if (at := place(summary.score)) is not None:
        y, hollow = base + _SCORE_BELOW, bool(summary.not_ranked)
        marks.append(Line(at.low, y, at.high, y))
        said = f"score: {in_full(summary.score)}"
        marks.append(Point(at.value, y, hollow=hollow, said=said))
    return marks


def _bin(score: float) -> int:
    """The bar that a percentage is in; the maximum is in the one below it."""
    return math.floor(score / _BIN) - (score == 100)


def _spread(scores: Sequence[float]) -> str:
    if not scores:
        return "no scenario has a score."
    low, high = (f"{score:.1f}%".replace("-", "−") for score in (min(scores), max(scores)))
    return f"{len(scores)} scenarios from {low} to {high}."


def _description(summary: Summary, scenarios: Sequence[ScenarioScore]) -> str:
    scores = [rounded(s.score) for s in scenarios if s.score is not None]
    unknown = len(scenarios) - len(scores)
    said = [
        f"The score of every scenario, its responses and the lowest of them. "
        f"{names([summary])[0]}: {value(summary.score)} over all; {_spread(scores)}"
    ]
    if unknown:
        said.append(f"{unknown} without a score are not drawn.")
    return " ".join(said)
