"""The sheet of references, which mark the ends of a scale."""

from __future__ import annotations

from collections.abc import Iterable

from careeval.results.metrics import SCORE, SEVERE
from careeval.results.references import Reference
from careeval.sheets.entries import BANK, BANK_VERSION, metric_field
from careeval.sheets.kinds import COUNT, WORDS
from careeval.sheets.sheet import Field, Sheet

FIELDS = (
    BANK,
    BANK_VERSION,
    Field("name", "name of the reference", head="Reference"),
    Field("about", "what it is", head="What it is"),
    Field("condition", "what it was given of a world, and how it acted; null in a bank of words"),
    Field("rubric", "actions or plan"),
    metric_field(SEVERE),
    metric_field(SCORE),
    Field("asked", "scenarios × responses to each", WORDS, "Scenarios × responses"),
    Field("n_scenarios", "scenarios asked", COUNT),
    Field("n_epochs", "responses to each", COUNT),
    Field("judged_by", "who judged it", head="Judged by"),
    Field("data", "where its responses are, in the repository"),
)

_CAPTION = "References over the public split, not ranked"
_NOTE = (
    "References are not ranked. The AI that wrote the bank is of Anthropic’s family, as is the AI "
    "that answered and, where the table says so, judged: its numbers may be too high."
)


def references_sheet(references: Iterable[Reference]) -> Sheet:
    """Return the sheet of references: a row for each, with its numbers."""
    rows = [
        {
            **{field.key: getattr(each, field.key) for field in FIELDS if field.key != "asked"},
            "condition": each.condition or None,
            "rubric": each.rubric.value,
            "asked": f"{each.n_scenarios} × {each.n_epochs}",
        }
        for each in references
    ]
    return Sheet("references", "a reference beside the entries", FIELDS, rows, _CAPTION, _NOTE)
