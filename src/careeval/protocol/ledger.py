"""The cost log of a run, and the budget that several runs share.

```text
spent.jsonl   {"n": 7, "who": "grade openai/gpt-5.1", "usd": 0.012, "expected": 0.01}
              {"role": "grade", "cost_usd": 0.009, …, "reservation": 7}    the call came back
              {"n": 8, "failed": true}   a call that is not charged
              {"n": 9, "lost": 0.01}     its process ended first: counted as spent
```

The log has every payment, even for a call whose result was not stored, and is kept as long as the
run's folder. With a budget, the cost of each call is reserved before the call is sent; the line of
its payment releases the reservation, so that no call is counted twice.

A run writes its own log and reads those of the others, under a lock that all of them share. So two
processes cannot reserve the same dollar, and the budget is exceeded at most by the errors of the
estimates for the calls in flight.
"""

from __future__ import annotations

import asyncio
import fcntl
import math
import os
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from careeval.errors import ProtocolError
from careeval.files import open_in_place
from careeval.protocol.prices import CallEstimate
from careeval.protocol.providers import Role
from careeval.protocol.run_files import (
    MAX_CALLS,
    JsonLines,
    LineTail,
    holder,
    json_rows,
    parse_line,
    whole_lines,
)
from careeval.protocol.sweep_cells import CellState, JournalReader

SPENT_FILE = "spent.jsonl"
"""File name of the cost log in the run's folder."""

CALLS_FILE = "calls.jsonl"
"""Name of the file of finished calls, in the run's folder until the run is complete."""

MAX_KEY = 2_500
"""The most characters of a call's key."""


@dataclass(frozen=True, slots=True)
class PaidCall:
    """The usage and cost of one call that came back: a row of the cost log."""

    role: Role
    model: str
    input_tokens: int | None  # Tokens of the prompt, cached ones included; `None` if unknown
    output_tokens: int | None  # Tokens of the reply, reasoning included; `None` if unknown
    cost_usd: float | None  # Cost in US dollars; `None` if the price or the tokens are not known
    seconds: float | None  # Duration of the call; `None` if unknown
    reservation: int | None = None
    """Number of the budget's reservation that the call used up; `None` if it had none."""


UNREADABLE = PaidCall("ask", "unreadable lines", None, None, None, None)
"""Stands for a line of a cost log that cannot be understood: a call of unknown cost."""


@dataclass(frozen=True, slots=True)
class TotalCost:
    """The number and total cost of calls."""

    n_calls: int  # Calls that came back
    n_unknown: int  # Calls whose cost is not known
    known_usd: float  # Cost of the other calls, in US dollars

    @property
    def usd(self) -> float | None:
        """The total cost in US dollars; `None` if the cost of any call is unknown."""
        return None if self.n_unknown else self.known_usd

    @staticmethod
    def of(paid: Iterable[PaidCall]) -> TotalCost:
        """Return the total of calls; 0 for no calls."""
        costs = [call.cost_usd for call in paid]
        known = [cost for cost in costs if cost is not None]
        return TotalCost(len(costs), len(costs) - len(known), sum(known))


@dataclass(frozen=True, slots=True)
class Reservation:
    """The dollars reserved for a call that has not come back."""

    kind: str  # Role and model of the call
    usd: float
    expected: float  # Dollars that the call was expected to cost
    lost: bool = False  # True if the process of the call ended before the call came back


@dataclass
class CostLog:
    """The cost log of one run, as far as it has been read."""

    folder: Path
    reservations: dict[int, Reservation] = field(default_factory=dict)
    """The reservations of calls that have not come back, by number."""
    next_number: int = 0  # Number of the next reservation

    def __post_init__(self) -> None:
        self._lines = LineTail(self.folder / SPENT_FILE)

    def new_calls(self) -> Iterator[tuple[PaidCall, Reservation | None]]:
        """Read the lines added since the last time; yield each paid call with its reservation.

        A line that cannot be understood gives `UNREADABLE`, a call of unknown cost; so does an
        amount that is not a number of dollars, 0 or more.

        Raises:
            OSError: The file cannot be read.
            ProtocolError: The file is too long.
        """
        for row in self._lines.new_rows():
            match row:
                case {"n": int(n), "who": str(kind), "usd": usd, "expected": expected} if (
                    _is_amount(usd) and _is_amount(expected)
                ):
                    self.reservations[n] = Reservation(kind, usd, expected)
                    self.next_number = max(self.next_number, n + 1)
                case {"n": int(n), "failed": True}:
                    self.reservations.pop(n, None)
                case {"n": int(n), "lost": usd} if _is_amount(usd):
                    kind = self.reservations[n].kind if n in self.reservations else ""
                    self.reservations[n] = Reservation(kind, usd, usd, lost=True)
                case _:
                    paid = _paid_call(row)
                    number = -1 if paid.reservation is None else paid.reservation
                    # even where the line of the reservation is damaged, its number stays used
                    self.next_number = max(self.next_number, number + 1)
                    yield paid, self.reservations.pop(number, None)

    @property
    def reserved_usd(self) -> float:
        """The dollars reserved, those of lost calls included."""
        return sum(reservation.usd for reservation in self.reservations.values())

    @property
    def has_call_in_flight(self) -> bool:
        """True if a call has not come back, and was not lost."""
        return any(not reservation.lost for reservation in self.reservations.values())


def _paid_call(row: Any) -> PaidCall:
    try:
        paid = PaidCall(**row)
    except TypeError:
        return UNREADABLE
    amounts = (paid.input_tokens, paid.output_tokens, paid.cost_usd, paid.seconds)
    is_valid = (
        isinstance(paid.model, str)
        and paid.role in get_args(Role)
        and type(paid.reservation) in (int, type(None))
        and all(amount is None or _is_amount(amount) for amount in amounts)
    )
    return paid if is_valid else UNREADABLE


def _is_amount(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value < math.inf  # type: ignore[operator]


def read_paid_calls(folder: Path) -> list[PaidCall]:
    """Return every paid call of the run in a folder, in the order in which they came back.

    Raises:
        ProtocolError: The file cannot be read.
    """
    with _readable(folder / SPENT_FILE):
        return [paid for paid, _ in CostLog(folder).new_calls()]


def open_reservations(folder: Path) -> list[float]:
    """Return the dollars reserved for each of a run's calls that have not come back.

    While a process works on the run, its calls in flight are included.

    Raises:
        ProtocolError: The file cannot be read.
    """
    log = CostLog(folder)
    with _readable(folder / SPENT_FILE):
        for _ in log.new_calls():
            pass
    return [reservation.usd for reservation in log.reservations.values()]


# Finished calls


def forget_calls(folder: Path, keys: Collection[str]) -> None:
    """Remove calls of a run that is not complete, so that they are made again.

    The cost log keeps what they cost.

    Raises:
        OSError: The file cannot be written; the old file is unchanged.
    """
    path = folder / CALLS_FILE
    # replaced whole: a process killed here leaves the old file or the new one
    new = path.with_name(f"{CALLS_FILE}.new")
    new.unlink(missing_ok=True)
    created = open_in_place(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with path.open("rb") as old, os.fdopen(created, "wb") as kept:
        for _, line in whole_lines(old):
            if (key := finished_key(parse_line(line))) and key not in keys:
                kept.write(line)
    new.replace(path)


SIGHT_TEST = "sight-test"
"""In place of a scenario's id, in the key of the call that finds out whether a model sees."""


def finished_keys(folder: Path) -> set[str]:
    """Return the keys of a run's finished calls: role, scenario, epoch and more, joined by spaces.

    There are none without the file of calls. A line that cannot be understood is skipped: its call
    is made again.

    Raises:
        ProtocolError: The file cannot be read.
    """
    file = folder / CALLS_FILE
    with _readable(file):
        keys = (finished_key(row) for _, row in json_rows(file, MAX_CALLS)) if file.exists() else ()
        return {key for key in keys if key}


def finished_key(row: object) -> str:
    """Return the key of a finished call from its row; empty if the key is missing or invalid."""
    key = row.get("key") if isinstance(row, dict) else None
    if not isinstance(key, str) or len(key) > MAX_KEY:
        return ""
    role, _, rest = key.partition(" ")
    epoch = rest.partition(" ")[2].partition(" ")[0]
    return key if role in get_args(Role) and epoch.isdecimal() else ""


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ProtocolError(
            f"{file} cannot be read: {error.strerror}",
            hint="restore it from a backup. If you have none, move it away: its contents are lost, "
            "and an unfinished run pays for its calls again",
        ) from error


# The budget

BUDGET_LOCK = ".budget"
"""The lock file of a budget, in one of its folders; held while a process reads and reserves."""

LOCK_RETRY = 0.001
"""Seconds between two attempts to take the lock."""


@dataclass(slots=True)
class _KindCost:
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
        return 1 + 1 / math.sqrt(self.n)


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
            ProtocolError: A file is damaged.
        """
        self.limit_usd = limit_usd
        folders = sorted({folder.resolve() for folder in [*folders, own]})
        # the lock lies in the first folder that exists, the same one for all processes
        self._lock_folders = [sweep] if sweep else folders
        self._journal = JournalReader(sweep) if sweep else None
        self._logs = {folder: CostLog(folder) for folder in folders}
        self._ended = set[Path]()
        self._usd, self._n_unknown = 0.0, 0
        self._kinds: dict[str, _KindCost] = {}
        self._own = self._logs[own.resolve()]
        self._lines = JsonLines(own / SPENT_FILE)
        self._read()
        for number, reservation in self._own.reservations.items():
            # left by a process that was killed; the first calls reserve more than is expected
            if not reservation.lost:
                ratio = self._cost_of(reservation.kind).ratio
                usd = min(reservation.usd, reservation.expected * ratio)
                self._lines.append({"n": number, "lost": usd})

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

        The call's line in the cost log releases it. Before the first call of its kind came back,
        the length of replies is unknown, and the worst cost is reserved. If the worst cost does not
        fit, one call is made at a time.

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

    def release(self, number: int) -> None:
        """Release the reservation of a call that failed, for which no charge is known.

        Raises:
            OSError: The file cannot be written.
        """
        self._lines.append({"n": number, "failed": True})

    def next_usd(self, estimate: CallEstimate) -> float:
        """Return the expected cost of a call, corrected by the calls that came back so far."""
        return estimate.usd * self._cost_of(estimate.kind).ratio

    def others_in_flight(self) -> bool:
        """Tell whether another process has calls in flight, which may cost less than reserved."""
        self._read()
        return any(self._in_flight(log) for log in self._logs.values() if log is not self._own)

    def close(self) -> None:
        """Close the file."""
        self._lines.close()

    def _fitting(self, estimate: CallEstimate, left: float) -> float | None:
        """Return the dollars to reserve for a call; `None` if the budget has too little left."""
        calls, usd = self._cost_of(estimate.kind), self.next_usd(estimate)
        safe = usd * calls.margin if calls.n else max(usd, estimate.worst_usd)
        if safe <= left:
            return safe
        is_alone = not any(map(self._in_flight, self._logs.values()))
        return usd if is_alone and usd <= left else None

    def _in_flight(self, log: CostLog) -> bool:
        """Tell whether a run has a call in flight and its process is alive."""
        return log.has_call_in_flight and (log is self._own or holder(log.folder) is not None)

    def _cost_of(self, kind: str) -> _KindCost:
        return self._kinds.get(kind, _KindCost())

    def _left(self) -> float:
        return self.limit_usd - self._usd - sum(log.reserved_usd for log in self._logs.values())

    def _read(self) -> None:
        ended = self._follow_journal()
        for log in self._logs.values():
            for paid, reservation in log.new_calls():
                self._usd += paid.cost_usd or 0.0
                self._n_unknown += paid.cost_usd is None
                if reservation and paid.cost_usd:
                    kind = self._kinds.setdefault(reservation.kind, _KindCost())
                    kind.n += 1
                    kind.paid += paid.cost_usd
                    kind.expected += reservation.expected
        for folder in ended:
            # a sweep may have thousands of cells: those that have ended are not read again
            self._usd += self._logs.pop(folder).reserved_usd
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
            self._logs.setdefault(folder, CostLog(folder))
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
