"""The sheet of scores that are corrected by the labels of people, from an audit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from careeval.core.text import percent
from careeval.results.details import EntryNumbers
from careeval.sheets.agreement_fields import CORRECTED
from careeval.sheets.entries.entries_sheet import ENTRY, GRADER_NAME, NAME, with_names
from careeval.sheets.sheet import Field, Sheet, row_of


def corrected_sheet(entries: Sequence[EntryNumbers]) -> Sheet:
    """Return a sheet of corrected scores: a row for each entry that an audit covers."""
    fields = (
        *ENTRY,
        *CORRECTED,
        Field("meaning", "the same in a sentence", head="What it means"),
        NAME,
        GRADER_NAME,
    )
    rows = [
        {**names, **row_of(score, CORRECTED), "meaning": score.sentence()}
        for names, entry in with_names(entries)
        if (score := entry.corrected)
    ]
    holds = "a system's score on a rubric, corrected by people who read its responses"
    return Sheet("corrected_scores", holds, fields, rows, "Scores, corrected by people")


def as_graded(entries: Iterable[EntryNumbers]) -> str:
    """Return a note if a score as graded differs from the entry's score; else empty."""
    are_equal = all(
        percent(entry.corrected.graded) == percent(entry.summary.score.value)
        for entry in entries
        if entry.corrected
    )
    if are_equal:
        return ""
    return (
        "As graded: over the public responses that the grader judged completely. It differs from "
        "the score of the run if responses are held out, missing or only partly judged."
    )
