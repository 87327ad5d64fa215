"""Columns of every table that goes out: bounds, intervals, and graders by point class."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from careeval.core.rating import Rater, Rating, Role, Scale, Subject
from careeval.core.scenario import Rubric
from careeval.people.audit.results import audit_results
from careeval.people.audit.sample import draw
from careeval.people.study.documents import study_tables
from careeval.people.study.results import StudyResults, study_results
from careeval.people.study.rounds import RoundAnswers, RoundRater
from careeval.report.page import render_page
from careeval.report.site.folder import render_site
from careeval.results.findings import Findings, findings
from careeval.results.parts import Breakdown
from careeval.results.probe_check import LabelledJudgment, ProbeAgreement
from careeval.results.tables import Runs
from careeval.sheets.entries import entries_sheet
from careeval.sheets.parts import parts_sheet
from careeval.sheets.summary import data_tables
from report.conftest import made_runs
from results.sampled import read_by

Rows = Sequence[Mapping[str, Any]]


def resolved() -> Runs:
    """Two systems judged by two graders who differ and left nothing unresolved."""
    first = made_runs(rubrics=("actions", "ladder"))
    judged = first.judgments.with_columns(pl.col("present").fill_null(value=False))
    strict = judged.with_columns(
        grader=pl.lit("vendor/strict (batched)"),
        present=pl.col("present") & (pl.col("epoch") == 1),
    )
    return Runs(first.responses, pl.concat([judged, strict]))


def everything() -> Findings:
    """Findings with probes and an audit."""
    runs = resolved()
    grader = "vendor/judge (batched)"
    sample = draw(Runs(runs.responses, runs.judgments.filter(pl.col("grader") == grader)))
    people = audit_results(
        sample, [*read_by(sample, lambda _, s: s.present), *read_by(sample, _now_and_then, "cat")]
    )
    probes = ProbeAgreement.of(
        LabelledJudgment(
            Rubric.actions, points, "harmful", bool(k % 2), bool(k % 3), f"dressing-{k % 6}"
        )
        for k in range(24)
        for points in (2, 1, -1, -2)
    )
    return findings(runs, probes={grader: probes}, audits={grader: people})


def _now_and_then(each: Any, stratum: Any) -> bool:
    return bool(stratum.present) and each.epoch == 1


def made_study() -> StudyResults:
    """A made-up round of eight raters on six scenarios."""
    panel = [Rater(f"r0{n}", Role.occupational_therapist) for n in range(1, 9)]
    names = [f"s-{n}" for n in range(6)]
    ratings = tuple(
        Rating(rater, Subject(name, 1, 1), scale, 3 + (k * n + k) % 3)
        for n, name in enumerate(names)
        for scale in (Scale.realism, Scale.validity)
        for k, rater in enumerate(panel)
    )
    round_ = RoundAnswers(
        1,
        dict.fromkeys(names, 1),
        tuple(RoundRater(rater, tuple(names), years=k) for k, rater in enumerate(panel)),
        ratings,
        (),
        (),
        hashes={name: name for name in names},
        items={name: {} for name in names},
    )
    return study_results("Test", "aaaa", "made-up", "1-A", [round_])


@pytest.fixture(scope="module")
def everything_found() -> Findings:
    """Found once for all tests."""
    return everything()


@pytest.fixture(scope="module")
def tables(everything_found: Findings) -> dict[str, Rows]:
    """Every table that goes out as CSV or Parquet: its name and its rows."""
    results = everything_found
    rows = {table.name: table.frame.to_dicts() for table in data_tables(results)}
    rows["summary"] = entries_sheet(results.entries).data.frame.to_dicts()
    for by in Breakdown:
        rows[f"by {by}"] = parts_sheet(by, results.entries).data.frame.to_dicts()
    for path, text in render_site(results):
        if path.endswith(".csv"):
            rows[path] = [_numbers(row) for row in csv.DictReader(io.StringIO(text))]
    return rows | {table.name: table.frame.to_dicts() for table in study_tables(made_study())}


def _numbers(row: Mapping[str, str]) -> dict[str, Any]:
    return {name: _number(cell) for name, cell in row.items()}


def _number(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell or None


def ends(columns: Iterable[str], which: str) -> Iterator[tuple[str, str]]:
    """Columns that end in `which`, `_` or `.` between the words, with what stands before it."""
    for column in columns:
        if match := re.fullmatch(rf"(?:(.*)[._])?{which}", column):
            yield column, match[1] or ""


def value_of(base: str, columns: Iterable[str]) -> str:
    """The column of the number that an end is of; empty where there is none."""
    names = (base, f"{base}.value") if base else ("value", "score")
    return next((name for name in columns if name in names), "")


def test_low_and_high_are_bounds(tables: dict[str, Rows]) -> None:
    """With nothing unresolved, `low` and `high` equal the number; for agreement they are empty."""
    wrong = []
    for name, rows in tables.items():
        columns = list(rows[0]) if rows else []
        for column, base in [*ends(columns, "low"), *ends(columns, "high")]:
            if base.endswith("ci95"):
                continue
            value = value_of(base, columns)
            bounds = [(r[column], r[value]) for r in rows if value and r[column] is not None]
            if not value or any(bound != pytest.approx(number) for bound, number in bounds):
                wrong.append((name, column))
    assert wrong == []


def test_intervals_are_named_ci95(tables: dict[str, Rows]) -> None:
    """An interval has both ends, in order, of a number that stands in the table."""
    wrong = []
    with_interval = set()
    for name, rows in tables.items():
        columns = list(rows[0]) if rows else []
        for low, base in ends(columns, "ci95[._]low"):
            known = [(r[low], r[f"{low[:-3]}high"]) for r in rows if r[low] is not None]
            with_interval |= {re.sub("leaderboard.*", "leaderboard", name)} if known else set()
            if not value_of(base, columns) or any(a >= b for a, b in known):
                wrong.append((name, low))
    assert wrong == []
    assert {
        "entries", "grader_pairs", "grader_agreement", "grader_cards", "summary", "validity",
        "agreement", "data/leaderboard", "data/grader-pairs.csv", "data/probes-by-points.csv",
    } - with_interval == set()  # fmt: skip


def test_a_column_says_which_end_it_is(everything_found: Findings) -> None:
    """The description of a column fits its name: bounds of the unresolved, or 95%."""
    described = [
        (table.name, column)
        for table in [*data_tables(everything_found), *study_tables(made_study())]
        for column in table.columns
    ]
    wrong = []
    for name, column in described:
        words = column.name.replace("_", ".").split(".")
        if words[-1] in {"low", "high"}:
            expected = "95%" if "ci95" in words else "unresolved"
            if expected not in column.holds:
                wrong.append((name, column.name))
        elif re.search("interval.* (begins|ends)", column.holds):
            wrong.append((name, column.name))
    assert wrong == []


def test_agreement_of_graders_is_by_point_class(tables: dict[str, Rows]) -> None:
    """Graders, probes and people have a row a point class, in files and on the pages alike."""
    pairs = [(row["rubric"], row["points"]) for row in tables["grader_pairs"]]
    assert pairs == [
        *(("ladder", points) for points in (2, 1, 0, -1, -2)),
        *(("actions", points) for points in (2, -1, -2)),
    ]
    on_site = [(row["rubric"], row["points"]) for row in tables["data/grader-pairs.csv"]]
    assert on_site == pairs
    values = [row["positive_agreement"] for row in tables["grader_pairs"]]
    assert [r["positive_agreement"] for r in tables["data/grader-pairs.csv"]] == values
    between = {row["between"] for row in tables["grader_agreement"]}
    assert between == {"probes", "people", "raters"}


def test_no_kappa_of_graders_goes_out(everything_found: Findings, tables: dict[str, Rows]) -> None:
    """Neither a page nor a table has a pooled kappa of graders."""
    pages = [render_page(everything_found), *(text for _, text in render_site(everything_found))]
    assert any("Positive agreement" in page for page in pages)
    assert not [page[:200] for page in pages if "kappa" in page.casefold()]
    of_graders = [rows[0] for name, rows in tables.items() if rows and name != "validity"]
    assert not [column for row in of_graders for column in row if "kappa" in column]
