"""The sheet of a leaderboard: entries, and where each of them stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from careeval.core.scenario import HarmKind
from careeval.results.findings import Graded
from careeval.results.score.metrics import HEADLINE
from careeval.sheets.agreement_fields import CORRECTED_SCORE
from careeval.sheets.entries.numbers import entries_sheet
from careeval.sheets.page_kinds import PLAIN_DOLLARS
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.versus.comparisons import RANK_SETS

STANDING = (
    *RANK_SETS,
    Field("system_vendor", "who made it; null where its name does not say", head="Vendor"),
    Field("date", "day on which its run was begun, ISO 8601; null if not recorded", head="Run"),
    Field("grader_card", "where the grader's card is"),
    Field("not_ranked", "why it may not stand in a ranking; null if it may"),
)
"""What an entry's own numbers do not say."""

_NUMBERS = (
    *("system", "grader", "rubric"),
    *("bank", "bank_version", "bank_hash", "protocol", "grading_protocol"),
    *("n_scenarios", "n_epochs"),
    *(metric.key for metric in HEADLINE),
    *(f"severe_{kind}" for kind in HarmKind),
    "n",
)
_COST = Field("cost_usd", "for asking, a run", PLAIN_DOLLARS, "Cost")
_CORRECTED = replace(CORRECTED_SCORE, head="Corrected score", in_files=False)


def board_sheet(
    name: str, graded: Sequence[Graded], standings: Iterable[Row], caption: str
) -> Sheet:
    """Return entries with where each stands.

    Args:
        name: Of the sheet.
        graded: The entries, in the order in which they stand.
        standings: Of each, a value for each of `STANDING`, and what a page needs besides.
        caption: What stands above it.
    """
    sheet = entries_sheet(graded)
    fields = (*(sheet.by_key[key] for key in _NUMBERS), _COST, *STANDING, _CORRECTED)
    rows = [
        row | standing | {"cost_usd": row["cost.asking"]}
        for row, standing in zip(sheet.rows, standings, strict=True)
    ]
    return Sheet(name, sheet.holds, fields, rows, caption)
