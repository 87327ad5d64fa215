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

from careeval.errors import ProtocolError
from careeval.files import read_bytes, write_bytes, write_text
from careeval.protocol.run import Stop
from careeval.protocol.run_files import holder, locked
from careeval.protocol.sweep_cells import (
    SWEEP_FILE,
    CellState,
    JournalReader,
    JournalWriter,
    Lease,
)
from careeval.sweep.cells import ENDING_FILE, complete_folder, lease_reason, with_counts
from careeval.sweep.description import Cell, Sweep, save_sweep
from careeval.sweep.engines import Engine

TIMES = 3
"""Number of failures after which a cell is given up; the other cells go on."""

EVERY = 0.5
"""Seconds between two updates of the display."""

DRAIN_SECONDS = 30.0
"""Seconds to wait for a process that lost its lease, so that its last calls are kept."""


@dataclass
class _CellRecord:
    """The driver's record of one cell."""

    number: int = 0  # Of its last lease; 0 before the first
    state: CellState | None = None  # Of that lease; `None` before the first
    n_failures: int = 0  # Failures, and losses without progress, since this driver began
    n_done: int = 0  # The most responses done under one of its leases
    lost: Lease | None = None  # Its last lease, if lost while its process may still be at work
    waits_since: float = 0.0  # Monotonic time at which that lease was lost

    def lose(self, lease: Lease) -> None:
        """Record that the last lease was lost."""
        self.lost, self.waits_since = lease, time.monotonic()


@dataclass
class SweepDriver:
    """The driver of one sweep."""

    root: Path  # Folder of the sweep
    sweep: Sweep
    engine: Engine
    show: Callable[[], None] = lambda: None  # Called several times a second
    _ending: int = 0
    _cells: dict[str, Cell] = field(default_factory=dict)
    _records: dict[str, _CellRecord] = field(default_factory=dict)
    _stop: Stop | None = None

    def carry_out(self) -> Stop | None:
        """Carry out the remaining cells; return why the sweep ended early, `None` if complete.

        Raises:
            ProtocolError: Another process drives the sweep, the folder has another sweep, a grader
                cannot be called, or the journal is damaged.
            OSError: The sweep's folder cannot be written.
        """
        with locked(self.root), self._counting_signals():
            self._save_sweep()
            (self.root / ENDING_FILE).unlink(missing_ok=True)
            journal = JournalWriter(self.root)
            try:
                self._read_journal(journal)
                while self._start_cells(journal) or self._n_working or self._is_waiting:
                    self._record_ended(journal)
            finally:
                journal.close()
        return Stop.interrupted if self._ending else self._stop

    def _save_sweep(self) -> None:
        """Write the sweep into its folder; undo that if a grader cannot be called."""
        file = self.root / SWEEP_FILE
        before = read_bytes(file) if file.exists() else None
        save_sweep(self.root, self.sweep)
        if all(complete_folder(self.root, cell) for cell in self.sweep.cells()):
            return
        try:
            self.engine.check_gradings(self.root)
        except ProtocolError:
            write_bytes(file, before) if before else file.unlink()
            raise

    def _read_journal(self, journal: JournalWriter) -> None:
        """Read every cell's state; one is lost if its driver or its complete folder is gone."""
        self._cells = {cell.path: cell for cell in self.sweep.cells()}
        self._records = {path: _CellRecord() for path in self._cells}
        for path, leases in JournalReader(self.root).by_cell().items():
            if path not in self._cells:
                continue
            last, cell = leases[-1], self._cells[path]
            is_gone = last.state is CellState.complete and not complete_folder(self.root, cell)
            if is_gone or last.state is CellState.begun:
                last = with_counts(replace(last, state=CellState.lost), self.root)
                journal.write(last)
            record = self._records[path] = _CellRecord(last.number, last.state, n_done=last.n_done)
            if last.state is CellState.lost:
                record.lose(last)

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
        """Tell whether a cell is left to do and may begin: to grade, it must have responses."""
        record = self._records[cell.path]
        if record.state in (CellState.begun, CellState.complete) or record.n_failures >= TIMES:
            return False
        ask_record = self._records[f"{cell.path.rpartition('/')[0]}/ask"]
        return cell.asks or ask_record.state is CellState.complete

    def _start_cells(self, journal: JournalWriter) -> bool:
        """Start every cell that can start now; tell whether one did."""
        started = False
        for cell in self._cells.values() if not self._ended_early else ():
            if not (self._is_open(cell) and self._has_drained(cell, journal)):
                continue
            if not self.engine.has_room(cell):
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
        """Return the lease of a cell that was completed without a driver; `None` for others."""
        if (folder := complete_folder(self.root, cell)) is None:
            return None
        number = int(folder.name.rpartition("-")[2])
        lease = with_counts(Lease(cell.path, number, CellState.complete), self.root)
        return replace(lease, n_done=self.sweep.n_responses(cell))

    def _has_drained(self, cell: Cell, journal: JournalWriter) -> bool:
        """Tell whether no process that lost the cell's lease is at work, and record its calls."""
        record = self._records[cell.path]
        if (lost := record.lost) is None:
            return True
        is_held = holder(self.root / lost.folder) is not None
        if is_held and time.monotonic() - record.waits_since < DRAIN_SECONDS:
            return False
        if (drained := with_counts(lost, self.root)) != lost:
            journal.write(drained)
        record.lost, record.n_done = None, max(record.n_done, drained.n_done)
        return True

    def _record_ended(self, journal: JournalWriter) -> None:
        if self._ending:
            write_text(self.root / ENDING_FILE, f"{min(self._ending, 2)}\n")
        leases = self.engine.ended_leases(EVERY)
        if not leases and not self._n_working:
            time.sleep(EVERY)
        for ended in leases:
            lease = replace(ended, why=lease_reason(self.root, ended) or ended.why)
            if lease.state is CellState.lost:
                lease = with_counts(lease, self.root)
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
            record.lose(lease)
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
