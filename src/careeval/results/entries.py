"""Entries: one system as one grader judged it on one rubric, and what makes two comparable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.response import Grader, ResponseState
from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.results.graded_rubric import GradedRubric
from careeval.results.tables import Runs
from careeval.results.vendors import vendor
from careeval.stats.estimate import Estimate


@dataclass(frozen=True, eq=False)
class Entry:
    """One system as one grader judged it on one rubric."""

    system: str  # Name of the system
    grader: Grader
    rubric: Rubric  # The rubric that was judged
    grading_protocol: str | None
    """Version N-X of the protocol of the grading, the latest X if there are several;
    `run["protocol"]` is the protocol of the asking. `None` if the judgments do not say."""
    responses: pl.DataFrame
    """The system's responses to scenarios that have the rubric, columns
    `careeval.results.tables.RESPONSES`, at least one row."""
    of_system: pl.DataFrame
    """All judgments of the system, columns `careeval.results.tables.JUDGMENTS`."""
    own_rows: pl.Series  # Numbers of the rows of `of_system` by this grader on this rubric
    first_rows: pl.Series  # Numbers of the rows of `of_system` that count
    n_gradings: int  # Gradings of these responses by this grader; the first counts
    graded: GradedRubric  # The judgments that count, as arrays
    beside: Entry | None = None
    """The entry of the twins and controls of its scenarios, which count in none of its numbers;
    None if none was judged by this grader on this rubric."""
    responses_beside: pl.DataFrame | None = None
    """The system's responses to such twins and controls, with or without the rubric, columns
    `careeval.results.tables.RESPONSES`; none by default."""

    @property
    def n_epochs(self) -> int:
        """Return the number of responses asked for each scenario."""
        return self.graded.n_epochs

    @property
    def n_beside(self) -> int:
        """Return the number of responses asked of the system to such twins and controls."""
        return 0 if self.responses_beside is None else self.responses_beside.height

    # many entries share one table, so each keeps row numbers instead of a copy

    @property
    def judgments(self) -> pl.DataFrame:
        """Return all judgments by this grader on this rubric, of all gradings."""
        return _rows(self.of_system, self.own_rows)

    @property
    def first(self) -> pl.DataFrame:
        """Return the judgments that count: one grading of each response that is not missing.

        The earliest grading with a resolved judgment counts, or else the earliest.
        """
        return _rows(self.of_system, self.first_rows)

    def first_of(self, *columns: str) -> pl.DataFrame:
        """Return the named columns of `first`, the judgments that count."""
        return _rows(self.of_system.select(columns), self.first_rows)

    @property
    def asked(self) -> str | None:
        """Return Inspect's name of the model that was asked; `None` for recorded responses."""
        model: str | None = self.run["model"]
        return model

    @cached_property
    def run(self) -> dict[str, Any]:
        """Return the first row of the responses, for columns with the same value in all rows."""
        return self.responses.row(0, named=True)

    @property
    def bank_maker(self) -> str | None:
        """Return the system's vendor if it is one of the bank's makers, else `None`."""
        maker = vendor(self.asked)
        return maker if maker in (self.run["bank_makers"] or ()) else None

    @property
    def mixed(self) -> dict[str, list[str]]:
        """Return the banks and versions that differ between the responses: what → its values.

        Empty if all responses are of one bank and one protocol, as they should be.
        """
        columns = {"banks": "bank", "versions of the bank": "bank_version",
                   "versions of the protocol": "protocol"}  # fmt: skip
        values = {
            what: sorted(self.responses[column].drop_nulls().unique())
            for what, column in columns.items()
        }
        return {what: several for what, several in values.items() if len(several) > 1}


def entries(runs: Runs) -> Iterator[Entry]:
    """Yield an entry for each system, grader, rubric and N of the grading protocol, sorted.

    The actions come before the ladder. A system without judgments has no entry.
    """
    responses = dict(_by_system(runs.responses))
    for system, judgments in _by_system(runs.judgments):
        yield from _entries(responses[system].sort("scenario", "epoch"), judgments)


def _entries(responses: pl.DataFrame, judgments: pl.DataFrame) -> Iterator[Entry]:
    """Yield the entries of one system, each with that of the twins of its scenarios beside it."""
    # a twin or control whose base was not asked counts like any scenario
    is_twin = pl.col("twin_of").is_in(responses["scenario"].unique().implode()).fill_null(False)
    n_of_version = pl.col("protocol").str.split("-").list.first().alias("n")
    rows = (
        judgments.select("scenario", "epoch", "grader", "rubric", n_of_version)
        .with_row_index("row")
        .join(
            responses.select("scenario", "epoch", is_twin.alias("twin")),
            on=("scenario", "epoch"),
            how="left",
            maintain_order="left",
        )
        .with_columns(pl.col("twin").fill_null(False))
    )
    parts = rows.partition_by("twin", "grader", "rubric", "n", as_dict=True)
    by_key = {key: part["row"] for key, part in parts.items()}
    twins = responses.filter(is_twin)
    bases = responses.filter(~is_twin) if twins.height else responses
    for key in sorted(by_key, key=lambda k: (*k[:3], k[3] or "")):
        if not key[0]:
            entry, of_twins = _entry(bases, judgments, by_key[key]), by_key.get((True, *key[1:]))
            beside = None if of_twins is None else _entry(twins, judgments, of_twins)
            with_twins = replace(entry, beside=beside, responses_beside=twins)
            yield with_twins if twins.height else entry


def _by_system(table: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each system with its rows, sorted by name; consecutive rows are not copied."""
    runs = table["system"].rle().struct.unnest()
    ends = runs["len"].cum_sum().to_list()
    places: dict[str, list[tuple[int, int]]] = {}
    for system, length, end in zip(runs["value"], runs["len"].to_list(), ends, strict=True):
        places.setdefault(system, []).append((end - length, length))
    for system in sorted(places):
        yield system, pl.concat(table.slice(*place) for place in places[system])


def _rows(table: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
    return table if len(rows) == table.height else table[rows]


def _entry(responses: pl.DataFrame, of_system: pl.DataFrame, own_rows: pl.Series) -> Entry:
    """Return one entry of a system, from its responses and judgments and the entry's rows."""
    system, grader, rubric = of_system.select("system", "grader", "rubric").row(own_rows[0])
    columns = ("scenario", "epoch", "grading", "present", "protocol")
    judgments = _rows(of_system.select(columns), own_rows).with_columns(row=own_rows)
    lacking = responses.filter(pl.col("lacks").list.contains(rubric))["scenario"]
    if without := set(lacking) - set(judgments["scenario"]):
        responses = responses.filter(~pl.col("scenario").is_in(without))
    versions = judgments["protocol"].drop_nulls()
    not_missing = responses.filter(pl.col("state") != ResponseState.missing)
    response_key = ("scenario", "epoch")
    earliest = pl.col("grading").min().over(response_key)
    # a grading that failed altogether must not keep a later one from counting
    made = pl.when(pl.col("present").is_not_null()).then(pl.col("grading")).min().over(response_key)
    is_first = pl.col("grading") == pl.coalesce(made, earliest)
    first = judgments.filter(is_first).join(
        not_missing, on=response_key, how="semi", maintain_order="left"
    )
    n_epochs = max(responses["epoch"].to_list())
    return Entry(
        system=system,
        grader=Grader(grader),
        rubric=Rubric(rubric),
        grading_protocol=None if versions.is_empty() else str(versions.max()),
        responses=responses,
        of_system=of_system,
        own_rows=own_rows,
        first_rows=first["row"],
        n_gradings=judgments["grading"].n_unique(),
        graded=GradedRubric.of(responses, _rows(of_system, first["row"]), n_epochs),
    )


UNRESOLVED_LIMIT = 0.02
"""Share of unresolved judgments of one class of items above which an entry is not ranked."""

_ITEM_CLASSES = (("positive items", (1, 2)), ("items of −1", (-1,)), ("items of −2", (-2,)))
"""Classes of items by their points; `UNRESOLVED_LIMIT` holds for each."""

EMBEDDED_MODEL = "gguf/"
"""Prefix of the names of embedded models, which are for trying things out and never ranked."""

UNKNOWN = "version unknown"
"""Stands for a bank or version that no response or judgment names."""


class Basis(NamedTuple):
    """The values that entries must share to be compared or ranked."""

    bank: str  # Name of the bank
    bank_n: str  # The N of its version N-X
    bank_hash: str  # Hash of the scenarios that were asked
    protocol_n: str  # The N of the version of the protocol of the asking
    grading_n: str  # The N of the version of the protocol of the grading
    grader: Grader
    rubric: Rubric  # The rubric that was judged


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
    n_not_missing = int((entry.responses["state"] != ResponseState.missing).sum())
    present = entry.first_of("present")["present"]
    n_responses = entry.responses["scenario"].n_unique() * entry.n_epochs
    n_graded = int(entry.graded.is_judged.sum())
    return EntryCounts(
        n_responses=n_responses,
        n_missing=n_responses - n_not_missing,
        n_ungraded=n_not_missing - n_graded,
        n_judgments=len(present),
        n_unresolved=present.null_count(),
    )


def _not_serious(asked: str | None, grader: Grader) -> Iterator[str]:
    """Yield a reason if the system or the grader is one that only serves to try careeval out."""
    if (asked or "").startswith(EMBEDDED_MODEL):
        yield "an embedded model: for seeing everything work"
    if grader.is_lexical:
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
    marks = entry.first_of("points", "present")
    for name, points in _ITEM_CLASSES:
        present = marks.filter(pl.col("points").is_in(points))["present"]
        if present.null_count() > UNRESOLVED_LIMIT * len(present):
            yield (
                f"{present.null_count()} of {len(present)} judgments of {name} are unresolved, "
                f"more than {UNRESOLVED_LIMIT:.0%}"
            )


def _no_score(score: Estimate) -> Iterator[str]:
    if score.value is None:
        yield f"no score: {score.reason}"


@dataclass(frozen=True, slots=True)
class Harm:
    """One error that a grader found in one response."""

    system: str
    grader: Grader
    rubric: Rubric
    scenario: str
    adl: str | None
    situation: tuple[str, ...]
    epoch: int
    item: str
    points: int  # −2 for a severe error, −1 for a mild one
    item_text: str
    quote: str | None
    """The response's own words; `None` if the grader quoted none, its quote is not in the response,
    or the words are held out."""
    reason: str  # The grader's reason; empty if it gave none


def harms(entry: Entry, severity: int = scoring.SEVERE) -> Iterator[Harm]:
    """Yield the errors of one severity that count for an entry, by scenario and epoch.

    Unresolved items are no errors, and responses that lack an item's judgment do not count.

    Args:
        entry: The entry.
        severity: `scoring.SEVERE` or `scoring.MILD`.
    """
    graded = entry.graded
    places = {scenario: row for row, scenario in enumerate(graded.scenarios)}
    judged = graded.is_judged & graded.judged[:, np.newaxis]
    columns = ("scenario", "epoch", "item", "points", "item_text", "quote", "reason")
    rows = (
        entry.first_of(*columns, "position", "present")
        .filter(pl.col("present"), pl.col("points") == severity)
        .sort("scenario", "epoch", "position")
        .select(columns)
    )
    for scenario, epoch, item, points, item_text, quote, reason in rows.rows():
        if not judged[places[scenario], epoch - 1]:
            continue
        about = graded.traits[places[scenario]]
        yield Harm(
            system=entry.system,
            grader=entry.grader,
            rubric=entry.rubric,
            scenario=scenario,
            adl=about.adl,
            situation=about.situation,
            epoch=epoch,
            item=item,
            points=points,
            item_text=item_text or "",
            quote=quote,
            reason=reason or "",
        )
