"""The domain profile: what a system is good at."""

from __future__ import annotations

from collections.abc import Sequence

from careeval.core.scenario import Domain
from careeval.report.charts.drawing import (
    HOLLOW,
    WIDE,
    Figure,
    KeyEntry,
    Line,
    Mark,
    Point,
    names,
    place,
)
from careeval.report.charts.grid import Column, beside, stacked
from careeval.report.words import in_full, score_name, value
from careeval.results.score.summary import DomainCell, Summary
from careeval.sheets.names import DOMAINS
from careeval.stats import MIN_CLUSTERS

_ROW = 30


def domains(summaries: Sequence[Summary]) -> Figure:
    """The domain-weighted score in each domain, a row an entry; of one entry, a row a domain.

    Hollow where the entry may not be ranked, and below five scenarios.
    """
    columns = [
        Column(DOMAINS[domain], [_cell(s.by_domain[domain], bool(s.not_ranked)) for s in summaries])
        for domain in Domain
    ]
    block = beside(names(summaries), columns, _ROW)
    meaning = f"{score_name(summaries).lower()}, % of the points, with 95% interval"
    entries = [KeyEntry(meaning, (Line(-10, 0, 10, 0), Point(0, 0)))]
    small = (0 < cell.n < MIN_CLUSTERS for s in summaries for cell in s.by_domain.values())
    if any(s.not_ranked for s in summaries) or any(small):
        entries.append(HOLLOW)
    return stacked(entries, [block], WIDE, _description(summaries))


def _cell(cell: DomainCell, not_ranked: bool) -> list[Mark]:
    if (at := place(cell.score)) is None:
        return []
    hollow = not_ranked or cell.n < MIN_CLUSTERS
    return [
        Line(at.low, 0, at.high, 0),
        Point(at.value, 0, hollow=hollow, said=f"score: {in_full(cell.score)}"),
    ]


def _description(summaries: Sequence[Summary]) -> str:
    said = ["Score in each of the four domains."]
    for name, s in zip(names(summaries), summaries, strict=True):
        parts = (f"{DOMAINS[domain]}: {value(cell.score)}" for domain, cell in s.by_domain.items())
        said.append(f"{name}: {'; '.join(parts)}.")
    return " ".join(said)
