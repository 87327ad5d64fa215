"""The cost log of a run: one line for each paid call, kept as long as the run's folder.

It holds every payment, even for a call whose result was not stored. Runs that share a budget read
each other's cost logs, so that one budget covers all of them.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from careeval.errors import ProtocolError
from careeval.files import open_file
from careeval.protocol.costs.prices import runs_in_process
from careeval.protocol.costs.token_counts import MOST_TOKENS
from careeval.protocol.logs.json_limits import (
    MAX_CALLS,
    MAX_KEY,
    MAX_LEDGER,
    MAX_LINES,
    check_length,
    parse_json,
    too_much,
    whole_lines,
)

SPENT_FILE = "spent.jsonl"
"""The cost log, in the run's folder."""

CALLS_FILE = "calls.jsonl"
"""The finished calls, in the run's folder until the run is complete."""

Role = Literal["ask", "grade"]
"""The purpose of a call: to ask a system, or to grade its response."""


@dataclass(frozen=True, slots=True)
class PaidCall:
    """The usage and cost of one call that came back.

    Attributes:
        role: Whether a system was asked, or a grader.
        model: Inspect's name of the model.
        input_tokens: Cached ones included; `None` where the provider did not say.
        output_tokens: Reasoning included; `None` where the provider did not say.
        cost_usd: US dollars; `None` where the price or the tokens are not known.
        seconds: Duration of the call; `None` if unknown.
    """

    role: Role
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class TotalCost:
    """The number and total cost of calls.

    Attributes:
        n_calls: Calls that came back.
        n_unknown: Calls whose cost is not known.
        known_usd: Cost of the other calls, in US dollars.
    """

    n_calls: int
    n_unknown: int
    known_usd: float

    @property
    def usd(self) -> float | None:
        """The whole cost in US dollars; `None` while a part of it is not known."""
        return None if self.n_unknown else self.known_usd

    @staticmethod
    def of(paid: Iterable[PaidCall]) -> TotalCost:
        """Return the total of calls; 0 for no calls."""
        costs = [call.cost_usd for call in paid]
        known = [cost for cost in costs if cost is not None]
        return TotalCost(len(costs), len(costs) - len(known), sum(known))


class LineSpan(NamedTuple):
    """The position and length of a line in its file, in bytes."""

    start: int
    length: int


class JsonLines:
    """A file of JSON lines that one process appends to.

    If that process is killed in the middle of a line, readers skip the line.
    """

    def __init__(self, path: Path) -> None:
        """Open the file for appending.

        Raises:
            OSError: The file cannot be written.
        """
        self.path = path
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        self._file = os.open(path, flags, 0o600)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")

    def append(self, row: object) -> LineSpan:
        """Write one line, which survives the death of the process from then on; return its place.

        Raises:
            OSError: The disk is full, or the file cannot be written.
        """
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        # UTF-8 cannot hold half of a surrogate pair: escape it as JSON does
        line = text.encode(errors="backslashreplace") + b"\n"
        at = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError:
            # else the next line would follow on half a line, and both be lost
            os.ftruncate(self._file, at)
            raise
        return LineSpan(at, len(line))

    def rows(self) -> Iterator[tuple[LineSpan, Any]]:
        """Yield every whole line's place and value, in the order of writing.

        Raises:
            ProtocolError: The file is longer than `MAX_CALLS`, or has more than `MAX_LINES` lines.
        """
        start = 0
        for length, row in _rows(self.path, MAX_CALLS):
            if row is not None:
                yield LineSpan(start, length), row
            start += length

    def at(self, span: LineSpan) -> Any:
        """Return the value of the line at a place."""
        return json.loads(os.pread(self._file, span.length, span.start))

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def forget_calls(folder: Path, keys: Collection[str]) -> None:
    """Remove calls of a run that is not complete, so that they are made again.

    The cost log keeps what they cost.

    Raises:
        OSError: The file cannot be written; it is as it was.
    """
    path = folder / CALLS_FILE
    # replaced whole: a process killed here leaves the old file or the new one
    new = path.with_name(f"{CALLS_FILE}.new")
    with path.open("rb") as old, new.open("wb") as kept:
        os.fchmod(kept.fileno(), 0o600)
        for _, line in whole_lines(old):
            if (key := finished_key(_parsed(line))) and key not in keys:
                kept.write(line)
    new.replace(path)


class LineTail:
    """A reader of a file that others append to, which reads each line once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def exists(self) -> bool:
        """Tell whether the file exists."""
        return self._path.exists()

    def new_rows(self) -> Iterator[Any]:
        """Yield the whole lines added since the last call; none where there is no file.

        Raises:
            ProtocolError: The file is longer than `MAX_LEDGER`, or has more than `MAX_LINES` lines.
        """
        try:
            if check_length(self._path, MAX_LEDGER) <= self._at:
                return
            for length, row in _rows(self._path, MAX_LEDGER, self._at):
                self._at += length
                if row is not None:
                    yield row
        except FileNotFoundError:
            return


def _rows(path: Path, most: int, at: int = 0) -> Iterator[tuple[int, Any]]:
    """Yield the length and the value of each whole line; `None` for a damaged one."""
    check_length(path, most)
    with open_file(path) as file:
        file.seek(at)
        for number, (length, line) in enumerate(whole_lines(file), start=1):
            if number > MAX_LINES:
                raise too_much(path, f"more than {MAX_LINES:,} lines")
            yield length, _parsed(line)


def _parsed(line: bytes) -> Any:
    try:
        return parse_json(line)
    except ValueError:
        return None  # cut off when a process was killed or the disk was full; or damaged


def read_paid_calls(folder: Path) -> list[PaidCall]:
    """Return every paid call of the run in a folder, in the order in which they came back.

    Raises:
        ProtocolError: The file cannot be read.
    """
    with _readable(folder / SPENT_FILE) as file:
        return [paid_call(row) for row in LineTail(file).new_rows()]


def paid_call(row: Any) -> PaidCall:
    """Return the call that a row of a cost log describes; its cost is unknown if it cannot be true.

    Older cost logs have rows with 0 or negative token counts, as a server may report them. A row
    that cannot be understood gives `UNREADABLE`: a call of unknown cost.
    """
    try:
        paid = PaidCall(**row)
    except TypeError:
        return UNREADABLE
    numbers = (paid.input_tokens, paid.output_tokens, paid.cost_usd, paid.seconds)
    is_valid = isinstance(paid.model, str) and paid.role in get_args(Role)
    if not is_valid or any(each is not None and type(each) not in (int, float) for each in numbers):
        return UNREADABLE
    tokens, usd = (paid.input_tokens, paid.output_tokens), paid.cost_usd
    is_known = (
        usd is not None
        and 0 <= usd < math.inf
        # a free model need not report tokens
        and (usd > 0 or runs_in_process(paid.model) or tokens[0] != 0)
        and all(each is None or 0 <= each <= MOST_TOKENS for each in tokens)
    )
    return paid if is_known else replace(paid, cost_usd=None)


def cost_row(paid: PaidCall) -> dict[str, Any]:
    """Return a call as a row of the cost log."""
    return asdict(paid)


UNREADABLE = PaidCall("ask", "unreadable lines", None, None, None, None)
"""A call whose row in the cost log cannot be understood: its cost is not known."""


def finished_keys(folder: Path) -> set[str]:
    """Return the keys of a run's finished calls: role, scenario, epoch and more, with spaces.

    A line that cannot be understood is skipped: its call is made again.

    Raises:
        ProtocolError: The file cannot be read.
    """
    with _readable(folder / CALLS_FILE) as file:
        if not file.exists():
            return set()
        keys = (finished_key(row) for _, row in _rows(file, MAX_CALLS))
        return {key for key in keys if key}


def finished_key(row: object) -> str:
    """Return the key of a finished call from its row; empty where there is none or it is wrong."""
    key = row.get("key") if isinstance(row, dict) else None
    if not isinstance(key, str) or len(key) > MAX_KEY:
        return ""
    role, _, rest = key.partition(" ")
    epoch = rest.partition(" ")[2].partition(" ")[0]
    return key if role in get_args(Role) and epoch.isdecimal() else ""


@contextmanager
def _readable(file: Path) -> Iterator[Path]:
    try:
        yield file
    except OSError as error:
        raise ProtocolError(
            f"{file} cannot be read: {error.strerror}",
            hint="put it back from a copy; without one move it away: what it says is lost, and the "
            "calls of a run that is not complete are made and paid for again",
        ) from error
