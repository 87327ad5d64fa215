"""The folders of a sweep's cells, and the leases under which they are written.

A cell is the work of one stage (asking or one grading) on one slice of one system. A lease is one
attempt at a cell, by one process, in a numbered folder of its own.

```text
ROOT/sweep.json                            the description of the sweep
ROOT/cells.jsonl                           its journal: each lease of a cell, and how it ended
ROOT/<system>/slice-01/ask-001/            a run: one slice of the scenarios is asked
ROOT/<system>/slice-01/grade-1-001/        a run: its responses are graded, the first way
```

The number of a lease ends the name of its folder. A process that takes over a cell gets the next
number and a new folder, which begins with a copy of the calls finished so far. Readers use the
highest number, so that a process that lost its lease changes nothing. The systems of a held-out
sweep lie in `ROOT/private`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from careeval.errors import ProtocolError
from careeval.files import read_text
from careeval.protocol.run_files import JsonLines, LineTail, read_json

SWEEP_FILE = "sweep.json"
"""Name of the file that describes a sweep; a folder with this file is the folder of a sweep."""

JOURNAL_FILE = "cells.jsonl"
"""File name of the journal of a sweep, written by the one process that drives the sweep."""

ASK = "ask"
"""The name of the stage that asks; grading stages are `grade-1`, `grade-2` …"""

ASKED_FILE = "asked"
"""Name of the file in a grading's folder with the name of the folder whose responses it grades."""

_LEASE = re.compile(r"(ask|grade-\d+)-(\d+)")
_SLICE = re.compile(r"slice-\d+")


class CellState(StrEnum):
    """The state of a lease."""

    begun = "begun"
    complete = "complete"
    failed = "failed"
    """The lease ended by itself, and part of its work is left."""
    stopped = "stopped"
    """The lease was stopped, by a user or because of the budget."""
    lost = "lost"
    """The lease's process, its node or the process that drove the sweep died."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One lease, as a line of the journal."""

    cell: str  # Path of the cell from the sweep's folder, without the lease's number
    number: int  # Number of the lease, from 1
    state: CellState  # Its state when the line was written
    at: str = ""  # Time when the line was written, ISO 8601
    n_done: int = 0  # Responses that are asked, or graded
    n_failed: int = 0  # Responses that were given up
    n_calls: int = 0  # Calls that came back under this lease
    usd: float = 0.0  # Cost of those calls whose cost is known, in US dollars
    n_unknown: int = 0  # Calls of unknown cost
    stop: str = ""  # Why it ended early, a value of `Stop`; empty if it did not
    why: str = ""  # Details of that

    @property
    def folder(self) -> str:
        """Path of the lease's folder, relative to the sweep's folder."""
        return f"{self.cell}-{self.number:03}"


class JournalWriter:
    """A writer of a sweep's journal, for the process that drives the sweep."""

    def __init__(self, root: Path) -> None:
        self._lines = JsonLines(root / JOURNAL_FILE)

    def write(self, lease: Lease) -> None:
        """Append the present state of a lease."""
        at = datetime.now().astimezone().isoformat(timespec="seconds")
        row: dict[str, Any] = {name: getattr(lease, name) for name in lease.__slots__}
        self._lines.append(row | {"at": at})

    def close(self) -> None:
        """Close the file."""
        self._lines.close()


@dataclass
class JournalReader:
    """A reader of the journal of the sweep in a folder, which reads each line once."""

    root: Path
    leases: dict[tuple[str, int], Lease] = field(default_factory=dict)
    """Cell and number → the last line of that lease."""
    began: dict[tuple[str, int], str] = field(default_factory=dict)
    """Cell and number → the time of the first line of that lease, ISO 8601."""

    def __post_init__(self) -> None:
        self._reading = LineTail(self.root / JOURNAL_FILE)

    def new(self) -> Iterator[Lease]:
        """Yield the lines that were written since the last call.

        Raises:
            ProtocolError: A line is not that of a journal.
        """
        for row in self._reading.new_rows():
            try:
                lease = Lease(**{**row, "state": CellState(row["state"])})
            except (TypeError, KeyError, ValueError) as error:
                raise ProtocolError(
                    f"{self.root / JOURNAL_FILE}, the journal of this sweep, is damaged: {error}",
                    hint="restore it from a backup",
                ) from error
            self.leases[lease.cell, lease.number] = lease
            self.began.setdefault((lease.cell, lease.number), lease.at)
            yield lease

    def by_cell(self) -> dict[str, list[Lease]]:
        """Read the new lines; return cell → its leases, in the order of their numbers."""
        for _ in self.new():
            pass
        cells: dict[str, list[Lease]] = {}
        for lease in sorted(self.leases.values(), key=lambda lease: lease.number):
            cells.setdefault(lease.cell, []).append(lease)
        return cells


def lease_folders(cell: Path) -> list[Path]:
    """Return the folders of a cell's leases in the order of their numbers."""
    numbered = {
        int(match[2]): path
        for path in cell.parent.glob(f"{cell.name}-*")
        if path.is_dir() and (match := _LEASE.fullmatch(path.name)) and match[1] == cell.name
    }
    return [numbered[number] for number in sorted(numbered)]


def is_current(folder: Path) -> bool:
    """Tell whether a lease's folder asks, or grades the responses that its slice has now."""
    if stage_of(folder) == ASK:
        return True
    asked = lease_folders(folder.with_name(ASK))
    try:
        return bool(asked) and read_text(folder / ASKED_FILE).strip() == asked[-1].name
    except OSError:
        return False


def latest_leases(system: Path) -> list[Path]:
    """Return, for each cell of a system, the folder of its newest lease.

    A grading of responses that have been asked for again since is left out.
    """
    cells = {
        path.with_name(match[1])
        for path in system.glob("slice-*/*")
        if path.is_dir() and (match := _LEASE.fullmatch(path.name))
    }
    newest = (lease_folders(cell)[-1] for cell in sorted(cells, key=_order))
    return [folder for folder in newest if is_current(folder)]


def stage_of(folder: Path) -> str:
    """Return the stage to which a lease's folder belongs, such as `ask`."""
    return folder.name.rpartition("-")[0]


def _order(cell: Path) -> tuple[int, str]:
    """Return the sort key of a cell: by the stage's number, then by the slice."""
    number = cell.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0, cell.parent.name


def sweep_of_system(folder: Path) -> Path | None:
    """Return the sweep's folder that contains a system's folder; `None` for any other folder."""
    if not any(folder.glob("slice-*")):
        return None
    return next((root for root in folder.parents[:2] if (root / SWEEP_FILE).exists()), None)


def sweep_of(folder: Path) -> Path | None:
    """Return the sweep's folder that contains a lease's folder; `None` for any other folder."""
    if not (_LEASE.fullmatch(folder.name) and _SLICE.fullmatch(folder.parent.name)):
        return None
    above = folder.parents[2:4]
    return next((root for root in above if (root / SWEEP_FILE).exists()), None)


def sweep_command(root: Path, max_cost: str = "") -> str:
    """Return the command that carries out what is left of a sweep, with another budget if given."""
    words: list[str] = []
    with suppress(OSError, ValueError, TypeError, KeyError):
        content = read_json(root / SWEEP_FILE)
        words = [*map(str, content["command"])]
        if not max_cost and content["max_cost"] is not None:
            max_cost = f"{content['max_cost']:g}"
    words = words or ["careeval", "sweep", "FILE.toml"]
    budget = ["--max-cost", max_cost] if max_cost else []
    return shlex.join([*words[:3], "-o", str(root), *words[3:], *budget])


def refuse_sweep(folder: Path) -> None:
    """Raise a `ProtocolError` if a folder is in a sweep: only `careeval sweep` may write cells."""
    for root in (folder, *folder.absolute().parents):
        if (root / SWEEP_FILE).exists():
            raise ProtocolError(
                f"{folder} is the folder of a sweep"
                if root == folder
                else f"{folder} is inside the folder of a sweep",
                hint=f"to continue the sweep: {sweep_command(root)}; "
                f"to see its progress: careeval sweep status {root}",
            )


def without_cells(folders: Iterable[Path]) -> list[Path]:
    """Return the folders that are not the cells of a sweep."""
    return [folder for folder in folders if sweep_of(folder) is None]
