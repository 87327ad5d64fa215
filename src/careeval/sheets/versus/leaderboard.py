"""The sheet of a leaderboard: the numbers and the ranks of entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from careeval.core.scenario import HarmKind
from careeval.results.findings import EntryFindings
from careeval.results.metrics import HEADLINE
from careeval.sheets.agreement_fields import CORRECTED_SCORE
from careeval.sheets.entries.entries_sheet import entries_sheet
from careeval.sheets.kinds import PLAIN_DOLLARS
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.versus.comparisons import RANK_SETS

BOARD_FIELDS = (
    *RANK_SETS,
    Field("system_vendor", "maker of the system; null if its name does not say", head="Vendor"),
    Field("date", "day on which its run began, ISO 8601; null if not recorded", head="Run"),
    Field("grader_card", "path of the grader's card"),
    Field("not_ranked", "why the entry must not be ranked; null if it may be"),
)
"""The fields of a leaderboard besides the numbers of an entry."""

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
    name: str, graded: Sequence[EntryFindings], board_rows: Iterable[Row], caption: str
) -> Sheet:
    """Return the sheet of a leaderboard.

    Args:
        name: Name of the sheet.
        graded: The entries, in the order of the leaderboard.
        board_rows: For each entry, the values of `BOARD_FIELDS` and of fields that a page adds.
        caption: Text above the table.
    """
    sheet = entries_sheet(graded)
    fields = (*(sheet.by_key[key] for key in _NUMBERS), _COST, *BOARD_FIELDS, _CORRECTED)
    rows = [
        row | board_row | {"cost_usd": row["cost.asking"]}
        for row, board_row in zip(sheet.rows, board_rows, strict=True)
    ]
    return Sheet(name, sheet.holds, fields, rows, caption)
