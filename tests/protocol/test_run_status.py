"""Reading the status of a run from its files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from careeval.core.response import LEXICAL, Response, ResponseState
from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE, PaidCall
from careeval.protocol.logs import log_summaries
from careeval.protocol.run import Run, RunCallbacks, Stop, Stoppable
from careeval.protocol.run_files import holder, locked
from careeval.protocol.run_folder import RunStatus, read_run_status
from careeval.protocol.run_setup import prepare, prepare_recorded
from careeval.protocol.tables import read_runs
from careeval.results.tables import NOT_ASKED
from support.fakes import Call, Fake, begin, keyword_grader


def numbers(run: RunStatus) -> tuple[int | None, int, int | None, int]:
    """The numbers of responses in total, asked, graded and failed."""
    return run.n_samples, run.n_asked, run.n_graded, run.n_failed


@pytest.fixture
def asked_for(bank: Path) -> Run:
    """Two responses to each of two scenarios."""
    model, grader = Fake("standing", lambda _: "I wait."), Fake("standing-grader", keyword_grader)
    return Run("robot", model.model, grader.model, 2, {"bank": str(bank)})


def test_a_complete_run(asked_for: Run, tmp_path: Path) -> None:
    """All four are asked and graded, and nobody is at work."""
    begin(asked_for, tmp_path / "robot")
    run = read_run_status(tmp_path / "robot")
    assert numbers(run) == (4, 4, 4, 0)
    assert (run.complete, run.process) == (True, None)


def test_a_run_that_has_not_begun(asked_for: Run, tmp_path: Path) -> None:
    """A run that was prepared and no more will have four responses, and has none."""
    run = read_run_status(prepare(asked_for, tmp_path / "robot"))
    assert numbers(run) == (4, 0, 0, 0)
    assert (run.complete, run.spent.n_calls) == (False, 0)


def test_what_waited_when_a_run_was_stopped_has_not_failed(asked_for: Run, tmp_path: Path) -> None:
    """Calls that wait when the run is stopped are left to do: none of them has failed."""
    calls = list[Stoppable]()

    def stops(_: Call) -> str:
        calls[0].stop(Stop.interrupted, 0)
        return "I wait."

    Fake("standing", stops)
    folder = prepare(replace(asked_for, epochs=8, max_connections=1), tmp_path / "robot")
    assert resume(folder, watch=RunCallbacks(hold=calls.append)).stopped is Stop.interrupted
    run = read_run_status(folder)
    assert (run.n_samples, run.n_failed) == (16, 0)
    assert any(
        sample.get("error") for log in folder.glob("*.eval") for sample in log_summaries(log)
    )
    runs = read_runs(folder)
    assert not [note for note in runs.notes if "failed" in note]
    asked = runs.responses["state"] == "answered"
    assert set(runs.responses.filter(~asked)["note"]) == {NOT_ASKED}


def test_half_a_run(asked_for: Run, tmp_path: Path) -> None:
    """The calls of a killed run count once each; a line that was cut off does not."""
    folder = prepare(asked_for, tmp_path / "robot")
    keys = ("ask dressing-001 1 x", "ask dressing-001 2 x", "grade dressing-001 1 x 0")
    lines = [json.dumps({"key": key}) for key in (*keys, keys[0])]
    (folder / CALLS_FILE).write_text("\n".join([*lines, '{"key": "ask eat']))
    calls = [
        PaidCall("ask", "fake/a", 9, 9, 0.5, 1.0),
        PaidCall("grade", "fake/b", 9, 9, None, 1.0),
    ]
    (folder / SPENT_FILE).write_text("".join(f"{json.dumps(asdict(paid))}\n" for paid in calls))
    (folder / "cut.eval").write_bytes(b"PK\x03\x04 cut off")
    run = read_run_status(folder)
    assert numbers(run) == (4, 2, 1, 0)
    assert (run.spent.n_calls, run.spent.known_usd, run.spent.usd) == (2, 0.5, None)
    assert not run.complete


def test_what_failed_is_counted_until_it_is_done(bank: Path, tmp_path: Path) -> None:
    """Two of four that were given up are failed; once they are done, none is."""

    def failing(call: Call) -> str:
        if "eating" in call.request:
            raise ConnectionError("down")
        return "I wait."

    model, grader = Fake("failing", failing), Fake("failing-grader", keyword_grader)
    folder = tmp_path / "robot"
    begin(Run("robot", model.model, grader.model, 2, {"bank": str(bank)}), folder)
    assert numbers(read_run_status(folder)) == (4, 2, 2, 2)
    assert not read_run_status(folder).complete
    model.script = lambda _: "I wait."
    resume(folder)
    assert numbers(read_run_status(folder)) == (4, 4, 4, 0)
    assert read_run_status(folder).complete


def test_recorded_answers_are_all_there(bank: Path, tmp_path: Path) -> None:
    """Recorded answers are asked from the beginning; graded they are when the run has done so."""
    answers = [Response("dressing-001", 1, "I wait.", ResponseState.answered)]
    run = Run("robot", None, LEXICAL, 1, {"bank": str(bank)})
    folder = prepare_recorded(tmp_path / "robot", answers, run)
    assert numbers(read_run_status(folder)) == (1, 1, 0, 0)
    resume(folder)
    assert numbers(read_run_status(folder)) == (1, 1, 1, 0)


def test_without_a_grader_nothing_is_graded(asked_for: Run, tmp_path: Path) -> None:
    """The number of graded responses is unknown without a grader, and not 0."""
    ungraded = Run("robot", asked_for.model, None, 2, asked_for.task)
    assert read_run_status(prepare(ungraded, tmp_path / "robot")).n_graded is None


def test_a_bank_that_is_gone_makes_the_number_unknown(asked_for: Run, tmp_path: Path) -> None:
    """The number of responses is unknown without a log and a bank."""
    run = Run("robot", asked_for.model, None, 2, {"bank": str(tmp_path / "none")})
    assert read_run_status(prepare(run, tmp_path / "robot")).n_samples is None


def test_whether_somebody_is_at_work(asked_for: Run, tmp_path: Path) -> None:
    """A held folder is running, and looking at it does not take it from who holds it."""
    folder = prepare(asked_for, tmp_path / "robot")
    assert holder(folder) is None
    with locked(folder):
        assert read_run_status(folder).process == str(os.getpid())
        assert holder(folder) is not None
    assert read_run_status(folder).process is None


def test_it_does_not_load_inspect() -> None:
    """Inspect, and what makes tables, are not loaded: the answer is there at once."""
    heavy = ("inspect_ai", "polars", "numpy")
    code = f"import sys, careeval.cli.status; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
