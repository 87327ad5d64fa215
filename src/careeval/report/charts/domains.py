"""The domain profile: what a system is good at, on both rubrics."""

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
from careeval.report.words import DOMAINS, in_full, value
from careeval.results.summary import DomainCell, Summary
from careeval.stats import MIN_CLUSTERS

_ROW = 30
_APART = 5
"""Pixels of each mark from the middle of its row."""


def domains(summaries: Sequence[Summary], width: int = WIDE) -> Figure:
    """Points of the actions and level on the ladder in each domain, a row an entry.

    Hollow where the entry may not be ranked, and below five scenarios. Of one entry, a row a
    domain.
    """
    columns = [
        Column(DOMAINS[domain], [_cell(s.by_domain[domain], bool(s.not_ranked)) for s in summaries])
        for domain in Domain
    ]
    block = beside(names(summaries), columns, _ROW)
    entries = [
        KeyEntry("points of the actions, %, with 95% interval", (Line(-10, 0, 10, 0), Point(0, 0))),
        KeyEntry("level on the ladder, %", (Point(0, 0, "square", "ink"),)),
    ]
    if any(s.not_ranked or any(map(_small, s.by_domain.values())) for s in summaries):
        entries.append(HOLLOW)
    return stacked(entries, [block], width, _description(summaries))


def _small(cell: DomainCell) -> bool:
    return any(0 < n < MIN_CLUSTERS for n in (cell.n, cell.n_ladder))


def _cell(cell: DomainCell, not_ranked: bool) -> list[Mark]:
    marks: list[Mark] = []
    if (at := place(cell.action_score)) is not None:
        hollow = not_ranked or cell.n < MIN_CLUSTERS
        said = f"points of the actions: {in_full(cell.action_score)}"
        marks.append(Line(at.low, -_APART, at.high, -_APART))
        marks.append(Point(at.value, -_APART, hollow=hollow, said=said))
    if (at := place(cell.ladder_level)) is not None:
        hollow = not_ranked or cell.n_ladder < MIN_CLUSTERS
        said = f"level on the ladder: {in_full(cell.ladder_level)}"
        marks.append(Point(at.value, _APART, "square", "ink", hollow, said=said))
    return marks


def _description(summaries: Sequence[Summary]) -> str:
    said = ["Points of the actions and level on the ladder in each of the four domains."]
    for name, s in zip(names(summaries), summaries, strict=True):
        parts = (
            f"{DOMAINS[domain]}: actions {value(cell.action_score)}, "
            f"ladder {value(cell.ladder_level)}"
            for domain, cell in s.by_domain.items()
        )
        said.append(f"{name}: {'; '.join(parts)}.")
    return " ".join(said)
