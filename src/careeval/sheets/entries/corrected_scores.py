"""The sheet of scores as people who read the same answers correct them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from careeval.results.amounts import percent
from careeval.results.entry_numbers import EntryNumbers
from careeval.sheets.agreement_fields import CORRECTED
from careeval.sheets.entries.numbers import ENTRY, JUDGE, NAME, named
from careeval.sheets.sheet import Field, Sheet, row_of


def corrected_sheet(entries: Sequence[EntryNumbers]) -> Sheet:
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
        for names, each in named(entries)
        if (score := each.corrected)
    ]
    holds = "a system's score on a rubric as people who read its answers correct it"
    return Sheet("corrected_scores", holds, fields, rows, "Scores, corrected by people")


def as_graded(entries: Iterable[EntryNumbers]) -> str:
    """Return what to say of scores as graded that are not these entries' scores; else empty."""
    same = all(
        percent(each.corrected.graded) == percent(each.summary.score.value)
        for each in entries
        if each.corrected
    )
    if same:
        return ""
    return (
        "As graded: over the public responses that the grader judged whole. It differs from the "
        "score of the run where responses are held out or missing, or not wholly judged."
    )
