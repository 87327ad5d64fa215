"""Reading the kept calls and the cost logs of runs at any moment."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from careeval.protocol.asking import epoch_seed
from careeval.protocol.budget import RESERVED_FILE
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE
from careeval.protocol.run_folder import is_complete, run_folders
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


def paid(root: Path) -> list[dict[str, Any]]:
    """Return the lines of all cost logs."""
    return [row for folder in folders_of(root) for row in rows(folder / SPENT_FILE)]


def missed(root: Path) -> list[float]:
    """Return the cost of each call beyond its reservation, the largest first."""
    amounts = []
    for folder in folders_of(root):
        set_aside: dict[int, float] = {}
        for row in rows(folder / RESERVED_FILE):
            if "usd" in row:
                set_aside[row["n"]] = row["usd"]
            elif row.get("paid"):
                amounts.append(max(0.0, row["paid"] - set_aside[row["n"]]))
    return sorted(amounts, reverse=True)


def n_unpaid(folder: Path) -> int:
    """Return how many of the kept calls are not in the folder's cost log."""
    return (_used(folder) - _paid(folder)).total()


def n_unkept(folder: Path) -> int:
    """Return how many calls of the folder's cost log are not kept."""
    return (_paid(folder) - _used(folder)).total()


def _paid(folder: Path) -> Counter[tuple[str, int, int]]:
    return Counter(
        (row["role"], row["input_tokens"], row["output_tokens"])
        for row in rows(folder / SPENT_FILE)
    )


def _used(folder: Path) -> Counter[tuple[str, int, int]]:
    usages = [(r["key"].split()[0], r["output"]["usage"]) for r in rows(folder / CALLS_FILE)]
    return Counter((role, u["input_tokens"], u["output_tokens"]) for role, u in usages)
