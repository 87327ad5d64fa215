"""Runs can be continued after they were killed, or out of disk space, during their set-up."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from careeval.cli.app import OK, SOME_FAILED, USAGE
from careeval.cli.app import run as command
from careeval.protocol.evaluate import resume
from careeval.protocol.run import Outcome
from careeval.protocol.run_folder import RUN_FILE, is_complete, read_run_file
from support.fakes import Fake, keyword_grader
from support.forked_workers import WorkerSource

N = 3
GRADER = "setup-grader"

KILLED = """
import os, sys
from careeval import files
from careeval.cli import run as command
from support.fakes import Fake
Fake("setup-grader", lambda _: "")
stop, left, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
def passing(kind):
    global left
    if kind == stop:
        left -= 1
        if left < 0:
            os._exit(9)
write = os.open
def opened(path, *args, **more):
    passing("open")
    return write(path, *args, **more)
files.os.open = opened
replace = files.Path.replace
def replaced(path, target):
    passing("replace")
    return replace(path, target)
files.Path.replace = replaced
from careeval.cli import grade
grade.work = command.work = lambda folders, **_: os._exit(9)
from careeval.cli.app import run
sys.exit(run(words))
"""
"""The command, killed when it has opened or moved so many files."""


@pytest.fixture(autouse=True)
def _at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grader, systems, and no process but this one."""
    Fake(GRADER, keyword_grader)
    for n in range(N):
        Fake(f"system-{n:02}", lambda _: "I ask about the blouse.")

    def in_this_process(folders: list[Path], **_: object) -> list[Outcome]:
        return [resume(folder) for folder in folders]

    for name in ("run", "grade"):
        monkeypatch.setattr(f"careeval.cli.{name}.work", in_this_process)


def line(bank: Path, root: Path, n: int = N) -> list[str]:
    """The command that asks so many systems."""
    models = [word for i in range(n) for word in ("-m", f"fake/system-{i:02}")]
    more = ["--samples", "1", "--grader", f"fake/{GRADER}", "--yes", "-o", str(root)]
    return ["run", *models, *more, "--bank", str(bank)]


Killed = Callable[[list[str], str, int], None]


@pytest.fixture
def killed(worker_source: WorkerSource) -> Killed:
    """Give the command, and kill it in its set-up."""

    def give(words: list[str], stop: str, after: int) -> None:
        process = worker_source.fork(KILLED, [stop, str(after), *words])
        written = process.communicate()
        assert process.returncode == 9, written

    return give


def run_files(root: Path) -> list[Path]:
    """Every run.json."""
    return sorted(root.rglob(RUN_FILE))


@pytest.mark.parametrize("resumed", [True, False], ids=["resumed", "the same command"])
@pytest.mark.parametrize(("stop", "after"), [("open", 9), ("replace", 1), ("replace", 3)])
def test_killed_in_the_set_up(
    stop: str, after: int, resumed: bool, killed: Killed, bank: Path, tmp_path: Path
) -> None:
    """Of three systems, killed anywhere in their set-up, all are finished in either way."""
    root = tmp_path / "runs"
    words = [*line(bank, root), "--max-cost", "inf"]
    killed(words, stop, after)
    files = run_files(root)
    assert len(files) == (2 if stop == "replace" and after == 3 else 0)
    for file in files:
        assert read_run_file(file.parent)
    if stop == "open" and resumed:  # not even the plan was written: there is nothing to resume
        assert not list(root.rglob("*.json"))
        assert command(["run", "--resume", "-o", str(root)]) == USAGE
        resumed = False
    assert command(["run", "--resume", "-o", str(root)] if resumed else words) == OK
    folders = [file.parent for file in run_files(root)]
    assert len(folders) == N
    assert all(map(is_complete, folders))
    assert all(len(read_run_file(folder).together) == N for folder in folders)
    assert command(["run", "--resume", "-o", str(root)]) == OK


def test_a_damaged_run_beside_others(
    killed: Killed, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty run.json of the past is named with what to do, and those beside it are finished."""
    root = tmp_path / "runs"
    killed(line(bank, root, 3), "replace", 99)
    broken = root / "fake-system-01"
    (broken / RUN_FILE).write_bytes(b"")
    assert command(["status", str(root)]) == USAGE
    assert command(["run", "--resume", "-o", str(root)]) == SOME_FAILED
    said = capsys.readouterr().err
    assert f"{broken / RUN_FILE} is damaged: the file is empty" in said
    assert "nothing was asked, so nothing is lost" in said
    assert is_complete(root / "fake-system-00")
    assert is_complete(root / "fake-system-02")
    # as the message has it, the same system again
    again = ["run", "-m", "fake/system-01", *line(bank, root, 0)[1:]]
    assert command(again) == OK
    assert command(["run", "--resume", "-o", str(root)]) == OK


def test_another_command_does_not_take_the_folder(
    killed: Killed, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that was set up and has not begun is not replaced by another one."""
    root = tmp_path / "runs"
    killed(line(bank, root, 1), "replace", 99)
    before = (root / "fake-system-00" / RUN_FILE).read_bytes()
    assert command([*line(bank, root, 1), "--seed", "8"]) == USAGE
    assert "already has a run" in capsys.readouterr().err
    assert (root / "fake-system-00" / RUN_FILE).read_bytes() == before


def test_no_room_for_the_set_up(
    bank: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a disk that is full at the start nothing is left behind, and later the command works."""
    root, write = tmp_path / "runs", Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.parent.name == "fake-system-02":
            write(path, content[:50])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        assert command(line(bank, root, 3)) == USAGE
    said = capsys.readouterr().err
    assert f"{root / 'fake-system-02' / RUN_FILE}: No space left on device" in said
    assert "hint: free some space" in said
    assert not list(root.rglob("*"))
    assert command(line(bank, root, 3)) == OK


def test_answers_that_find_no_room(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded answers are kept whole or not at all; then no run is set up over them."""
    root, answers = tmp_path / "runs", tmp_path / "answers.jsonl"
    rows = [{"scenario": "dressing-001", "response": "I ask about the blouse."}]
    answers.write_text("".join(json.dumps(row) for row in rows), encoding="utf-8")
    words = ["run", "--responses", str(answers), "--grader", f"fake/{GRADER}", "--yes"]
    words += ["-o", str(root), "--bank", str(bank)]

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("careeval.files.os.fsync", full)
        assert command(words) == USAGE
    assert not list(root.rglob("*"))
    assert command(words) == OK


def test_a_damaged_plan_of_a_set_up(
    killed: Killed, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged list of runs to set up is refused, and its paths do not leave its folder."""
    root = tmp_path / "runs"
    killed(line(bank, root, 2), "replace", 1)
    assert not run_files(root)
    (file,) = root.glob(".setup.json")
    planned = json.loads(file.read_text(encoding="utf-8"))
    (first, *_) = planned.values()
    file.write_text(json.dumps({**planned, "../elsewhere": first}), encoding="utf-8")
    assert command(["run", "--resume", "-o", str(root)]) == OK
    assert not (tmp_path / "elsewhere").exists()
    file.write_text("[]", encoding="utf-8")
    capsys.readouterr()
    command(["run", "--resume", "-o", str(root)])
    assert f"{file} is damaged" in capsys.readouterr().err


@pytest.mark.parametrize("after", [1, 2, 3, 4, 99])
def test_a_grading_killed_in_its_set_up(
    after: int, killed: Killed, bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gradings of two runs, killed anywhere in their set-up, are finished by one command."""
    root = tmp_path / "runs"
    assert command(line(bank, root, 2)) == OK
    words = ["grade", str(root), "--grader", f"fake/{GRADER}", "--yes", "--bank", str(bank)]
    killed(words, "replace", after)
    if after < 3:  # not even the plan was written
        assert command(words) == OK
    else:
        if after < 99:
            assert command(words) == USAGE
            assert f"careeval run --resume -o {root}" in capsys.readouterr().err
        assert command(["run", "--resume", "-o", str(root)]) == OK
    gradings = [file.parent for file in root.rglob(f"graded/*/{RUN_FILE}")]
    assert len(gradings) == 2
    assert all(map(is_complete, gradings))
    assert all(len(read_run_file(each).together) == 2 for each in gradings)
