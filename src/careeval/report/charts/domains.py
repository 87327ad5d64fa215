"""The figure of the scores by domain."""

from __future__ import annotations

from collections.abc import Sequence

from careeval.core.scenario import Domain
from careeval.report.charts.drawing import (
    HOLLOW,
    WIDE,
    Figure,
    LegendEntry,
    Mark,
    Point,
    Segment,
    display_names,
    plot_value,
)
from careeval.report.charts.grid import Panel, panels_beside, stack_blocks
from careeval.report.words import in_full, percent_text, score_name
from careeval.results.summary import DomainScore, Summary
from careeval.sheets.names import DOMAINS
from careeval.stats.intervals import MIN_CLUSTERS

_ROW = 30


def domains(summaries: Sequence[Summary]) -> Figure:
    """Return a figure of scores by domain: a row per entry or, for a single entry, per domain.

    A mark is hollow if the entry may not be ranked, or if fewer than five scenarios have an item
    rated in the domain.
    """
    panels = [
        Panel(DOMAINS[domain], [_cell(s.by_domain[domain], bool(s.not_ranked)) for s in summaries])
        for domain in Domain
    ]
    block = panels_beside(display_names(summaries), panels, _ROW)
    meaning = f"{score_name(summaries).lower()}, % of the points, with 95% interval"
    entries = [LegendEntry(meaning, (Segment(-10, 0, 10, 0), Point(0, 0)))]
    small = (0 < cell.n < MIN_CLUSTERS for s in summaries for cell in s.by_domain.values())
    if any(s.not_ranked for s in summaries) or any(small):
        entries.append(HOLLOW)
    return stack_blocks(entries, [block], WIDE, _description(summaries))


def _cell(cell: DomainScore, not_ranked: bool) -> list[Mark]:
    if (at := plot_value(cell.score)) is None:
        return []
    hollow = not_ranked or cell.n < MIN_CLUSTERS
    return [
        Segment(at.low, 0, at.high, 0),
        Point(at.value, 0, hollow=hollow, label=f"score: {in_full(cell.score)}"),
    ]


def _description(summaries: Sequence[Summary]) -> str:
    sentences = ["Score in each of the four domains."]
    for name, s in zip(display_names(summaries), summaries, strict=True):
        parts = (
            f"{DOMAINS[domain]}: {percent_text(cell.score)}" for domain, cell in s.by_domain.items()
        )
        sentences.append(f"{name}: {'; '.join(parts)}.")
    return " ".join(sentences)
