"""The pilot's page is what its answers and gradings give, over the bank that was frozen."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from careeval.bank import bank_folder
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
    """No file has changed since the hash was taken, before fresh answers existed."""
    root = bank_folder("3")
    # bank.yaml says how the bank is called and what is known of it, and holds no scenario
    files = [path for path in root.rglob("*.yaml") if path.name != "bank.yaml"]
    found = {
        path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in (*files, root / "held-out.sha256")
    }
    assert found == hashes(PILOT / "bank.sha256")


def test_the_cards_are_those_that_were_frozen() -> None:
    """Nor has a fact card, since before anything was written from it."""
    found = {path.name: sha256(path.read_bytes()).hexdigest() for path in PILOT.glob("cards/*.md")}
    assert found == hashes(PILOT / "cards.sha256")


def test_another_familys_run_can_be_held_against_the_pilots_answers(tmp_path: Path) -> None:
    """The table has good and bad acts, by class."""
    answers = PILOT / "answers/closed.jsonl"
    asked = ["run", "--bank", "3", "--grader", "careeval/lexical", "--name", "recorded"]
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
