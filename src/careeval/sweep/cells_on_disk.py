"""The state of cells by their folders, which decide where the journal says otherwise."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from careeval.protocol.ledger import CALLS_FILE, TotalCost, read_paid_calls
from careeval.protocol.run_folder import is_complete, kept_samples
from careeval.protocol.sweep_cells import ASK, Lease, is_current, lease_folders
from careeval.sweep.spec import Cell


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
    return replace(
        lease, n_calls=spent.n_calls, usd=spent.known_usd, n_unknown=spent.n_unknown
    )  # fmt: skip


@cache
def _is_complete(folder: Path, _signature: frozenset[tuple[str, int, int]]) -> bool:
    return is_complete(folder)


def _signature(folder: Path) -> frozenset[tuple[str, int, int]]:
    """Return name, time and size of the files by which a run is complete, to read each once."""
    files = [*folder.glob("*.eval"), *folder.glob(CALLS_FILE)]
    stats = [(file.name, file.stat()) for file in files]
    return frozenset((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)
