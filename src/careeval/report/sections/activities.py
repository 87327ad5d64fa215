"""The section of errors and scores, overall and by activity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from careeval.report.page_table import BarScale, PageColumn, PageTable, strip_of
from careeval.report.sections.parts import PART, part_strip, parts_table
from careeval.report.sections.section import Report, Section
from careeval.results.details import Breakdown
from careeval.results.metrics import HEADLINE
from careeval.sheets.entries.entries_sheet import entries_sheet, parts_sheet
from careeval.sheets.entries.side_by_side import pivot
from careeval.sheets.sheet import Row


def _fill(report: Report) -> Mapping[str, Any]:
    by_activity = parts_table(Breakdown.adl, report)
    return {
        "overview": by_activity if report.has_one_entry else overview_table(report),
        "by_activity": None if report.has_one_entry else by_activity,
    }


def overview_table(report: Report) -> PageTable:
    """Return a table of entries' main numbers and scores by activity, each with a `Strip`."""
    parts = parts_sheet(Breakdown.adl, report.graded)
    wide, keys = pivot(parts, "name", Breakdown.adl.value, PART)
    by_name = {row["name"]: {key: row[key] for key in keys if key in row} for row in wide.rows}
    entries = entries_sheet(report.graded)
    sheet = entries.with_fields(
        *(wide.by_key[key] for key in keys), rows=(by_name.get(r["name"], {}) for r in entries.rows)
    )
    error_keys = [metric.key for metric in HEADLINE if metric.counts_errors]
    score_keys = [metric.key for metric in HEADLINE if not metric.counts_errors]
    shares = BarScale.of_estimates(
        (row[key].share for row in sheet.rows for key in error_keys), (0, 0.1)
    )
    scores = BarScale.of_estimates(
        [
            *(row[key] for row in sheet.rows for key in score_keys),
            *(row["score"] for row in parts.rows),
        ]
    )
    metrics = (
        PageColumn(
            metric.key,
            report.score_name if metric.key == "score" else "",
            lines=False,
            strip=strip_of(metric.key, shares if metric.counts_errors else scores),
            look=partial(_tone, metric.key),
        )
        for metric in HEADLINE
    )
    activities = (
        PageColumn(
            key,
            wide.by_key[key].heading.capitalize(),
            lines=False,
            strip=part_strip(key, scores),
        )
        for key in keys
    )
    return PageTable(
        sheet,
        (PageColumn("name"), *metrics, *activities),
        "Overall and by activity",
        _NOTE,
        look="strips",
        is_grey=lambda row: row["name"] in report.unranked,
    )


_NOTE = (
    "A line is a 95% interval, a hollow mark has none, and the tick marks 0. By activity: the "
    "score, in %; * fewer than five scenarios, not for comparing. Grey: not for ranking."
)
_TONES = {"severe": "harm", "mild": "mild"}
"""Key of a metric → CSS class of its colour if above 0."""


def _tone(key: str, row: Row) -> str:
    return _TONES[key] if key in _TONES and row[key].share.value else ""


ACTIVITIES = Section("overview", "Activities", "sections/activities.html", _fill)
