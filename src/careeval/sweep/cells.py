"""The cells of a sweep: the work on one, on the machine that got it, and what the disk has of it.

Only numbers go back to the driver: scenarios, responses and reasons stay in files.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from io import StringIO
from pathlib import Path

from careeval.errors import CareEvalError, ProtocolError
from careeval.files import read_text, write_text
from careeval.protocol.held_out_runs import make_private_folder
from careeval.protocol.ledger import CALLS_FILE, TotalCost, read_paid_calls
from careeval.protocol.run import Outcome, RunProgress, Stop
from careeval.protocol.run_folder import amend_run, is_complete, kept_samples
from careeval.protocol.run_setup import prepare, store_responses
from careeval.protocol.sweep_cells import (
    ASK,
    ASKED_FILE,
    CellState,
    Lease,
    is_current,
    lease_folders,
)
from careeval.protocol.tables import read_run, responses_of
from careeval.protocol.workers import carry_out
from careeval.sweep.description import Cell, Sweep, load_sweep
from careeval.sweep.server import run_server

PROGRESS_FILE = "progress.json"
"""Name of the file with a cell's progress, in the cell's folder."""

ENDING_FILE = "ending"
"""Name of the file in a sweep's folder that tells cells to end: 1 in order, 2 at once."""

EVERY = 1.0
"""Seconds between two checks whether the cell must end, and between two progress reports."""

REASON_CHARACTERS = 2_000
"""The most characters of the reason why a cell failed."""


class SupersededError(Exception):
    """The cell has been given to another process in the meantime."""


def carry_out_cell(root: Path, path: str, number: int) -> Lease:
    """Carry out a cell of the sweep in `root` under a lease; return the lease with its result.

    The reason of a failure is also in a file beside its folder: see `lease_reason`.
    """
    lease = Lease(path, number, CellState.failed)
    try:
        sweep = load_sweep(root)
        cell = sweep.cell(path)
        folder = make_lease_folder(root, sweep, cell, number)
        return _carry_out(root, cell, folder, lease)
    except SupersededError:
        return replace(lease, state=CellState.lost)
    except CareEvalError as error:
        why = f"{error}\n{error.hint}".strip()
    except OSError as error:
        why = f"{error.filename or root / lease.folder}: {error.strerror or error}"
    except Exception as error:
        # a defect in one cell must not stop the others; its text may hold held-out scenarios
        why = f"unexpected {type(error).__name__}"
    _keep_reason(root / lease.folder, why)
    return replace(lease, why=why)


def grading_problem(root: Path) -> tuple[str, str] | None:
    """Return why a grader of a sweep cannot be called, with a hint; `None` if all can be called."""
    # Inspect takes seconds to load
    from careeval.protocol.evaluate import connected

    for n, grading in enumerate(load_sweep(root).gradings, 1):
        try:
            # Inspect greets on stdout
            with redirect_stdout(StringIO()):
                connected(grading)
        except CareEvalError as error:
            return f"gradings.{n}: {error}", error.hint
    return None


def make_lease_folder(root: Path, sweep: Sweep, cell: Cell, number: int) -> Path:
    """Make the folder of a lease, with a copy of the previous lease's finished calls; return it.

    Raises:
        SupersededError: A folder of this number, or of a higher number, exists.
        ProtocolError: The responses that the cell grades are missing.
        OSError: The folder cannot be written.
    """
    earlier = lease_folders(root / cell.path)
    folder = root / Lease(cell.path, number, CellState.begun).folder
    if earlier and earlier[-1].name >= folder.name:
        raise SupersededError
    run = sweep.run(cell)
    make_private_folder(root, run)
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    if not cell.asks:
        asked = _asked_folder(root, cell)
        run = store_responses(new, responses_of(read_run(asked)), run)
        write_text(new / ASKED_FILE, f"{asked.name}\n")
    prepare(replace(run, sweep=os.path.relpath(root, folder)), new)
    for before in earlier[-1:]:
        # its last line may be cut off, if another process still writes to it; readers skip that
        with suppress(FileNotFoundError):
            shutil.copyfile(before / CALLS_FILE, new / CALLS_FILE)
    try:
        new.rename(folder)
    except OSError as error:
        if folder.exists():
            raise SupersededError from error
        raise
    return folder


def _asked_folder(root: Path, cell: Cell) -> Path:
    folders = lease_folders((root / cell.path).with_name(ASK))
    if not folders:
        raise ProtocolError(
            f"{cell.path}: there are no responses to grade",
            hint="restore the folder ask-… beside it from a backup, or begin a new sweep with "
            "another -o",
        )
    return folders[-1]


@dataclass
class _Watch:
    """A watch over a cell, which reports its progress and tells it to end, once a second."""

    root: Path
    cell: Path
    folder: Path
    is_served: Callable[[], bool] = lambda: True
    progress: RunProgress | None = None
    _last_check: float = field(default=float("-inf"))
    _ending: int = 0

    def show(self, progress: Sequence[RunProgress], _ending: bool) -> None:
        """Take the cell's progress."""
        self.progress = next(iter(progress), self.progress)

    def asked_to_end(self) -> int:
        """Return 0 if the cell is to go on, 1 to end it after the calls in flight, 2 at once.

        Once a second, this also writes the cell's progress.
        """
        if time.monotonic() - self._last_check < EVERY:
            return self._ending
        self._last_check = time.monotonic()
        if self.progress:
            report = replace(self.progress, last_error="")
            # where the disk is full, the run's own process says so
            with suppress(OSError):
                write_text(self.folder / PROGRESS_FILE, json.dumps(asdict(report)))
        if lease_folders(self.cell)[-1] != self.folder:
            self._ending = max(self._ending, 1)
        if not self.is_served():
            self._ending = 2
        with suppress(OSError, ValueError):
            self._ending = max(self._ending, int(read_text(self.root / ENDING_FILE)))
        return self._ending


def _carry_out(root: Path, cell: Cell, folder: Path, lease: Lease) -> Lease:
    watch = _Watch(root, root / cell.path, folder)
    server = cell.system.server if cell.asks else None
    with run_server(server, folder, watch.asked_to_end) if server else nullcontext() as running:
        if running:
            amend_run(folder, base_url=running.base_url)
            watch.is_served = running.is_alive
        (outcome,) = carry_out([folder], watch.show, asked_to_end=watch.asked_to_end)
        if not watch.is_served():
            why = "the model's server ended before the cell did: see server.log in its folder"
            outcome = replace(outcome, complete=False, stopped=Stop.died, why=why)
    if outcome.complete:
        # make the tables here, in parallel, rather than where all cells are read
        read_run(folder)
    else:
        _keep_reason(folder, outcome.why)
    spent = TotalCost.of(read_paid_calls(folder))
    return replace(
        lease, state=_state(outcome),
        n_done=watch.progress.n_done if watch.progress else 0, n_failed=outcome.n_failed,
        n_calls=spent.n_calls, usd=spent.known_usd, n_unknown=spent.n_unknown,
        stop=outcome.stopped.value if outcome.stopped else "",
        why="" if outcome.complete else outcome.why,
    )  # fmt: skip


def _state(outcome: Outcome) -> CellState:
    if outcome.complete:
        return CellState.complete
    intended = (Stop.interrupted, Stop.budget, Stop.unmetered)
    return CellState.stopped if outcome.stopped in intended else CellState.failed


def _keep_reason(folder: Path, why: str) -> None:
    file = folder.with_name(f"{folder.name}.why")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, f"{why}\n")


def lease_reason(root: Path, lease: Lease) -> str:
    """Return why a lease's cell did not end as it should; empty if the reason is unknown."""
    folder = root / lease.folder
    try:
        return read_text(folder.with_name(f"{folder.name}.why"))[:REASON_CHARACTERS].strip()
    except (OSError, UnicodeDecodeError):
        return ""


def complete_folder(root: Path, cell: Cell) -> Path | None:
    """Return the newest folder of a cell if the cell is complete by its files; otherwise `None`.

    A grading is complete only if the responses that it graded are, and are still the cell's.
    """
    folders = lease_folders(root / cell.path)
    if not folders or not _is_complete(folders[-1], _signature(folders[-1])):
        return None
    if cell.asks:
        return folders[-1]
    is_asked = complete_folder(root, replace(cell, stage=ASK)) is not None
    return folders[-1] if is_asked and is_current(folders[-1]) else None


def with_counts(lease: Lease, root: Path) -> Lease:
    """Return a lease with the counts of its folder, if its process did not report them.

    The journal's count of calls is kept where the folder has fewer: they were paid for.
    """
    folder = root / lease.folder
    spent = TotalCost.of(read_paid_calls(folder))
    asked, graded = kept_samples(folder)
    lease = replace(lease, n_done=len(graded or asked))
    if spent.n_calls < lease.n_calls:
        return lease
    return replace(lease, n_calls=spent.n_calls, usd=spent.known_usd, n_unknown=spent.n_unknown)


@cache
def _is_complete(folder: Path, _signature: frozenset[tuple[str, int, int]]) -> bool:
    return is_complete(folder)


def _signature(folder: Path) -> frozenset[tuple[str, int, int]]:
    """Return name, time and size of the files by which a run is complete: a key of the cache."""
    files = [*folder.glob("*.eval"), *folder.glob(CALLS_FILE)]
    stats = [(file.name, file.stat()) for file in files]
    return frozenset((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)
