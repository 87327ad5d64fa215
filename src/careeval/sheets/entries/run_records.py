"""The sheet of run records: bank, protocol, model and software, as the responses have them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from careeval.results.summary import Summary
from careeval.sheets.kinds import UNKNOWN
from careeval.sheets.sheet import Field, Sheet

_RECORD = (
    (Field("bank", "bank and its version"), ("bank", "bank_version")),
    (Field("bank_hash", "hash of the scenarios", head="Bank’s hash"), ("bank_hash",)),
    (Field("protocol", "version of the protocol", head="Protocol that asked"), ("protocol",)),
    (Field("model", "name that was asked for", head="Model asked"), ("model",)),
    (
        Field("model_returned", "name in the reply", head="Model that answered"),
        ("model_returned",),
    ),
    (Field("sampling", "sampling parameters sent", head="Sampling sent"), ("sampling",)),
    (
        Field("ask_prompt", "hash of the prompts", head="Hash of the question’s prompts"),
        ("ask_prompt",),
    ),
    (Field("software", "version of careeval", head="careeval"), ("software",)),
    (Field("created", "days on which the run began", head="Run begun"), ("created",)),
)
"""Each field with the columns of `responses` that it is made of."""

_DAY = len("2026-11-20")


def records_sheet(responses: pl.DataFrame, summaries: Sequence[Summary]) -> Sheet:
    """Return a sheet of run records, a row for each system.

    Args:
        responses: The responses of all systems.
        summaries: Summaries of the entries, whose systems have rows; if empty, all systems of the
            responses have rows.
    """
    systems = list(dict.fromkeys(s.system for s in summaries)) or sorted(
        responses["system"].unique()
    )
    rows = []
    for system in systems:
        system_responses = responses.filter(pl.col("system") == system)
        record = {field.key: _recorded(system_responses, columns) for field, columns in _RECORD}
        gradings = "; ".join(_grading_text(s) for s in summaries if s.system == system)
        rows.append({"system": system, **record, "judged": gradings})
    fields = (
        Field("system", "name of the system"),
        *(field for field, _ in _RECORD),
        Field("judged", "rubrics, graders and protocols of its judgments"),
    )
    return Sheet("records", "a system", fields, rows, "What was run")


def _recorded(responses: pl.DataFrame, columns: tuple[str, ...]) -> str:
    """Return the distinct values in these columns, of a time only the day; or "not recorded"."""
    rows = responses.select(columns).unique(maintain_order=True).drop_nulls().sort(columns).rows()
    values = [" ".join(map(str, row)) for row in rows]
    if columns == ("created",):
        values = [time[:_DAY] for time in values]
    return "; ".join(value for value in dict.fromkeys(values) if value != "{}") or "not recorded"


def _grading_text(s: Summary) -> str:
    times = "once" if s.n_gradings == 1 else f"{s.n_gradings} times"
    return f"{s.rubric.value} {times} by {s.grader}, protocol {s.grading_protocol or UNKNOWN}"
