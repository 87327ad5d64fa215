"""Runs that several processes read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from careeval.cli import reading
from careeval.protocol.logs import CACHE, read_runs, uncached_runs
from eval_files import COMPLETE, renamed


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs that nobody has read yet, and a third that cannot be read."""
    for name in ("robot-a", "robot-b"):
        renamed(COMPLETE, tmp_path / name / "a.eval", name)
    (tmp_path / "robot-c").mkdir()
    (tmp_path / "robot-c" / "a.eval").write_bytes(b"no log")
    return tmp_path


def test_several_processes_read_what_one_does(
    runs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Tables and notes are the same, and the tables were cached before this process read."""
    alone = tmp_path_factory.mktemp("alone")
    shutil.copytree(runs, alone, dirs_exist_ok=True)
    seen: list[bool] = []

    def noted(*folders: Path) -> object:
        seen.append((folders[0] / "robot-b" / CACHE / "key.json").exists())
        return read_runs(*folders)

    monkeypatch.setattr(reading, "WORTH_BYTES", 0)
    monkeypatch.setattr(reading, "n_cores", lambda: 2)
    monkeypatch.setattr(reading, "read_runs", noted)
    found, expected = reading.runs_in(runs), read_runs(alone)
    assert seen == [True]
    assert found.responses.equals(expected.responses)
    assert found.judgments.equals(expected.judgments)
    assert [n.replace(str(runs), str(alone)) for n in found.notes] == list(expected.notes)


def test_what_is_read_already_is_not_read_again(runs: Path) -> None:
    """Only runs without tables of their logs as they are count, each with its logs' size."""
    a, b = runs / "robot-a", runs / "robot-b"
    read_runs(a)
    found = uncached_runs(runs)
    assert set(found) == {b, runs / "robot-c"}
    assert found[b] == (b / "a.eval").stat().st_size
    (a / "a.eval").touch()
    assert a in uncached_runs(runs)


def test_little_is_read_without_further_processes(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process starts for no small log."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(reading, "ProcessPoolExecutor", never)
    assert reading.runs_in(runs).responses.height == 8
