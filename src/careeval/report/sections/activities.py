"""The section of errors and scores, over all and by activity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from careeval.report.page_table import PageColumn, PageTable, Scale, strip_of
from careeval.report.sections.parts import PART, part_strip, parts_table
from careeval.report.sections.section import Report, Section
from careeval.results.parts import By
from careeval.results.score.metrics import HEADLINE
from careeval.sheets.entries.numbers import entries_sheet, parts_sheet
from careeval.sheets.entries.side_by_side import across
from careeval.sheets.sheet import Row


def _fill(report: Report) -> Mapping[str, Any]:
    by_activity = parts_table(By.adl, report)
    return {
        "overview": by_activity if report.is_of_one else overview_table(report),
        "by_activity": None if report.is_of_one else by_activity,
    }


def overview_table(report: Report) -> PageTable:
    """Return each entry's numbers, and its score by activity, drawn in their cells."""
    parts = parts_sheet(By.adl, report.graded)
    wide, keys = across(parts, "name", By.adl.value, PART)
    known = {row["name"]: {key: row[key] for key in keys if key in row} for row in wide.rows}
    entries = entries_sheet(report.graded)
    sheet = entries.adding(
        *(wide.by_key[key] for key in keys), rows=(known.get(r["name"], {}) for r in entries.rows)
    )
    of_errors = [metric.key for metric in HEADLINE if metric.counts_errors]
    others = [metric.key for metric in HEADLINE if not metric.counts_errors]
    shares = Scale.over((row[key].share for row in sheet.rows for key in of_errors), (0, 0.1))
    scores = Scale.over(
        [*(row[key] for row in sheet.rows for key in others), *(row["score"] for row in parts.rows)]
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
    "A line is a 95% interval, a hollow mark has none, and a tick is 0. By activity: the score, in "
    "%; * fewer than five scenarios, not for comparing. Grey: not for ranking."
)
_TONES = {"severe": "harm", "mild": "mild"}
"""Key of a metric → the class of its colour, above 0."""


def _tone(key: str, row: Row) -> str:
    return _TONES[key] if key in _TONES and row[key].share.value else ""


ACTIVITIES = Section("overview", "Activities", "sections/activities.html", _fill)
