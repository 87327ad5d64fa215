"""A number that is declared once appears wherever numbers are shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

COMMANDS = """
import sys
from pathlib import Path
from careeval.results import metrics
from careeval.results.care import Rate
from careeval.results.plans import PlanCourses
from careeval.results.graded_rubric import GradedRubric
def errors(graded):
    return graded.errors(-2)
def rate(entry):
    return Rate(12, entry.score)
def number(key, compute, *terms, **more):
    return metrics.Metric(key, key.capitalize(), "made for a test", compute, *terms, **more)
score, terms = GradedRubric.score, GradedRubric.score_terms
metrics.HEADLINE += (number("zebra", score, terms),)
metrics.IN_DETAIL += (number("tapir", score),)
metrics.SEVERE_BY_KIND += (number("okapi", errors, counts_errors=True, unit="% of okapis"),)
metrics.DIRECTIONS += (number("bongo", rate, unit="% of bongos"),)
metrics.PLANS += (number("quokka", PlanCourses.executable),)
metrics.COMPARED = {metric.key: metric for metric in metrics.HEADLINE if metric.terms}
metrics.LIMITED = {metric.key: metric for metric in metrics.HEADLINE}
from careeval.protocol import tables
from careeval.results.tables import Runs
from careeval.worlds.judge import JUDGE
from results.authored import runs_of
from support.fakes import begin_recorded
from support.plan_bank import plan_responses, write_plan_bank
bank = {"bank": str(write_plan_bank(Path("bank"), 1))}
assert begin_recorded(Path("plans"), "arm", plan_responses(1), JUDGE, bank).complete
names = [f"dressing-{n}" for n in range(6)]
marks = {name: ["11000", "01000"] for name in names}
runs = Runs.together([runs_of({"a": marks, "b": marks}), tables.read_runs("plans")])
tables.read_runs = lambda *_: runs
from careeval.cli.app import run
for line in sys.stdin:
    assert run(line.split()) == 0, line
"""
"""Declares metrics before anything reads the registry, then carries out command lines."""

NUMBERS = ("zebra", "tapir", "okapi", "bongo", "quokka")

LINES = """\
summary runs --detail --format md -o table.md
summary runs --detail --format latex -o table.tex
summary runs --detail --format csv -o table.csv
summary runs --detail --format json -o table.json
report runs -o report.html --no-responses
site runs -o site
export runs --to csv parquet eee -o tables
compare runs -o compare.md
summary runs --detail
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The outputs of the commands, in files."""
    folder = tmp_path_factory.mktemp("registry")
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS],
        input=LINES, text=True, capture_output=True, cwd=folder, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "300"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder / "terminal.txt").write_text(done.stdout)
    return folder


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "places",
    [
        ("terminal.txt",),
        ("table.md",),
        ("table.tex",),
        ("table.json",),
        ("tables/csv/entries.csv", "tables/csv/directions.csv", "tables/csv/plan_answers.csv"),
        ("tables/columns.md", "tables/csv/directions.csv"),
        ("report.html",),
        ("tables/eee/data/**/*.json",),
    ],
)
def test_a_declared_number_appears(places: tuple[str, ...], number: str, folder: Path) -> None:
    """It is in every form of a table, on both pages, in the data and in the export."""
    paths = [path for place in places for path in folder.glob(place)]
    assert any(number in path.read_text(encoding="utf-8").lower() for path in paths)


@pytest.mark.parametrize(
    ("number", "system"), [("zebra", "a"), ("okapi", "a"), ("bongo", "a"), ("quokka", "arm")]
)
def test_it_is_on_the_site(number: str, system: str, folder: Path) -> None:
    """The page of a system has it; a number that is shown only on request is not there."""
    page = (folder / f"site/models/{system}.html").read_text(encoding="utf-8").lower()
    assert number in page
    assert "tapir" not in page


@pytest.mark.parametrize(
    "place", ["compare.md", "table.csv", "site/data/entries.csv", "site/data/leaderboard.csv"]
)
def test_a_headline_number_is_compared_and_ranked(place: str, folder: Path) -> None:
    """It is in the tables of comparisons and of leaderboards."""
    assert "zebra" in (folder / place).read_text(encoding="utf-8").lower()


def test_numbers_are_in_parquet(folder: Path) -> None:
    """A metric is columns with its bounds, interval and reason; a direction is a row."""
    names = {*pl.read_parquet(folder / "tables/parquet/entries.parquet").columns}
    assert {"zebra", "zebra_low", "zebra_high", "zebra_ci95_low", "zebra_reason"} <= names
    assert {"tapir", "okapi_count"} <= names
    assert "quokka_low" in pl.read_parquet(folder / "tables/parquet/plan_answers.parquet").columns
    assert "bongo" in pl.read_parquet(folder / "tables/parquet/directions.parquet")["number"]
