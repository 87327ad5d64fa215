"""The pilot's page is what its answers and gradings give, over the bank that was frozen."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import pytest

from careeval.bank import bank_folder, load_bank
from careeval.cli.app import OK, run

PILOT = Path(__file__).parents[1] / "pilot"


def hashes(file: Path) -> dict[str, str]:
    """Name → hash, as sha256sum writes them."""
    lines = (line.split(maxsplit=1) for line in file.read_text(encoding="utf-8").splitlines())
    return {name.strip().removeprefix("./"): digest for digest, name in lines}


def test_the_figures_are_what_the_files_give() -> None:
    """Whoever runs the command gets the page that is published."""
    done = subprocess.run(
        [sys.executable, str(PILOT / "figures.py"), "--check"], check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_bank_is_the_one_that_was_frozen() -> None:
    """The kept bank 3-A is as before fresh answers existed; its probes, as after the last."""
    # bank.yaml says how the bank is called and what is known of it, and holds no scenario
    beside = {"bank.yaml", "LICENSE", "held-out.age"}
    with tarfile.open(PILOT / "bank-3.tar.xz") as files:
        found = {
            member.name: sha256(file.read()).hexdigest()
            for member in files
            if member.name not in beside and (file := files.extractfile(member))
        }
    assert found == hashes(PILOT / "bank.sha256")


def test_the_cards_are_those_that_were_frozen() -> None:
    """Nor has a fact card, since before anything was written from it."""
    found = {path.name: sha256(path.read_bytes()).hexdigest() for path in PILOT.glob("cards/*.md")}
    assert found == hashes(PILOT / "cards.sha256")


def test_the_disputed_probes_are_labelled_as_the_gradings_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each disputed answer is a probe of its scenario, word for word, and there are no others."""
    monkeypatch.syspath_prepend(str(PILOT))
    tool = importlib.import_module("disputed")
    bank, today = tool.frozen_bank(), load_bank(bank_folder("4"))
    from_gradings = tool.disputed(bank)
    assert sum(map(len, from_gradings.values())) >= 160
    for scenario, probes in bank.probes.items():
        disputed_probes = [probe for probe in probes if probe.trap == tool.TRAP]
        wanted = from_gradings.get(scenario, ())
        assert [(p.id, p.text) for p in today.probes[scenario] if p.trap == tool.TRAP] == [
            (p.id, p.text) for p in wanted
        ]
        assert [(probe.id, probe.text) for probe in disputed_probes] == [
            (p.id, p.text) for p in wanted
        ]
        for probe, gradings in zip(disputed_probes, wanted, strict=True):
            assert probe.labels.items() >= gradings.labels.items()


def test_another_familys_run_can_be_held_against_the_pilots_answers(tmp_path: Path) -> None:
    """The table has good and bad acts, by class."""
    answers = PILOT / "answers/closed.jsonl"
    asked = ["run", "--bank", "4", "--grader", "careeval/lexical", "--name", "recorded"]
    assert run([*asked, "--responses", str(answers), "-o", str(tmp_path / "run")]) == OK
    done = subprocess.run(
        [sys.executable, str(PILOT / "dif.py"), str(tmp_path / "run")],
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    shown = done.stdout.decode().splitlines()
    assert any(line.startswith("| good acts, technique") for line in shown)
    assert any(line.startswith("| bad acts, too much care") for line in shown)


@pytest.fixture
def blind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool that gathers answers, over an empty pilot."""
    monkeypatch.syspath_prepend(str(PILOT))
    tool = importlib.import_module("blind")
    monkeypatch.setattr(tool, "HERE", tmp_path)
    monkeypatch.setattr(tool, "SEALED", {})
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers/closed.jsonl").write_text("")
    return tool


def test_a_row_that_may_be_held_out_is_not_written(blind: ModuleType, tmp_path: Path) -> None:
    """Without its key nobody knows a held-out scenario, and so its rows go nowhere."""
    rows = [{"scenario": "eating-h01", "epoch": 1, "response": "Made up."}]
    with pytest.raises(SystemExit, match=r"eating-h01: not in the open bank"):
        blind.add(load_bank(bank_folder("4")), "answers/closed.jsonl", rows)
    assert (tmp_path / "answers/closed.jsonl").read_text() == ""


def test_a_row_that_is_there_is_not_written_again(blind: ModuleType, tmp_path: Path) -> None:
    """An answer that is gathered twice would count twice."""
    rows = [{"scenario": "eating-101", "epoch": 1, "response": "I wait."}]
    bank = load_bank(bank_folder("4"))
    blind.add(bank, "answers/closed.jsonl", rows)
    with pytest.raises(SystemExit, match="1 rows are there already"):
        blind.add(bank, "answers/closed.jsonl", rows)
    assert len((tmp_path / "answers/closed.jsonl").read_text().splitlines()) == 1


def test_a_card_keeps_its_remarks_and_loses_its_sources(
    blind: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slugs in brackets go; what stands in parentheses is part of the fact."""
    monkeypatch.setattr(blind, "HERE", PILOT)
    card = blind.card("eating-102")
    assert "(mildly thick)" in card
    assert "[" not in card
    assert "seen: fact sheet" not in card


def test_the_references_in_words_are_what_the_answers_give() -> None:
    """The bank's references and the README's figure are those of today's answers and gradings."""
    done = subprocess.run(
        [sys.executable, str(PILOT / "references.py"), "--check"], check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()


WORLDS = PILOT / "worlds"


def test_the_figures_of_worlds_are_what_the_plans_give(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of the pilot of worlds is what today's judge makes of its plans and answers."""
    monkeypatch.setenv("COLUMNS", "120")
    done = subprocess.run(
        [sys.executable, str(WORLDS / "figures.py"), "--check"], check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_worlds_are_those_that_were_frozen() -> None:
    """Worlds have not changed since the first plan, but for those that the pilot's page names."""
    page = (WORLDS / "README.md").read_text(encoding="utf-8")
    changed = {
        Path(name).stem
        for name, digest in hashes(WORLDS / "frozen.sha256").items()
        if sha256((bank_folder("plans") / name).read_bytes()).hexdigest() != digest
    }
    assert {name for name in changed if f"`{name}`" not in page} == set()
