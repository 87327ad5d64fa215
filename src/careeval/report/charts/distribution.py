"""The figure of how many scenarios have which score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from careeval.report.charts.drawing import (
    HOLLOW,
    WIDE,
    Box,
    Figure,
    LegendEntry,
    Mark,
    Point,
    Segment,
    as_percent,
    display_names,
    plot_value,
)
from careeval.report.charts.grid import Block, Panel, stack_blocks
from careeval.report.words import in_full
from careeval.results.findings import EntryFindings
from careeval.results.summary import Summary

_BIN = 10
"""Width of a bar's bin, in percentage points."""
_TALLEST = 24
"""Height of the longest bar in pixels."""
_SCORE_BELOW = 7


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
