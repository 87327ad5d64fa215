"""`careeval status`: what runs have come to, and what to type next."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from careeval.cli.app import OK, USAGE, run
from careeval.core.response import LEXICAL, Response, ResponseState
from careeval.protocol.evaluate import resume
from careeval.protocol.prices import FREE
from careeval.protocol.run import Run
from careeval.protocol.run_files import locked
from careeval.protocol.run_setup import prepare, prepare_recorded
from support.command_line import CommandLine
from support.fakes import write_bank


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with a complete run and one that has not begun."""
    bank = write_bank(tmp_path / "bank", ["dressing-001", "eating-001"])
    answers = [Response("dressing-001", 1, "I wait.", ResponseState.answered)]
    recorded = Run("answers", None, LEXICAL, 1, {"bank": str(bank)}, prices={LEXICAL: FREE})
    resume(prepare_recorded(tmp_path / "runs" / "answers", answers, recorded))
    asked = Run("robot", "openai/gpt-5.1", LEXICAL, 2, {"bank": str(bank)})
    prepare(asked, tmp_path / "runs" / "robot")
    return tmp_path / "runs"


def rows(text: str) -> list[str]:
    """The rows of a table, each gap one space."""
    return [" ".join(line.split()) for line in text.splitlines() if " of " in line]


def test_worked_example(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One run is complete, one has nothing of four, and the commands for both are said."""
    assert run(["status", str(runs)]) == OK
    printed = capsys.readouterr()
    assert rows(printed.out) == [
        "answers answers complete 1 of 1 1 of 1 0 $0.00",
        "robot robot not begun 0 of 4 0 of 4 0 $0.00",
    ]
    assert f"careeval run --resume -o {runs}\n" in printed.err
    assert f"careeval summary {runs}\n" in printed.err


def test_a_run_that_goes_on_is_not_to_be_resumed(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While a process works on a run it is running, and resuming it is not proposed."""
    with locked(runs / "robot"):
        assert run(["status", str(runs)]) == OK
    printed = capsys.readouterr()
    assert "running (process" in printed.out
    assert "--resume" not in printed.err


@pytest.mark.parametrize("name", [".lock", "spent.jsonl", "calls.jsonl", "run.json", "*.eval"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(
    runs: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe is named as the fault of its run alone; one in the place of a log is no log."""
    file = next((runs / "answers").glob(name), runs / "answers" / name)
    file.unlink(missing_ok=True)
    os.mkfifo(file)

    def stop(*_: object) -> None:
        raise AssertionError("it waits for the pipe")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    try:
        status = run(["status", str(runs)])
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    printed = capsys.readouterr()
    assert "robot robot not begun" in " ".join(printed.out.split())
    if name == "*.eval":
        assert status == OK
        assert "complete" not in printed.out
    else:
        assert status == USAGE
        assert "a named pipe, not a file" in printed.err
        assert name in printed.err


def test_as_json(runs: Path, cli: CommandLine) -> None:
    """Programs get the same numbers."""
    first, second = cli.json("status", str(runs), "--json")["runs"]
    assert (first["asked"], first["complete"], first["running"]) == (1, True, False)
    assert (second["responses"], second["asked"], second["complete"]) == (4, 0, False)


def test_an_empty_folder_has_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without a run is no error: it says so, and how to begin one."""
    assert run(["status", str(tmp_path)]) == OK
    assert "has no run" in capsys.readouterr().err


def test_a_folder_that_is_not_there(tmp_path: Path, cli: CommandLine) -> None:
    """A folder that is not there is refused."""
    assert "is not a folder" in cli.refused("status", str(tmp_path / "none"))
