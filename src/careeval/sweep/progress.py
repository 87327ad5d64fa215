"""The progress of a sweep, read from its files on any machine, at any time."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from careeval.protocol.logs.json_limits import read_json
from careeval.protocol.runs.lock import holder
from careeval.protocol.runs.progress import RunProgress
from careeval.protocol.runs.spec import Stop
from careeval.protocol.runs.sweep_cells import CellState, JournalReader, Lease
from careeval.sweep.attend import PROGRESS_FILE
from careeval.sweep.spec import Cell, Sweep, load_sweep


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
    """The progress of one cell.

    Attributes:
        cell: Path of the cell.
        now: Its state.
        n_leases: Number of times that it was begun.
        n_responses: Responses to ask for, or to grade.
        n_done: Responses that are finished, by its last report.
        n_failed: Responses that were given up.
        n_calls: Calls that came back.
        usd: Known cost of these calls, in US dollars.
        n_unknown: The number of calls whose cost is unknown.
        rate: Responses a second in the last minute; `None` while that is not known.
        why: The reason why it failed or stopped; empty where there is none.
    """

    cell: str
    now: CellStatus
    n_leases: int
    n_responses: int
    n_done: int
    n_failed: int
    n_calls: int
    usd: float
    n_unknown: int
    rate: float | None
    why: str

    @property
    def asks(self) -> bool:
        """True for a cell that asks; the others grade."""
        return self.cell.endswith("/ask")


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """The progress of a sweep.

    Attributes:
        cells: The progress of every cell, asking cells first.
        driver: Number of the process that drives the sweep; `None` if none does on this machine.
        max_cost: The most US dollars that may be spent; `None` for no limit.
    """

    cells: tuple[CellProgress, ...]
    driver: str | None
    max_cost: float | None

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
    def rate(self) -> float | None:
        """Responses asked for or graded per second; `None` while the rate is unknown."""
        rates = [cell.rate for cell in self.cells if cell.rate is not None]
        return sum(rates) if rates else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at the present rate; `None` while the rate is unknown."""
        left = sum(cell.n_responses - cell.n_done for cell in self.cells)
        return left / self.rate if self.rate else None

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
    leases = JournalReader(root).by_cell()
    cells = (
        _cell(root, sweep, cell, leases.get(cell.path, []), driver is not None)
        for cell in sweep.cells()
    )
    return SweepProgress(tuple(cells), driver, sweep.max_cost)


def _cell(
    root: Path, sweep: Sweep, cell: Cell, leases: Sequence[Lease], is_driven: bool
) -> CellProgress:
    last = leases[-1] if leases else None
    is_open = last is not None and last.state is CellState.begun
    report = _report(root, last) if last and is_open else None
    n_done = report.n_done if report else max((lease.n_done for lease in leases), default=0)
    return CellProgress(
        cell.path,
        _now(root, last, is_driven),
        len(leases),
        sweep.n_responses(cell),
        n_done,
        report.n_failed if report else last.n_failed if last else 0,
        sum(lease.n_calls for lease in leases) + (report.n_calls if report else 0),
        sum(lease.usd for lease in leases) + ((report.usd or 0.0) if report else 0.0),
        sum(lease.n_unknown for lease in leases) + bool(report and report.usd is None),
        report.rate if report and is_driven else None,
        (last.why or _stop_words(last)) if last else "",
    )


def _stop_words(lease: Lease) -> str:
    return "" if lease.stop in ("", Stop.interrupted) else f"stopped: {lease.stop}"


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


def _report(root: Path, lease: Lease) -> RunProgress | None:
    """Return the last report of a cell at work; `None` if it has not reported yet."""
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
