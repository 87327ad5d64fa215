"""Tests of the driver of a sweep, with an engine whose cells end as each test says."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from rich.console import Console

from careeval.cli.sweep import line, progress_view
from careeval.errors import ProtocolError
from careeval.protocol.run import Stop
from careeval.protocol.run_files import locked
from careeval.protocol.sweep_cells import (
    ASKED_FILE,
    CellState,
    JournalReader,
    JournalWriter,
    Lease,
    lease_folders,
)
from careeval.sweep.description import Cell, Sweep, read_sweep, save_sweep
from careeval.sweep.drive import TIMES, SweepDriver
from careeval.sweep.progress import GONE, CellStatus, sweep_progress
from support.sweep_files import write_sweep

Ending = Callable[[Lease], Lease]


@dataclass
class FakeEngine:
    """Ends each cell as `ending` says; it has room for one at a time."""

    ending: Ending
    root: Path = Path()
    order: list[str] = field(default_factory=list)
    working: list[Lease] = field(default_factory=list)

    def has_room(self, _: Cell) -> bool:
        """One at a time."""
        return not self.working

    def check_gradings(self, _: Path) -> None:
        """All can be called."""

    def start(self, root: Path, __: Cell, lease: Lease) -> None:
        """Take it down."""
        self.root = root
        self.order.append(lease.folder)
        self.working.append(lease)

    def ended_leases(self, _: float) -> list[Lease]:
        """All that was started."""
        ended, self.working = [self.ending(lease) for lease in self.working], []
        for lease in ended:
            if lease.state is CellState.complete:
                write_complete(self.root / lease.folder)
        return ended

    def close(self) -> None:
        """Nothing is held."""


def write_complete(folder: Path) -> None:
    """Write what a complete cell leaves: a log of which all came to its end."""
    folder.mkdir(parents=True, exist_ok=True)
    header = {"status": "success", "results": {"completed_samples": 4, "total_samples": 4}}
    with ZipFile(folder / "log.eval", "w") as log:
        log.writestr("header.json", json.dumps(header))
    if folder.name.startswith("grade"):
        asked = lease_folders(folder.with_name("ask"))[-1]
        (folder / ASKED_FILE).write_text(asked.name)


@pytest.fixture
def sweep(tmp_path: Path, bank: Path) -> Sweep:
    """One system in two slices, kept in its folder."""
    made = read_sweep(write_sweep(tmp_path, bank))
    save_sweep(tmp_path, made)
    return made


def complete(lease: Lease) -> Lease:
    """All went well."""
    return replace(lease, state=CellState.complete, n_done=4, n_calls=4, usd=0.5)


def test_worked_example(tmp_path: Path, sweep: Sweep) -> None:
    """Slices are asked and then graded, each once, and the journal adds up."""
    engine = FakeEngine(complete)
    assert SweepDriver(tmp_path, sweep, engine).carry_out() is None
    place = "openai-api-fake-a/slice"
    assert engine.order == [
        *(f"{place}-01/ask-001", f"{place}-02/ask-001"),
        *(f"{place}-01/grade-1-001", f"{place}-02/grade-1-001"),
    ]
    now = sweep_progress(tmp_path)
    assert (now.done(asks=True), now.done(asks=False)) == ((8, 8), (8, 8))
    assert (now.usd, now.n(CellStatus.complete), now.driver) == (2.0, 4, None)
    again = FakeEngine(complete)
    assert SweepDriver(tmp_path, sweep, again).carry_out() is None
    assert again.order == []


def test_a_cell_that_fails_three_times_is_given_up(tmp_path: Path, sweep: Sweep) -> None:
    """The other slice is asked and graded; the reason stands in the status."""

    def ending(lease: Lease) -> Lease:
        if "slice-01" not in lease.cell:
            return complete(lease)
        file = tmp_path / f"{lease.folder}.why"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("the server is on fire")
        return replace(lease, state=CellState.failed)

    engine = FakeEngine(ending)
    assert SweepDriver(tmp_path, sweep, engine).carry_out() is None
    assert sum("slice-01/ask" in each for each in engine.order) == TIMES
    assert not any("slice-01/grade" in each for each in engine.order)
    now = sweep_progress(tmp_path)
    (failed,) = [cell for cell in now.cells if cell.now is CellStatus.failed]
    assert (failed.why, failed.n_leases) == ("the server is on fire", 3)
    assert now.n(CellStatus.complete) == 2
    # given again, it is tried anew, under the next numbers
    assert SweepDriver(tmp_path, sweep, FakeEngine(complete)).carry_out() is None
    assert sweep_progress(tmp_path).n(CellStatus.complete) == 4
    leases = JournalReader(tmp_path).by_cell()["openai-api-fake-a/slice-01/ask"]
    assert [lease.number for lease in leases] == [1, 2, 3, 4]


def test_a_node_that_is_lost_with_nothing_done_counts_as_a_failure(
    tmp_path: Path, sweep: Sweep
) -> None:
    """A cell that takes its machine down with it is not tried for ever."""
    engine = FakeEngine(lambda lease: replace(lease, state=CellState.lost))
    assert SweepDriver(tmp_path, sweep, engine).carry_out() is None
    assert len(engine.order) == 2 * TIMES


def test_a_budget_that_is_reached_ends_the_sweep(tmp_path: Path, sweep: Sweep) -> None:
    """No further cell begins."""

    def ending(lease: Lease) -> Lease:
        return replace(lease, state=CellState.stopped, stop=Stop.budget.value)

    engine = FakeEngine(ending)
    assert SweepDriver(tmp_path, sweep, engine).carry_out() is Stop.budget
    assert len(engine.order) == 1


def test_ctrl_c_tells_cells_to_end(tmp_path: Path, sweep: Sweep) -> None:
    """After a signal no cell begins, and those at work are told by a file."""

    def ending(lease: Lease) -> Lease:
        os.kill(os.getpid(), signal.SIGTERM)
        return replace(lease, state=CellState.stopped, stop=Stop.interrupted.value)

    engine = FakeEngine(ending)
    assert SweepDriver(tmp_path, sweep, engine).carry_out() is Stop.interrupted
    assert len(engine.order) == 1
    # and the next driver does not end what it begins
    assert SweepDriver(tmp_path, sweep, FakeEngine(complete)).carry_out() is None
    assert not (tmp_path / "ending").exists()


def test_cells_of_a_driver_that_was_killed_are_lost(tmp_path: Path, sweep: Sweep) -> None:
    """They get new leases, and the status says that nobody works on them meanwhile."""

    def ending(_: Lease) -> Lease:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        SweepDriver(tmp_path, sweep, FakeEngine(ending)).carry_out()
    assert sweep_progress(tmp_path).n(CellStatus.stopped) == 1
    engine = FakeEngine(complete)
    assert SweepDriver(tmp_path, sweep, engine).carry_out() is None
    assert engine.order[0].endswith("slice-01/ask-002")


@pytest.mark.parametrize("lost", ["slice-01", "slice-01/ask-001", "slice-01/ask-001/log.eval"])
def test_a_cell_whose_folder_is_gone_or_incomplete_is_done_again(
    tmp_path: Path, sweep: Sweep, lost: str
) -> None:
    """What its slice was graded for is graded again too, and the other slice is left alone."""
    assert SweepDriver(tmp_path, sweep, FakeEngine(complete)).carry_out() is None
    place = tmp_path / "openai-api-fake-a" / lost
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    now = sweep_progress(tmp_path)
    assert (now.done(asks=True), now.done(asks=False)) == ((4, 8), (4, 8))
    assert [cell.why for cell in now.cells] == [GONE, "", GONE, ""]
    assert now.usd == 2.0
    engine = FakeEngine(complete)
    assert SweepDriver(tmp_path, sweep, engine).carry_out() is None
    place_1 = "openai-api-fake-a/slice-01"
    assert engine.order == [f"{place_1}/ask-002", f"{place_1}/grade-1-002"]
    now = sweep_progress(tmp_path)
    assert (now.n(CellStatus.complete), now.done(asks=True), now.usd) == (4, (8, 8), 3.0)


def test_a_lost_cell_is_counted_after_its_last_calls(tmp_path: Path, sweep: Sweep) -> None:
    """A process that its driver left writes one more call, which the journal has at the end."""
    lease = Lease(sweep.cells()[0].path, 1, CellState.begun)
    journal = JournalWriter(tmp_path)
    journal.write(lease)
    journal.close()
    folder = tmp_path / lease.folder
    folder.mkdir(parents=True)
    paid = {"role": "ask", "model": "x/a", "input_tokens": 9, "output_tokens": 9}
    line = json.dumps(paid | {"cost_usd": 0.25, "seconds": 1.0}) + "\n"
    (folder / "spent.jsonl").write_text(line)

    def drain() -> None:
        with locked(folder):
            is_held.set()
            while len(JournalReader(tmp_path).by_cell()) < 2:
                time.sleep(0.01)
            with (folder / "spent.jsonl").open("a") as file:
                file.write(line)

    is_held = threading.Event()
    orphan = threading.Thread(target=drain)
    orphan.start()
    is_held.wait()
    assert SweepDriver(tmp_path, sweep, FakeEngine(complete)).carry_out() is None
    orphan.join()
    leases = JournalReader(tmp_path).by_cell()[lease.cell]
    assert [(each.n_calls, each.usd) for each in leases] == [(2, 0.5), (4, 0.5)]


def test_graders_are_checked_before_the_first_cell(tmp_path: Path, sweep: Sweep) -> None:
    """A grader that cannot be called ends the sweep, and the folder's sweep is as it was."""

    class Refusing(FakeEngine):
        def check_gradings(self, _: Path) -> None:
            raise ProtocolError("nobody of that name grades")

    before = (tmp_path / "sweep.json").read_bytes()
    engine = Refusing(complete)
    with pytest.raises(ProtocolError, match="nobody"):
        SweepDriver(tmp_path, replace(sweep, max_cost=3.0), engine).carry_out()
    assert (engine.order, (tmp_path / "sweep.json").read_bytes()) == ([], before)
    (tmp_path / "sweep.json").unlink()
    with pytest.raises(ProtocolError, match="nobody"):
        SweepDriver(tmp_path, sweep, engine).carry_out()
    assert not (tmp_path / "sweep.json").exists()


def write_journal(root: Path, *lines: tuple[float, Lease]) -> None:
    """Write a journal whose lines are so many seconds old."""
    with (root / "cells.jsonl").open("w") as file:
        for seconds, lease in lines:
            at = (datetime.now().astimezone() - timedelta(seconds=seconds)).isoformat()
            row = {name: getattr(lease, name) for name in lease.__slots__}
            file.write(json.dumps(row | {"at": at}) + "\n")


def test_short_cells_have_a_rate_and_a_time_left(tmp_path: Path, sweep: Sweep) -> None:
    """Four responses in the last minute, by a cell that has ended: the other twelve take three."""
    ask = Lease(sweep.cells()[0].path, 1, CellState.begun)
    write_complete(tmp_path / ask.folder)
    write_journal(tmp_path, (50, ask), (40, complete(ask)))
    with locked(tmp_path):
        os.utime(tmp_path / ".lock", (time.time() - 3600,) * 2)
        now = sweep_progress(tmp_path)
    assert now.rate == pytest.approx(4 / 60, rel=0.02)
    assert now.seconds_left == pytest.approx(12 * 15, rel=0.02)
    # without a driver nothing goes on
    assert sweep_progress(tmp_path).rate is None


def test_a_cell_at_work_shows_how_old_its_last_report_is(tmp_path: Path, sweep: Sweep) -> None:
    """After three minutes without a report it is shown as without news."""
    ask = Lease(sweep.cells()[0].path, 1, CellState.begun)
    (tmp_path / ask.folder).mkdir(parents=True)
    report = tmp_path / ask.folder / "progress.json"
    report.write_text(json.dumps({"system": "a", "n_samples": 4, "n_done": 1}))
    write_journal(tmp_path, (300, ask))
    with locked(tmp_path):
        assert [cell.is_quiet for cell in sweep_progress(tmp_path).cells] == [False] * 4
        os.utime(report, (time.time() - 185,) * 2)
        now = sweep_progress(tmp_path)
    assert now.cells[0].seconds_quiet == pytest.approx(185, abs=5)
    assert "1 of the running without news" in line(now)
    screen = Console(width=120, file=StringIO())
    screen.print(progress_view(now))
    assert "no news for 3 min" in screen.file.getvalue()  # type: ignore[attr-defined]
