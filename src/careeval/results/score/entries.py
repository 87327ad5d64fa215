"""Entries: one system as one grader judged it on one rubric, the basis of every number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric
from careeval.results.score.graded_arrays import graded_scenarios
from careeval.results.score.graded_rubric import GradedRubric
from careeval.results.tables import Runs
from careeval.results.vendors import vendor


@dataclass(frozen=True, eq=False)
class Entry:
    """One system as one grader judged it on one rubric."""

    system: str  # Name of the system
    grader: str  # Name of the grader, with its mode and the hash of its prompt
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
    n_epochs: int  # Responses asked for each scenario
    graded: GradedRubric  # The judgments that count, as arrays
    beside: Entry | None = None
    """The entry of the twins and controls of its scenarios, which count in none of its numbers;
    None if none was judged by this grader on this rubric."""
    responses_beside: pl.DataFrame | None = None
    """The system's responses to such twins and controls, with or without the rubric, columns
    `careeval.results.tables.RESPONSES`; none by default."""

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

    @property
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
    if runs.responses["twin_of"].null_count() == runs.responses.height:
        yield from _entries(runs)
        return
    bases, twins = _split_twins(runs)
    beside = {_key(entry): entry for entry in _entries(twins)}
    by_system = twins.responses.partition_by("system", as_dict=True)
    for entry in _entries(bases):
        of_system = by_system.get((entry.system,))
        yield replace(entry, beside=beside.get(_key(entry)), responses_beside=of_system)


def _key(entry: Entry) -> tuple[str, str, Rubric, str]:
    n, _, _ = (entry.grading_protocol or "").partition("-")
    return entry.system, entry.grader, entry.rubric, n


def _split_twins(runs: Runs) -> tuple[Runs, Runs]:
    """Split responses into scenarios and the twins or controls whose base the system was asked."""
    asked = runs.responses.select("system", twin_of="scenario").unique()
    response_key = ("system", "scenario", "epoch")
    twins = runs.responses.join(asked, on=("system", "twin_of"), how="semi", maintain_order="left")
    rest = runs.responses.join(twins, on=response_key, how="anti", maintain_order="left")

    def with_judgments(responses: pl.DataFrame) -> Runs:
        judged = runs.judgments.join(responses, on=response_key, how="semi", maintain_order="left")
        return replace(runs, responses=responses, judgments=judged)

    return with_judgments(rest), with_judgments(twins)


def _entries(runs: Runs) -> Iterator[Entry]:
    """Yield the entries of these runs, treating twins like any scenario."""
    n_of_version = pl.col("protocol").str.split("-").list.first().alias("n")
    key = ("system", "grader", "rubric", "n")
    by_system = runs.responses.sort("scenario", "epoch").partition_by("system", as_dict=True)
    for system, judgments in _by_system(runs.judgments):
        rows = judgments.select("system", "grader", "rubric", n_of_version).with_row_index("row")
        by_key = {k: part["row"] for k, part in rows.partition_by(key, as_dict=True).items()}
        for entry_key in sorted(by_key, key=lambda k: (*k[:3], k[3] or "")):
            _, grader, rubric, _ = entry_key
            yield _entry(grader, Rubric(rubric), by_system[system,], judgments, by_key[entry_key])


def _by_system(judgments: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each system with its judgments, sorted by name; consecutive rows are not copied."""
    runs = judgments["system"].rle().struct.unnest()
    ends = runs["len"].cum_sum().to_list()
    places: dict[str, list[tuple[int, int]]] = {}
    for system, length, end in zip(runs["value"], runs["len"].to_list(), ends, strict=True):
        places.setdefault(system, []).append((end - length, length))
    for system in sorted(places):
        yield system, pl.concat(judgments.slice(*place) for place in places[system])


def _rows(table: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
    return table if len(rows) == table.height else table[rows]


def _entry(
    grader: str,
    rubric: Rubric,
    responses: pl.DataFrame,
    of_system: pl.DataFrame,
    own_rows: pl.Series,
) -> Entry:
    """Return one entry.

    Args:
        grader: Name of the grader.
        rubric: The rubric that it judged.
        responses: The system's responses to all scenarios.
        of_system: All judgments of the system.
        own_rows: Rows of the entry's judgments.
    """
    columns = ("scenario", "epoch", "grading", "present", "protocol")
    judgments = _rows(of_system.select(columns), own_rows).with_columns(row=own_rows)
    lacking = responses.filter(pl.col("lacks").list.contains(rubric.value))["scenario"]
    has_rubric = ~pl.col("scenario").is_in(lacking.implode()) | pl.col("scenario").is_in(
        judgments["scenario"].implode()
    )
    responses = responses.filter(has_rubric)
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
    graded = graded_scenarios(responses, _rows(of_system, first["row"]))
    return Entry(
        system=str(of_system["system"][0]),
        grader=grader,
        rubric=rubric,
        grading_protocol=None if versions.is_empty() else str(versions.max()),
        responses=responses,
        of_system=of_system,
        own_rows=own_rows,
        first_rows=first["row"],
        n_epochs=n_epochs,
        graded=GradedRubric(graded, n_epochs),
    )
