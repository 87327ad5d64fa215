"""Which entries may be compared or ranked: same bank, same protocols, same grader, same rubric."""

from __future__ import annotations

from typing import NamedTuple

from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.results.score.entries import Entry

UNKNOWN = "version unknown"
"""Stands for what no response or judgment names: a bank, a version of it or of a protocol."""


class Basis(NamedTuple):
    """What entries must share to be compared or ranked.

    Attributes:
        bank: Name of the bank.
        bank_n: The N of its version N-X.
        bank_hash: Hash of the scenarios that were asked.
        protocol_n: The N of the protocol's version that asked.
        grading_n: The N of the protocol's version that judged.
        grader: Name of the grader, with its mode and the hash of its prompt.
        rubric: What was judged.
    """

    bank: str
    bank_n: str
    bank_hash: str
    protocol_n: str
    grading_n: str
    grader: str
    rubric: Rubric


_WORDS = {
    "bank": "bank",
    "bank_n": "version of the bank",
    "bank_hash": "choice of scenarios",
    "protocol_n": "version of the protocol that asked",
    "grading_n": "version of the protocol that judged",
}


def basis(entry: Entry) -> Basis:
    """Return what an entry may be compared on; what it does not name is `UNKNOWN`."""
    names = {name: named(entry, name) for name in ("bank", "bank_version", "bank_hash", "protocol")}
    return Basis(
        names["bank"] or UNKNOWN,
        _n(names["bank_version"]),
        names["bank_hash"] or UNKNOWN,
        _n(names["protocol"]),
        _n(entry.grading_protocol),
        entry.grader,
        entry.rubric,
    )


def why_unknown(entry: Entry) -> str:
    """Return why an entry compares with none, since it does not say what it is over; else empty."""
    own = basis(entry)._asdict()
    missing = [what for name, what in _WORDS.items() if own[name] == UNKNOWN]
    if not missing:
        return ""
    return f"{UNKNOWN}: it does not name the {' and the '.join(missing)}"


def named(entry: Entry, column: str) -> str | None:
    """Return what the responses name in a column; `None` where none of them does."""
    known = entry.responses[column].drop_nulls()
    return None if known.is_empty() else str(known[0])


def check_comparable(a: Entry, b: Entry) -> None:
    """Refuse two entries that do not compare.

    Raises:
        UsageError: It names what differs.
    """
    for entry in (a, b):
        for what, names in entry.mixed.items():
            if len({_n(name) for name in names}) > 1:
                raise UsageError(
                    f"{entry.system} compares with nothing: its responses are of {len(names)} "
                    f"{what}, {', '.join(names)}",
                    hint="run it again over one bank, in a new folder",
                )
        if reason := why_unknown(entry):
            raise UsageError(
                f"{entry.system} compares with nothing: {reason}",
                hint="run it again with this version of careeval, in a new folder",
            )
    if a.rubric != b.rubric:
        raise UsageError(
            f"{a.system} and {b.system} do not compare: {a.rubric} and {b.rubric} are two rubrics",
            hint=f"grade one of them again: careeval grade FOLDER --rubric {b.rubric}",
        )
    ours, theirs = basis(a), basis(b)
    for name, what in _WORDS.items():
        one, other = getattr(ours, name), getattr(theirs, name)
        if one != other:
            raise UsageError(
                f"{a.system} and {b.system} do not compare: another {what}, {one} and {other}",
                hint="run both over the same scenarios of one bank, by one version of the protocol",
            )
    if a.grader != b.grader:
        raise UsageError(
            f"{a.system} and {b.system} do not compare: another grader, {a.grader} and {b.grader}",
            hint="grade one of them again: careeval grade FOLDER --grader NAME",
        )


def _n(version: str | None) -> str:
    """Return the N of a version N-X: what must be equal for numbers to compare."""
    return UNKNOWN if version is None else version.partition("-")[0]
