"""The table of plans by answer of the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from careeval.results.entry import Entry
from careeval.results.metrics import PLANS
from careeval.results.plans import ANY
from careeval.sheets.entries import ENTRY, GRADER_NAME, NAME, FurtherTable, metric_field, with_names
from careeval.sheets.kinds import COUNT, DASH, text_kind
from careeval.sheets.sheet import Field, Sheet
from careeval.sheets.words import ANSWERS

LEAD = (
    "Each plan is carried out in several courses: the person agrees, refuses, does not answer, or"
    " agrees and then says stop at some moment; changes her mind; what is waited for never comes."
    " A row counts the courses that belong to an answer."
)


def plan_answers_table(entries: Sequence[Entry]) -> FurtherTable:
    """Return a table with a row for each entry on the rubric `plan` and answer of the person.

    The last row of an entry is over all answers together.
    """
    answers = text_kind(names={**ANSWERS, ANY: "all together"})
    values = [metric_field(metric) for metric in PLANS]
    fields = (
        *ENTRY,
        Field(
            "answer",
            "what the person does: yes, no, silence or stop; any: all together",
            answers,
            "The person",
        ),
        Field("n", "judged responses", COUNT, "Responses"),
        Field("no_plan", "judged responses that are no plan", COUNT, "No plan"),
        *(replace(field, kind=replace(field.kind, if_missing=DASH)) for field in values),
        NAME,
        GRADER_NAME,
    )
    rows = [
        {
            **names,
            "answer": answer,
            "n": s.graded.n_judged_responses,
            "no_plan": s.graded.n_no_plan,
            **row,
        }
        for names, s in with_names(entries)
        for answer, row in s.by_answer.items()
    ]
    sheet = Sheet(
        "plan_answers",
        "an entry on the rubric plan and an answer of the person",
        fields,
        rows,
        "By answer of the person",
    )
    return FurtherTable(sheet, ("answer", "no_plan", *(m.key for m in PLANS)), LEAD)
