"""Entries: each system as one grader judged it on one rubric. Every number is computed from one."""

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
    """One system as one grader judged it on one rubric.

    Attributes:
        system: Name of the system.
        grader: Name of the grader, with its mode and the hash of its prompt.
        rubric: What was judged.
        grading_protocol: Version N-X of the protocol that it was judged by, the last of several of
            one N; the protocol that it was asked by is `run["protocol"]`. `None` where the
            judgments do not say.
        responses: Of the system, to scenarios that have the rubric, columns
            `careeval.results.tables.RESPONSES`, one row at least.
        of_system: All judgments of the system, columns `careeval.results.tables.JUDGMENTS`.
        own_rows: The rows of them that are by this grader on this rubric.
        first_rows: The rows of them that count.
        n_epochs: Responses asked for a scenario.
        graded: The responses as `first` has them.
        beside: The same over the twins and controls of its scenarios, which count in no number of
            the entry; None where none of them was judged so.
        n_beside: Responses asked of its system to such twins and controls.
    """

    system: str
    grader: str
    rubric: Rubric
    grading_protocol: str | None
    responses: pl.DataFrame
    of_system: pl.DataFrame
    own_rows: pl.Series
    first_rows: pl.Series
    n_epochs: int
    graded: GradedRubric
    beside: Entry | None = None
    n_beside: int = 0

    # many entries share one table: each keeps the places of its rows, and no copy of them

    @property
    def judgments(self) -> pl.DataFrame:
        """By this grader on this rubric, all gradings."""
        return _rows(self.of_system, self.own_rows)

    @property
    def first(self) -> pl.DataFrame:
        """Those of one grading of each response that is there: what counts.

        It is the earliest in which any judgment could be made, or else the earliest.
        """
        return _rows(self.of_system, self.first_rows)

    def first_of(self, *columns: str) -> pl.DataFrame:
        """Some columns of `first`."""
        return _rows(self.of_system.select(columns), self.first_rows)

    @property
    def asked(self) -> str | None:
        """Inspect's name of the model that was asked; `None` for recorded answers."""
        model: str | None = self.run["model"]
        return model

    @property
    def run(self) -> dict[str, Any]:
        """A row of its responses, for the columns that are the same in all of them."""
        return self.responses.row(0, named=True)

    @property
    def bank_maker(self) -> str | None:
        """Its vendor, where that is one of the bank's makers; else `None`."""
        maker = vendor(self.asked)
        return maker if maker in (self.run["bank_makers"] or ()) else None

    @property
    def mixed(self) -> dict[str, list[str]]:
        """Where the responses are not of one bank and one protocol: what differs → its names.

        Empty as it should be: such a run's numbers are over two things at once.
        """
        columns = {"banks": "bank", "versions of the bank": "bank_version",
                   "versions of the protocol": "protocol"}  # fmt: skip
        names = {
            what: sorted(self.responses[name].drop_nulls().unique())
            for what, name in columns.items()
        }
        return {what: several for what, several in names.items() if len(several) > 1}


def entries(runs: Runs) -> Iterator[Entry]:
    """An entry for each system, grader, rubric and N of the grading protocol, in order of names.

    The actions come before the ladder. There is none without judgments.
    """
    if runs.responses["twin_of"].null_count() == runs.responses.height:
        yield from _entries(runs)
        return
    bases, twins = _apart(runs)
    beside = {_key(entry): entry for entry in _entries(twins)}
    n_beside = dict(twins.responses.group_by("system").len().iter_rows())
    for entry in _entries(bases):
        n = n_beside.get(entry.system, 0)
        yield replace(entry, beside=beside.get(_key(entry)), n_beside=n)


def _key(entry: Entry) -> tuple[str, str, Rubric, str]:
    n, _, _ = (entry.grading_protocol or "").partition("-")
    return entry.system, entry.grader, entry.rubric, n


def _apart(runs: Runs) -> tuple[Runs, Runs]:
    """Part the twins and controls of scenarios that their system was asked from all the rest."""
    asked = runs.responses.select("system", twin_of="scenario").unique()
    of_one = ("system", "scenario", "epoch")
    twins = runs.responses.join(asked, on=("system", "twin_of"), how="semi", maintain_order="left")
    rest = runs.responses.join(twins, on=of_one, how="anti", maintain_order="left")

    def with_judgments(responses: pl.DataFrame) -> Runs:
        judged = runs.judgments.join(responses, on=of_one, how="semi", maintain_order="left")
        return replace(runs, responses=responses, judgments=judged)

    return with_judgments(rest), with_judgments(twins)


def _entries(runs: Runs) -> Iterator[Entry]:
    """An entry for each, twins like any scenario."""
    n_of_version = pl.col("protocol").str.split("-").list.first().alias("n")
    key = ("system", "grader", "rubric", "n")
    by_system = runs.responses.sort("scenario", "epoch").partition_by("system", as_dict=True)
    for system, judgments in _by_system(runs.judgments):
        rows = judgments.select("system", "grader", "rubric", n_of_version).with_row_index("row")
        by_key = {of: part["row"] for of, part in rows.partition_by(key, as_dict=True).items()}
        for of in sorted(by_key, key=lambda of: (*of[:3], of[3] or "")):
            _, grader, rubric, _ = of
            yield _entry(grader, Rubric(rubric), by_system[system,], judgments, by_key[of])


def _by_system(judgments: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each system with its judgments, in order of names; no copy where they stand together."""
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
    """One entry.

    Args:
        grader: Its name.
        rubric: What it judged.
        responses: Of the system, to all scenarios.
        of_system: All judgments of the system.
        own_rows: Those of the entry.
    """
    columns = ("scenario", "epoch", "grading", "present", "protocol")
    judgments = _rows(of_system.select(columns), own_rows).with_columns(row=own_rows)
    lacking = responses.filter(pl.col("lacks").list.contains(rubric.value))["scenario"]
    has_rubric = ~pl.col("scenario").is_in(lacking.implode()) | pl.col("scenario").is_in(
        judgments["scenario"].implode()
    )
    responses = responses.filter(has_rubric)
    versions = judgments["protocol"].drop_nulls()
    there = responses.filter(pl.col("state") != ResponseState.missing)
    of_one = ("scenario", "epoch")
    earliest = pl.col("grading").min().over(of_one)
    # a grading that failed altogether must not stand for ever before one that did not
    made = pl.when(pl.col("present").is_not_null()).then(pl.col("grading")).min().over(of_one)
    is_first = pl.col("grading") == pl.coalesce(made, earliest)
    first = judgments.filter(is_first).join(there, on=of_one, how="semi", maintain_order="left")
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
