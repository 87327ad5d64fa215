"""What leaves the program: JSON against its shipped schema, CSV, Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.core.scenario import Domain
from careeval.results.details import detail_of
from careeval.results.entries import entries
from careeval.results.exports import (
    BY_ADL,
    BY_DOMAIN,
    HEADLINE,
    ORDERS,
    By,
    breakdown,
    cost_lines,
    dollars,
    domain_rows,
    headline_row,
    in_order,
    in_short,
    markdown,
    percent,
    remarks,
    with_bounds,
    with_interval,
)
from careeval.results.summary import NOT_COMPARABLE, Summary, summarise, summary_of
from careeval.results.summary_json import summary_json, summary_schema
from careeval.results.summary_table import summary_frame
from careeval.results.table_files import csv_text
from careeval.results.tables import Runs
from careeval.stats import Estimate
from results.authored import (
    Marks,
    by_hand,
    judgments,
    ladder_run,
    marks_of_runs,
    responses,
    runs_of,
)

KNOWN: Marks = {f"dressing-{n}": ["1100?", "01000", f"1100{n % 2}"] for n in range(6)}
UNKNOWN: Marks = {"dressing-1": ["11000", "missing"], "eating-1": ["missing", "missing"]}


def known_and_unknown_runs() -> Runs:
    """Two systems: one with numbers throughout, one without most of them."""
    levels = {scenario: {domain: [2, 2, 1, 1, 0] for domain in Domain} for scenario in KNOWN}
    rows = judgments(KNOWN, levels=levels) + judgments(KNOWN, levels=levels, rubric="actions")
    lacking = Runs.of(responses(UNKNOWN, system="robot-b"), judgments(UNKNOWN, system="robot-b"))
    return Runs.together([Runs.of(responses(KNOWN), rows), lacking])


def known_and_unknown() -> list[Summary]:
    """Their summaries."""
    return summarise(known_and_unknown_runs())


# JSON


def test_json_of_a_run_by_hand() -> None:
    """The machine contract has each number under its name, and a reason where there is none."""
    found = summary_json(summarise(by_hand()))

    assert found["schema"] == "careeval.summary/1"
    assert found["note"] == NOT_COMPARABLE
    (model,) = found["models"]
    assert (model["model"], model["grader"]) == ("robot-a", "judge")
    reason = "fewer than five scenarios"
    assert model["score"] == {
        "value": 0.25, "low": 0.25, "high": 0.25, "ci95": None, "reason": reason
    }  # fmt: skip
    assert model["severe"]["count"] == 1
    assert model["by_adl"]["eating"]["n"] == 1
    assert model["by_domain"]["communication_intent"]["action_score"] == {
        "value": None,
        "reason": "no item of this rubric is rated in this domain",
    }


def test_json_of_a_known_number_has_no_reason() -> None:
    """A number whose interval is known is four fields."""
    robot_a, _ = summary_json(known_and_unknown())["models"]
    assert robot_a["score"].keys() == {"value", "low", "high", "ci95"}


def test_shipped_schema() -> None:
    """The schema in the package is the one that the types make."""
    shipped = files("careeval.results").joinpath("summary.schema.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == summary_schema()


def test_json_is_what_its_schema_says() -> None:
    """Known and unknown numbers, of both rubrics and of one, are valid, through text and back."""
    summaries = known_and_unknown()
    reasons = {bool(s.score.reason) for s in summaries}
    assert reasons == {True, False}
    text = json.dumps(summary_json(summaries), allow_nan=False)
    validate(json.loads(text))


@pytest.mark.parametrize(
    "estimate",
    [
        {"value": None},
        {"value": 0.5},
        {"value": 0.5, "low": 0.5, "high": 0.5, "ci95": [0.4]},
        {"value": None, "reason": "none", "low": 0},
    ],
)
def test_schema_refuses_half_an_estimate(estimate: dict[str, Any]) -> None:
    """An unknown number without its reason, or a known one without its bounds, is not valid."""
    found = summary_json(summarise(by_hand()))
    found["models"][0]["score"] = estimate
    with pytest.raises(jsonschema.ValidationError):
        validate(found)


@settings(max_examples=40, deadline=None)
@given(marks_of_runs())
def test_json_never_has_nan(marks: Marks) -> None:
    """Whatever is missing or unresolved, JSON is valid and all its numbers are finite."""
    found = summary_json(summarise(ladder_run(marks)))
    validate(found)
    assert all(math.isfinite(n) for n in leaves(found) if isinstance(n, float))


def detailed(runs: Runs) -> dict[str, Any]:
    """The JSON of some runs, in detail."""
    found = list(entries(runs))
    return summary_json([summary_of(e) for e in found], [detail_of(e) for e in found])


def test_json_in_detail_by_hand() -> None:
    """A detail has both rubrics as measures, the length and every part of the scenarios."""
    [model] = detailed(by_hand())["models"]
    detail = model["detail"]

    ladder, actions = detail["instruments"]["ladder"], detail["instruments"]["actions"]
    # of each scenario (1 - 1/3) / 2 and (0 + 1/3) / 2
    assert ladder["scenario_mean"]["value"] == pytest.approx(0.25)
    assert [at_k["value"] for at_k in ladder["worst_at_k"]] == pytest.approx([0.25, -1 / 6])
    assert [at_k["value"] for at_k in ladder["severe_of_k"]] == pytest.approx([0.25, 0.5])
    assert actions["best_rung"]["value"] is None
    assert detail["rubric_correlation"] == {
        "value": None,
        "reason": "fewer than five scenarios are judged on both rubrics",
    }
    assert detail["by_adl_and_domain"]["eating"]["user_function"]["n"] == 1
    assert (detail["by_actor"], detail["by_condition"]) == ({}, {})
    assert "scenarios" not in detail


def test_json_has_a_detail_only_where_it_is_asked_for() -> None:
    """Without details an entry has the keys that it always had, and with them one more."""
    [plain] = summary_json(summarise(by_hand()))["models"]
    [full] = detailed(by_hand())["models"]
    assert full.pop("detail")
    assert full == plain


def test_json_in_detail_is_what_its_schema_says() -> None:
    """Known and unknown details are valid, and a half of one is not."""
    whole = {name: [mark.replace("?", "0") for mark in of] for name, of in KNOWN.items()}
    found = detailed(Runs.together([ladder_run(UNKNOWN), runs_of({"robot-b": whole})]))
    reliabilities = [m["detail"]["instruments"]["ladder"]["reliability"] for m in found["models"]]
    assert [bool(r["reason"]) for r in reliabilities] == [True, False]
    assert [r["n_scenarios"] for r in reliabilities] == [0, 6]
    validate(json.loads(json.dumps(found, allow_nan=False)))
    del found["models"][0]["detail"]["length"]
    with pytest.raises(jsonschema.ValidationError):
        validate(found)


# CSV


def test_csv_of_a_run_by_hand() -> None:
    """One row with a column for each number, as a fraction."""
    (row,) = csv.DictReader(io.StringIO(csv_text(summary_frame(summarise(by_hand())))))
    assert (row["model"], row["n_scenarios"]) == ("robot-a", "2")
    assert float(row["score.value"]) == 0.25
    assert float(row["severe.per_scenario.value"]) == 0.5
    assert float(row["by_adl.eating.action_score.value"]) == 0.75
    assert float(row["by_domain.user_agency.ladder_level.value"]) == 0.375
    assert (row["score.ci95.low"], row["score.reason"]) == ("", "fewer than five scenarios")


def test_csv_of_known_and_unknown() -> None:
    """Both entries have the same columns; an unknown number is empty beside its reason."""
    summaries = known_and_unknown()
    known, unknown = csv.DictReader(io.StringIO(csv_text(summary_frame(summaries))))
    assert summaries[0].score.ci95 is not None
    assert float(known["score.ci95.high"]) == summaries[0].score.ci95[1]
    assert unknown["worst_at_n.value"] == unknown["worst_at_n.low"] == ""
    assert unknown["worst_at_n.reason"] == "3 of 4 responses are missing or not graded"
    # the actions of the second were not graded: no column of its own for their errors as a whole
    assert "action_severe" not in known
    assert unknown["action_severe.count"] == ""
    assert unknown["not_ranked"] == "3 of 4 responses are missing"


def test_csv_has_the_same_columns_without_an_entry() -> None:
    """The header of no entry is that of entries with and without numbers."""
    header = csv_text(summary_frame([])).splitlines()
    assert header == csv_text(summary_frame(known_and_unknown())).splitlines()[:1]
    (names,) = csv.reader(header)
    assert names[:3] == ["model", "asked", "grader"]
    assert "by_adl.bathing.score.ci95.low" in names
    assert len(set(names)) == len(names)


def test_csv_quotes_names() -> None:
    """A name with commas, quotes and line ends is read back as it was."""
    name = 'a,"b"\nc'
    marks = {"dressing-1": ["11000"]}
    runs = Runs.of(responses(marks, system=name), judgments(marks, system=name))
    (row,) = csv.DictReader(io.StringIO(csv_text(summary_frame(summarise(runs))), newline=""))
    assert row["model"] == name


# Rows and Markdown


def test_rows_of_a_run_by_hand() -> None:
    """Rows have a cell for each head, in percent, with a dash for what is unknown."""
    (s,) = summarise(by_hand())
    assert dict(zip(HEADLINE, headline_row(s), strict=True)) == {
        "model": "robot-a", "grader": "judge", "score % [95% CI]": "25.0",
        "worst of n % [95% CI]": "−16.7", "worst run % [95% CI]": "0.0",
        "SD of runs [95% CI]": "35.4", "actions % [95% CI]": "50.0",
        "severe": "1 of 4", "mild": "1 of 4", "n": "2 × 2",
    }  # fmt: skip
    _, (dressing, eating) = breakdown(By.adl, [s])
    assert len(dressing) == len(BY_ADL)
    assert eating == ("robot-a", "eating", "1*", "16.7", "0.0", "75.0", "1", "0")
    by_domain = domain_rows(s)
    assert {len(row) for row in by_domain} == {len(BY_DOMAIN)}
    assert by_domain[2] == ("robot-a", "communication intent", "–", "0", "37.5", "2*")


def test_rows_of_one_rubric() -> None:
    """What was not graded is a dash, not a 0."""
    marks = {"dressing-1": ["11000"]}
    rows = judgments(marks, rubric="actions")
    (s,) = summarise(Runs.of(responses(marks), rows))
    assert headline_row(s)[2:6] == ("–",) * 4
    assert headline_row(s)[7:9] == ("–", "–")
    _, (row,) = breakdown(By.adl, [s])
    assert row[-2:] == ("–", "–")


def test_percent() -> None:
    """A fraction has one decimal and a true minus, and what rounds to 0 has none."""
    printed = [percent(f) for f in (1 / 3, -0.125, -0.0004, 0.0, None)]
    assert printed == ["33.3", "−12.5", "0.0", "0.0", "–"]


def test_number_with_its_interval() -> None:
    """The interval stands in brackets, the bounds of the unresolved before it, if there are any."""
    assert with_interval(Estimate(0.5, 0.5, 0.5, (-0.25, 0.75))) == "50.0 [−25.0, 75.0]"
    assert with_interval(Estimate(0.5, 0.25, 0.75, (0.1, 0.9))) == (
        "50.0 (25.0 to 75.0 by the unresolved) [10.0, 90.0]"
    )
    assert with_interval(Estimate.unknown("no response")) == "–"


def test_number_in_short() -> None:
    """Where there is an interval it stands alone, and without one the bounds stand for it."""
    assert in_short(Estimate(0.5, 0.25, 0.75, (0.1, 0.9))) == "50.0 [10.0, 90.0]"
    assert in_short(Estimate(0.5, 0.25, 0.75, None, "few")) == "50.0 (25.0 to 75.0)"
    assert in_short(Estimate(0.5, 0.5, 0.5, None, "few")) == "50.0"
    assert in_short(Estimate.unknown("no response")) == "–"


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


def test_breakdown_marks_what_is_small() -> None:
    """A part of four scenarios has an asterisk and no interval, and one of five has both ends."""
    (entry,) = entries(of_two_sizes())
    head, rows = breakdown(By.condition, [summary_of(entry)], [detail_of(entry)])
    assert head[1] == "condition"
    (_, stroke, n, score, *_), (_, dementia, n_few, score_few, *_) = rows
    assert (stroke, n, dementia, n_few) == ("stroke", "5", "dementia", "4*")
    assert "[" in score
    assert "[" not in score_few


def test_scenario_of_two_situations_counts_in_both() -> None:
    """The parts by situation may add up to more than the scenarios."""
    (entry,) = entries(of_two_sizes())
    _, rows = breakdown(By.situation, [summary_of(entry)], [detail_of(entry)])
    assert [row[1:3] for row in rows] == [("refusal", "1*"), ("family", "9")]


def test_small_part_of_a_detail_is_remarked_on() -> None:
    """The asterisk is explained where only a part that was asked for is small."""
    (entry,) = entries(of_two_sizes())
    s, detail = summary_of(entry), detail_of(entry)
    said = "* fewer than five scenarios: no interval, and not for comparing."
    assert said not in remarks([s])
    assert said in remarks([s], [detail])
    assert f"- \\{said}\n" in markdown([s], [detail], [By.condition])


@pytest.mark.parametrize(
    ("order", "names"),
    [("name", "abcd"), ("score", "bcad"), ("worst", "abcd"), ("severe", "abcd")],
)
def test_order_of_entries(order: str, names: str) -> None:
    """The best comes first by each order, and what is unknown last."""
    assert order in ORDERS
    marks: dict[str, Marks] = {
        "c": {"eating-1": ["10001", "11000"]},  # 1/2, lowest 0, one severe
        "b": {"eating-1": ["11000", "00000"]},  # 1/2, lowest 0, none
        "a": {"eating-1": ["01000", "01000"]},  # 1/3, lowest 1/3, none
        "d": {"eating-1": ["missing", "missing"]},
    }
    parts = [
        Runs.of(responses(of, system=name), judgments(of, system=name))
        for name, of in marks.items()
        if name != "d"
    ]
    acts = judgments({"eating-1": ["1"]}, [1], system="d", rubric="actions")
    parts.append(Runs.of(responses(marks["d"], system="d"), acts))
    summaries = summarise(Runs.together(parts))[::-1]
    found = [summaries[place].model for place in in_order(order, summaries)]
    assert "".join(found) == names


def test_markdown_shows_names_as_they_are() -> None:
    """A name with a pipe, markup or a line end stays one cell of text."""
    marks = {"dressing-1": ["11000"]}
    name = "a|b\\|c <img src=x> [d](e) *f* `g`\n| h"
    runs = Runs.of(responses(marks, system=name), judgments(marks, system=name))

    lines = markdown(summarise(runs)).splitlines()

    shown = r"a\|b\\\|c \<img src=x\> [d\](e) \*f\* \`g\` \| h"
    assert lines[2].startswith(f"| {shown} | judge | 100.0 |")
    assert len([line for line in lines if line.startswith("|")]) == 3 + 3 + (2 + len(Domain))
    assert not any("<img" in line.replace(r"\<", "") for line in lines)


def test_markdown_has_nothing_that_a_terminal_obeys() -> None:
    """Control characters of a name are left out, of both ranges, in rows and in remarks."""
    marks = {"dressing-1": ["11000", "refused"]}
    name = "x\x1b[31mred\x9b2J\u202e"
    text = markdown(
        summarise(Runs.of(responses(marks, system=name), judgments(marks, system=name)))
    )
    assert "x[31mred2J" in text
    assert all(c.isprintable() or c == "\n" for c in text)


def test_parts_of_a_system_with_several_graders_name_them() -> None:
    """Two rows of one system and part are told apart; a system with one grader is itself."""
    marks = {"dressing-1": ["11000"]}
    rows = judgments(marks) + judgments(marks, grader="other")
    alone = ladder_run(marks, system="b").responses
    runs = Runs.together([
        Runs.of(responses(marks), rows),
        Runs.of(alone.to_dicts(), judgments(marks, system="b")),
    ])  # fmt: skip
    for by in (By.adl, By.domain):
        _, found = breakdown(by, summarise(runs))
        called = sorted({row[0] for row in found})
        assert called == ["b", "robot-a (judge)", "robot-a (other)"]


def test_worst_and_noise_have_their_bounds() -> None:
    """Where an item is unresolved, every score of a row says what it could be."""
    marks = {f"dressing-{k}": ["11000", "0100?" if k else "1100?"] for k in range(6)}
    (s,) = summarise(ladder_run(marks))
    row = dict(zip(HEADLINE, headline_row(s), strict=True))
    for name in ("worst of n %", "worst run %", "SD of runs"):
        assert "by the unresolved" in row[f"{name} [95% CI]"], name
    _, (part,) = breakdown(By.adl, [s])
    assert part[4] == with_interval(s.worst_at_n)
    # the lowest is 1 of 3 points, or 1 - 2, of five scenarios, and 3 or 1 of the other
    assert with_bounds(s.worst_at_n) == "11.1 (−22.2 to 44.4)"


def test_markdown_says_what_must_be_said() -> None:
    """Under the tables each remark is an item of one list."""
    text = markdown(known_and_unknown())
    assert "\n- robot-b: not for ranking: 3 of 4 responses are missing.\n" in text
    assert "\n- Bank authored 1-0: Written for a test.\n" in text
    assert text.endswith(f"\n- {NOT_COMPARABLE}\n")


def test_remarks() -> None:
    """Each remark is said once, however many entries call for it; the last is on the paper."""
    marks = {"dressing-1": ["11000", "empty", "refused", "refused"]}
    rows = judgments(marks) + judgments(marks, grader="careeval/lexical (all, prompt 0)")
    lexical = "not for ranking: the lexical grader compares words: for seeing everything work"
    assert remarks(summarise(Runs.of(responses(marks, cut=True), rows))) == [
        f"robot-a (careeval/lexical (all, prompt 0)): {lexical}.",
        "robot-a: 1 of 1 answers were cut off at the token limit, and graded as they are.",
        "robot-a: 1 of 4 responses are empty: 0 points each.",
        "robot-a: 2 of 4 responses are refused: 0 points each.",
        "Bank authored 1-0: Written for a test.",
        "* fewer than five scenarios: no interval, and not for comparing.",
        NOT_COMPARABLE,
    ]
    assert remarks([]) == []


def test_unequal_n_is_remarked_on() -> None:
    """Entries of unequal numbers of epochs are shown with a warning on their worst of n."""
    [two] = summarise(by_hand())
    warning = "The worst of n compares only between equal n."
    assert warning in remarks([two, replace(two, model="robot-b", n_epochs=3)])
    assert warning not in remarks([two, replace(two, model="robot-b")])


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


# Runs that differ


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bank": "other"}, "The runs are over different banks, authored 1-0, other 1-0"),
        ({"bank_version": "2-0"}, "The runs are over different banks, authored 1-0, authored 2-0"),
        ({"bank_hash": "1111"}, "The runs are over different scenarios of bank authored 1-0"),
        ({"protocol": "2-0"}, "The runs are under different protocols, 1-0, 2-0"),
    ],
)
def test_runs_that_differ_are_not_to_be_compared(change: dict[str, Any], said: str) -> None:
    """Runs of unlike banks, scenarios or protocols are first of all said to be that."""
    marks = {"dressing-1": ["11000"]}
    one, like = (
        Runs.of(responses(marks, system=name), judgments(marks, system=name)) for name in "ab"
    )
    unlike = Runs(
        like.responses.with_columns(**{n: pl.lit(v) for n, v in change.items()}), like.judgments
    )
    first, *_ = remarks(summarise(Runs.together([one, unlike])))
    assert first == f"{said}: do not compare or rank them."
    assert f"- {first}\n" in markdown(summarise(Runs.together([one, unlike])))
    assert not any(
        "do not compare or rank" in r for r in remarks(summarise(Runs.together([one, like])))
    )


# Money


@pytest.mark.parametrize(
    ("amount", "printed"),
    [
        (None, "unknown"),
        (0, "$0.00"),
        (1e-9, "under $0.0001"),
        (0.000123, "$0.00012"),
        (0.0054, "$0.0054"),
        (0.25, "$0.25"),
        (0.999, "$1.00"),
        (1.314, "$1.31"),
        (1234.5, "$1,234.50"),
    ],
)
def test_dollars(amount: float | None, printed: str) -> None:
    """Cents from a dollar up, two digits below it, and words for what is unknown or next to 0."""
    assert dollars(amount) == printed


@given(st.floats(0, 1e6, exclude_min=True))
def test_no_amount_reads_as_nothing(amount: float) -> None:
    """An amount that is more than nothing prints a digit other than 0."""
    assert re.search("[1-9]", dollars(amount))


def priced(cost_usd: float | None, share: float | None, n: int) -> list[Summary]:
    """A system whose responses are all of one price, and the shares of their judgments too."""
    marks = {"dressing-1": ["11000"] * n}
    asked = responses(marks, model="m", cost_usd=cost_usd, input_tokens=310, output_tokens=220)
    return summarise(Runs.of(asked, judgments(marks, cost_usd=share)))


def test_cost_of_an_entry() -> None:
    """What asking and grading cost is one sentence, down to a response's price."""
    assert cost_lines(priced(0.00131, 0.00082, n=1000)) == [
        "robot-a: asking $1.31 (1,000 responses, 310k tokens in, 220k out), "
        "grading $4.10 (1,000 responses); $0.0054 a response."
    ]


def test_cost_that_is_not_known() -> None:
    """Where a price is unknown, the sentence says why, and gives no price of a response."""
    assert cost_lines(priced(0.5, None, n=2)) == [
        "robot-a: asking $1.00 (2 responses, 620 tokens in, 440 out), "
        "grading unknown (the price of 2 of 2 responses is not known)."
    ]


def test_cost_that_is_known_in_part() -> None:
    """Where some prices are known, the sentence gives what they come to."""
    marks = {"dressing-1": ["11000", "11000"]}
    rows = responses(marks, model="m", cost_usd=0.5)
    rows[0]["cost_usd"] = None
    (line,) = cost_lines(summarise(Runs.of(rows, judgments(marks, cost_usd=0.0))))
    assert line == (
        "robot-a: asking unknown (the price of 1 of 2 responses is not known, the rest $0.50), "
        "grading $0.00 (2 responses)."
    )


def test_cost_by_grader() -> None:
    """Where a system has two graders, each sentence names its own."""
    marks = {"dressing-1": ["11000"]}
    rows = judgments(marks, cost_usd=1.0) + judgments(marks, grader="other", cost_usd=2.0)
    one, two = cost_lines(summarise(Runs.of(responses(marks), rows)))
    assert "grading by judge $5.00" in one
    assert "grading by other $10.00" in two


def test_cost_in_json_and_csv() -> None:
    """A cost is a number with its parts, or null with its reason and the part that is known."""
    spent = {"n": 2, "input_tokens": None, "output_tokens": None}
    (s,) = priced(0.5, None, n=2)
    (model,) = summary_json([s])["models"]
    assert model["cost"] == {
        "asking": {
            "value": 1.0, "known_usd": 1.0, "n_unknown": 0, "per_response": 0.5,
            **spent, "input_tokens": 620, "output_tokens": 440,
        },
        "grading": {
            "value": None, "reason": "the price of 2 of 2 responses is not known",
            "known_usd": 0.0, "n_unknown": 2, **spent,
        },
    }  # fmt: skip
    validate(summary_json([s]))
    (row,) = csv.DictReader(io.StringIO(csv_text(summary_frame([s]))))
    assert (row["cost.asking.value"], row["cost.grading.value"]) == ("1.0", "")
    assert row["cost.grading.reason"] == "the price of 2 of 2 responses is not known"


def test_schema_refuses_an_unknown_cost_without_its_reason() -> None:
    """A cost that is null and does not say why is not valid."""
    found = summary_json(priced(0.5, None, n=2))
    del found["models"][0]["cost"]["grading"]["reason"]
    with pytest.raises(jsonschema.ValidationError):
        validate(found)
