"""The folder of a run: its status, its lock, and the name of its system."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from careeval.core.response import LEXICAL, Response, ResponseState
from careeval.errors import LogError, ProtocolError
from careeval.protocol.evaluate import resume
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE, PaidCall
from careeval.protocol.logs import log_summaries
from careeval.protocol.run import PROBES, Run, RunCallbacks, Stop, Stoppable
from careeval.protocol.run_files import holder, locked
from careeval.protocol.run_folder import RunStatus, read_run_file, read_run_status
from careeval.protocol.run_setup import prepare, prepare_recorded, rename_system, single_run
from careeval.protocol.tables import read_runs
from careeval.results.entries import entries
from careeval.results.tables import NOT_ASKED
from support.fakes import Call, Fake, begin, begin_recorded, keyword_grader, regrade, write_bank


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


HOLD = """
import sys
from pathlib import Path
from careeval.protocol.run_files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_folder_is_held_by_one_process_until_it_dies(tmp_path: Path) -> None:
    """While a process lives its folder is refused by its number; once it is killed, it is free."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        refused = pytest.raises(ProtocolError, match=f"locked: process {holder.pid}")
        with refused as caught, locked(tmp_path):
            pass
        assert caught.value.hint.endswith(f"kill {holder.pid}")
        holder.kill()
        holder.wait()
        with locked(tmp_path):
            pass


def test_a_folder_is_let_go_at_the_end(tmp_path: Path) -> None:
    """Whoever has held a folder can hold it again, also after an error."""
    with pytest.raises(ZeroDivisionError), locked(tmp_path):
        raise ZeroDivisionError
    with locked(tmp_path):
        pass


GIVEN = [
    Response(scenario, 1, "I wait for her to reach the sleeve.", ResponseState.answered)
    for scenario in ("dressing-001", "eating-001")
]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of a system called robot, graded and graded again, and its bank."""
    root = tmp_path_factory.mktemp("rename")
    bank = write_bank(root / "bank")
    grader = Fake("rename-grader", keyword_grader)
    begin_recorded(root / "runs" / "robot", "robot", GIVEN, grader.model, {"bank": str(bank)})
    regrade(root / "runs", grader.model, bank, {})
    return root


@pytest.fixture
def runs(graded: Path, tmp_path: Path) -> Path:
    """A copy of those runs."""
    shutil.copytree(graded / "runs", tmp_path / "runs")
    return tmp_path / "runs"


def test_the_new_name_stands_everywhere(runs: Path, graded: Path) -> None:
    """Responses and judgments of every grading have the new name, and every log its old bytes."""
    logs = {path: path.read_bytes() for path in runs.rglob("*.eval")}
    before = read_runs(runs)
    assert rename_system(single_run(runs), "planner, old prompt") == "robot"
    after = read_runs(runs)
    assert set(after.responses["system"]) == {"planner, old prompt"}
    assert set(after.judgments["system"]) == {"planner, old prompt"}
    assert after.judgments.drop("system").equals(before.judgments.drop("system"))
    assert set(after.judgments["grading"]) == {1, 2}
    assert {path: path.read_bytes() for path in runs.rglob("*.eval")} == logs
    (one,) = entries(after)
    assert one.system == "planner, old prompt"


def test_a_renamed_run_is_graded_again_and_renamed_back(runs: Path, graded: Path) -> None:
    """A grading made under the second name follows to the third, and back to the first."""
    rename_system(runs / "robot", "second")
    regrade(runs, "fake/rename-grader", graded / "bank", {})
    for name in ("third", "robot"):
        rename_system(runs / "robot", name)
        found = read_runs(runs)
        assert set(found.judgments["system"]) == set(found.responses["system"]) == {name}
        assert set(found.judgments["grading"]) == {1, 2, 3}
    names = {read_run_file(path.parent).system for path in runs.rglob("run.json")}
    assert names == {"robot"}


@pytest.mark.parametrize("kind", ["asked", "recorded"])
def test_a_renamed_unfinished_run_resumes(kind: str, tmp_path: Path) -> None:
    """Calls made before the new name are not made again."""
    bank = write_bank(tmp_path / "bank")
    broken = True

    def grade(call: Call) -> str:
        if broken and len(grader.calls) > 1:
            raise RuntimeError("no more for now")
        return keyword_grader(call)

    model = Fake(f"rename-{kind}", lambda _: "I wait for her to reach the sleeve.")
    grader = Fake(f"rename-{kind}-grader", grade)
    folder = tmp_path / "runs" / "robot"
    task = {"bank": str(bank)}
    if kind == "asked":
        outcome = begin(Run("robot", model.model, grader.model, 1, task), folder)
    else:
        outcome = begin_recorded(folder, "robot", GIVEN, grader.model, task)
    assert not outcome.complete
    asked, judged = len(model.calls), len(grader.calls)
    broken = False
    rename_system(folder, "second")
    assert resume(folder).complete
    assert len(model.calls) == asked
    assert len(grader.calls) - judged <= 2
    found = read_runs(folder)
    assert set(found.responses["system"]) == {"second"}
    assert found.responses.height == 2
    assert found.judgments["present"].null_count() == 0
    assert found.notes == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "name is not allowed"),
        ("x\x1b[31m", "name is not allowed"),
        ("x" * 121, "at most 120"),
        (PROBES, "probe checks of graders"),
        ("robot", "is already named 'robot'"),
        ("other", "already has a run of 'other'"),
        ("hidden", "already has a run of 'hidden'"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, said: str, runs: Path) -> None:
    """A name that no system may have, or that a run beside has, changes nothing."""
    prepare(Run("other", "fake/any", None, 1), runs / "elsewhere")
    prepare(Run("hidden", "fake/any", None, 1), runs / "private" / "hidden")
    with pytest.raises(ProtocolError) as caught:
        rename_system(runs / "robot", name)
    assert said in f"{caught.value} {caught.value.hint}"
    assert read_run_file(runs / "robot").system == "robot"


@pytest.mark.parametrize("below", ["", "graded/fake-rename-grader-actions-1"])
def test_a_run_at_work_is_refused(below: str, runs: Path) -> None:
    """While a process works on a run or on a grading of it, it keeps its name."""
    with (
        locked(runs / "robot" / below),
        pytest.raises(ProtocolError, match="is locked: process"),
    ):
        rename_system(runs / "robot", "second")
    assert set(read_runs(runs).responses["system"]) == {"robot"}


def test_one_run_is_meant(runs: Path, tmp_path: Path) -> None:
    """A folder of one run will do; of none, of several, a grading or an audit is refused."""
    assert single_run(runs) == single_run(runs / "robot") == runs / "robot"
    (tmp_path / "empty").mkdir()
    for folder, said in (
        (tmp_path / "empty", "has no run"),
        (runs / "robot" / "graded" / "fake-rename-grader-actions-1", "later grading"),
    ):
        with pytest.raises(ProtocolError, match=said):
            single_run(folder)
    prepare(Run(PROBES, None, "fake/any", 1), tmp_path / "audit" / "probes")
    with pytest.raises(ProtocolError, match="probe check of a grader"):
        single_run(tmp_path / "audit")
    prepare(Run("other", "fake/any", None, 1), runs / "other")
    with pytest.raises(ProtocolError, match=r"has 2 runs: .*other, .*robot"):
        single_run(runs)


def test_two_runs_of_one_system_are_told_apart_by_their_folders(runs: Path, tmp_path: Path) -> None:
    """The error names both folders and the command; renamed, both are read, and none twice."""
    second = tmp_path / "second"
    shutil.copytree(runs, second)
    with pytest.raises(LogError) as caught:
        read_runs(runs, second)
    assert f"'robot': {runs / 'robot'} and {second / 'robot'}" in str(caught.value)
    assert f"careeval status {second / 'robot'} --rename NAME" in caught.value.hint
    rename_system(single_run(second), "robot 2")
    found = read_runs(runs, second, runs / "robot")
    assert sorted(set(found.responses["system"])) == ["robot", "robot 2"]
    assert found.responses.height == 4
