"""Renaming: the new name everywhere, no log rewritten, nothing asked twice."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from careeval.core.response import Response, ResponseState
from careeval.errors import LogError, ProtocolError
from careeval.protocol.evaluate import resume
from careeval.protocol.run import PROBES, Run
from careeval.protocol.run_files import locked
from careeval.protocol.run_folder import read_run_file
from careeval.protocol.run_setup import prepare, rename_system, single_run
from careeval.protocol.tables import read_runs
from careeval.results.entries import entries
from support.fakes import Call, Fake, begin, begin_recorded, keyword_grader, regrade, write_bank

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
