"""The section of errors and scores, over all and by activity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from careeval.report import charts
from careeval.report.documents import figure
from careeval.report.sections.parts import parts_table
from careeval.report.sections.section import Report, Section
from careeval.results.parts import By


def _fill(report: Report) -> Mapping[str, Any]:
    return {
        "overview": figure(
            "overview",
            "Errors, and scores overall and by activity",
            lambda width: charts.overview(report.summaries, width),
        ),
        "by_activity": parts_table(By.adl, report),
    }


ACTIVITIES = Section("overview", "Activities", "sections/activities.html", _fill)
