"""The sheet of what was run, from the responses' own record."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from careeval.results.score.summary import Summary
from careeval.sheets.kinds import UNKNOWN
from careeval.sheets.sheet import Field, Sheet

_RECORD = (
    (Field("bank", "bank and its version"), ("bank", "bank_version")),
    (Field("bank_hash", "hash of the scenarios", head="Bank’s hash"), ("bank_hash",)),
    (Field("protocol", "its version", head="Protocol that asked"), ("protocol",)),
    (Field("model", "as it was called", head="Model asked"), ("model",)),
    (
        Field("model_returned", "as it called itself", head="Model that answered"),
        ("model_returned",),
    ),
    (Field("sampling", "what was sent", head="Sampling sent"), ("sampling",)),
    (Field("ask_prompt", "their hash", head="Hash of the question’s prompts"), ("ask_prompt",)),
    (Field("software", "its version", head="careeval"), ("software",)),
    (Field("created", "days on which it was begun", head="Run begun"), ("created",)),
)
"""A field, and the columns of `responses` that it is made of."""

_DAY = len("2026-11-20")


def records_sheet(responses: pl.DataFrame, summaries: Sequence[Summary]) -> Sheet:
    """Return what each system's run was, a row a system.

    Args:
        responses: Of all systems.
        summaries: An entry each; without any, every system of the responses has a row.
    """
    systems = list(dict.fromkeys(s.system for s in summaries)) or sorted(
        responses["system"].unique()
    )
    rows = []
    for name in systems:
        own = responses.filter(pl.col("system") == name)
        record = {field.key: _recorded(own, columns) for field, columns in _RECORD}
        judged = "; ".join(_judged(s) for s in summaries if s.system == name)
        rows.append({"system": name, **record, "judged": judged})
    recorded = (field for field, _ in _RECORD)
    fields = (Field("system", "name of the system"), *recorded, Field("judged", "by whom, and how"))
    return Sheet("records", "a system", fields, rows, "What was run")


def _recorded(responses: pl.DataFrame, columns: tuple[str, ...]) -> str:
    """Return all values that stand there; of a moment its day."""
    values = responses.select(columns).unique(maintain_order=True).drop_nulls().sort(columns).rows()
    words = [" ".join(map(str, row)) for row in values]
    if columns == ("created",):
        words = [moment[:_DAY] for moment in words]
    return "; ".join(word for word in dict.fromkeys(words) if word != "{}") or "not recorded"


def _judged(s: Summary) -> str:
    times = "once" if s.n_gradings == 1 else f"{s.n_gradings} times"
    return f"{s.rubric.value} {times} by {s.grader}, protocol {s.grading_protocol or UNKNOWN}"
