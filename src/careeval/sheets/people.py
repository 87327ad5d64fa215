"""The sheet of scores as people who read the same answers correct them."""

from __future__ import annotations

from collections.abc import Sequence

from careeval.results.corrected import Corrected
from careeval.results.summary import Summary
from careeval.sheets.agreement import CORRECTED
from careeval.sheets.entries import ENTRY, JUDGE, NAME, entry_rows
from careeval.sheets.sheet import Field, Sheet, row_of


def corrected_sheet(summaries: Sequence[Summary], corrected: Sequence[Corrected | None]) -> Sheet:
    """Return the scores of entries as people correct them; no row where nobody was audited."""
    fields = (
        *ENTRY,
        *CORRECTED,
        Field("meaning", "the same in a sentence", head="What it means"),
        NAME,
        JUDGE,
    )
    rows = [
        {**names, **row_of(score, CORRECTED), "meaning": score.sentence()}
        for names, score in zip(entry_rows(summaries), corrected, strict=True)
        if score
    ]
    holds = "a system's score on a rubric as people who read its answers correct it"
    return Sheet("corrected_scores", holds, fields, rows, "Scores, corrected by people")
