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
from careeval.FIXME import (
    BY_DOMAIN,
    BY_PART,
    HEADLINE,
    breakdown,
    domain_rows,
    headline_row,
    in_order,
    in_short,
    markdown,
    rank_cells,
    with_bounds,
    with_interval,
)
from careeval.results.export_tables import entries_table, export_tables
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.core.scenario import Adl, Domain, Rubric
from careeval.results.amounts import dollars, percent
from careeval.results.compare import Comparison, compare
from careeval.results.details import Detail, detail_of
from careeval.results.differences import Difference
from careeval.results.entries import Entry, entries
from careeval.results.estimates import GradedRubric
from careeval.results.findings import findings
from careeval.results.parts import By
from careeval.results.ranking import Ranked, Ranking
from careeval.results.summary import (
    NOT_COMPARABLE,
    Cell,
    DomainCell,
    Errors,
    Summary,
    summarise,
    summary_of,
)
from careeval.results.tables import Runs
from careeval.sheets.compare_json import compare_json
from careeval.sheets.every_eval_ever_metrics import metrics
from careeval.sheets.files import csv_text
from careeval.sheets.latex import HEADLINE as HEADLINE_LATEX
from careeval.sheets.latex import latex
from careeval.sheets.summary_json import DetailFile, EntryFile, summary_json, summary_schema
from careeval.sheets.words import cost_lines, remarks, sentence
from careeval.stats import Estimate
from results.authored import (
    RUNGS,
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
    rows = judgments(KNOWN, levels=levels)
    lacking = Runs.of(responses(UNKNOWN, system="robot-b"), judgments(UNKNOWN, system="robot-b"))
    return Runs.together([Runs.of(responses(KNOWN), rows), lacking])


def known_and_unknown() -> list[Summary]:
    """Their summaries."""
    return summarise(known_and_unknown_runs())


# JSON


def test_json_of_a_run_by_hand() -> None:
    """The machine contract has each number under its name, and a reason where there is none."""
    found = summary_json(summarise(by_hand()))

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
    (known,) = summary_json(summarise(ladder_run(whole)))["entries"]
    (open_, _) = summary_json(known_and_unknown())["entries"]
    assert known["score"].keys() == {"value", "ci95"}
    assert open_["severe"]["share"].keys() == {"value", "low", "high", "ci95"}


def test_shipped_schema() -> None:
    """The schema in the package is the one that the types make."""
    shipped = files("careeval.sheets").joinpath("summary.schema.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == summary_schema()


def test_json_is_what_its_schema_says() -> None:
    """Known and unknown numbers are valid, through text and back."""
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
        {"value": 0.5, "low": 0.5, "ci95": None},
        {"value": None, "reason": "none", "low": 0},
    ],
)
def test_schema_refuses_half_an_estimate(estimate: dict[str, Any]) -> None:
    """An unknown number without its reason, or a known one without its bounds, is not valid."""
    found = summary_json(summarise(by_hand()))
    found["entries"][0]["score"] = estimate
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
    plain = summary_json(summarise(by_hand()))["entries"]
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


def csv_rows(summaries: list[Summary]) -> list[dict[str, str]]:
    """The table of entries as CSV, read back."""
    text = csv_text(entries_table(summaries).frame)
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_of_a_run_by_hand() -> None:
    """One row an entry with a column for each number, as a fraction."""
    actions, ladder = csv_rows(summarise(by_hand()))
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
    none, some = (entries_table(summaries).frame for summaries in ([], known_and_unknown()))
    assert none.schema == some.schema
    assert none.columns[:3] == ["system", "grader", "rubric"]


def test_csv_quotes_names() -> None:
    """A name with commas, quotes and line ends is read back as it was."""
    name = 'a,"b"\nc'
    marks = {"dressing-1": ["11000"]}
    runs = Runs.of(responses(marks, system=name), judgments(marks, system=name))
    (row,) = csv_rows(summarise(runs))
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
    s = summary_of(entry)
    share = s.severe.share.value
    assert share is not None
    # an unresolved one is filled with 1/2: one of the two others of its scenario has it
    assert share == pytest.approx((8 * 1 + 7 * 0 + 7 / 2) / 22)
    assert (s.severe.count, s.severe.n) == (8, 22)

    assert summary_json([s])["entries"][0]["severe"]["share"]["value"] == share
    assert float(csv_rows([s])[0]["severe"]) == share
    assert compare(entry, other).metrics["severe"].a == pytest.approx(share)
    assert compare(other, entry).metrics["severe"].difference.value == pytest.approx(share)
    (in_eee,) = (m for m in metrics(entry, s) if (m.name, m.of) == ("severe", ""))
    assert in_eee.estimate.value == share
    printed = percent(share)
    assert dict(zip(HEADLINE, headline_row(s), strict=True))["severe % [95% CI]"].startswith(
        f"{printed} "
    )
    assert sentence(s).startswith(f"{printed}%")
    assert f"a & {printed} " in latex([s])


def walked() -> dict[str, set[str]]:
    """Where names stand that leave the program → the names."""
    runs = by_hand()
    also = Runs.of(
        responses(RUNGS, system="robot-b"),
        judgments(RUNGS, system="robot-b") + judgments(RUNGS, system="robot-b", grader="other"),
    )
    runs = Runs.together([runs, also])
    found = findings(runs)
    pair = [e for e in entries(runs) if (e.rubric, e.grader) == (Rubric.ladder, "judge")]
    tables = {t.name: set(t.frame.columns) for t in export_tables(found)}
    texts = {
        "summary": detailed(runs),
        "schema": summary_schema(),
        "compare": compare_json([compare(*pair)], found.rankings),
        "headline": list(HEADLINE),
        "latex": list(HEADLINE_LATEX),
        "eee": [m.id for e in entries(runs) for m in metrics(e, summary_of(e))],
    }
    return tables | {name: set(words(value)) for name, value in texts.items()}


def words(value: Any) -> Iterator[str]:
    """Every key and text of nested values."""
    if isinstance(value, dict):
        yield from map(str, value)
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from words(part)
    elif isinstance(value, str):
        yield value


OLD = ("action_", "ladder_level", "best_rung", "per_opportunity", "per_response.", "worst_run",
       "sd_runs", "rubric_correlation", "scenario_mean")  # fmt: skip


def test_no_name_of_version_0_1_is_left() -> None:
    """No key, column or metric has a name that belongs to the first version."""
    found = walked()
    assert len(found) > 15
    old = [(where, n) for where, names in found.items() for n in names if any(o in n for o in OLD)]
    assert old == []


def test_no_attribute_of_version_0_1_is_left() -> None:
    """Nor has any field of a summary, a detail, a comparison or a ranking."""
    kinds = (Summary, Detail, Errors, Cell, DomainCell, Comparison, Difference, Ranking, Ranked,
             Entry, GradedRubric, EntryFile, DetailFile)  # fmt: skip
    names = {
        (kind.__name__, name) for kind in kinds for name in (*kind.__annotations__, *dir(kind))
    }
    assert [each for each in names if any(old in each[1] for old in OLD)] == []


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
    (entry,) = summary_json(summarise(runs))["entries"]
    assert len(entry["by_adl"]) == 6
    assert len(entry["by_domain"]) == 4
    n = len(list(leaves(entry)))
    assert n < 100, f"{n} leaves"


# Rows and Markdown


def test_rows_of_a_run_by_hand() -> None:
    """Rows have a cell for each head, in percent, with a dash for what is unknown."""
    actions, ladder = summarise(by_hand())
    assert dict(zip(HEADLINE, headline_row(ladder, "1–2"), strict=True)) == {
        "system": "robot-a", "grader": "judge", "rubric": "ladder",
        "severe % [95% CI]": "25.0, 1 of 4", "score % [95% CI]": "25.0", "rank": "1–2",
        "worst of n % [95% CI]": "−16.7", "mild % [95% CI]": "25.0, 1 of 4", "n": "2 × 2",
    }  # fmt: skip
    assert dict(zip(HEADLINE, headline_row(actions), strict=True))["mild % [95% CI]"] == "–"
    head, (dressing, eating) = breakdown(By.adl, [ladder])
    assert len(head) == len(BY_PART) == len(dressing)
    assert eating == ("robot-a", "eating", "1*", "16.7", "1 of 2")
    by_domain = domain_rows(ladder)
    assert {len(row) for row in by_domain} == {len(BY_DOMAIN)}
    assert by_domain[3] == ("robot-a", Domain.functional_safety.replace("_", " "), "0", "–")


def test_unresolved_errors_are_at_least_so_many() -> None:
    """A count beside unresolved judgments is said to be the least there is."""
    s, _ = known_and_unknown()
    cell = dict(zip(HEADLINE, headline_row(s), strict=True))["severe % [95% CI]"]
    assert "by the unresolved" in cell
    assert cell.endswith(", at least 3 of 18")


def test_two_numbers_in_a_sentence() -> None:
    """Severe errors stand first, then the score, each with its interval, or why it is unknown."""
    marks: Marks = {f"dressing-{k}": ["11001" if k == 0 else "11000", "01000"] for k in range(8)}
    (s,) = summarise(ladder_run(marks))
    severe, score = s.severe.share, s.score
    assert severe.ci95 is not None
    assert score.ci95 is not None
    low, high = (percent(end) for end in severe.ci95)
    assert sentence(s).startswith(f"6.2% ({low}–{high}) of robot-a's responses hold a severe error")
    low, high = (percent(end, 0) for end in score.ci95)
    assert sentence(s).endswith(f"; it scores 62% ({low}–{high}) on the ladder.")
    (below,) = summarise(ladder_run({"dressing-1": ["00001"]}))
    assert sentence(below) == (
        "100.0% of robot-a's responses hold a severe error; it scores −67% on the ladder."
    )
    (none,) = summarise(ladder_run({name: ["11000"] * 2 for name in marks}))
    assert sentence(none).startswith("None of robot-a's 16 responses holds a severe error; up to ")
    (unknown,) = summarise(ladder_run({"dressing-1": ["1100?"]}))
    why = "every judgment of the items of some points is unresolved"
    assert sentence(unknown) == (
        f"Whether robot-a's responses hold a severe error is unknown: {why}; its score is unknown: "
        f"{why}."
    )


def test_rank_cells() -> None:
    """The rank set by severe errors stands beside that by score, where several are ranked."""
    names = [f"dressing-{k}" for k in range(8)]
    runs = runs_of({"bold": {n: ["11001"] for n in names}, "timid": {n: ["00000"] for n in names}})
    found = findings(runs)
    assert rank_cells(found.rankings) == {0: "1 (severe 2)", 1: "2 (severe 1)"}
    alone = findings(runs_of({"bold": {n: ["11001"] for n in names}}))
    assert rank_cells(alone.rankings) == {}


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
    acts = judgments({"eating-1": ["1"]}, [1], system="d")
    parts.append(Runs.of(responses(marks["d"], system="d"), acts))
    summaries = summarise(Runs.together(parts))[::-1]
    found = [summaries[place].system for place in in_order(order, summaries)]
    assert "".join(found) == names


def test_markdown_shows_names_as_they_are() -> None:
    """A name with a pipe, markup or a line end stays one cell of text."""
    marks = {"dressing-1": ["11000"]}
    name = "a|b\\|c <img src=x> [d](e) *f* `g`\n| h"
    runs = Runs.of(responses(marks, system=name), judgments(marks, system=name))

    lines = markdown(summarise(runs)).splitlines()

    shown = r"a\|b\\\|c \<img src=x\> [d\](e) \*f\* \`g\` \| h"
    assert any(line.startswith(f"| {shown} | judge | ladder | 0.0 ") for line in lines)
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


def test_numbers_have_their_bounds() -> None:
    """Where an item is unresolved, every score of a row says what it could be."""
    marks = {f"dressing-{k}": ["11000", "0100?" if k else "1100?"] for k in range(6)}
    (s,) = summarise(ladder_run(marks))
    row = dict(zip(HEADLINE, headline_row(s), strict=True))
    for name in ("severe %", "score %", "worst of n %"):
        assert "by the unresolved" in row[f"{name} [95% CI]"], name
    # the lowest is 1 of 3 points, or 1 - 2, of five scenarios, and 3 or 1 of the other; no -2 that
    # was resolved is there
    assert with_bounds(s.worst_at_n) == "44.4 (−22.2 to 44.4)"


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
    _, two = summarise(by_hand())
    warning = "The worst of n compares only between equal n."
    assert warning in remarks([two, replace(two, system="robot-b", n_epochs=3)])
    assert warning not in remarks([two, replace(two, system="robot-b")])


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
        ({"protocol": "1-0"}, "The runs were asked by different protocols, 2-0, 1-0"),
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
        "robot-a: asking $1.31 (1,000 responses, 310k tokens in, 220k out); "
        "grading the ladder $4.10 (1,000 responses); $0.0054 a response."
    ]


def test_cost_that_is_not_known() -> None:
    """Where a price is unknown, the sentence says why, and gives no price of a response."""
    assert cost_lines(priced(0.5, None, n=2)) == [
        "robot-a: asking $1.00 (2 responses, 620 tokens in, 440 out); "
        "grading the ladder unknown (the price of 2 of 2 responses is not known)."
    ]


def test_cost_that_is_known_in_part() -> None:
    """Where some prices are known, the sentence gives what they come to."""
    marks = {"dressing-1": ["11000", "11000"]}
    rows = responses(marks, model="m", cost_usd=0.5)
    rows[0]["cost_usd"] = None
    (line,) = cost_lines(summarise(Runs.of(rows, judgments(marks, cost_usd=0.0))))
    assert line == (
        "robot-a: asking unknown (the price of 1 of 2 responses is not known, the rest $0.50); "
        "grading the ladder $0.00 (2 responses)."
    )


def test_cost_by_grader() -> None:
    """Where a system has two graders, the sentence names each."""
    marks = {"dressing-1": ["11000"]}
    rows = judgments(marks, cost_usd=1.0) + judgments(marks, grader="other", cost_usd=2.0)
    (line,) = cost_lines(summarise(Runs.of(responses(marks), rows)))
    assert "; grading the ladder by judge $5.00" in line
    assert "; grading the ladder by other $10.00" in line


def test_cost_in_json_and_csv() -> None:
    """A cost is dollars, or null with its reason; CSV has the part that is known too."""
    (s,) = priced(0.5, None, n=2)
    (entry,) = summary_json([s])["entries"]
    reason = "the price of 2 of 2 responses is not known"
    assert entry["cost"] == {
        "asking": {"usd": 1.0, "reason": "", "input_tokens": 620, "output_tokens": 440},
        "grading": {"usd": None, "reason": reason, "input_tokens": None, "output_tokens": None},
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
