"""The reasons why an entry may not be ranked, or two entries not compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from careeval.core.response import Grader, ResponseState
from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.results.score.entries import Entry
from careeval.stats import Estimate

UNRESOLVED_LIMIT = 0.02
"""Share of unresolved judgments of one class of items above which an entry is not ranked."""

POINT_CLASSES = (("positive items", (1, 2)), ("items of −1", (-1,)), ("items of −2", (-2,)))
"""Classes of items by their points; `UNRESOLVED_LIMIT` holds for each."""

EMBEDDED_MODEL = "gguf/"
"""Prefix of the names of embedded models, which are for trying things out and never ranked."""

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
    """Return why an entry without a bank or version cannot be compared; else empty."""
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
    """Raise an error if two entries cannot be compared.

    Raises:
        UsageError: The entries have a different basis, or one has an unknown basis or several. The
            message says which.
    """
    for entry in (a, b):
        for what, names in entry.mixed.items():
            if len({_n(name) for name in names}) > 1:
                raise UsageError(
                    f"{entry.system} cannot be compared: its responses are of {len(names)} "
                    f"{what}, {', '.join(names)}",
                    hint="run it again over one bank, in a new folder",
                )
        if reason := why_unknown(entry):
            raise UsageError(
                f"{entry.system} cannot be compared: {reason}",
                hint="run it again with this version of careeval, in a new folder",
            )
    if a.rubric != b.rubric:
        raise UsageError(
            f"{a.system} and {b.system} cannot be compared: one was judged on the {a.rubric}, the "
            f"other on the {b.rubric}",
            hint=f"grade one of them again: careeval grade FOLDER --rubric {b.rubric}",
        )
    ours, theirs = basis(a), basis(b)
    for name, what in _WORDS.items():
        one, other = getattr(ours, name), getattr(theirs, name)
        if one != other:
            raise UsageError(
                f"{a.system} and {b.system} cannot be compared: the {what} differs, {one} and "
                f"{other}",
                hint="run both over the same scenarios of one bank, by one version of the protocol",
            )
    if a.grader != b.grader:
        raise UsageError(
            f"{a.system} and {b.system} cannot be compared: the grader differs, {a.grader} and "
            f"{b.grader}",
            hint="grade one of them again: careeval grade FOLDER --grader NAME",
        )


def _n(version: str | None) -> str:
    """Return the N of a version N-X, which must be equal for numbers to compare."""
    return UNKNOWN if version is None else version.partition("-")[0]


class EntryCounts(NamedTuple):
    """Counts of responses and judgments, to tell whether a run is complete."""

    n_responses: int
    n_missing: int
    n_ungraded: int
    n_judgments: int
    n_unresolved: int


def why_not_ranked(entry: Entry, counts: EntryCounts | None = None) -> tuple[str, ...]:
    """Return the reasons why an entry may not be ranked; empty if it may.

    Args:
        entry: The entry.
        counts: Its counts, if already known.
    """
    return (
        *_not_serious(entry.asked, entry.grader),
        *_mixed_versions(entry),
        *_incomplete(counts or entry_counts(entry)),
        *_unresolved(entry),
        *_band(entry),
        *_no_score(entry.graded.score()),
    )


def entry_counts(entry: Entry) -> EntryCounts:
    """Return the counts of an entry."""
    n_not_missing = entry.responses.filter(pl.col("state") != ResponseState.missing).height
    n_responses = entry.responses["scenario"].n_unique() * entry.n_epochs
    n_graded = sum(scenario.epochs.size for scenario in entry.graded.scenarios)
    return EntryCounts(
        n_responses=n_responses,
        n_missing=n_responses - n_not_missing,
        n_ungraded=n_not_missing - n_graded,
        n_judgments=entry.first.height,
        n_unresolved=entry.first["present"].null_count(),
    )


def _not_serious(asked: str | None, grader: str) -> Iterator[str]:
    """Yield a reason if the system or the grader is one that only serves to try careeval out."""
    if (asked or "").startswith(EMBEDDED_MODEL):
        yield "an embedded model: for seeing everything work"
    if Grader.parse(grader).is_lexical:
        yield "the lexical grader compares words: for seeing everything work"
    if grader.startswith(EMBEDDED_MODEL):
        yield "graded by an embedded model: for seeing everything work"


def _band(entry: Entry) -> Iterator[str]:
    """Yield a reason if the entry is on the ladder of a bank whose scenarios have groups."""
    if entry.rubric is Rubric.ladder and entry.responses["group"].drop_nulls().len():
        yield "a ladder's score is a band, from a strict to a lenient reading: rank by the actions"


def _mixed_versions(entry: Entry) -> Iterator[str]:
    """Yield a reason for each bank or version value that differs between the entry's responses."""
    for what, names in entry.mixed.items():
        yield f"its responses are of {len(names)} {what}: {', '.join(names)}"


def _incomplete(n: EntryCounts) -> Iterator[str]:
    """Yield a reason if responses are missing or not graded."""
    if n.n_missing:
        yield f"{n.n_missing} of {n.n_responses} responses are missing"
    if n.n_ungraded:
        yield f"{n.n_ungraded} of {n.n_responses} responses are not graded"


def _unresolved(entry: Entry) -> Iterator[str]:
    """Yield a reason for each class of items with too many unresolved judgments."""
    for name, points in POINT_CLASSES:
        present = entry.first.filter(pl.col("points").is_in(points))["present"]
        if present.null_count() > UNRESOLVED_LIMIT * len(present):
            yield (
                f"{present.null_count()} of {len(present)} judgments of {name} are unresolved, "
                f"more than {UNRESOLVED_LIMIT:.0%}"
            )


def _no_score(score: Estimate) -> Iterator[str]:
    if score.value is None:
        yield f"no score: {score.reason}"
