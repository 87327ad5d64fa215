"""Keeping a budget that several runs share, by reserving the cost of each call before it is sent.

```text
reserved.jsonl   {"n": 7, "who": "grade openai/gpt-5.1", "usd": 0.012, "expected": 0.01}
                 {"n": 7, "paid": 0.009}    it came back; null if no charge is known
                 {"n": 8, "lost": 0.01}     its process ended first: counted as spent
```

A call in the cost log names its reservation, which is thereby released, even if the process was
killed before it could write that the call came back. So no call is counted twice.

A run writes its own file and reads those of the others, under a lock that all of them share. So two
processes cannot reserve the same dollar, and the budget is exceeded at most by the errors of the
estimates for the calls in flight.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf, sqrt
from pathlib import Path
from typing import Any

from careeval.errors import ProtocolError
from careeval.files import open_in_place
from careeval.protocol.ledger import SPENT_FILE, PaidCall, TotalCost, paid_call
from careeval.protocol.prices import PER
from careeval.protocol.run_files import JsonLines, LineTail, holder
from careeval.protocol.sweep_cells import CellState, JournalReader

RESERVED_FILE = "reserved.jsonl"
"""Name of the file in a run's folder with the run's reservations."""

BUDGET_LOCK = ".budget"
"""The lock file of a budget, in one of its folders; held while a process reads and reserves."""

LOCK_RETRY = 0.001
"""Seconds between two attempts to take the lock."""


@dataclass(frozen=True, slots=True)
class _Reservation:
    kind: str  # Role and model of the call
    usd: float
    expected: float  # Dollars that the call was expected to cost
    lost: bool = False  # True if the process of the call ended before the call came back


@dataclass(slots=True)
class _PaidCalls:
    """The calls of one kind that came back: their number, actual cost and expected cost."""

    n: int = 0
    paid: float = 0.0
    expected: float = 0.0

    @property
    def ratio(self) -> float:
        """Actual cost over expected cost; 1 before the first call came back."""
        return self.paid / self.expected if self.expected else 1.0

    @property
    def margin(self) -> float:
        """Factor on a reservation; larger at first, since the first replies to come are short."""
        return 1 + 1 / sqrt(self.n)


@dataclass(slots=True)
class _ReservationFile:
    """The reservations of one run that have been read from its file so far."""

    folder: Path
    reading: LineTail
    reservations: dict[int, _Reservation] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    """The numbers of reservations whose calls are in the cost log."""
    next_number: int = 0

    def read(self, paid_calls: dict[str, _PaidCalls]) -> None:
        """Read the new rows, and add the calls that came back to `paid_calls`, by their kind.

        Raises:
            ProtocolError: An amount is not a number of dollars, 0 or more.
        """
        if not self.reading.exists():
            self.reservations = {n: r for n, r in self.reservations.items() if r.lost}
        for row in self.reading.new_rows():
            match row:
                case {"n": int(n), "who": str(who), "usd": usd, "expected": expected}:
                    self.next_number = max(self.next_number, n + 1)
                    reservation = _Reservation(who, self._dollars(usd), self._dollars(expected))
                    if n not in self.used:
                        self.reservations[n] = reservation
                case {"n": int(n), "lost": usd} if n in self.reservations:
                    usd, kind = self._dollars(usd), self.reservations[n].kind
                    self.reservations[n] = _Reservation(kind, usd, usd, lost=True)
                case {"n": int(n), "paid": paid}:
                    self.release(n, None if paid is None else self._dollars(paid), paid_calls)

    def use(self, paid: PaidCall, paid_calls: dict[str, _PaidCalls]) -> None:
        """Release the reservation of a call that is in the cost log."""
        if paid.reservation is not None:
            self.next_number = max(self.next_number, paid.reservation + 1)
            self.used.add(paid.reservation)
            self.release(paid.reservation, paid.cost_usd, paid_calls)

    def release(self, n: int, paid: float | None, paid_calls: dict[str, _PaidCalls]) -> None:
        """Release a reservation; a cost above 0 is added to `paid_calls`."""
        reservation = self.reservations.pop(n, None)
        if reservation and paid:
            calls = paid_calls.setdefault(reservation.kind, _PaidCalls())
            calls.n += 1
            calls.paid += paid
            calls.expected += reservation.expected

    def _dollars(self, value: object) -> float:
        if type(value) not in (int, float) or not 0 <= value < inf:  # type: ignore[operator]
            raise ProtocolError(
                f"{self.folder / RESERVED_FILE} has {value!r} where dollars are expected, 0 or "
                "more",
                hint="restore the file from a backup, or begin a new run with another -o: "
                "with this file, the budget cannot be kept",
            )
        return float(value)  # type: ignore[arg-type]


class Budget:
    """A budget of `limit_usd` dollars that one or several runs share."""

    def __init__(
        self, limit_usd: float, folders: Sequence[Path], own: Path, sweep: Path | None = None
    ) -> None:
        """Read what is spent and reserved so far.

        `folders` are those of all runs that share the budget; `own` is that of the run that this
        process carries out and has locked. The cells of `sweep` share the budget too.

        Raises:
            OSError: The files cannot be written.
            ProtocolError: A file is damaged, or has an impossible amount.
        """
        self.limit_usd = limit_usd
        folders = sorted({folder.resolve() for folder in [*folders, own]})
        # the lock lies in the first folder that exists, the same one for all processes
        self._lock_folders = [sweep] if sweep else folders
        self._journal = JournalReader(sweep) if sweep else None
        self._cost_logs: dict[Path, LineTail] = {}
        self._reserved: dict[Path, _ReservationFile] = {}
        self._ended = set[Path]()
        for folder in folders:
            self._share_with(folder)
        self._usd, self._usd_cut_off, self._n_unknown = 0.0, 0.0, 0
        self._paid_calls: dict[str, _PaidCalls] = {}
        self._own = self._reserved[own.resolve()]
        self._lines = JsonLines(own / RESERVED_FILE)
        self._read()
        for number, reservation in self._own.reservations.items():
            # left by a process that was killed; the first calls reserve more than is expected
            if not reservation.lost:
                ratio = self._paid_of(reservation.kind).ratio
                usd = min(reservation.usd, reservation.expected * ratio)
                self._lines.append({"n": number, "lost": usd})

    def _share_with(self, folder: Path) -> None:
        self._cost_logs[folder] = LineTail(folder / SPENT_FILE)
        self._reserved[folder] = _ReservationFile(folder, LineTail(folder / RESERVED_FILE))

    def left_usd(self) -> float:
        """Return the dollars that may still be reserved; below 0 where estimates were too low."""
        self._read()
        return self._left()

    def n_unknown(self) -> int:
        """Return the number of calls of unknown cost; if any, the budget cannot be kept."""
        self._read()
        return self._n_unknown

    async def reserve(self, estimate: CallEstimate) -> int | None:
        """Reserve the cost of a call; return the reservation's number, `None` if it does not fit.

        Before the first call of its kind came back, the length of replies is unknown, and the worst
        cost is reserved. If the worst cost does not fit, one call is made at a time.

        Raises:
            OSError: The files cannot be read or written.
        """
        async with self._alone():
            self._read()
            usd = self._fitting(estimate, self._left())
            if usd is None:
                return None
            number = self._own.next_number
            self._own.next_number += 1
            row = {"n": number, "who": estimate.kind, "usd": usd, "expected": estimate.usd}
            self._lines.append(row)
            return number

    def settle(self, number: int, paid: float | None) -> None:
        """Release a reservation, once the call's cost, if any, is in the cost log.

        The call cost `paid` dollars; `None` if no charge is known.

        Raises:
            OSError: The file cannot be written.
        """
        self._lines.append({"n": number, "paid": None if paid is None else float(paid)})

    def next_usd(self, estimate: CallEstimate) -> float:
        """Return the expected cost of a call, corrected by the calls that came back so far."""
        return estimate.usd * self._paid_of(estimate.kind).ratio

    def others_in_flight(self) -> bool:
        """Tell whether another process has calls in flight, which may cost less than reserved."""
        self._read()
        return any(self._in_flight(run) for run in self._reserved.values() if run != self._own)

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _fitting(self, estimate: CallEstimate, left: float) -> float | None:
        """Return the dollars to reserve for a call; `None` if the budget has too little left."""
        calls, usd = self._paid_of(estimate.kind), self.next_usd(estimate)
        safe = usd * calls.margin if calls.n else max(usd, estimate.worst_usd)
        if safe <= left:
            return safe
        is_alone = not any(map(self._in_flight, self._reserved.values()))
        return usd if is_alone and usd <= left else None

    def _in_flight(self, run: _ReservationFile) -> bool:
        """Tell whether a run has a call in flight and its process is alive."""
        is_any = any(not reservation.lost for reservation in run.reservations.values())
        return is_any and (run is self._own or holder(run.folder) is not None)

    def _paid_of(self, kind: str) -> _PaidCalls:
        return self._paid_calls.get(kind, _PaidCalls())

    def _left(self) -> float:
        reserved = sum(r.usd for run in self._reserved.values() for r in run.reservations.values())
        return self.limit_usd - self._usd - self._usd_cut_off - reserved

    def _read(self) -> None:
        ended = self._follow_journal()
        # reservations first: a call that comes back meanwhile is counted twice, not left out
        for run in self._reserved.values():
            run.read(self._paid_calls)
        for folder, cost_log in self._cost_logs.items():
            paid = [*map(paid_call, cost_log.new_rows())]
            for call in paid:
                self._reserved[folder].use(call, self._paid_calls)
            spent = TotalCost.of(paid)
            self._usd += spent.known_usd
            self._n_unknown += spent.n_unknown
        for folder in ended:
            # a sweep may have thousands of cells: those that have ended are not read again
            self._usd_cut_off += sum(r.usd for r in self._reserved[folder].reservations.values())
            del self._cost_logs[folder], self._reserved[folder]
        self._ended |= ended

    def _follow_journal(self) -> set[Path]:
        """Add the cells of the sweep that have begun; return the folders of those that ended."""
        if self._journal is None:
            return set()
        ended = set[Path]()
        for lease in self._journal.new():
            folder = (self._journal.root / lease.folder).resolve()
            if folder in self._ended:
                continue  # a lease may have several closing lines
            if folder not in self._reserved:
                self._share_with(folder)
            # a lost one may still be working
            if lease.state not in (CellState.begun, CellState.lost):
                ended.add(folder)
        return ended

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Hold the lock that all processes with this budget share."""
        folder = next(folder for folder in self._lock_folders if folder.is_dir())
        with os.fdopen(open_in_place(folder / BUDGET_LOCK, os.O_RDWR | os.O_CREAT)) as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    # another process holds it briefly; do not block the event loop meanwhile
                    await asyncio.sleep(LOCK_RETRY)
            yield


def open_reservations(folder: Path) -> list[float]:
    """Return the dollars reserved for each of a run's calls that have not come back.

    While a process works on the run, its calls in flight are included.
    """
    run = _ReservationFile(folder, LineTail(folder / RESERVED_FILE))
    run.read({})
    for row in LineTail(folder / SPENT_FILE).new_rows():
        run.use(paid_call(row), {})
    return [reservation.usd for reservation in run.reservations.values()]


def remove_reservations(folder: Path) -> None:
    """Remove a run's file of reservations, unless some calls in it never came back.

    The file stays until every run with its budget is complete: the others learn from it what the
    calls of a shared grader cost, and it shows by how much calls exceeded their estimates.

    Raises:
        OSError: The file cannot be removed.
    """
    if not open_reservations(folder):
        # leave the lock file: another process may hold it
        (folder / RESERVED_FILE).unlink(missing_ok=True)


# The estimate of one call

BYTES_PER_TOKEN = 4.0
"""Expected bytes of UTF-8 per token. Measured with OpenAI's o200k tokenizer on twelve of the
bank's scenarios: 4.0 in their texts, 4.2 in whole grading prompts, 4.4 in written answers."""

WORST_BYTES_PER_TOKEN = 3.0
"""Expected bytes of UTF-8 per token of a tokenizer that cuts a third finer, as some models have."""

ANSWER_TOKENS = 220
"""Expected tokens of a response. The prompt asks for about 150 words, which are 172 tokens at the
1.15 a word measured as above; the rest is for models that say more than they are asked."""

ITEM_TOKENS = 60
"""Expected tokens of a grader's reply for each item judged. An entry with one sentence quoted and
one sentence of reason is 50 to 55 tokens, measured as above; the rest is for its layout."""


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """The estimated cost of one attempt at a call."""

    kind: str  # Role and model. Estimates for calls of one kind tend to err in the same direction.
    usd: float  # Expected cost, without reasoning
    worst_usd: float  # Cost if the reply reaches its token limit


def estimate_call(
    kind: str, price: Mapping[str, Any], n_bytes: int, expected_tokens: float, limit: int
) -> CallEstimate:
    """Return the estimated cost of a call of a `kind`, role and model, at the fields of a `Price`.

    `n_bytes` are sent; the reply is expected to have `expected_tokens`, and has at most `limit`.
    """
    out = min(expected_tokens, limit)
    usd = price["input"] * n_bytes / BYTES_PER_TOKEN + price["output"] * out
    dearest = max(price["input"], price["cache_write"])
    worst = dearest * n_bytes / WORST_BYTES_PER_TOKEN + price["output"] * limit
    return CallEstimate(kind, usd / PER, worst / PER)
