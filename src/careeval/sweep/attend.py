"""Carry out one cell of a sweep, on the machine that it was given to.

Only numbers go back to whoever gave it out: what was asked, said and reasoned stays in files.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from careeval.errors import CareEvalError, ProtocolError
from careeval.files import read_text, write_text
from careeval.protocol.costs.cost_log import CALLS_FILE, Spent, paid_for
from careeval.protocol.runs.folder import amend, prepare, recorded
from careeval.protocol.runs.held_out_runs import keep_apart
from careeval.protocol.runs.progress import Progress
from careeval.protocol.runs.spec import Outcome, Stop
from careeval.protocol.runs.sweep_cells import CellState, Lease, lease_folders
from careeval.protocol.tables.run_tables import read_run, responses_of
from careeval.protocol.work.workers import carry_out
from careeval.sweep.server import served
from careeval.sweep.spec import Cell, Sweep, kept_sweep

PROGRESS_FILE = "progress.json"
"""The file in a cell's folder that says how far it has come."""

ENDING_FILE = "ending"
"""In a sweep's folder, while its cells are told to end: 1 in order, 2 at once."""

EVERY = 1.0
"""Seconds between two looks whether to end, and two reports."""

REASON_CHARACTERS = 2_000
"""Of the reason why a cell failed."""


class SupersededError(Exception):
    """The cell was given to somebody else."""


def attend(root: Path, path: str, number: int) -> Lease:
    """Carry out a cell under a lease; return what has become of it, without a reason.

    The reason stands beside the lease's folder: see `reason`.

    Args:
        root: Folder of the sweep.
        path: Of the cell.
        number: Of the lease.
    """
    lease = Lease(path, number, CellState.failed)
    place = root / lease.folder
    try:
        sweep = kept_sweep(root)
        cell = sweep.cell(path)
        folder = take(root, sweep, cell, number)
        return _carried_out(root, cell, folder, lease)
    except SupersededError:
        return replace(lease, state=CellState.lost)
    except CareEvalError as error:
        _keep_reason(place, f"{error}\n{error.hint}".strip())
        return lease
    except OSError as error:
        _keep_reason(place, f"{error.filename or place}: {error.strerror or error}")
        return lease
    except Exception as error:
        # a defect of one cell, whose words may be of the held-out split, stops no other
        _keep_reason(place, f"{type(error).__name__}, which careeval did not expect")
        return lease


def take(root: Path, sweep: Sweep, cell: Cell, number: int) -> Path:
    """Make the folder of a lease, with the calls that earlier ones have finished; return it.

    Raises:
        SupersededError: There is a folder of this number, or of a higher one.
        ProtocolError: What the cell builds on is not there.
        OSError: It cannot be written.
    """
    earlier = lease_folders(root / cell.path)
    folder = root / Lease(cell.path, number, CellState.begun).folder
    if earlier and earlier[-1].name >= folder.name:
        raise SupersededError
    run = sweep.run(cell)
    keep_apart(root, run)
    beside = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    if not cell.asks:
        run = recorded(beside, _responses(root, cell), run)
    prepare(replace(run, sweep=os.path.relpath(root, folder)), beside)
    for before in earlier[-1:]:
        # the whole lines of a file that somebody may still write to
        with suppress(FileNotFoundError):
            shutil.copyfile(before / CALLS_FILE, beside / CALLS_FILE)
    try:
        beside.rename(folder)
    except OSError as error:
        if folder.exists():
            raise SupersededError from error
        raise
    return folder


def _responses(root: Path, cell: Cell) -> list[Any]:
    """The responses that a cell grades."""
    asked = lease_folders((root / cell.path).with_name("ask"))
    if not asked:
        raise ProtocolError(f"{cell.path}: there are no responses to grade")
    return responses_of(read_run(asked[-1]))


@dataclass
class _Watch:
    """Looks, every second, whether a cell is to end, and reports how far it has come."""

    root: Path
    cell: Path
    folder: Path
    is_served: Callable[[], bool] = lambda: True
    progress: Progress | None = None
    _looked: float = field(default=float("-inf"))
    _n_asked: int = 0

    def show(self, progress: Sequence[Progress], _ending: bool) -> None:
        """Keep how far the cell has come."""
        self.progress = next(iter(progress), self.progress)

    def asked_to_end(self) -> int:
        """Return 1 if the cell is to end in order, 2 if at once; else 0."""
        if time.monotonic() - self._looked < EVERY:
            return self._n_asked
        self._looked = time.monotonic()
        if self.progress:
            report = replace(self.progress, last_error="")
            write_text(self.folder / PROGRESS_FILE, json.dumps(report.as_json()))
        if lease_folders(self.cell)[-1] != self.folder:
            self._n_asked = max(self._n_asked, 1)
        if not self.is_served():
            self._n_asked = 2
        with suppress(OSError, ValueError):
            self._n_asked = max(self._n_asked, int(read_text(self.root / ENDING_FILE)))
        return self._n_asked


def _carried_out(root: Path, cell: Cell, folder: Path, lease: Lease) -> Lease:
    watch = _Watch(root, root / cell.path, folder)
    server = cell.system.server if cell.asks else None
    with served(server, folder, watch.asked_to_end) if server else nullcontext() as ready:
        if ready:
            amend(folder, base_url=ready.base_url)
            watch.is_served = ready.is_alive
        (outcome,) = carry_out([folder], watch.show, asked_to_end=watch.asked_to_end)
        if not watch.is_served():
            words = "the model's server ended before the cell did: see server.log in its folder"
            outcome = replace(outcome, complete=False, stopped=Stop.died, why=words)
    if outcome.complete:
        # tables are made where there are many processors, not where all cells are read
        read_run(folder)
    else:
        _keep_reason(folder, outcome.why)
    spent = Spent.on(paid_for(folder))
    return replace(
        lease, state=_state(outcome),
        n_done=watch.progress.n_done if watch.progress else 0, n_failed=outcome.n_failed,
        n_calls=spent.n_calls, usd=spent.known_usd, n_unknown=spent.n_unknown,
        stop=outcome.stopped.value if outcome.stopped else "",
    )  # fmt: skip


def _state(outcome: Outcome) -> CellState:
    if outcome.complete:
        return CellState.complete
    told_to = (Stop.interrupted, Stop.budget, Stop.unmetered)
    return CellState.stopped if outcome.stopped in told_to else CellState.failed


def _keep_reason(folder: Path, why: str) -> None:
    place = folder.with_name(f"{folder.name}.why")
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_text(place, f"{why}\n")


def reason(root: Path, lease: Lease) -> str:
    """Return why a lease's cell did not come to its end; empty where nothing is known."""
    folder = root / lease.folder
    try:
        return read_text(folder.with_name(f"{folder.name}.why"))[:REASON_CHARACTERS].strip()
    except (OSError, UnicodeDecodeError):
        return ""
