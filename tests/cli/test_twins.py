"""A run with twins: its numbers stand beside the grader's own slips, wherever it is shown."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from careeval.cli.app import OK, run
from support.command_line import CommandLine

ANSWERS = Path(__file__).parents[2] / "pilot/answers/closed.jsonl"
FAMILIES = r"-10[1-3]"
"""Ids of the scenarios that are answered: bases, twins and controls of three families."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of some of the pilot's answers, twins too, graded by comparing words."""
    folder = tmp_path_factory.mktemp("twins") / "run"
    rows = ANSWERS.read_text(encoding="utf-8").splitlines(keepends=True)
    answers = folder.with_name("answers.jsonl")
    kept = [row for row in rows if re.search(FAMILIES, json.loads(row)["scenario"])]
    answers.write_text("".join(kept), encoding="utf-8")
    words = ["run", "--bank", "4", "--twins", "--grader", "careeval/lexical", "--name", "pilot"]
    assert run([*words, "--responses", str(answers), "-o", str(folder)]) == OK
    return folder


def test_the_report_and_the_site_say_what_the_grader_mistakes(graded: Path) -> None:
    """Both show the slips on the probes of twins in the table of twins."""
    page, site = graded.parent / "page.html", graded.parent / "site"
    assert run(["report", str(graded), "--bank", "4", "-o", str(page)]) == OK
    assert run(["site", str(graded), "--bank", "4", "-o", str(site)]) == OK
    for path in (page, site / "models/pilot.html"):
        shown = path.read_text(encoding="utf-8")
        assert all(word in shown for word in ("Adapted", "Mistaken by the", "Swapped by the"))


def test_the_summary_is_of_the_bank_that_was_asked(graded: Path, cli: CommandLine) -> None:
    """The lexical grader is tried on the probes of bank 4, which has twins."""
    assert "probes of twins" in " ".join(cli.ok("summary", str(graded)).split())


def test_the_files_say_what_the_grader_mistakes(
    graded: Path, cli: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    """The graders' table has the counts and shares; the trial on the probes prints them."""
    tables = graded.parent / "tables"
    command = ["export", str(graded), "--bank", "4", "-o", str(tables), "--to", "csv"]
    assert run(command) == OK
    cards = (tables / "csv/grader_cards.csv").read_text(encoding="utf-8")
    (card,) = csv.DictReader(io.StringIO(cards))
    capsys.readouterr()
    trial = ["audit", "probes", "--bank", "4", "--grader", "careeval/lexical", "--json"]
    (told,) = cli.json(*trial, "-o", str(graded.parent / "audit"))["graders"]
    assert float(card["pairs.swapped"]) == pytest.approx(told["pairs"]["swapped"]["value"])
    assert int(card["pairs.n"]) == told["pairs"]["n"] == 325
