"""Tables for other programs: CSV that is safe, Parquet that is exact, LaTeX that is text."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.core.scenario import Rubric
from careeval.people.audit.results import audit_results
from careeval.people.audit.sample import draw
from careeval.results.entry import NOT_COMPARABLE
from careeval.results.findings import Findings, findings
from careeval.results.tables import JUDGMENTS, RESPONSES, Runs, schema
from careeval.sheets.data_files import csv_text, write_tables
from careeval.sheets.sheet import DataTable
from careeval.sheets.summary import data_tables
from results.authored import RUNG_LEVELS, Marks, by_hand, judgments, responses
from results.sampled import at_random, judged, read_by

SECRET = "words of the held-out split"
MARKS: Marks = {f"dressing-{n}": ["1100?", "01000", f"1100{n % 2}"] for n in range(6)}


def rows_of(findings: Findings, name: str) -> list[dict[str, Any]]:
    """The rows of one table."""
    (table,) = (t for t in data_tables(findings) if t.name == name)
    return table.frame.to_dicts()


def two(**columns: Any) -> Runs:
    """Two systems, the second without its last response, each graded on both rubrics."""
    parts = []
    for name, last in (("a", "10001"), ("b", "missing")):
        marks = {**MARKS, "eating-1": ["11000", "10010", last]}
        levels = dict.fromkeys(marks, RUNG_LEVELS)
        rows = judgments(marks, levels=levels, system=name)
        rows += judgments(marks, system=name, rubric="actions")
        parts.append(Runs.of(responses(marks, system=name, **columns), rows))
    return Runs.together(parts)


# What the tables hold


def test_tables_of_a_run_by_hand() -> None:
    """Scenarios, harms and the worst of k are those of the run, and the headline too."""
    found = findings(by_hand())
    _, ladder = rows_of(found, "entries")
    assert (ladder["system"], ladder["rubric"]) == ("robot-a", "ladder")
    assert (ladder["score"], ladder["severe"], ladder["severe_count"]) == (0.25, 0.25, 1)
    assert (ladder["score_ci95_low"], ladder["score_reason"]) == (None, "fewer than five scenarios")
    scores = {(r["rubric"], r["scenario"]): r["score"] for r in rows_of(found, "scenarios")}
    assert scores["ladder", "dressing-1"] == pytest.approx(1 / 3)
    assert scores["actions", "eating-1"] == pytest.approx(0.75)
    harms = {(r["rubric"], r["scenario"], r["epoch"], r["points"]) for r in rows_of(found, "harms")}
    assert harms == {
        ("ladder", "eating-1", 1, -2),
        ("ladder", "dressing-1", 2, -1),
        ("actions", "dressing-1", 2, -2),
    }
    worst = [r["worst_at_k"] for r in rows_of(found, "worst_at_k") if r["rubric"] == "ladder"]
    assert worst == pytest.approx([0.25, -1 / 6])


def test_every_unknown_number_has_its_reason() -> None:
    """If a value is null, the reason beside it is not empty."""
    unknown = 0
    for table in data_tables(findings(two())):
        for row in table.frame.to_dicts():
            for name in [n.removesuffix("_reason") for n in row if n.endswith("_reason")]:
                if name in row and row[name] is None:
                    unknown += 1
                    assert row[f"{name}_reason"], (table.name, name)
    assert unknown > 20


def test_scenario_without_its_worst_says_why() -> None:
    """A missing response leaves a score, no lowest, and a reason."""
    rows = rows_of(findings(two()), "scenarios")
    (row,) = (
        r for r in rows if (r["system"], r["scenario"], r["rubric"]) == ("b", "eating-1", "ladder")
    )
    assert row["score"] is not None
    assert (row["worst"], row["epochs"][2]) == (None, None)
    assert row["reason"] == "a response is missing or not judged"


def test_scenario_that_nothing_tells_of_says_why() -> None:
    """A score that is unknown because of unresolved judgments is not said to be not judged."""
    marks: Marks = {"eating-1": ["?0000", "?1000"]}
    (row,) = rows_of(findings(Runs.of(responses(marks), judgments(marks))), "scenarios")
    assert (row["score"], row["worst"]) == (None, None)
    assert row["reason"] == "every judgment of the items of some points is unresolved"
    assert row["score_low"] is not None


def test_one_who_is_not_ranked_is_there_with_the_reason() -> None:
    """The rank sets name every system, and give no rank to one that may not be ranked."""
    rows = {row["system"]: row for row in rows_of(findings(two()), "rank_sets")}
    assert rows["b"]["rank_best"] is None
    assert "responses are missing" in rows["b"]["reason"]


def test_scores_that_people_correct_are_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit has a row a system and rubric, and its numbers on the card; without one no row."""
    monkeypatch.setattr("careeval.people.audit.results.MIN_AUDITED", 1)
    runs = judged({"a": at_random(1, 8, 2), "b": at_random(2, 8, 2)})
    sample = draw(runs)
    people = audit_results(sample, read_by(sample, lambda _, s: s.present and s.points > 0))
    found = findings(runs, audits={sample.grader: people})
    rows = rows_of(found, "corrected_scores")
    assert [(row["system"], row["rubric"]) for row in rows] == [("a", "ladder"), ("b", "ladder")]
    of = people.by_system["a"].scores[Rubric.ladder]
    told = rows[0]
    assert (told["graded"], told["corrected"]) == (of.graded, of.corrected.value)
    assert (told["corrected_ci95_low"], told["corrected_ci95_high"]) == of.corrected.ci95
    assert (told["n_responses"], told["n_judgments"]) == (16, 80)
    (card,) = rows_of(found, "grader_cards")
    assert card["human.n_raters"] == 2
    assert card["human.overall.sensitivity"] == people.overall.sensitivity.value
    agreement = rows_of(found, "grader_agreement")
    assert {row["between"] for row in agreement} == {"people", "raters"}
    assert [row["points"] for row in agreement if row["between"] == "people"] == [2, 1, 0, -1, -2]
    mild = people.agreement_by_points[Rubric.ladder, -1]
    (told,) = (r for r in agreement if (r["between"], r["points"]) == ("people", -1))
    assert (told["n"], told["n_either"]) == (mild.n, mild.n_either)
    assert (told["ac1_ci95_low"], told["ac1_ci95_high"]) == mild.ac1.ci95
    assert rows_of(findings(runs), "corrected_scores") == []
    (nobody,) = rows_of(findings(runs), "grader_cards")
    assert (nobody["human.n_raters"], nobody["human.overall.sensitivity_reason"]) == (
        None,
        "not audited by people",
    )


def test_the_two_tables_go_out_as_they_are() -> None:
    """Responses and judgments have the columns of their contract."""
    tables = {table.name: table for table in data_tables(findings(two()))}
    assert tables["responses"].frame.schema == pl.Schema(schema(RESPONSES))
    assert tables["judgments"].frame.schema == pl.Schema(schema(JUDGMENTS))


def test_no_table_has_a_word_of_the_held_out_split() -> None:
    """No table has a word of a held-out scenario, whatever the runs hold; the numbers stay."""
    runs = two(split="held-out", text=SECRET, scenario_text=SECRET, note=SECRET)
    told = Runs(
        runs.responses,
        runs.judgments.with_columns(
            pl.lit(SECRET).alias(n) for n in ("quote", "reason", "item_text")
        ),
    )
    found = findings(told)
    tables = list(data_tables(found))
    assert not [t.name for t in tables if SECRET in csv_text(t.frame)]
    assert rows_of(found, "harms")[0]["quote"] is None
    assert rows_of(found, "entries")[0]["score"] is not None


# Files


def test_files_and_their_dictionary(tmp_path: Path) -> None:
    """Each table is there in both forms, and each of its columns is explained."""
    found = findings(two())
    written = write_tables(data_tables(found), tmp_path, ["csv", "parquet"], "Two systems.")
    assert all(path.is_file() for path in written)
    told = (tmp_path / "columns.md").read_text(encoding="utf-8")
    *files, about_columns = written
    assert about_columns == tmp_path / "columns.md"
    for path in files:
        frame = (
            pl.read_parquet(path)
            if path.suffix == ".parquet"
            else pl.read_csv(path, infer_schema=False)
        )
        section = told.partition(f"\n## {path.stem}\n")[2].partition("\n## ")[0]
        names = re.findall(r"^\| `([\w.]+)` \| \w+ \| \S", section, re.MULTILINE)
        assert frame.columns == names
    assert NOT_COMPARABLE in told


def test_a_long_table_is_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of several pieces is the table's text: one header, every row once, in order."""
    monkeypatch.setattr("careeval.sheets.data_files.MAX_ROWS", 2)
    texts = ["one\nline more", "=2", "", "four", "five"]
    frame = pl.DataFrame({"text": texts, "n": range(5)})
    table = DataTable("made", "a row", (), frame)

    write_tables([table], tmp_path, ["csv"], "Made for the test.")

    assert (tmp_path / "csv" / "made.csv").read_text(encoding="utf-8") == csv_text(frame)


def test_parquet_has_the_text_as_it_is(tmp_path: Path) -> None:
    """Parquet keeps the text that CSV must change, and both have every number."""
    found = findings(two(text="=1+1\x00"))
    write_tables(data_tables(found), tmp_path, ["csv", "parquet"], "")
    exact = pl.read_parquet(tmp_path / "parquet" / "responses.parquet")
    assert set(exact["text"]) == {"=1+1\x00"}
    safe = pl.read_csv(tmp_path / "csv" / "responses.csv")
    assert set(safe["text"]) == {"'=1+1"}
    one = pl.read_csv(tmp_path / "csv" / "scenarios.csv")["score"]
    other = pl.read_parquet(tmp_path / "parquet" / "scenarios.parquet")["score"]
    assert one.to_list() == other.to_list()


def one_cell(text: str) -> str:
    """A text, written as a cell of CSV and read back."""
    (row,) = csv.DictReader(
        io.StringIO(csv_text(pl.DataFrame({"text": [text], "n": [-1.5]})), newline="")
    )
    assert row["n"] == "-1.5"
    return row["text"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("＝1", "'＝1"),
        ("\n=1+1", "'\n=1+1"),
        (" =1+1", "' =1+1"),
        ("\ufeff=1+1", "'\ufeff=1+1"),
        ("\x85=1", "'=1"),
        ("a\x9b2Jb", "a2Jb"),
        ("+2", "+2"),
        ("-2", "-2"),
        ("I ask = I listen", "I ask = I listen"),
        ("a\x1b[31m\x00b", "a[31mb"),
        ("two\nlines, \"quoted\"", "two\nlines, \"quoted\""),
    ],
)  # fmt: skip
def test_text_never_becomes_a_formula(text: str, cell: str) -> None:
    """Text that a spreadsheet would compute gets an apostrophe; other text is unchanged."""
    assert one_cell(text) == cell


@given(st.text())
def test_no_cell_is_a_formula(text: str) -> None:
    """No cell begins like a formula, unless it is a plain number."""
    cell = one_cell(text)
    assert not re.match(r"\s*[=+\-@]|[\t\r]", cell) or re.fullmatch(r"[+-]?[0-9]+", cell)


def test_lists_are_one_cell() -> None:
    """The parts of a list are joined, and one that is not known is empty among them."""
    frame = pl.DataFrame({"x": [["a", "b"], []], "y": [[0.5, None], [1.0]]})
    assert csv_text(frame).splitlines()[1:] == ['"a; b","0.5; "', '"","1.0"']


def test_numbers_of_a_list_stay_numbers() -> None:
    """A list that begins below 0 is no formula; one of texts is, and none begins a cell within."""
    frame = pl.DataFrame({"x": [[-1 / 3, 1.0]], "y": [["=1", "b"]], "z": ["a;=1"], "n": [None]})
    lines = csv_text(frame.with_columns(pl.col("n").cast(pl.String))).splitlines()
    assert lines[1] == f'"{-1 / 3}; 1.0","\'=1; b","a;=1",'
