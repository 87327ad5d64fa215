"""Give out the cells of a sweep until nothing is left of it.

One process drives a sweep. Killed and started again, it takes up what the journal and the cells'
folders say.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from careeval.files import write_text
from careeval.protocol.costs.cost_log import Spent, paid_for
from careeval.protocol.runs.folder import is_complete, kept_calls
from careeval.protocol.runs.lock import holder, locked
from careeval.protocol.runs.spec import Stop
from careeval.protocol.runs.sweep_cells import (
    CellState,
    Journal,
    JournalReading,
    Lease,
    lease_folders,
)
from careeval.sweep.attend import ENDING_FILE, reason
from careeval.sweep.engines import Engine
from careeval.sweep.spec import Cell, Sweep, keep_sweep

TIMES = 3
"""After so many failures a cell is given up; the others go on."""

EVERY = 0.5
"""Seconds after which things are shown again, though nothing may have happened."""

DRAIN_SECONDS = 30.0
"""Time to wait for a writer that lost its lease, so that its last calls are kept."""


@dataclass
class _Standing:
    """The driver's record of one cell.

    Attributes:
        number: Of its last lease; 0 before the first.
        state: Of that lease; `None` before the first.
        n_failures: How often it has failed since the sweep was started, or was lost with nothing
            done.
        n_done: Responses that were done under its last lease that told.
        waits_since: When its writer was lost, if it may still be at work.
    """

    number: int = 0
    state: CellState | None = None
    n_failures: int = 0
    n_done: int = 0
    waits_since: float | None = None


@dataclass
class Drive:
    """One sweep while it is driven.

    Attributes:
        root: Its folder.
        sweep: What it is made of.
        engine: Where its cells are carried out.
        show: Is called several times a second.
    """

    root: Path
    sweep: Sweep
    engine: Engine
    show: Callable[[], None] = lambda: None
    _ending: int = 0
    _cells: dict[str, Cell] = field(default_factory=dict)
    _standing: dict[str, _Standing] = field(default_factory=dict)
    _stop: Stop | None = None

    def carry_out(self) -> Stop | None:
        """Do what is left; return why it ended early, `None` if it came to its end.

        Raises:
            ProtocolError: Another process drives the sweep, the folder holds another one, or its
                journal is damaged.
            OSError: The sweep's folder cannot be written.
        """
        with locked(self.root), self._signals_counted():
            keep_sweep(self.root, self.sweep)
            (self.root / ENDING_FILE).unlink(missing_ok=True)
            journal = Journal(self.root)
            try:
                self._take_up(journal)
                while self._give_out(journal) or self._n_working or self._is_waiting:
                    self._hear(journal)
            finally:
                journal.close()
        return Stop.interrupted if self._ending else self._stop

    def _take_up(self, journal: Journal) -> None:
        """Read where the sweep is; cells that were at work are lost with their driver."""
        self._cells = {cell.path: cell for cell in self.sweep.cells()}
        self._standing = {path: _Standing() for path in self._cells}
        for path, leases in JournalReading(self.root).by_cell().items():
            if path not in self._cells:
                continue
            last = leases[-1]
            if last.state is CellState.begun:
                lost = replace(last, state=CellState.lost)
                last = _with_counts(lost, self.root / last.folder)
                journal.write(last)
            n_done = max(last.n_done, *(each.n_done for each in leases))
            self._standing[path] = _Standing(last.number, last.state, n_done=n_done)
            if last.state is CellState.lost:
                self._standing[path].waits_since = time.monotonic()

    @property
    def _n_working(self) -> int:
        return sum(each.state is CellState.begun for each in self._standing.values())

    @property
    def _is_waiting(self) -> bool:
        """Return whether a cell is left that is not given out yet."""
        return not self._ended_early and any(map(self._is_open, self._cells.values()))

    @property
    def _ended_early(self) -> bool:
        return bool(self._ending) or self._stop is not None

    def _is_open(self, cell: Cell) -> bool:
        """Return whether a cell is left to do, and what it needs is there."""
        standing = self._standing[cell.path]
        if standing.state in (CellState.begun, CellState.complete) or standing.n_failures >= TIMES:
            return False
        asked = self._standing[f"{cell.path.rpartition('/')[0]}/ask"]
        return cell.asks or asked.state is CellState.complete

    def _give_out(self, journal: Journal) -> bool:
        """Start every cell that can be; return whether one was."""
        started = False
        for cell in self._cells.values() if not self._ended_early else ():
            if not self._is_open(cell) or self._is_draining(cell) or not self.engine.takes(cell):
                continue
            standing = self._standing[cell.path]
            if ended := self._ended_unheard(cell):
                journal.write(ended)
                standing.state, started = ended.state, True
                continue
            standing.number, standing.state = standing.number + 1, CellState.begun
            lease = Lease(cell.path, standing.number, CellState.begun)
            journal.write(lease)
            self.engine.start(self.root, cell, lease)
            started = True
        return started

    def _ended_unheard(self, cell: Cell) -> Lease | None:
        """Return the lease of a cell that came to its end after whoever had given it out."""
        folders = lease_folders(self.root / cell.path)
        if not folders or not is_complete(folders[-1]):
            return None
        number = self._standing[cell.path].number
        lease = _with_counts(Lease(cell.path, number, CellState.complete), folders[-1])
        return replace(lease, n_done=self.sweep.n_responses(cell))

    def _is_draining(self, cell: Cell) -> bool:
        """Return whether a writer that lost its lease is still at work, and may be waited for."""
        standing = self._standing[cell.path]
        if standing.waits_since is None:
            return False
        folders = lease_folders(self.root / cell.path)
        is_held = bool(folders) and holder(folders[-1]) is not None
        if is_held and time.monotonic() - standing.waits_since < DRAIN_SECONDS:
            return True
        standing.waits_since = None
        return False

    def _hear(self, journal: Journal) -> None:
        """Take down which cells have ended."""
        if self._ending:
            write_text(self.root / ENDING_FILE, f"{min(self._ending, 2)}\n")
        ended = self.engine.ended(EVERY)
        if not ended and not self._n_working:
            time.sleep(EVERY)
        for lease in ended:
            told = replace(lease, why=reason(self.root, lease))
            if lease.state is CellState.lost:
                told = _with_counts(told, self.root / lease.folder)
            journal.write(told)
            self._take_down(told)
        self.show()

    def _take_down(self, lease: Lease) -> None:
        standing = self._standing[lease.cell]
        standing.state = lease.state
        if lease.state is CellState.failed:
            standing.n_failures += 1
        if lease.state is CellState.lost:
            # a node may be taken away again and again: that is no fault of the cell's
            standing.n_failures += lease.n_done <= standing.n_done
            standing.waits_since = time.monotonic()
        standing.n_done = max(standing.n_done, lease.n_done)
        if lease.stop in (Stop.budget, Stop.unmetered):
            self._stop = Stop(lease.stop)

    @contextmanager
    def _signals_counted(self) -> Iterator[None]:
        """The first Ctrl-C or SIGTERM ends the cells in order, the second at once."""

        def count(*_: object) -> None:
            self._ending += 1

        signals = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(each, count) for each in signals]
        try:
            yield
        finally:
            for each, handler in zip(signals, before, strict=True):
                signal.signal(each, handler)


def _with_counts(lease: Lease, folder: Path) -> Lease:
    """Return a lease that nobody told about, with what its folder says."""
    spent = Spent.on(paid_for(folder))
    asked, graded = kept_calls(folder)
    return replace(
        lease, n_done=len(graded or asked), n_calls=spent.n_calls, usd=spent.known_usd,
        n_unknown=spent.n_unknown,
    )  # fmt: skip
