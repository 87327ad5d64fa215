"""Files of a run's folder that somebody made to take this machine's memory."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest

from careeval.errors import ProtocolError
from careeval.protocol import run_files
from careeval.protocol.ledger import (
    CALLS_FILE,
    SPENT_FILE,
    PaidCall,
    finished_keys,
    forget_calls,
    read_paid_calls,
)
from careeval.protocol.recorded_responses import MAX_LISTED, read_responses
from careeval.protocol.run_files import MAX_JSON, JsonLines
from careeval.protocol.run_folder import RUN_FILE, read_run_file
from careeval.protocol.run_setup import SETUP_FILE, finish_setup

MB = 1_000_000
TB = 1_000_000 * MB
PAID = PaidCall("ask", "fake/model", 10, 20, 0.1, 0.5)
KEY = "ask eating-001 1 0123456789abcdef"


@contextmanager
def at_most(n_bytes: int) -> Iterator[None]:
    """Expect the block to take no more memory than this."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < n_bytes
    finally:
        tracemalloc.stop()


def sparse(path: Path, n_bytes: int) -> Path:
    """A file that says it has this many bytes, and takes no room."""
    path.touch()
    os.truncate(path, n_bytes)
    return path


READERS: dict[str, Callable[[Path], object]] = {
    RUN_FILE: read_run_file,
    SETUP_FILE: finish_setup,
    CALLS_FILE: finished_keys,
    SPENT_FILE: read_paid_calls,
    "responses.jsonl": lambda folder: read_responses(folder / "responses.jsonl"),
}


@pytest.mark.parametrize("name", READERS)
def test_a_file_without_end_is_refused(name: str, tmp_path: Path) -> None:
    """A file of a terabyte is refused by its name, before it is read."""
    sparse(tmp_path / name, TB)
    with at_most(150 * MB), pytest.raises(ProtocolError) as caught:
        READERS[name](tmp_path)
    assert str(tmp_path / name) in str(caught.value)
    assert "bytes" in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("name", [RUN_FILE, SETUP_FILE])
def test_deep_json_is_refused(name: str, tmp_path: Path) -> None:
    """A file of lists inside lists without end is refused, and nothing breaks."""
    (tmp_path / name).write_text(f'{{"task": {"[" * 100_000}{"]" * 100_000}}}', encoding="utf-8")
    with pytest.raises(ProtocolError, match="nested too deeply"):
        READERS[name](tmp_path)


def test_a_line_beyond_its_limit_is_skipped(tmp_path: Path) -> None:
    """A line that is too long or too deep is as a damaged one."""
    long = f'{{"key": "ask x 1 {"x" * MAX_JSON}"}}'
    deep = f'{{"key": "{KEY}", "output": {"[" * 5000}{"]" * 5000}}}'
    named = f'{{"key": "ask x 1 {"x" * 5000}"}}'
    right = json.dumps({"key": KEY})
    lines = "\n".join((long, deep, named, "[]", "7", right, ""))
    (tmp_path / CALLS_FILE).write_text(lines, encoding="utf-8")
    del lines, long
    with at_most(4 * MAX_JSON):
        assert finished_keys(tmp_path) == {KEY}
    forget_calls(tmp_path, ["ask other 1"])
    assert (tmp_path / CALLS_FILE).read_text(encoding="utf-8") == f"{right}\n"


def test_places_after_a_line_that_is_skipped(tmp_path: Path) -> None:
    """The line after one that is too long is read from its right place."""
    path = tmp_path / CALLS_FILE
    path.write_bytes(b"x" * (2 * MAX_JSON + 3) + b"\n" + b'{"key": "second"}\n')
    lines = JsonLines(path)
    ((place, row),) = lines.rows()
    assert row == lines.at(place) == {"key": "second"}
    lines.close()


def test_many_calls_are_read_line_by_line(tmp_path: Path) -> None:
    """A long file of calls takes no more memory than its longest line and its names."""
    said = "x" * MB
    with (tmp_path / CALLS_FILE).open("w", encoding="utf-8") as file:
        for epoch in range(1, 41):
            file.write(json.dumps({"key": f"ask eating-001 {epoch} 00", "output": said}) + "\n")
    with at_most(20 * MB):
        assert len(finished_keys(tmp_path)) == 40


def test_a_long_ledger_is_read(tmp_path: Path) -> None:
    """A run of many calls is within the limits."""
    line = json.dumps(asdict(PAID)) + "\n"
    (tmp_path / SPENT_FILE).write_text(line * 50_000, encoding="utf-8")
    assert len(read_paid_calls(tmp_path)) == 50_000
    assert len(line) * 1_000_000 < run_files.MAX_LEDGER


def test_answers_of_nothing(tmp_path: Path) -> None:
    """A file of empty lines, and one of bad lines, take no memory; the problems are counted."""
    path = tmp_path / "robot.jsonl"
    path.write_bytes(b"\n" * (MB // 10))
    with at_most(MB // 2), pytest.raises(ProtocolError, match="has no responses"):
        read_responses(path)
    path.write_bytes(b"x\n" * 2_000)
    with at_most(MB // 4), pytest.raises(ProtocolError, match="and 1,990 more") as caught:
        read_responses(path)
    assert str(caught.value).count("is not JSON") == MAX_LISTED


def test_too_many_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More answers than runs can have are refused."""
    monkeypatch.setattr("careeval.protocol.recorded_responses.MAX_RECORDED", 2)
    path = tmp_path / "robot.jsonl"
    path.write_text('{"scenario": "a", "response": "b"}\n' * 2, encoding="utf-8")
    assert len(read_responses(path)["robot"]) == 2
    path.write_text('{"scenario": "a", "response": "b"}\n' * 3, encoding="utf-8")
    with pytest.raises(ProtocolError, match="has more than 2 responses"):
        read_responses(path)


def test_a_line_of_answers_without_end(tmp_path: Path) -> None:
    """A line that is too long is named, and the problem is short, whatever the line holds."""
    path = tmp_path / "robot.jsonl"
    path.write_text(json.dumps({"x" * 1_000_000: 1}) + "\n" + "x" * 20 * MB, encoding="utf-8")
    with at_most(60 * MB), pytest.raises(ProtocolError) as caught:
        read_responses(path)
    assert f"{path}:2: has more than 2,000,000 characters" in str(caught.value)
    assert len(str(caught.value)) < 2000
