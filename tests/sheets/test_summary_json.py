"""Tests of the JSON of a summary, of its shipped schema, and of the CSV of entries."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

from careeval.core.scenario import Adl, Domain
from careeval.core.text import percent
from careeval.results.compare import compare_entries
from careeval.results.entries import entries
from careeval.results.entry import NOT_COMPARABLE, Entry
from careeval.results.tables import Runs
from careeval.sheets.data_files import csv_text
from careeval.sheets.entries import entries_sheet
from careeval.sheets.every_eval_ever import reported_numbers
from careeval.sheets.json_output import summary_json
from careeval.sheets.latex import latex
from careeval.sheets.markup import markdown
from careeval.sheets.summary import summary_document
from careeval.sheets.words import headline_sentence
from results.authored import (
    Marks,
    by_hand,
    judgments,
    ladder_run,
    marks_of_runs,
    responses,
    runs_of,
)
from sheets.given_summaries import (
    KNOWN,
    UNKNOWN,
    known_and_unknown,
    known_and_unknown_runs,
    priced,
    summary_schema,
)

# JSON


def test_json_of_a_run_by_hand() -> None:
    """The machine contract has each number under its name, and a reason where there is none."""
    found = summary_json(entries(by_hand()))

    assert found["schema"] == "careeval.summary/2"
    assert found["note"] == NOT_COMPARABLE
    actions, ladder = found["entries"]
    assert [(e["system"], e["grader"], e["rubric"]) for e in (actions, ladder)] == [
        ("robot-a", "judge", "actions"),
        ("robot-a", "judge", "ladder"),
    ]
    reason = "fewer than five scenarios"
    assert ladder["score"] == {"value": 0.25, "ci95": None, "reason": reason}
    assert ladder["severe"] == {
        "share": {"value": 0.25, "ci95": None, "reason": reason},
        "count": 1, "n": 4,
    }  # fmt: skip
    assert ladder["by_adl"]["eating"]["n"] == 1
    assert ladder["by_adl"]["eating"]["n_severe"] == 1
    assert actions["by_domain"]["communication_intent"]["score"] == {
        "value": None,
        "reason": "no item of this rubric is rated in this domain",
    }
    assert actions["protocol"] == {"asking": "2-0", "grading": "2-0"}
    validate(found)


def test_json_of_a_known_number_has_no_reason() -> None:
    """A number whose interval is known has no reason, and its bounds only where they differ."""
    whole = {name: [mark.replace("?", "0") for mark in of] for name, of in KNOWN.items()}
    (known,) = summary_json(entries(ladder_run(whole)))["entries"]
    (open_, _) = summary_json(entries(known_and_unknown_runs()))["entries"]
    assert known["score"].keys() == {"value", "ci95"}
    assert open_["severe"]["share"].keys() == {"value", "low", "high", "ci95"}


def test_json_is_what_its_schema_says() -> None:
    """Known and unknown numbers are valid, through text and back."""
    numbers = entries(known_and_unknown_runs())
    reasons = {bool(each.score.reason) for each in numbers}
    assert reasons == {True, False}
    text = json.dumps(summary_json(numbers), allow_nan=False)
    validate(json.loads(text))


@pytest.mark.parametrize(
    "estimate",
    [
        {"value": None},
        {"value": 0.5},
        {"value": 0.5, "low": 0.5, "high": 0.5, "ci95": [0.4]},
        {"value": 0.5, "low": 0.5, "ci95": None},
        {"value": None, "reason": "none", "low": 0},
    ],
)
def test_schema_refuses_half_an_estimate(estimate: dict[str, Any]) -> None:
    """An unknown number without its reason, or a known one without its bounds, is not valid."""
    found = summary_json(entries(by_hand()))
    found["entries"][0]["score"] = estimate
    with pytest.raises(jsonschema.ValidationError):
        validate(found)


@settings(max_examples=40, deadline=None)
@given(marks_of_runs())
def test_json_never_has_nan(marks: Marks) -> None:
    """Whatever is missing or unresolved, JSON is valid and all its numbers are finite."""
    found = summary_json(entries(ladder_run(marks)))
    validate(found)
    assert all(math.isfinite(n) for n in leaves(found) if isinstance(n, float))


def detailed(runs: Runs) -> dict[str, Any]:
    """The JSON of some runs, in detail."""
    return summary_json(entries(runs), in_detail=True)


def test_json_in_detail_by_hand() -> None:
    """A detail has the curves, the length and every part of the scenarios."""
    _, ladder = detailed(by_hand())["entries"]
    detail = ladder["detail"]
    assert [at_k["value"] for at_k in detail["worst_at_k"]] == pytest.approx([0.25, -1 / 6])
    assert [at_k["value"] for at_k in detail["severe_of_k"]] == pytest.approx([0.25, 0.5])
    assert detail["worst_epoch"]["value"] == 0
    assert detail["sd_epochs"]["value"] is None
    assert detail["by_adl_and_domain"]["eating"]["user_function"]["n"] == 1
    assert (detail["by_actor"], detail["by_condition"]) == ({}, {})
    assert "scenarios" not in detail


def test_json_has_a_detail_only_where_it_is_asked_for() -> None:
    """Without details an entry has the keys that it always had, and with them one more."""
    plain = summary_json(entries(by_hand()))["entries"]
    full = detailed(by_hand())["entries"]
    assert all(entry.pop("detail") for entry in full)
    assert full == plain


def test_json_in_detail_is_what_its_schema_says() -> None:
    """Known and unknown details are valid, and a half of one is not."""
    whole = {name: [mark.replace("?", "0") for mark in of] for name, of in KNOWN.items()}
    found = detailed(Runs.together([ladder_run(UNKNOWN), runs_of({"robot-b": whole})]))
    reliabilities = [e["detail"]["reliability"] for e in found["entries"]]
    assert [bool(r["reason"]) for r in reliabilities] == [True, False]
    assert [r["n_scenarios"] for r in reliabilities] == [0, 6]
    validate(json.loads(json.dumps(found, allow_nan=False)))
    del found["entries"][0]["detail"]["length"]
    with pytest.raises(jsonschema.ValidationError):
        validate(found)


# CSV


def csv_rows(summaries: list[Entry]) -> list[dict[str, str]]:
    """The table of entries as CSV, read back."""
    text = csv_text(entries_sheet(summaries).data.frame)
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_of_a_run_by_hand() -> None:
    """One row an entry with a column for each number, as a fraction."""
    actions, ladder = csv_rows(entries(by_hand()))
    assert (ladder["system"], ladder["rubric"], ladder["n_scenarios"]) == ("robot-a", "ladder", "2")
    assert float(ladder["score"]) == 0.25
    assert (float(ladder["severe"]), ladder["severe_count"], ladder["severe_n"]) == (0.25, "1", "4")
    assert (ladder["score_ci95_low"], ladder["score_reason"]) == ("", "fewer than five scenarios")
    assert (actions["mild"], actions["mild_n"]) == ("", "0")
    assert actions["mild_reason"] == "there was no item of this severity to judge"


def test_csv_of_known_and_unknown() -> None:
    """Both entries have the same columns; an unknown number is empty beside its reason."""
    summaries = known_and_unknown()
    known, unknown = csv_rows(summaries)
    severe = summaries[0].severe.share
    assert severe.ci95 is not None
    assert severe.low != severe.ci95[0]
    for name, value in (
        ("", severe.value), ("_low", severe.low), ("_high", severe.high),
        ("_ci95_low", severe.ci95[0]), ("_ci95_high", severe.ci95[1]),
    ):  # fmt: skip
        assert float(known[f"severe{name}"]) == value, name
    assert unknown["worst_at_n"] == unknown["worst_at_n_low"] == ""
    assert unknown["worst_at_n_reason"] == "3 of 4 responses are missing or not graded"
    assert unknown["not_ranked"] == "3 of 4 responses are missing"


def test_csv_has_the_same_columns_without_an_entry() -> None:
    """The header of no entry is that of entries with and without numbers."""
    none, some = (
        entries_sheet(numbers).data.frame for numbers in ([], entries(known_and_unknown_runs()))
    )
    assert none.schema == some.schema
    assert none.columns[:5] == ["system", "given", "step", "grader", "rubric"]


def test_csv_quotes_names() -> None:
    """A name with commas, quotes and line ends is read back as it was."""
    name = 'a,"b"\nc'
    marks = {"dressing-1": ["11000"]}
    runs = Runs.of(responses(marks, system=name), judgments(marks, system=name))
    (row,) = csv_rows(entries(runs))
    assert row["system"] == name


# One quantity has one value, one name and one place


def test_severe_errors_are_one_number_wherever_they_are_shown() -> None:
    """Terminal, JSON, CSV, LaTeX, compare and Every Eval Ever give the same share of one run.

    It has unresolved judgments, and one scenario lacks two of its three responses: severe in 7 of
    22, and halfway between what the two that are open could make of it nobody stands.
    """
    a: Marks = {f"dressing-{k}": ["11001", "11000", "1100?"][:3] for k in range(8)}
    a = {**a, "dressing-0": ["11001", "missing", "missing"]}
    b: Marks = {name: ["11000"] * 3 for name in a}
    runs = runs_of({"a": a, "b": b})
    entry, other = entries(runs)
    s = entry
    share = s.severe.share.value
    assert share is not None
    # an unresolved one is filled with 1/2: one of the two others of its scenario has it
    assert share == pytest.approx((8 * 1 + 7 * 0 + 7 / 2) / 22)
    assert (s.severe.count, s.severe.n) == (8, 22)

    assert summary_json([s])["entries"][0]["severe"]["share"]["value"] == share
    assert float(csv_rows([s])[0]["severe"]) == share
    assert compare_entries(entry, other).metrics["severe"].a == pytest.approx(share)
    assert compare_entries(other, entry).metrics["severe"].difference.value == pytest.approx(share)
    (in_eee,) = (m for m in reported_numbers(entry) if m["evaluation_name"] == "careeval.severe")
    assert in_eee["score_details"]["score"] == share
    printed = percent(share)
    document = summary_document([s])
    (headline, *_) = document.views
    assert headline.cells(headline.sheet.rows[0])[1].startswith(f"{printed} [")
    assert headline_sentence(s).startswith(f"{printed}%")
    assert f"a & {printed} [" in latex(document)
    assert f"| a | {printed} (" in markdown(document)


def test_an_entry_in_json_is_short() -> None:
    """An entry over six activities and four domains, nothing unresolved, has under 100 numbers."""
    adls = list(Adl)[:6]
    marks: Marks = {
        f"{adl}-{k}": ["11000", f"0100{k % 2}", "10010"] for adl in adls for k in range(6)
    }
    levels = {name: {domain: [2, 2, 1, 1, 0] for domain in Domain} for name in marks}
    rows = responses(marks, model="openai/gpt-5", cost_usd=0.01, input_tokens=9, output_tokens=9)
    spent = {"cost_usd": 0.001, "input_tokens": 9.0, "output_tokens": 9.0}
    runs = Runs.of(rows, judgments(marks, levels=levels, **spent))
    (entry,) = summary_json(entries(runs))["entries"]
    assert len(entry["by_adl"]) == 6
    assert len(entry["by_domain"]) == 4
    n = len(list(leaves(entry)))
    assert n < 100, f"{n} leaves"


def validate(found: dict[str, Any]) -> None:
    """Hold a summary to the schema."""
    jsonschema.Draft202012Validator(summary_schema()).validate(found)


def leaves(value: Any) -> Iterator[Any]:
    """All that is in nested values."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value


def test_cost_in_json_and_csv() -> None:
    """A cost is dollars, or null with its reason; CSV has the part that is known too."""
    (s,) = priced(0.5, None, n=2)
    (entry,) = summary_json([s])["entries"]
    reason = "the price of 2 of 2 responses is not known"
    unknown = dict.fromkeys(("usd", "input_tokens", "output_tokens", "n_calls", "seconds"))
    known = {"usd": 1.0, "input_tokens": 620, "output_tokens": 440}
    assert entry["cost"] == {
        "asking": {**unknown, **known, "reason": ""},
        "grading": {**unknown, "reason": reason},
    }
    validate(summary_json([s]))
    (row,) = csv_rows([s])
    assert (row["cost.asking.value"], row["cost.grading.value"]) == ("1.0", "")
    assert row["cost.grading.reason"] == reason


def test_schema_refuses_an_unknown_cost_without_its_reason() -> None:
    """A cost that is null and does not say why is not valid."""
    found = summary_json(priced(0.5, None, n=2))
    del found["entries"][0]["cost"]["grading"]["reason"]
    with pytest.raises(jsonschema.ValidationError):
        validate(found)
