"""The folders of a sweep's cells, and the leases under which they are written.

```text
ROOT/sweep.json                            what the sweep is made of
ROOT/cells.jsonl                           its journal: each lease of a cell, and how it ended
ROOT/<system>/slice-01/ask-001/            a run: one slice of the scenarios is asked
ROOT/<system>/slice-01/grade-1-001/        a run: its responses are graded, the first way
```

A cell is written under a lease, whose number ends the name of its folder. Whoever takes a cell over
gets a lease with the next number, and with it a folder that begins with the calls finished so far.
Readers take the highest number, so that a writer that lost its lease changes nothing. The systems
of a held-out sweep lie in `ROOT/private`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from careeval.errors import ProtocolError
from careeval.protocol.costs.cost_log import Lines, Reading

SWEEP_FILE = "sweep.json"
"""The file that describes a sweep; a folder that has one holds a sweep."""

JOURNAL_FILE = "cells.jsonl"
"""The journal of a sweep, written by the one process that drives it."""

ASK = "ask"
"""The stage that asks; the others are `grade-1`, `grade-2` …"""

_LEASE = re.compile(r"(ask|grade-\d+)-(\d+)")
_SLICE = re.compile(r"slice-\d+")


class CellState(StrEnum):
    """The state of a lease."""

    begun = "begun"
    complete = "complete"
    failed = "failed"
    """It ended by itself, and something is left to do."""
    stopped = "stopped"
    """It was told to end, or the budget is reached."""
    lost = "lost"
    """Its process, its node or whoever drove the sweep is gone."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One line of the journal.

    Attributes:
        cell: Path of the cell from the sweep's folder, without a lease's number.
        number: Of the lease, from 1.
        state: Its state when the line was written.
        at: When the line was written, ISO 8601.
        n_done: Responses that are asked, or graded.
        n_failed: Responses that were given up.
        n_calls: Calls that came back under this lease.
        usd: What these cost, where it is known.
        n_unknown: Those of them whose cost is not known.
        stop: Why it ended early, as `Stop` has it; empty where it did not.
        why: The same in words, where there is more to say.
    """

    cell: str
    number: int
    state: CellState
    at: str = ""
    n_done: int = 0
    n_failed: int = 0
    n_calls: int = 0
    usd: float = 0.0
    n_unknown: int = 0
    stop: str = ""
    why: str = ""

    @property
    def folder(self) -> str:
        """Path of its folder from the sweep's."""
        return f"{self.cell}-{self.number:03}"


class Journal:
    """The journal of a sweep, for the process that drives it.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, root: Path) -> None:
        self._lines = Lines(root / JOURNAL_FILE)

    def write(self, lease: Lease) -> None:
        """Append the present state of a lease."""
        at = datetime.now().astimezone().isoformat(timespec="seconds")
        row: dict[str, Any] = {name: getattr(lease, name) for name in lease.__slots__}
        self._lines.append(row | {"at": at})

    def close(self) -> None:
        """Close the file."""
        self._lines.close()


@dataclass
class JournalReading:
    """A journal as it is read, each line once.

    Attributes:
        root: Folder of the sweep.
        leases: By cell and number, as their last lines have them.
    """

    root: Path
    leases: dict[tuple[str, int], Lease] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._reading = Reading(self.root / JOURNAL_FILE)

    def new(self) -> Iterator[Lease]:
        """Yield what was written since the last time.

        Raises:
            ProtocolError: A line is not one of a journal.
        """
        for row in self._reading.new():
            try:
                lease = Lease(**{**row, "state": CellState(row["state"])})
            except (TypeError, KeyError, ValueError) as error:
                raise ProtocolError(
                    f"{self.root / JOURNAL_FILE} is not what careeval wrote: {error}",
                    hint="put it back from a copy",
                ) from error
            self.leases[lease.cell, lease.number] = lease
            yield lease

    def by_cell(self) -> dict[str, list[Lease]]:
        """Return the leases of each cell, the first number first, with what is new."""
        for _ in self.new():
            pass
        cells: dict[str, list[Lease]] = {}
        for lease in sorted(self.leases.values(), key=lambda lease: lease.number):
            cells.setdefault(lease.cell, []).append(lease)
        return cells


def lease_folders(cell: Path) -> list[Path]:
    """Return the folders of a cell's leases, the lowest number first; none where none began."""
    numbered = {
        int(match[2]): path
        for path in cell.parent.glob(f"{cell.name}-*")
        if path.is_dir() and (match := _LEASE.fullmatch(path.name)) and match[1] == cell.name
    }
    return [numbered[number] for number in sorted(numbered)]


def latest_leases(system: Path) -> list[Path]:
    """Return the folders of a system's cells as their highest leases have them."""
    cells = {
        path.with_name(match[1])
        for path in system.glob("slice-*/*")
        if path.is_dir() and (match := _LEASE.fullmatch(path.name))
    }
    return [lease_folders(cell)[-1] for cell in sorted(cells, key=_order)]


def stage_of(folder: Path) -> str:
    """Return the stage that a lease's folder is of, such as `ask`."""
    return folder.name.rpartition("-")[0]


def _order(cell: Path) -> tuple[int, str]:
    """By stage, the tenth way of grading after the second, and by slice."""
    number = cell.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0, cell.parent.name


def sweep_of_system(folder: Path) -> Path | None:
    """Return the folder of the sweep that has a system's folder; `None` where it is no system's."""
    if not any(folder.glob("slice-*")):
        return None
    return next((root for root in folder.parents[:2] if (root / SWEEP_FILE).exists()), None)


def sweep_of(folder: Path) -> Path | None:
    """Return the folder of the sweep that a lease's folder lies in; `None` where it is none."""
    if not (_LEASE.fullmatch(folder.name) and _SLICE.fullmatch(folder.parent.name)):
        return None
    above = folder.parents[2:4]
    return next((root for root in above if (root / SWEEP_FILE).exists()), None)


def system_folder(folder: Path) -> Path:
    """Return the folder of the system that a lease's folder is of."""
    return folder.parent.parent


def refuse_sweep(folder: Path) -> None:
    """Return if a folder holds no sweep, whose cells only `careeval sweep` may write.

    Raises:
        ProtocolError: It holds one, or is a part of one.
    """
    for root in (folder, *folder.absolute().parents):
        if (root / SWEEP_FILE).exists():
            raise ProtocolError(
                f"{folder} holds a sweep" if root == folder else f"{folder} lies in a sweep",
                hint=f"'careeval sweep FILE.toml -o {root}' does what is left of it, and what is "
                f"added to its file; 'careeval sweep status {root}' says how far it is",
            )


def without_cells(folders: Iterable[Path]) -> list[Path]:
    """Return the folders that are not the cells of a sweep."""
    return [folder for folder in folders if sweep_of(folder) is None]
