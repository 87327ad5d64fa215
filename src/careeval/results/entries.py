"""The entries of a set of runs: one for each system, condition, grader, rubric and protocol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from careeval.core.response import Grader, ResponseState
from careeval.core.scenario import Rubric
from careeval.results.entry import Entry, rows_of
from careeval.results.graded_rubric import GradedRubric
from careeval.results.tables import SYSTEM_KEY, Runs, SystemKey, system_names


def entries(runs: Runs) -> list[Entry]:
    """Return an entry for each system and condition, grader, rubric and N of the grading protocol.

    They are sorted. The actions come before the ladder. A system without judgments has no entry.
    """
    responses = _by_system(runs.responses)
    judgments = _by_system(runs.judgments)
    names = system_names([*responses])
    return [
        replace(entry, card=card) if (card := runs.cards.get(key)) else entry
        for key in sorted(judgments, key=lambda key: (key.system, key.given or "", key.step))
        for entry in _entries(names[key], responses[key].sort("scenario", "epoch"), judgments[key])
    ]


def _entries(name: str, responses: pl.DataFrame, judgments: pl.DataFrame) -> Iterator[Entry]:
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
            entry = _entry(name, bases, judgments, by_key[key])
            of_twins = by_key.get((True, *key[1:]))
            beside = None if of_twins is None else _entry(name, twins, judgments, of_twins)
            with_twins = replace(entry, beside=beside, responses_beside=twins)
            yield with_twins if twins.height else entry


def _by_system(table: pl.DataFrame) -> dict[SystemKey, pl.DataFrame]:
    """Return each system in each condition with its rows; consecutive rows are not copied."""
    runs = table.select(pl.struct(SYSTEM_KEY).rle().alias("run"))["run"].struct.unnest()
    ends = runs["len"].cum_sum().to_list()
    places: dict[SystemKey, list[tuple[int, int]]] = {}
    for values, length, end in zip(runs["value"], runs["len"].to_list(), ends, strict=True):
        places.setdefault(SystemKey(**values), []).append((end - length, length))
    return {key: pl.concat(table.slice(*place) for place in each) for key, each in places.items()}


def _entry(
    name: str, responses: pl.DataFrame, of_system: pl.DataFrame, own_rows: pl.Series
) -> Entry:
    """Return one entry of a system, from its responses and judgments and the entry's rows."""
    grader, rubric = of_system.select("grader", "rubric").row(own_rows[0])
    columns = ("scenario", "epoch", "grading", "present", "protocol")
    judgments = rows_of(of_system.select(columns), own_rows).with_columns(row=own_rows)
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
    about = responses.row(0, named=True)
    return Entry(
        system=about["system"],
        given=about["given"],
        step=bool(about["step"]),
        name=name,
        asked=about["model"],
        grader=Grader(grader),
        rubric=Rubric(rubric),
        **{name: about[name] for name in _OF_RUN},
        grading_protocol=None if versions.is_empty() else str(versions.max()),
        n_gradings=judgments["grading"].n_unique(),
        responses=responses,
        of_system=of_system,
        own_rows=own_rows,
        first_rows=first["row"],
        graded=GradedRubric.of(responses, rows_of(of_system, first["row"]), n_epochs),
    )


_OF_RUN = ("bank", "bank_version", "bank_hash", "bank_provenance", "protocol")
