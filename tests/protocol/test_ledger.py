"""Tests of the cost log."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.protocol.ledger import (
    SPENT_FILE,
    PaidCall,
    TotalCost,
    read_paid_calls,
)
from careeval.protocol.run_files import JsonLines, LineTail


def paid(usd: float | None) -> PaidCall:
    """A call that cost so much."""
    return PaidCall("ask", "fake/model", 10, 20, usd, 0.5)


def test_worked_example(tmp_path: Path) -> None:
    """Three calls of 10, 20 and 5 cents come to 35 cents, and are read back as they were."""
    ledger = JsonLines(tmp_path / SPENT_FILE)
    for usd in (0.10, 0.20, 0.05):
        ledger.append(asdict(paid(usd)))
    ledger.close()
    calls = read_paid_calls(tmp_path)
    assert calls == [paid(0.10), paid(0.20), paid(0.05)]
    assert TotalCost.of(calls).usd == pytest.approx(0.35)


def test_an_unknown_cost_is_never_nothing() -> None:
    """One call whose cost is not known makes the whole unknown, and what is known is kept apart."""
    spent = TotalCost.of([paid(0.10), paid(None)])
    assert spent.usd is None
    assert (spent.n_calls, spent.n_unknown, spent.known_usd) == (2, 1, 0.10)
    assert TotalCost.of([]).usd == 0


def test_a_run_without_a_ledger_has_paid_nothing(tmp_path: Path) -> None:
    """A folder in which nothing was ever called has no calls."""
    assert read_paid_calls(tmp_path) == []


@pytest.mark.parametrize(
    ("line", "usd"),
    [
        ({}, 0.1),
        ({"cost_usd": 0.0}, 0),
        ({"cost_usd": -0.0008}, None),
        ({"input_tokens": -450}, None),
        ({"cost_usd": float("nan")}, None),
        ({"cost_usd": float("inf")}, None),
        ({"cost_usd": "0.1"}, None),
        ({"input_tokens": None, "output_tokens": None, "cost_usd": 0.0}, 0),
    ],
)
def test_a_line_that_anybody_wrote(line: dict[str, Any], usd: float | None, tmp_path: Path) -> None:
    """A line with a number that is no amount has no known cost, and is no gift."""
    row = json.dumps({**asdict(paid(0.1)), **line})
    (tmp_path / SPENT_FILE).write_text(f"{row}\n", encoding="utf-8")
    assert [call.cost_usd for call in read_paid_calls(tmp_path)] == [usd]
    assert TotalCost.of(read_paid_calls(tmp_path)).usd == usd


@given(rows=st.lists(st.text(), min_size=1, max_size=5), cut=st.integers(1, 40))
def test_a_broken_line_costs_that_line_alone(
    rows: list[str], cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A file that was cut off in its last line loses that line, and goes on as if it were whole."""
    path = tmp_path_factory.mktemp("lines") / "rows.jsonl"
    lines = JsonLines(path)
    for row in rows:
        last = lines.append(row)
    lines.close()
    whole = path.read_bytes()
    kept = whole[: -min(cut, last.length)]
    path.write_bytes(kept)
    # cut by its newline alone, the line is whole
    expected = rows if len(whole) - len(kept) == 1 else rows[:-1]
    lines = JsonLines(path)
    place = lines.append("afterwards")
    assert [row for _, row in lines.rows()] == [*expected, "afterwards"]
    assert lines.at(place) == "afterwards"
    assert list(LineTail(path).new_rows()) == [*expected, "afterwards"]
    lines.close()


def test_a_line_that_did_not_fit_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk is full in the middle of a line, the next line does not follow on its half."""
    lines = JsonLines(tmp_path / "rows.jsonl")
    lines.append("first")
    write = os.write

    def half(file: int, data: bytes) -> int:
        if len(data) < 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[: len(data) - 3])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="No space"):
        lines.append("second")
    monkeypatch.undo()
    lines.append("third")
    lines.close()
    assert list(LineTail(tmp_path / "rows.jsonl").new_rows()) == ["first", "third"]


def test_a_reader_takes_no_half_line(tmp_path: Path) -> None:
    """A line that is being written is read once it is whole, and once only."""
    path = tmp_path / "rows.jsonl"
    reading = LineTail(path)
    assert list(reading.new_rows()) == []
    path.write_bytes(b'"one"\n"tw')
    assert list(reading.new_rows()) == ["one"]
    assert list(reading.new_rows()) == []
    with path.open("ab") as file:
        file.write(b'o"\n')
    assert list(reading.new_rows()) == ["two"]
