"""Runs to submit, and archives that somebody has changed on the way."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from careeval.bank import load_bank
from careeval.protocol.run import Run
from careeval.protocol.sight_test import REQUEST
from careeval.protocol.submission import SUBMISSION_FILE, new_card
from careeval.protocol.submission_writing import write_submission
from careeval.worlds.judge import JUDGE
from careeval.worlds.mode import PLAN
from support.fakes import Fake, begin, keyword_grader

PLAN_TEXT = json.dumps({
    "steps": [{"act": "ask", "words": "May I?"}, {"act": "wait-for-answer", "seconds": 10}]
})  # fmt: skip
COLOURS = "yellow blue red green"
FIELDS = {
    "system": "Robot",
    "version": "1.0",
    "date": "2026-11-29",
    "run_by": "A lab",
    "relation": "third_party",
    "settings": "defaults",
}


def write_card(path: Path, **changes: str) -> Path:
    """Write a card that is filled in; its path."""
    text = new_card().replace("agree = false", "agree = true")
    for name, value in {**FIELDS, **changes}.items():
        text = text.replace(f'\n{name} = ""', f"\n{name} = {json.dumps(value)}")
    path.write_text(text, encoding="utf-8")
    return path


def make_runs(folder: Path) -> Path:
    """Make a run of each mode of one system, in words, plans, steps and pictures."""
    words = [scenario.id for scenario in load_bank().bases][:6]
    asked = Fake("asked", lambda _: "I ask her first and wait. I check her shoulder.")
    grader = Fake("grader", keyword_grader)
    assert begin(
        Run("robot", asked.model, grader.model, 2, {"scenario": words}), folder / "words/robot"
    ).complete
    task = {"bank": "plans", "scenario": [load_bank("plans").bases[0].id]}
    planner = Fake("planner", lambda _: PLAN_TEXT)
    plans = Run("robot", planner.model, JUDGE, 1, task, protocol=PLAN.protocol)
    assert begin(plans, folder / "plans/robot").complete
    actor = Fake("actor", lambda _: '{"act": "finish"}')
    acts = Run("robot", actor.model, JUDGE, 1, {**task, "step": True}, protocol=PLAN.protocol)
    assert begin(acts, folder / "steps/robot").complete
    seeing = Fake("seeing", lambda call: COLOURS if REQUEST in call.request else PLAN_TEXT)
    seen = {"bank": "plans", "given": "seen", "scenario": ["dressing-p08"]}
    shown = Run("robot", seeing.model, JUDGE, 1, seen, protocol=PLAN.protocol)
    assert begin(shown, folder / "seen/robot").complete
    return folder


def submitted(folder: Path, out: Path, **card: str) -> Path:
    """Write the archive of the runs in a folder; its path."""
    write_submission(out, [folder], write_card(out.with_suffix(".toml"), **card))
    return out


def copied(folder: Path, target: Path) -> Path:
    """Copy a run's folder; the path of its log."""
    shutil.copytree(folder, target / folder.name)
    (log,) = (target / folder.name).glob("*.eval")
    return log


def samples(log: Path) -> list[str]:
    """The names of a log's samples."""
    with zipfile.ZipFile(log) as file:
        return sorted(name for name in file.namelist() if name.startswith("samples/"))


Edit = Callable[[dict[str, bytes]], object]


def forged(archive: Path, out: Path, edit: Edit, *, hashes: bool = True) -> Path:
    """Write an archive anew after its files were edited; its path.

    Args:
        archive: The archive.
        out: The new one.
        edit: Changes the files, by name.
        hashes: Whether the hashes that are listed become those of the changed files.
    """
    with zipfile.ZipFile(archive) as file:
        content = {name: file.read(name) for name in file.namelist()}
    edit(content)
    if hashes:
        description = json.loads(content[SUBMISSION_FILE])
        description["files"] = {
            name: hashlib.sha256(text).hexdigest()
            for name, text in content.items()
            if name != SUBMISSION_FILE
        }
        content[SUBMISSION_FILE] = json.dumps(description).encode()
    with zipfile.ZipFile(out, "w") as file:
        for name, text in content.items():
            file.writestr(name, text)
    return out


def describe(changes: Callable[[dict[str, Any]], object]) -> Edit:
    """An edit of what the archive says of itself."""

    def edit(content: dict[str, bytes]) -> None:
        description = json.loads(content[SUBMISSION_FILE])
        changes(description)
        content[SUBMISSION_FILE] = json.dumps(description).encode()

    return edit


def log_of(content: Mapping[str, bytes]) -> str:
    """The name of the first log among an archive's files."""
    return min(name for name in content if name.endswith(".eval"))
