"""The progress of a sweep, read from its files on any machine, at any time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from careeval.protocol.run import WINDOW, RunProgress, Stop
from careeval.protocol.run_files import LOCK_FILE, holder, read_json
from careeval.protocol.run_folder import RUN_FILE
from careeval.protocol.sweep_cells import CellState, JournalReader, Lease
from careeval.sweep.cells import PROGRESS_FILE, complete_folder, with_counts
from careeval.sweep.description import Cell, Sweep, load_sweep
from careeval.sweep.server import LOG_FILE

QUIET_SECONDS = 60.0
"""Seconds after which a cell at work, which reports every second, is shown as without news."""

GONE = "its folder is missing or incomplete: 'careeval sweep' does it again"
"""The reason why a cell is not complete any more."""


class CellStatus(StrEnum):
    """The state of a cell, as it is shown."""

    waiting = "waiting"
    """The cell has not begun, its engine has no room for it yet, or it waits to be tried again."""
    running = "running"
    complete = "complete"
    failed = "failed"
    """The cell's last lease failed; while the sweep goes on, the cell is tried up to three
    times."""
    stopped = "stopped"
    """The cell was told to end, or the driver of the sweep is gone."""


@dataclass(frozen=True, slots=True)
class CellProgress:
    """The progress of one cell."""

    cell: str  # Path of the cell
    now: CellStatus
    n_leases: int  # Number of times that it was begun
    n_responses: int  # Responses to ask for, or to grade
    n_done: int  # Responses that are finished, by its last report
    n_failed: int  # Responses that were given up
    n_calls: int  # Calls that came back
    usd: float  # Known cost of these calls, in US dollars
    n_unknown: int  # Calls whose cost is unknown
    rate: float | None  # Responses a second in the last minute; `None` while unknown
    seconds_quiet: float | None  # Seconds since its last report; `None` unless it is at work
    stop: str  # Why it ended early, a value of `Stop`; empty if it did not
    why: str  # Why it failed or stopped, in words; empty if there is no reason

    @property
    def is_quiet(self) -> bool:
        """True for a cell at work that has not reported for a minute."""
        return self.seconds_quiet is not None and self.seconds_quiet >= QUIET_SECONDS

    @property
    def asks(self) -> bool:
        """True for a cell that asks; the others grade."""
        return self.cell.endswith("/ask")


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """The progress of a sweep."""

    cells: tuple[CellProgress, ...]  # Asking cells first
    driver: str | None  # The process that drives the sweep; `None` if none does on this machine
    max_cost: float | None  # The most US dollars that may be spent; `None` for no limit
    rate: float | None
    """Responses asked for or graded per second in the last minute, by the cells that ended in it
    and those at work; `None` while unknown."""

    def n(self, now: CellStatus) -> int:
        """Return the number of cells in a state."""
        return sum(cell.now is now for cell in self.cells)

    def done(self, *, asks: bool) -> tuple[int, int]:
        """Return how many responses are done, and how many in total, in asking or grading cells."""
        cells = [cell for cell in self.cells if cell.asks == asks]
        return sum(cell.n_done for cell in cells), sum(cell.n_responses for cell in cells)

    @property
    def usd(self) -> float:
        """The known cost so far, in US dollars."""
        return sum(cell.usd for cell in self.cells)

    @property
    def n_unknown(self) -> int:
        """The number of calls whose cost is unknown."""
        return sum(cell.n_unknown for cell in self.cells)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at the present rate; `None` while the rate is unknown."""
        left = sum(cell.n_responses - cell.n_done for cell in self.cells)
        return left / self.rate if self.rate else None

    @property
    def next_budget(self) -> str:
        """The value of --max-cost with which the sweep can go on; empty if the present one does."""
        stops = {cell.stop for cell in self.cells if cell.now is CellStatus.stopped}
        if Stop.unmetered in stops:
            return "inf"
        return "MORE" if Stop.budget in stops else ""

    @property
    def overspent(self) -> float:
        """US dollars above the budget, where estimates of calls in flight were too low; else 0."""
        return 0.0 if self.max_cost is None else max(0.0, self.usd - self.max_cost)


def sweep_progress(root: Path) -> SweepProgress:
    """Return the progress of the sweep in a folder.

    Raises:
        ProtocolError: The folder has no sweep, or the files of the sweep are damaged.
    """
    sweep = load_sweep(root)
    driver = holder(root)
    journal = JournalReader(root)
    by_cell = journal.by_cell()
    cells, stretches = list[CellProgress](), list[_Stretch]()
    for cell in sweep.cells():
        leases = _by_disk(root, cell, by_cell.get(cell.path, []), driver is not None)
        cells.append(_cell(root, sweep, cell, leases, driver is not None))
        stretches += _stretches(leases, journal.began, cells[-1])
    rate = _rate(stretches, (root / LOCK_FILE).stat().st_mtime) if driver else None
    return SweepProgress(tuple(cells), driver, sweep.max_cost, rate)


def _by_disk(root: Path, cell: Cell, leases: Sequence[Lease], is_driven: bool) -> list[Lease]:
    """Return a cell's leases by its folders, if the journal says otherwise."""
    leases = [
        lease if (root / lease.folder).is_dir() else replace(lease, n_done=0) for lease in leases
    ]
    last = leases[-1] if leases else None
    if last is None or last.state in (CellState.failed, CellState.stopped):
        return leases
    if last.state is CellState.complete:
        if complete_folder(root, cell):
            return leases
        return [*leases[:-1], replace(last, state=CellState.lost, n_done=0, why=GONE)]
    if last.state is CellState.lost or not is_driven:
        # a process that lost its lease may still finish calls
        return [*leases[:-1], with_counts(last, root)]
    return leases


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The work under one lease: responses done between two times, in seconds since the epoch."""

    began: float  # Time when the lease began
    ended: float  # Time when it ended; now if it is at work
    n_done: int  # Responses done under it
    rate: float | None = None  # Responses per second in the last minute; `None` if unknown

    def n_since(self, start: float) -> float:
        """Return the responses done since a time, as if they came at an even pace."""
        n_seconds = self.ended - max(self.began, start)
        if self.began >= start or self.ended <= self.began:
            return self.n_done if self.ended >= start else 0.0
        rate = self.n_done / (self.ended - self.began) if self.rate is None else self.rate
        return max(0.0, n_seconds) * rate


def _stretches(
    leases: Sequence[Lease], began: Mapping[tuple[str, int], str], cell: CellProgress
) -> Iterator[_Stretch]:
    n_before = 0
    for lease in leases:
        is_open = lease is leases[-1] and cell.now is CellStatus.running
        n_done = cell.n_done if is_open else lease.n_done
        ended = time.time() if is_open else _seconds(lease.at)
        gained, n_before = max(0, n_done - n_before), max(n_before, n_done)
        start = _seconds(began[lease.cell, lease.number])
        yield _Stretch(start, ended, gained, cell.rate if is_open else None)


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


def _rate(stretches: Sequence[_Stretch], driven_since: float) -> float | None:
    """Return the responses per second in the last minute, or since the driver began."""
    now = time.time()
    start = max(now - WINDOW, driven_since)
    n_done = sum(stretch.n_since(start) for stretch in stretches)
    return n_done / (now - start) if n_done and now - start >= 1 else None


def _cell(
    root: Path, sweep: Sweep, cell: Cell, leases: Sequence[Lease], is_driven: bool
) -> CellProgress:
    last = leases[-1] if leases else None
    is_open = last is not None and last.state is CellState.begun and is_driven
    report = _report(root, last) if last and is_open else None
    n_done = report.n_done if report else max((lease.n_done for lease in leases), default=0)
    now = _now(root, last, is_driven)
    why = last.why if last else ""
    if last and not why and last.stop not in ("", Stop.interrupted):
        why = f"stopped: {last.stop}"
    return CellProgress(
        cell.path,
        now,
        len(leases),
        sweep.n_responses(cell),
        n_done,
        report.n_failed if report else last.n_failed if last else 0,
        sum(lease.n_calls for lease in leases) + (report.n_calls if report else 0),
        sum(lease.usd for lease in leases) + ((report.usd or 0.0) if report else 0.0),
        sum(lease.n_unknown for lease in leases) + bool(report and report.usd is None),
        report.rate if report and is_driven else None,
        _seconds_quiet(root / last.folder) if last and now is CellStatus.running else None,
        last.stop if last else "",
        why,
    )


def _now(root: Path, last: Lease | None, is_driven: bool) -> CellStatus:
    match last and last.state:
        case CellState.complete:
            return CellStatus.complete
        case CellState.failed:
            return CellStatus.failed
        case CellState.begun if last and is_driven and (root / last.folder).exists():
            return CellStatus.running
        case None:
            return CellStatus.waiting
        case _:
            return CellStatus.waiting if is_driven else CellStatus.stopped


def _seconds_quiet(folder: Path) -> float:
    """Return the seconds since a cell at work, or its server, last wrote something."""
    times = [_modified(folder / name) for name in (PROGRESS_FILE, LOG_FILE, RUN_FILE)]
    return max(0.0, time.time() - max(times))


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _report(root: Path, lease: Lease) -> RunProgress | None:
    with suppress(OSError, ValueError, TypeError):
        return RunProgress(**read_json(root / lease.folder / PROGRESS_FILE))
    return None


def as_json(progress: SweepProgress) -> dict[str, Any]:
    """Return the progress of a sweep as plain data."""
    asked, to_ask = progress.done(asks=True)
    graded, to_grade = progress.done(asks=False)
    return {
        "schema": "careeval.sweep-status/1",
        "cells": [asdict(cell) for cell in progress.cells],
        "states": {now.value: progress.n(now) for now in CellStatus},
        "asked": asked,
        "to_ask": to_ask,
        "graded": graded,
        "to_grade": to_grade,
        "rate": progress.rate,
        "seconds_left": progress.seconds_left,
        "cost_usd": progress.usd,
        "n_unknown": progress.n_unknown,
        "max_cost_usd": progress.max_cost,
        "overspent_usd": progress.overspent,
        "running": progress.driver is not None,
    }
