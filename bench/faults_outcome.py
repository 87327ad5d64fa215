"""What a run comes to in its tables, and how it differs from one that nothing happened to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from careeval.protocol.logs import read_runs
from careeval.results.summary import summarise
from careeval.results.tables import Runs
from careeval.sheets.summary_json import summary_json

RESPONSE_KEY = ("system", "scenario", "epoch")
JUDGMENT_KEY = (*RESPONSE_KEY, "grader", "grading", "rubric", "item")
RESPONSE = (*RESPONSE_KEY, "text", "state", "cut", "note")
JUDGMENT = (*JUDGMENT_KEY, "present", "quote", "reason", "points")


@dataclass(frozen=True)
class Outcome:
    """What a run comes to.

    Attributes:
        responses: What must be the same of the table, in the order of its key.
        judgments: The same of the other table.
        summary: The entries of `summary --json`, without what may differ: money and time.
        notes: What reading the logs had to say.
    """

    responses: pl.DataFrame
    judgments: pl.DataFrame
    summary: list[dict[str, Any]]
    notes: tuple[str, ...]

    def without(self, grader: str) -> Outcome:
        """The same without the judgments of a grader, named by how it begins."""
        return replace(
            self,
            judgments=self.judgments.filter(~pl.col("grader").str.starts_with(grader)),
            summary=[entry for entry in self.summary if not entry["grader"].startswith(grader)],
        )


def outcome_of(root: Path) -> Outcome:
    """What the runs in a folder come to."""
    runs = read_runs(root)
    return Outcome(
        runs.responses.select(RESPONSE).sort(RESPONSE_KEY),
        runs.judgments.select(JUDGMENT).sort(JUDGMENT_KEY),
        _summary(runs),
        tuple(runs.notes),
    )


def _summary(runs: Runs) -> list[dict[str, Any]]:
    entries = summary_json(summarise(runs))["entries"]
    return [
        {key: value for key, value in entry.items() if not re.search("cost|usd|second|time", key)}
        for entry in json.loads(json.dumps(entries))
    ]


def flaws(found: Outcome) -> Iterator[str]:
    """What is wrong with an outcome, whatever it should be."""
    if found.notes:
        yield f"a note: {found.notes[0]}"
    if found.judgments.select(JUDGMENT_KEY).is_duplicated().any():
        yield "a judgment is there twice"
    silent = pl.col("present").is_null() & (pl.col("reason").fill_null("") == "")
    if found.judgments.filter(silent).height:
        yield "a judgment is unknown, and nobody says why"


def differences(found: Outcome, expected: Outcome) -> Iterator[str]:
    """How an outcome differs from what it should be; nothing where it does not."""
    for what, there, wanted, key in (
        ("responses", found.responses, expected.responses, RESPONSE_KEY),
        ("judgments", found.judgments, expected.judgments, JUDGMENT_KEY),
    ):
        if not there.equals(wanted):
            lacking = wanted.join(there, on=key, how="anti").height
            extra = there.join(wanted, on=key, how="anti").height
            other = max(there.height, wanted.height) - max(lacking, extra)
            yield f"{what} differ: {lacking} lack, {extra} too many, of {other}"
    if found.summary != expected.summary:
        yield "the summary differs"
