"""The driver of a sweep, which gives out its cells until none is left.

One process drives a sweep. If it is killed, the next one goes on from the journal and the cells'
folders.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from careeval.files import write_text
from careeval.protocol.costs.cost_log import TotalCost, read_paid_calls
from careeval.protocol.runs.folder import is_complete, kept_samples
from careeval.protocol.runs.lock import holder, locked
from careeval.protocol.runs.spec import Stop
from careeval.protocol.runs.sweep_cells import (
    CellState,
    JournalReader,
    JournalWriter,
    Lease,
    lease_folders,
)
from careeval.sweep.attend import ENDING_FILE, lease_reason
from careeval.sweep.engines import Engine
from careeval.sweep.spec import Cell, Sweep, save_sweep

TIMES = 3
"""Number of failures after which a cell is given up; the other cells go on."""

EVERY = 0.5
"""Seconds between two updates of the display."""

DRAIN_SECONDS = 30.0
"""Seconds to wait for a process that lost its lease, so that its last calls are kept."""


@dataclass
class _CellRecord:
    """The driver's record of one cell.

    Attributes:
        number: Number of its last lease; 0 before the first.
        state: State of that lease; `None` before the first.
        n_failures: Times that it failed, or was lost without progress, since this driver began.
        n_done: The most responses done under one of its leases.
        waits_since: Monotonic time at which its process was lost; `None` if no lost process can
            still be at work.
    """

    number: int = 0
    state: CellState | None = None
    n_failures: int = 0
    n_done: int = 0
    waits_since: float | None = None


@dataclass
class SweepDriver:
    """The driver of one sweep.

    Attributes:
        root: Folder of the sweep.
        sweep: The sweep.
        engine: The engine that carries out the cells.
        show: Called several times a second.
    """

    root: Path
    sweep: Sweep
    engine: Engine
    show: Callable[[], None] = lambda: None
    _ending: int = 0
    _cells: dict[str, Cell] = field(default_factory=dict)
    _records: dict[str, _CellRecord] = field(default_factory=dict)
    _stop: Stop | None = None

    def carry_out(self) -> Stop | None:
        """Carry out the remaining cells; return why the sweep ended early, `None` if complete.

        Raises:
            ProtocolError: Another process drives the sweep, the folder has another sweep, or the
                journal is damaged.
            OSError: The sweep's folder cannot be written.
        """
        with locked(self.root), self._counting_signals():
            save_sweep(self.root, self.sweep)
            (self.root / ENDING_FILE).unlink(missing_ok=True)
            journal = JournalWriter(self.root)
            try:
                self._read_journal(journal)
                while self._start_cells(journal) or self._n_working or self._is_waiting:
                    self._record_ended(journal)
            finally:
                journal.close()
        return Stop.interrupted if self._ending else self._stop

    def _read_journal(self, journal: JournalWriter) -> None:
        """Read the state of every cell; a cell at work when its driver ended is marked as lost."""
        self._cells = {cell.path: cell for cell in self.sweep.cells()}
        self._records = {path: _CellRecord() for path in self._cells}
        for path, leases in JournalReader(self.root).by_cell().items():
            if path not in self._cells:
                continue
            last = leases[-1]
            if last.state is CellState.begun:
                lost = replace(last, state=CellState.lost)
                last = _with_counts(lost, self.root / last.folder)
                journal.write(last)
            n_done = max(last.n_done, *(lease.n_done for lease in leases))
            self._records[path] = _CellRecord(last.number, last.state, n_done=n_done)
            if last.state is CellState.lost:
                self._records[path].waits_since = time.monotonic()

    @property
    def _n_working(self) -> int:
        return sum(record.state is CellState.begun for record in self._records.values())

    @property
    def _is_waiting(self) -> bool:
        return not self._ended_early and any(map(self._is_open, self._cells.values()))

    @property
    def _ended_early(self) -> bool:
        return bool(self._ending) or self._stop is not None

    def _is_open(self, cell: Cell) -> bool:
        """Tell whether a cell is left to do, and may begin: to grade, its responses must exist."""
        record = self._records[cell.path]
        if record.state in (CellState.begun, CellState.complete) or record.n_failures >= TIMES:
            return False
        ask_record = self._records[f"{cell.path.rpartition('/')[0]}/ask"]
        return cell.asks or ask_record.state is CellState.complete

    def _start_cells(self, journal: JournalWriter) -> bool:
        """Start every cell that can start now; return whether any was started."""
        started = False
        for cell in self._cells.values() if not self._ended_early else ():
            if not self._is_open(cell) or self._is_draining(cell) or not self.engine.has_room(cell):
                continue
            record = self._records[cell.path]
            if lease := self._unrecorded_end(cell):
                journal.write(lease)
                record.state, started = lease.state, True
                continue
            record.number, record.state = record.number + 1, CellState.begun
            lease = Lease(cell.path, record.number, CellState.begun)
            journal.write(lease)
            self.engine.start(self.root, cell, lease)
            started = True
        return started

    def _unrecorded_end(self, cell: Cell) -> Lease | None:
        """Return the lease of a cell that became complete without a driver; `None` for others."""
        folders = lease_folders(self.root / cell.path)
        if not folders or not is_complete(folders[-1]):
            return None
        number = self._records[cell.path].number
        lease = _with_counts(Lease(cell.path, number, CellState.complete), folders[-1])
        return replace(lease, n_done=self.sweep.n_responses(cell))

    def _is_draining(self, cell: Cell) -> bool:
        """Tell whether to wait for a process that lost its lease and is still at work."""
        record = self._records[cell.path]
        if record.waits_since is None:
            return False
        folders = lease_folders(self.root / cell.path)
        is_held = bool(folders) and holder(folders[-1]) is not None
        if is_held and time.monotonic() - record.waits_since < DRAIN_SECONDS:
            return True
        record.waits_since = None
        return False

    def _record_ended(self, journal: JournalWriter) -> None:
        """Write the ended leases into the journal."""
        if self._ending:
            write_text(self.root / ENDING_FILE, f"{min(self._ending, 2)}\n")
        leases = self.engine.ended_leases(EVERY)
        if not leases and not self._n_working:
            time.sleep(EVERY)
        for ended in leases:
            lease = replace(ended, why=lease_reason(self.root, ended))
            if lease.state is CellState.lost:
                lease = _with_counts(lease, self.root / lease.folder)
            journal.write(lease)
            self._update_record(lease)
        self.show()

    def _update_record(self, lease: Lease) -> None:
        record = self._records[lease.cell]
        record.state = lease.state
        if lease.state is CellState.failed:
            record.n_failures += 1
        if lease.state is CellState.lost:
            # a node may be taken away again and again, which is not the cell's failure
            record.n_failures += lease.n_done <= record.n_done
            record.waits_since = time.monotonic()
        record.n_done = max(record.n_done, lease.n_done)
        if lease.stop in (Stop.budget, Stop.unmetered):
            self._stop = Stop(lease.stop)

    @contextmanager
    def _counting_signals(self) -> Iterator[None]:
        """Count Ctrl-C and SIGTERM: the first ends the cells in order, the second at once."""

        def count(*_: object) -> None:
            self._ending += 1

        signals = (signal.SIGINT, signal.SIGTERM)
        handlers = [signal.signal(number, count) for number in signals]
        try:
            yield
        finally:
            for number, handler in zip(signals, handlers, strict=True):
                signal.signal(number, handler)


def _with_counts(lease: Lease, folder: Path) -> Lease:
    """Return a lease with counts read from its folder, if its process did not report them."""
    spent = TotalCost.of(read_paid_calls(folder))
    asked, graded = kept_samples(folder)
    return replace(
        lease, n_done=len(graded or asked), n_calls=spent.n_calls, usd=spent.known_usd,
        n_unknown=spent.n_unknown,
    )  # fmt: skip
