"""Reading the kept calls and the cost logs of runs at any moment."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from careeval.protocol.ledger import CALLS_FILE, CostLog, PaidCall, read_paid_calls
from careeval.protocol.run_folder import is_complete, run_folders
from careeval.protocol.solvers import epoch_seed
from faults.recorded_server import Ident


def folders_of(root: Path) -> list[Path]:
    """Return the folders of runs and gradings; none before there is one."""
    return run_folders(root) if root.exists() else []


def unfinished(root: Path) -> list[Path]:
    """Return the folders whose calls are kept in a file still."""
    return [folder for folder in folders_of(root) if (folder / CALLS_FILE).exists()]


def part_of(folder: Path) -> str:
    """Return the name of a run's or grading's folder in an `Ident`."""
    is_grading = folder.parent.name == "graded"
    run = folder.parent.parent if is_grading else folder
    return run.name.rpartition("-")[2] + ("/h" if is_grading else "")


def rows(file: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a file; none where there is no file."""
    parsed = []
    for line in file.read_bytes().splitlines() if file.exists() else ():
        try:
            parsed.append(json.loads(line))
        except ValueError:
            continue
    return parsed


def kept(folder: Path) -> set[Ident]:
    """Return the calls whose replies are in a folder's calls.jsonl."""
    part, calls = part_of(folder), set()
    for row in rows(folder / CALLS_FILE):
        role, *name, digest = row["key"].split(" ")
        seed = epoch_seed(0, name[0], int(name[1])) if role == "ask" else None
        calls.add(Ident(part, role, digest, seed))
    return calls


def not_to_be_asked(root: Path, replied: list[Ident]) -> set[Ident]:
    """Return the calls that are done: those kept, and of a complete run all that were replied."""
    calls: set[Ident] = set()
    for folder in folders_of(root):
        if is_complete(folder):
            part = part_of(folder)
            calls |= {ident for ident in replied if ident.part == part}
        else:
            calls |= kept(folder)
    return calls


def paid(root: Path) -> list[PaidCall]:
    """Return the calls in all cost logs."""
    return [call for folder in folders_of(root) for call in read_paid_calls(folder)]


def missed(root: Path) -> list[float]:
    """Return the cost of each call beyond its reservation, the largest first."""
    calls = (call for folder in folders_of(root) for call in CostLog(folder).new_calls())
    return sorted(
        (max(0.0, c.cost_usd - r.usd) for c, r in calls if c.cost_usd and r), reverse=True
    )


def n_unpaid(folder: Path) -> int:
    """Return how many of the kept calls are not in the folder's cost log."""
    return (_used(folder) - _paid(folder)).total()


def n_unkept(folder: Path) -> int:
    """Return how many calls of the folder's cost log are not kept."""
    return (_paid(folder) - _used(folder)).total()


def _paid(folder: Path) -> Counter[tuple[str, int | None, int | None]]:
    return Counter((c.role, c.input_tokens, c.output_tokens) for c in read_paid_calls(folder))


def _used(folder: Path) -> Counter[tuple[str, int | None, int | None]]:
    usages = [(r["key"].split()[0], r["output"]["usage"]) for r in rows(folder / CALLS_FILE)]
    return Counter((role, u["input_tokens"], u["output_tokens"]) for role, u in usages)
