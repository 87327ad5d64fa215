"""The section of results by situation, condition, assistance and actor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from careeval.report.sections.parts import parts_table
from careeval.report.sections.section import Report, Section
from careeval.results.details import Breakdown


def _fill(report: Report) -> Mapping[str, Any]:
    others = (Breakdown.condition, Breakdown.assistance, Breakdown.actor)
    return {
        "by_situation": parts_table(Breakdown.situation, report),
        "folded_tables": [parts_table(by, report) for by in others],
    }


SITUATIONS = Section("situations", "Situations", "sections/situations.html", _fill)
