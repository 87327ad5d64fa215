"""A budget: what calls in flight may cost is set aside before they are sent, by all who share it.

```text
reserved.jsonl   {"n": 7, "who": "grade openai/gpt-5.1", "usd": 0.012, "expected": 0.01}
                 {"n": 7, "paid": 0.009}    it came back; null where nothing is known to be charged
                 {"n": 8, "lost": 0.01}     its process ended first: taken for spent
```

A run writes its own file and reads those of the others, under a lock that all of them share. So two
processes cannot set aside the same dollar, and the whole is overshot by no more than what the
estimates of the calls in flight miss.
"""

from __future__ import annotations

import asyncio
import fcntl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path

from careeval.protocol.costs.call_estimate import Estimate
from careeval.protocol.costs.cost_log import SPENT_FILE, Lines, Reading, Spent, paid_from
from careeval.protocol.runs.lock import holder
from careeval.protocol.runs.sweep_cells import CellState, JournalReading

RESERVED_FILE = "reserved.jsonl"
"""What a run has set aside for calls, in its folder."""

BUDGET_LOCK = ".budget"
"""Is locked while somebody looks at a budget and sets aside; in one of its folders."""

INSTANT = 0.001
"""Seconds between two tries for the lock."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What is set aside for one call; `lost` once its process has ended before it came back."""

    who: str
    usd: float
    expected: float
    lost: bool = False


@dataclass(slots=True)
class _Seen:
    """Calls of one kind that came back: what they cost, and what was expected of them."""

    n: int = 0
    paid: float = 0.0
    expected: float = 0.0

    @property
    def ratio(self) -> float:
        """How dear calls are against what is expected of them; 1 before one came back."""
        return self.paid / self.expected if self.n else 1.0

    @property
    def margin(self) -> float:
        """By how much more is set aside while few came back: the short replies come first."""
        return 1 + 1 / sqrt(self.n)


@dataclass(slots=True)
class _Reserved:
    """One run's file, as far as it has been read."""

    folder: Path
    reading: Reading
    held: dict[int, _Held] = field(default_factory=dict)
    next: int = 0

    def read(self, seen: dict[str, _Seen]) -> None:
        """Take in what has been written since the last time."""
        if not self.reading.exists():
            self.held = {number: held for number, held in self.held.items() if held.lost}
        for row in self.reading.new():
            match row:
                case {"n": int(n), "who": str(who), "usd": float(usd), "expected": float(expected)}:
                    self.held[n] = _Held(who, usd, expected)
                    self.next = max(self.next, n + 1)
                case {"n": int(n), "lost": float(usd)} if n in self.held:
                    self.held[n] = _Held(self.held[n].who, usd, usd, lost=True)
                case {"n": int(n), "paid": paid} if n in self.held:
                    held = self.held.pop(n)
                    if isinstance(paid, float) and paid > 0:
                        kind = seen.setdefault(held.who, _Seen())
                        kind.n += 1
                        kind.paid += paid
                        kind.expected += held.expected


class Budget:
    """How much may be spent, over every run that shares it.

    Attributes:
        limit_usd: Dollars.
    """

    def __init__(
        self, limit_usd: float, folders: Sequence[Path], own: Path, sweep: Path | None = None
    ) -> None:
        """Look at what is spent and set aside so far.

        Args:
            limit_usd: Dollars.
            folders: Of all runs that share it.
            own: Folder of the run that this process carries out, whose lock it has.
            sweep: Folder of the sweep that it is a cell of, whose cells all share it.

        Raises:
            OSError: The files cannot be written.
        """
        self.limit_usd = limit_usd
        folders = sorted({folder.resolve() for folder in [*folders, own]})
        # all of them see the same folders, should one be gone
        self._locked = [sweep] if sweep else folders
        self._journal = JournalReading(sweep) if sweep else None
        self._ledgers: dict[Path, Reading] = {}
        self._reserved: dict[Path, _Reserved] = {}
        for folder in folders:
            self._share_with(folder)
        self._usd, self._usd_cut_off, self._n_unknown = 0.0, 0.0, 0
        self._seen: dict[str, _Seen] = {}
        self._mine = self._reserved[own.resolve()]
        self._lines = Lines(own / RESERVED_FILE)
        self._read()
        for number, held in self._mine.held.items():
            # of a process that was killed; its first calls had more set aside than was expected
            if not held.lost:
                self._lines.append({"n": number, "lost": min(held.usd, self._expected(held))})

    def _share_with(self, folder: Path) -> None:
        self._ledgers[folder] = Reading(folder / SPENT_FILE)
        self._reserved[folder] = _Reserved(folder, Reading(folder / RESERVED_FILE))

    def left_usd(self) -> float:
        """What may still be set aside; below 0 where estimates missed."""
        self._read()
        return self._left()

    def n_unknown(self) -> int:
        """Calls so far whose cost nobody knows: with one of them the budget cannot be kept."""
        self._read()
        return self._n_unknown

    async def reserve(self, estimate: Estimate) -> int | None:
        """Set aside what a call may cost, under a number that comes back; `None`: it does not fit.

        As long as no call of its kind has come back nobody knows how long the replies are: what it
        costs at worst is set aside then. Where that does not fit, one call is made at a time.

        Raises:
            OSError: The files cannot be read or written.
        """
        async with self._alone():
            self._read()
            usd = self._fitting(estimate, self._left())
            if usd is None:
                return None
            number = self._mine.next
            self._mine.next += 1
            row = {"n": number, "who": estimate.who, "usd": usd, "expected": estimate.usd}
            self._lines.append(row)
            return number

    def settle(self, number: int, paid: float | None) -> None:
        """Give back what was set aside for a call: its cost is on the ledger, if there was any.

        Raises:
            OSError: The file cannot be written.
        """
        self._lines.append({"n": number, "paid": None if paid is None else float(paid)})

    def next_usd(self, estimate: Estimate) -> float:
        """What such a call is expected to cost, by what came back so far."""
        return estimate.usd * self._of_kind(estimate.who).ratio

    def others_in_flight(self) -> bool:
        """Whether another process has calls in flight: what they leave over may be had then."""
        self._read()
        return any(self._in_flight(each) for each in self._reserved.values() if each != self._mine)

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _fitting(self, estimate: Estimate, left: float) -> float | None:
        """What is to be set aside for a call, if there is as much."""
        seen, usd = self._of_kind(estimate.who), self.next_usd(estimate)
        safe = usd * seen.margin if seen.n else max(usd, estimate.worst_usd)
        if safe <= left:
            return safe
        is_alone = not any(map(self._in_flight, self._reserved.values()))
        return usd if is_alone and usd <= left else None

    def _in_flight(self, run: _Reserved) -> bool:
        """Whether a process that is alive has a call in flight."""
        is_any = any(not held.lost for held in run.held.values())
        return is_any and (run is self._mine or holder(run.folder) is not None)

    def _of_kind(self, who: str) -> _Seen:
        return self._seen.get(who, _Seen())

    def _expected(self, held: _Held) -> float:
        return held.expected * self._of_kind(held.who).ratio

    def _left(self) -> float:
        reserved = sum(held.usd for run in self._reserved.values() for held in run.held.values())
        return self.limit_usd - self._usd - self._usd_cut_off - reserved

    def _read(self) -> None:
        ended = self._follow_journal()
        # first what is set aside: a call that comes back meanwhile is counted twice, never not
        for run in self._reserved.values():
            run.read(self._seen)
        for ledger in self._ledgers.values():
            spent = Spent.on(map(paid_from, ledger.new()))
            self._usd += spent.known_usd
            self._n_unknown += spent.n_unknown
        for folder in ended:
            # a sweep may have thousands: those that have ended are read no more
            self._usd_cut_off += sum(held.usd for held in self._reserved[folder].held.values())
            del self._ledgers[folder], self._reserved[folder]

    def _follow_journal(self) -> list[Path]:
        """Share with the cells of the sweep that have begun; return those that have ended."""
        if self._journal is None:
            return []
        ended = []
        for lease in self._journal.new():
            folder = (self._journal.root / lease.folder).resolve()
            if folder not in self._reserved:
                self._share_with(folder)
            # one that is lost may still be at work
            if lease.state not in (CellState.begun, CellState.lost):
                ended.append(folder)
        return ended

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Hold the lock of all who share the budget."""
        there = next(folder for folder in self._locked if folder.is_dir())
        with (there / BUDGET_LOCK).open("a") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    # another process has it for an instant; the loop is not to stand still
                    await asyncio.sleep(INSTANT)
            yield


def cut_off(folder: Path) -> list[float]:
    """What is set aside for each call of a run that ended before it came back.

    Where a process is at work there, its calls in flight are among them.
    """
    run = _Reserved(folder, Reading(folder / RESERVED_FILE))
    run.read({})
    return [held.usd for held in run.held.values()]


def tidy(folder: Path) -> None:
    """Remove what a run that is complete had set aside, unless a part of it stays so.

    Raises:
        OSError: The file cannot be removed.
    """
    if not cut_off(folder):
        # not the lock: others may hold it
        (folder / RESERVED_FILE).unlink(missing_ok=True)
