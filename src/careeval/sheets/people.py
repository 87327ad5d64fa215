"""Sheets of what people who read the same answers make of scores, and of the grader."""

from __future__ import annotations

from collections.abc import Sequence

from careeval.results.audit import AuditResults
from careeval.results.corrected import Corrected
from careeval.results.summary import Summary
from careeval.sheets.entries import ENTRY, JUDGE, NAME, entry_rows
from careeval.sheets.kinds import COUNT, MEASURE, SHARE
from careeval.sheets.sheet import Field, Sheet


def corrected_sheet(summaries: Sequence[Summary], corrected: Sequence[Corrected | None]) -> Sheet:
    """Return the scores of entries as people correct them; no row where nobody was audited."""
    fields = (
        *ENTRY,
        Field(
            "graded",
            "by the grader, over public responses that it judged whole",
            SHARE,
            "As graded",
            "as graded %",
        ),
        Field(
            "corrected",
            "by the grader, and by people where they differ from it",
            MEASURE,
            "Corrected by people",
        ),
        Field("n_responses", "responses of which people settled anything", COUNT, "Responses read"),
        Field("n_judgments", "judgments in them that people settled", COUNT, "Judgments read"),
        Field("meaning", "the same in a sentence", head="What it means"),
        NAME,
        JUDGE,
    )
    rows = [
        {
            **names,
            "graded": score.graded,
            "corrected": score.corrected,
            "n_responses": score.n_responses,
            "n_judgments": score.n_judgments,
            "meaning": score.sentence(),
        }
        for names, score in zip(entry_rows(summaries), corrected, strict=True)
        if score
    ]
    holds = "a system's score on a rubric as people who read its answers correct it"
    return Sheet("corrected_scores", holds, fields, rows, "Scores, corrected by people")


_OVER = Field("over", "which items")


def against_people_sheet(audit: AuditResults) -> Sheet:
    """Return a grader held against people, a row a group of items."""
    fields = (
        _OVER,
        Field("n", "judgments, weighted back to all", COUNT, "Judgments"),
        Field("n_present", "of these, present as people say", COUNT, "There"),
        Field("sensitivity", "share found of what is there", MEASURE, "Finds"),
        Field("specificity", "share cleared of the rest", MEASURE, "Clears"),
        Field("ppv", "share of what it finds that is there", MEASURE, "Right"),
    )
    rows = [
        {"over": over} | {field.key: getattr(part, field.key) for field in fields[1:]}
        for over, part in (("−2 items", audit.severe), ("all items", audit.overall))
    ]
    return Sheet("against_people", "a group of items", fields, rows)


def people_sheet(audit: AuditResults) -> Sheet:
    """Return people held against each other, a row a group of items."""
    fields = (
        _OVER,
        Field("n", "judgments that two or more labelled", COUNT, "Judgments"),
        Field("same", "share on which two say the same", MEASURE, "The same"),
    )
    rows = [
        {"over": over, "n": part.n, "same": part.same}
        for over, part in (("−2 items", audit.people_severe), ("all items", audit.people))
    ]
    caption = "People against each other: the most that can be asked of a grader"
    return Sheet("people", "a group of items", fields, rows, caption)
