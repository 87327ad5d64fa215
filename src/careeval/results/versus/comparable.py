"""The condition for comparing entries: same bank, protocols, grader and rubric."""

from __future__ import annotations

from typing import NamedTuple

from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.results.score.entries import Entry

UNKNOWN = "version unknown"
"""Stands for a bank or version that no response or judgment names."""


class Basis(NamedTuple):
    """The values that entries must share to be compared or ranked.

    Attributes:
        bank: Name of the bank.
        bank_n: The N of its version N-X.
        bank_hash: Hash of the scenarios that were asked.
        protocol_n: The N of the version of the protocol of the asking.
        grading_n: The N of the version of the protocol of the grading.
        grader: Name of the grader, with its mode and the hash of its prompt.
        rubric: The rubric that was judged.
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
    """Return the basis of an entry; values that it does not name are `UNKNOWN`."""
    return Basis(
        response_value(entry, "bank") or UNKNOWN,
        _n(response_value(entry, "bank_version")),
        response_value(entry, "bank_hash") or UNKNOWN,
        _n(response_value(entry, "protocol")),
        _n(entry.grading_protocol),
        entry.grader,
        entry.rubric,
    )


def why_unknown(entry: Entry) -> str:
    """Return the reason why an entry without a bank or version compares with none; else empty."""
    own = basis(entry)._asdict()
    missing = [what for name, what in _WORDS.items() if own[name] == UNKNOWN]
    if not missing:
        return ""
    return f"{UNKNOWN}: it does not name the {' and the '.join(missing)}"


def response_value(entry: Entry, column: str) -> str | None:
    """Return the first value of a column of the responses; `None` if all are null."""
    values = entry.responses[column].drop_nulls()
    return None if values.is_empty() else str(values[0])


def check_comparable(a: Entry, b: Entry) -> None:
    """Raise an error if two entries do not compare.

    Raises:
        UsageError: They differ in their basis; the message names the difference.
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
    """Return the N of a version N-X, which must be equal for numbers to compare."""
    return UNKNOWN if version is None else version.partition("-")[0]
