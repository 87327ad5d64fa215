"""A metric that is declared once appears wherever numbers are shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

COMMANDS = """
import sys
from careeval.results import metrics
from careeval.results.graded_rubric import GradedRubric
added = metrics.Metric(
    "zebra", "Zebra", "zebra", "made for a test", GradedRubric.score, GradedRubric.score_terms
)
metrics.METRICS = (*metrics.METRICS, added)
metrics.HEADLINE = tuple(metric for metric in metrics.METRICS if not metric.in_detail)
metrics.COMPARED = {metric.key: metric for metric in metrics.METRICS if metric.terms}
metrics.LIMITED = {metric.key: metric for metric in metrics.HEADLINE}
from careeval.protocol import tables
from results.authored import runs_of
names = [f"dressing-{n}" for n in range(6)]
marks = {name: ["11000", "01000"] for name in names}
runs = runs_of({"a": marks, "b": marks})
tables.read_runs = lambda *_: runs
from careeval.cli.app import run
for line in sys.stdin:
    assert run(line.split()) == 0, line
"""
"""Declares a metric before anything reads the registry, then carries out command lines."""

LINES = """\
summary runs --format md -o table.md
summary runs --format latex -o table.tex
summary runs --format csv -o table.csv
summary runs --format parquet -o table.parquet
summary runs --format json -o table.json
report runs -o report.html --no-responses
site runs -o site
export runs --to csv eee -o tables
compare runs -o compare.md
summary runs
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The outputs of the commands, in files."""
    folder = tmp_path_factory.mktemp("registry")
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS],
        input=LINES, text=True, capture_output=True, cwd=folder, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder / "terminal.txt").write_text(done.stdout)
    return folder


@pytest.mark.parametrize(
    "place",
    [
        *("terminal.txt", "table.md", "table.tex", "table.csv", "table.json", "compare.md"),
        *(
            "report.html",
            "site/models/a.html",
            "site/data/entries.csv",
            "site/data/leaderboard.csv",
        ),
        *("tables/csv/entries.csv", "tables/columns.md", "tables/eee/data/**/*.json"),
    ],
)
def test_a_declared_number_appears(place: str, folder: Path) -> None:
    """It is in every form of a table, on both pages, in the data and in the export."""
    (path, *_) = folder.glob(place)
    assert "zebra" in path.read_text(encoding="utf-8").lower()


def test_it_is_a_column_of_parquet(folder: Path) -> None:
    """Its value, bounds, interval and reason are columns."""
    names = pl.read_parquet(folder / "table.parquet").columns
    assert {"zebra", "zebra_low", "zebra_high", "zebra_ci95_low", "zebra_reason"} <= set(names)
