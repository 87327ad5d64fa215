"""Every script of `bench/` starts, and those that measure run in their smallest form."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCH = ROOT / "bench"
SPEED = ("--small", "--rounds", "1")
NEED_THE_ENGINE = {"grading_tokens.py", "engine.py"}

COMMANDS = [
    ("speed.py", "first-call", "recorded", *SPEED),
    ("speed.py", "latency", "help", *SPEED),
    ("speed.py", "logs", "many", "large-bank", *SPEED),
    ("agreement.py", "--small"),
    ("class_agreement.py", "--small"),
    ("coverage.py", "--small"),
    ("budget.py", "--small"),
    ("sweep_summary.py", "--small"),
    ("rating_load.py", "--raters", "2", "--saves", "10"),
    ("rating_load.py", "--raters", "2", "--saves", "10", "--audit", "--no-kill"),
    # campaigns of what single tests do: tests/protocol/test_servers.py, tests/faults, tests/sweep
    ("strange_servers.py", "--help"),
    ("faults.py", "--help"),
    ("sweep_faults.py", "--help"),
    ("simulate.py", "simulated", "--models", "2", "--epochs", "1", "--limit", "8"),
    ("grading_tokens.py", "--small"),
    ("episodes.py", "--worlds", "1"),
    ("engine.py", "--limit", "1", "--samples", "1", "--max-tokens", "4"),
]
BY_OTHERS = {
    "by_hand.py",
    "floor.py",
    "fake.py",
    "make_logs.py",
    "many_models.py",
    "recorded_by_hand.py",
}
"""Programs that a measure of `speed.py` starts."""


def _scripts() -> set[str]:
    return {path.name for path in BENCH.glob("*.py") if "__main__" in path.read_text("utf-8")}


def test_every_script_is_run_here() -> None:
    """A script of `bench/` is among the commands, or another one starts it."""
    run = {command[0] for command in COMMANDS}
    assert _scripts() == run | BY_OTHERS


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_script_runs(command: tuple[str, ...], tmp_path: Path) -> None:
    """A script ends with status 0, and leaves the recorded results as they are."""
    results = {path: path.read_bytes() for path in (BENCH / "results").iterdir()}
    script, *words = command
    if script in NEED_THE_ENGINE:
        pytest.importorskip("xllamacpp")
    done = subprocess.run(
        [sys.executable, BENCH / script, *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path: path.read_bytes() for path in (BENCH / "results").iterdir()} == results
