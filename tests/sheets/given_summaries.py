"""Summaries of runs made by hand, for tests of their texts."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from careeval.core.scenario import Domain
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.tables import Runs
from results.authored import Marks, judgments, responses

KNOWN: Marks = {f"dressing-{n}": ["1100?", "01000", f"1100{n % 2}"] for n in range(6)}
UNKNOWN: Marks = {"dressing-1": ["11000", "missing"], "eating-1": ["missing", "missing"]}


def known_and_unknown_runs() -> Runs:
    """Two systems: one with numbers throughout, one without most of them."""
    levels = {scenario: {domain: [2, 2, 1, 1, 0] for domain in Domain} for scenario in KNOWN}
    rows = judgments(KNOWN, levels=levels)
    lacking = Runs.of(responses(UNKNOWN, system="robot-b"), judgments(UNKNOWN, system="robot-b"))
    return Runs.together([Runs.of(responses(KNOWN), rows), lacking])


def known_and_unknown() -> list[Entry]:
    """Their summaries."""
    return entries(known_and_unknown_runs())


def of_two_sizes() -> Runs:
    """Five scenarios of a stroke and four of dementia, all of a person, one of two situations."""
    marks: Marks = {f"eating-{n}": ["11000", f"100{n % 2}0"] for n in range(9)}
    rows = [
        row
        | {"condition": "stroke" if row["scenario"] < "eating-5" else "dementia"}
        | {"actor": "person", "assistance": "03"}
        | {"situation": ["refusal", "family"] if row["scenario"] == "eating-8" else ["family"]}
        for row in responses(marks)
    ]
    return Runs.of(rows, judgments(marks))


def priced(cost_usd: float | None, share: float | None, n: int) -> list[Entry]:
    """A system whose responses are all of one price, and the shares of their judgments too."""
    marks = {"dressing-1": ["11000"] * n}
    asked = responses(marks, model="m", cost_usd=cost_usd, input_tokens=310, output_tokens=220)
    return entries(Runs.of(asked, judgments(marks, cost_usd=share)))


def summary_schema() -> dict[str, Any]:
    """Return the JSON Schema of a summary that the package ships."""
    folder = files("careeval.sheets")
    schema = json.loads(folder.joinpath("summary.schema.json").read_text(encoding="utf-8"))
    assert isinstance(schema, dict)
    return schema
