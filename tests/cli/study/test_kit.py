"""`careeval study kit`, as an organiser uses it: from an empty folder to results."""

from __future__ import annotations

import csv
import re
import shlex
import stat
from pathlib import Path

import pytest

from careeval.cli.shared import people
from support.command_line import CommandLine


@pytest.fixture
def kit(cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a kit, which is the current folder."""
    folder = tmp_path / "kit"
    cli.ok("study", "kit", "-o", str(folder))
    monkeypatch.chdir(folder)
    return folder


def test_the_readme_leads_from_the_kit_to_results(cli: CommandLine, kit: Path) -> None:
    """Every command of the README works, in its order, once the gaps and a sheet are filled in."""
    terms = kit / "consent.md"
    terms.write_text(re.sub(r"\[[^\]]+\]", "X", terms.read_text("utf-8")), encoding="utf-8")
    readme = (kit / "README.md").read_text("utf-8")
    typed = re.findall(r"careeval study [^`\n]+", readme)
    left_out = ("study serve", "study new")
    done = []
    for line in (line for line in typed if not any(name in line for name in left_out)):
        words = shlex.split(line)[1:]
        if words[1] == "import":
            _fill_in(kit / words[3])
        cli.ok(*words)
        done.append(words[1])
    order = "terms print kit status link invite withdraw consented import close backup results"
    assert done == order.split()
    assert (kit / "results" / "study.html").exists()
    assert "careeval study serve study.db" in typed


def _fill_in(sheet: Path) -> None:
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for row in rows:
            writer.writerow(row | {"value": "4"} if row["scale"] == "realism" else row)


def test_what_is_private(kit: Path) -> None:
    """Only its owner can read the study and the links, and each of twelve raters has one."""
    for name in ("study.db", "links.tsv"):
        assert stat.S_IMODE((kit / name).stat().st_mode) == 0o600
    assert len((kit / "links.tsv").read_text().splitlines()) == 12


def test_nobody_is_let_in_while_the_terms_have_gaps(
    cli: CommandLine, kit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With gaps, `serve` only works for this machine, and names them; filled in, it is silent."""
    monkeypatch.setattr(people, "serve_app", lambda *_: 0)
    serve = ["study", "serve", "study.db"]
    elsewhere = [*serve, "--behind-proxy", "https://rate.example.org"]
    assert "still have gaps: [institution], [date]" in cli.refused(*elsewhere)
    assert "Only to try it: the terms" in cli.told(*serve)
    assert "Only to try it: the terms" in cli.told("study", "print", "study.db", "-o", "paper")
    (kit / "terms.md").write_text("I agree.", encoding="utf-8")
    fill = ("--consent", "terms.md", "--ethics", "12/2026", "--contact", "a@example.org")
    cli.ok("study", "terms", "study.db", *fill)
    assert cli.told(*elsewhere) == ""


def test_folder_that_is_not_empty(cli: CommandLine, tmp_path: Path) -> None:
    """A folder with a file in it, or a file, is refused and left alone; an empty folder is used."""
    line = ("study", "kit", "-o", str(tmp_path))
    cli.ok(*line)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert "is not an empty folder" in cli.refused(*line)
    assert "is not an empty folder" in cli.refused(*line[:-1], str(tmp_path / "README.md"))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_two_raters(cli: CommandLine, tmp_path: Path) -> None:
    """Two raters decide nothing: the kit is refused, and nothing is written."""
    folder = tmp_path / "kit"
    assert "2 raters would" in cli.refused("study", "kit", "-o", str(folder), "--raters", "nurse:2")
    assert not folder.exists()
