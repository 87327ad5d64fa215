"""The cost log of a run: one line per paid call, kept as long as the run's folder.

The log has every payment, even for a call whose result was not stored. Runs that share a budget
read each other's cost logs, so that one budget covers all of them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from careeval.errors import ProtocolError
from careeval.files import open_in_place
from careeval.protocol.run_files import (
    MAX_CALLS,
    LineTail,
    json_rows,
    parse_line,
    whole_lines,
)

SPENT_FILE = "spent.jsonl"
"""File name of the cost log in the run's folder."""

CALLS_FILE = "calls.jsonl"
"""Name of the file of finished calls, in the run's folder until the run is complete."""

MAX_KEY = 2_500
"""The most characters of a call's key."""

Role = Literal["ask", "grade"]
"""The purpose of a call: to ask a system, or to grade its response."""


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


def read_paid_calls(folder: Path) -> list[PaidCall]:
    """Return every paid call of the run in a folder, in the order in which they came back.

    Raises:
        ProtocolError: The file cannot be read.
    """
    with _readable(folder / SPENT_FILE) as file:
        return [paid_call(row) for row in LineTail(file).new_rows()]


def paid_call(row: Any) -> PaidCall:
    """Return the call that a row of a cost log describes.

    A row that cannot be understood gives `UNREADABLE`, a call of unknown cost; so does a cost that
    is no amount.
    """
    try:
        paid = PaidCall(**row)
    except TypeError:
        return UNREADABLE
    numbers = (paid.input_tokens, paid.output_tokens, paid.cost_usd, paid.seconds)
    is_valid = (
        isinstance(paid.model, str)
        and paid.role in get_args(Role)
        and type(paid.reservation) in (int, type(None))
    )
    are_amounts = all(
        each is None or (type(each) in (int, float) and 0 <= each < math.inf) for each in numbers
    )
    return paid if is_valid and are_amounts else UNREADABLE


UNREADABLE = PaidCall("ask", "unreadable lines", None, None, None, None)
"""Stands for a call whose row in the cost log cannot be understood: its cost is unknown."""


def finished_keys(folder: Path) -> set[str]:
    """Return the keys of a run's finished calls: role, scenario, epoch and more, joined by spaces.

    There are none without the file of calls. A line that cannot be understood is skipped: its call
    is made again.

    Raises:
        ProtocolError: The file cannot be read.
    """
    with _readable(folder / CALLS_FILE) as file:
        if not file.exists():
            return set()
        keys = (finished_key(row) for _, row in json_rows(file, MAX_CALLS))
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
def _readable(file: Path) -> Iterator[Path]:
    try:
        yield file
    except OSError as error:
        raise ProtocolError(
            f"{file} cannot be read: {error.strerror}",
            hint="restore it from a backup. If you have none, move it away: its contents are lost, "
            "and an unfinished run pays for its calls again",
        ) from error
