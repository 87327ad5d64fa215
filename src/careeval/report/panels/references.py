"""Tables of the references beside entries."""

from __future__ import annotations

from collections.abc import Sequence

from careeval.report.page_table import BarScale, PageColumn, PageTable, strip_of
from careeval.report.panels.parts import severe_column
from careeval.results.entry import Entry
from careeval.results.metrics import SCORE
from careeval.results.references import Reference, by_scale, references_beside
from careeval.sheets.references import references_sheet


def references_tables(entries: Sequence[Entry]) -> list[PageTable]:
    """Return a table of references for each scale of entries that has some."""
    beside = map(references_beside, by_scale(entries).values())
    return [references_table(references) for references in beside if references]


def references_table(references: Sequence[Reference]) -> PageTable:
    """Return a table of references that share a scale, one or more."""
    scale = BarScale.of_estimates(each.score for each in references)
    shares = BarScale.of_estimates((each.severe.share for each in references), (0, 0.1))
    condition = references[0].condition
    return PageTable(
        references_sheet(references),
        (
            PageColumn("name", beneath=lambda row: (row["about"],)),
            severe_column(references[0].rubric.value, shares),
            PageColumn(SCORE.key, about="95% interval", strip=strip_of(SCORE.key, scale)),
            PageColumn("asked"),
            PageColumn("judged_by"),
        ),
        f"References over the public split, not ranked{f': {condition}' if condition else ''}",
        cards=True,
        sortable=False,
        is_grey=lambda _: True,
    )
