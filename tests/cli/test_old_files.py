"""Files written by careeval 0.1, as commands of today read them."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from careeval.cli.app import OK, run

OLD = Path(__file__).parents[1] / "data" / "written-by-0.1"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the files."""
    return Path(shutil.copytree(OLD, tmp_path / "old"))


def test_an_audit_is_read(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both labellers' labels are held against the grader's judgments."""
    database = str(old / "audit" / "audit.db")
    assert run(["audit", "status", database, "--json"]) == OK
    assert "r02" in capsys.readouterr().out
    assert run(["audit", "results", database, "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["grader"].startswith("careeval/lexical (batched")


def test_a_sample_and_its_sheet_are_read(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The sheet of a sample, filled in by one person, is held against the grader's judgments."""
    sheet = old / "audit" / "labels.csv"
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "rater": "r01", "label": "absent"} for row in rows)
    sample = str(old / "audit" / "sample.json")
    assert run(["audit", "results", sample, str(sheet), "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["grader"].startswith("careeval/lexical (batched")


def test_a_study_is_read(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everybody's ratings of the three scenarios are there."""
    line = [str(old / "study" / "study.db"), "--bank", str(old / "bank"), "--json"]
    assert run(["study", "results", *line]) == OK
    found = json.loads(capsys.readouterr().out)
    assert len(found["scenarios"]) == 3
