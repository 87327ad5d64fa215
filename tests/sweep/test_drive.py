"""Tests of the driver of a sweep, with an engine whose cells end as each test says."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from careeval.protocol.runs.spec import Stop
from careeval.protocol.runs.sweep_cells import CellState, JournalReader, Lease
from careeval.sweep.drive import TIMES, SweepDriver
from careeval.sweep.progress import CellStatus, sweep_progress
from careeval.sweep.spec import Cell, Sweep, read_sweep, save_sweep
from support.sweep_files import write_sweep

Ending = Callable[[Lease], Lease]


@dataclass
class FakeEngine:
    """Ends each cell as `ending` says; it has room for one at a time."""

    ending: Ending
    order: list[str] = field(default_factory=list)
    working: list[Lease] = field(default_factory=list)

    def has_room(self, _: Cell) -> bool:
        """One at a time."""
        return not self.working

    def start(self, _: Path, __: Cell, lease: Lease) -> None:
        """Take it down."""
        self.order.append(lease.folder)
        self.working.append(lease)

    def ended_leases(self, _: float) -> list[Lease]:
        """All that was started."""
        ended, self.working = [self.ending(lease) for lease in self.working], []
        return ended

    def close(self) -> None:
        """Nothing is held."""


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
