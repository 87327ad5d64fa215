"""The outcome of runs in their tables, and its differences from that of undisturbed runs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from careeval.protocol.tables import read_runs
from careeval.results.entries import entries
from careeval.results.tables import Runs
from careeval.sheets.json_output import summary_json

RESPONSE_KEY = ("system", "scenario", "epoch")
JUDGMENT_KEY = (*RESPONSE_KEY, "grader", "grading", "rubric", "item")
CLOCK = ("created", "seconds")
"""Columns that differ between any two runs."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of runs."""

    responses: pl.DataFrame  # the table without the clock, in the order of its key
    judgments: pl.DataFrame  # the same of the other table
    summary: list[dict[str, Any]]  # the entries of `summary --json`, without money and time
    notes: tuple[str, ...]  # what reading the logs had to say

    def without(self, grader: str) -> Outcome:
        """Return the same without the judgments of a grader, named by how it begins."""
        return replace(
            self,
            judgments=self.judgments.filter(~pl.col("grader").str.starts_with(grader)),
            summary=[entry for entry in self.summary if not entry["grader"].startswith(grader)],
        )


def outcome_of(root: Path, leave_out: Sequence[str] = ()) -> Outcome:
    """Return what the runs in a folder come to; further columns can be left out."""
    runs = read_runs(root)
    columns = (*CLOCK, *leave_out)
    return Outcome(
        runs.responses.drop(columns, strict=False).sort(RESPONSE_KEY),
        runs.judgments.drop(columns, strict=False).sort(JUDGMENT_KEY),
        _summary(runs),
        tuple(runs.notes),
    )


def _summary(runs: Runs) -> list[dict[str, Any]]:
    summaries = summary_json(entries(runs))["entries"]
    return [
        {key: value for key, value in entry.items() if not re.search("cost|usd|second|time", key)}
        for entry in json.loads(json.dumps(summaries))
    ]


def flaws(outcome: Outcome) -> list[str]:
    """Return what is wrong with an outcome, whatever it should be."""
    problems = [f"a note: {note}" for note in outcome.notes[:1]]
    if outcome.judgments.select(JUDGMENT_KEY).is_duplicated().any():
        problems.append("a judgment is there twice")
    silent = pl.col("present").is_null() & (pl.col("reason").fill_null("") == "")
    if outcome.judgments.filter(silent).height:
        problems.append("a judgment is unknown, and nobody says why")
    return problems


def differences(outcome: Outcome, expected: Outcome) -> list[str]:
    """Return how an outcome differs from what it should be; nothing where it does not."""
    problems = []
    for name, table, wanted, key in (
        ("responses", outcome.responses, expected.responses, RESPONSE_KEY),
        ("judgments", outcome.judgments, expected.judgments, JUDGMENT_KEY),
    ):
        lacking = wanted.join(table, on=key, how="anti").height
        extra = table.join(wanted, on=key, how="anti").height
        if lacking or extra or table.columns != wanted.columns:
            problems.append(f"{name} differ: {lacking} lack, {extra} too many")
        elif changed := [c for c in wanted.columns if not table[c].equals(wanted[c])]:
            problems.append(f"{name} differ in {', '.join(changed)}")
    if outcome.summary != expected.summary:
        problems.append("the summary differs")
    if outcome.notes != expected.notes:
        problems.append("the notes differ")
    return problems
