"""A study of held-out scenarios: what it writes tells numbers, and neither words nor ids of items.

The scenario and what is said of it are made up.
"""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import pyrage
import pytest

from careeval.bank import load_bank
from careeval.bank.sealed import KEY_VARIABLE, key_for_bank, pack, seal
from careeval.cli.app import OK, run
from careeval.core.scenario import Rubric, Split
from careeval.people.forms import FormId
from careeval.people.store import Store
from careeval.people.study.plan import StudyPlan
from careeval.people.study.questions import HANDED_IN
from support.bank_folder import SECRET, BankFolder, write_held_out

COMMENT = "She should not wear the green one."
TOLD = "keep it private"
NAME = "dressing-h01"


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bank with one held-out scenario, whose key is set."""
    folder = BankFolder.good(tmp_path / "bank")
    key = str(pyrage.x25519.Identity.generate())
    monkeypatch.setenv(KEY_VARIABLE, key)
    seal(pack(write_held_out(tmp_path / "apart")), folder.root, key)
    return folder.root


def new(bank: Path, study: Path, *more: str) -> None:
    """Plan a study of three therapists."""
    consent = study.parent / "consent.txt"
    consent.write_text("Made up for tests.\n", encoding="utf-8")
    line = ["study", "new", str(bank), "-o", str(study), "--raters", "occupational-therapist:3"]
    line += ["--consent", str(consent), "--ethics", "none: a test", "--contact", "t@example.org"]
    assert run([*line, *more]) == OK


def items_of(bank: Path, name: str) -> list[str]:
    """Its items that raters are asked about, as a sheet calls them."""
    scenario = load_bank(bank, key_for_bank(bank), probes=False).scenario(name)
    return [
        f"{rubric}/{item.id}"
        for rubric in Rubric
        for item in scenario.rubric(rubric)
        if item.points
    ]


def rate(bank: Path, study: Path, name: str) -> None:
    """Everybody's ratings and comments on a scenario and on its items."""
    items = items_of(bank, name)
    path = study.parent / "typed.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("rater", "scenario", "scale", "item", "value"))
        for rater in ("r01", "r02", "r03"):
            writer.writerow((rater, name, "realism", "", 5))
            writer.writerow((rater, name, "validity", "", 2))
            writer.writerow((rater, name, "comment", "", COMMENT))
            writer.writerows((rater, name, "relevance", item, 1) for item in items)
    line = ["study", "import", str(study), str(path), "--typed-by", "an assistant"]
    assert run([*line, "--bank", str(bank)]) == OK


def test_results_of_held_out_scenarios_tell_nothing_of_their_words(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No comment, no text and no item's id stands in what is written or printed, but counts do."""
    study, out = tmp_path / "study.db", tmp_path / "results"
    new(bank, study, "--items", "--split", "held-out")
    rate(bank, study, NAME)
    items = [name.partition("/")[2] for name in items_of(bank, NAME)]
    tell = [COMMENT, SECRET, *(item for item in items if "-" in item[1:])]  # no word of a page's
    assert len(tell) > 4
    capsys.readouterr()
    line = ["study", "results", str(study), "--bank", str(bank)]
    assert run([*line, "-o", str(out)]) == OK
    printed = capsys.readouterr()
    assert TOLD in " ".join(printed.err.split())
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert run([*line, "--json"]) == OK
    as_json = capsys.readouterr().out
    written = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert {"study.html", "comments.csv", "comments.parquet", "validity.csv"} <= set(written)
    for name, content in [*written.items(), ("printed", printed.out.encode()),
                          ("json", as_json.encode())]:  # fmt: skip
        assert not [words for words in tell if words.encode() in content], name
    (scenario,) = json.loads(as_json)["scenarios"]
    assert [c["text"] for c in scenario["comments"]] == ["(held out)"] * 3
    assert "a1" in [item["item"] for item in scenario["items"]]
    assert "3 comments are withheld" in written["study.html"].decode()


def test_results_of_public_scenarios_are_as_they_were_said(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a public scenario comments and ids stand, and nothing is warned of."""
    study, out = tmp_path / "study.db", tmp_path / "results"
    new(bank, study, "--items")
    rate(bank, study, "dressing-001")
    capsys.readouterr()
    assert run(["study", "results", str(study), "--bank", str(bank), "-o", str(out)]) == OK
    assert TOLD not in " ".join(capsys.readouterr().err.split())
    page = (out / "study.html").read_text(encoding="utf-8")
    assert COMMENT in page
    assert "withheld" not in page


@pytest.mark.parametrize("split", list(Split))
def test_answers_to_held_out_scenarios_are_warned_of(
    bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], split: Split
) -> None:
    """Their file is its owner's alone and a line says so; of public ones there is no such line."""
    study, out = tmp_path / "study.db", tmp_path / "answers.jsonl"
    new(bank, study, "--answers", "1", "--split", split.value)
    store = Store.open(study)
    plan = StudyPlan.read(store.plans("study")[-1])
    (name,) = plan.seats[0].answers
    store.save("r01", plan.answer_task(name), {"answer": "I stop."}, FormId.new())
    store.save("r01", HANDED_IN, {str(plan.round): "yes"}, FormId.new())
    store.close()
    capsys.readouterr()
    assert run(["study", "answer", str(study), "-o", str(out), "--bank", str(bank)]) == OK
    printed = " ".join(capsys.readouterr().err.split())
    held_out = split is Split.held_out
    assert ("not encrypted: keep it private" in printed) == held_out
    assert ("--split held-out" in printed) == held_out
    assert (stat.S_IMODE(out.stat().st_mode) == 0o600) == held_out
