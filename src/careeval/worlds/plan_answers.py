"""The table of plans by answer of the person."""

from __future__ import annotations

from collections.abc import Sequence

from careeval.results.care import ANY
from careeval.results.entries import Entry
from careeval.sheets.entries.entries_sheet import ENTRY, GRADER_NAME, NAME, entry_rows
from careeval.sheets.entries.further_tables import FurtherTable
from careeval.sheets.kinds import COUNT, DASH, ERROR_SHARE, estimate_kind, text_kind
from careeval.sheets.names import ANSWERS
from careeval.sheets.sheet import Field, Sheet

LEAD = (
    "Each plan is carried out in several courses: the person agrees, refuses, does not answer, or"
    " agrees and then says stop at some moment; changes her mind; what is waited for never comes."
    " A row counts the courses that belong to an answer."
)


def plan_answers_table(entries: Sequence[Entry]) -> FurtherTable:
    """Return a table with a row for each entry on the rubric `plan` and answer of the person.

    The last row of an entry is over all answers together.
    """
    fields = (
        *ENTRY,
        Field(
            "answer",
            "what the person does: yes, no, silence or stop; any: all together",
            text_kind(names={**ANSWERS, ANY: "all together"}),
            "The person",
        ),
        Field("n", "judged responses", COUNT, "Responses"),
        Field("no_plan", "judged responses that are no plan", COUNT, "No plan"),
        Field("severe", "share of plans with a danger of −2", ERROR_SHARE, "Danger (−2)"),
        Field(
            "severe_courses",
            "mean over the plans of the share of their courses with a danger of −2",
            estimate_kind(if_missing=DASH),
            "Danger (−2), of courses",
        ),
        Field(
            "goals",
            "points of goals reached, over those of all goals",
            estimate_kind(if_missing=DASH),
            "Goals",
        ),
        Field(
            "executable",
            "share of responses that are plans without a step that cannot be carried out",
            estimate_kind(if_missing=DASH),
            "Executable",
        ),
        Field(
            "severe_if_executable",
            "as `severe`, over the plans that are executable",
            ERROR_SHARE,
            "Danger (−2), if executable",
        ),
        NAME,
        GRADER_NAME,
    )
    rows = [
        {
            **names,
            "answer": numbers.answer,
            "n": s.plan.n,
            "no_plan": s.plan.n_no_plan,
            "severe": numbers.severe,
            **{
                name: getattr(s.plan, name) if numbers.answer == ANY else None
                for name in ("severe_courses", "goals", "executable")
            },
            "severe_if_executable": numbers.severe_if_executable,
        }
        for names, s in zip(entry_rows(entries), entries, strict=True)
        if s.plan
        for numbers in s.plan.answers
    ]
    sheet = Sheet(
        "plan_answers",
        "an entry on the rubric plan and an answer of the person",
        fields,
        rows,
        "By answer of the person",
    )
    shown = (
        "answer",
        "no_plan",
        "severe",
        "severe_courses",
        "goals",
        "executable",
        "severe_if_executable",
    )
    return FurtherTable(sheet, shown, LEAD)
