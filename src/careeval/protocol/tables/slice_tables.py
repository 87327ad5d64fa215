"""Joining the slices of one system in a sweep into one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from careeval.errors import LogError
from careeval.protocol.logs.json_limits import read_json
from careeval.protocol.runs.sweep_cells import SWEEP_FILE
from careeval.protocol.tables.response_rows import missing_row
from careeval.results.tables import NOT_ASKED, RESPONSES, Runs, table

_RUN_COLUMNS = ("system", "model", "bank", "bank_version", "bank_hash", "bank_provenance",
                "bank_makers", "protocol", "ask_prompt", "software", "created")  # fmt: skip
"""The columns with the same value for all responses of a system."""


def join_slices(
    folder: Path,
    sweep: Path,
    asked: Sequence[Runs],
    graded: Mapping[str, Iterable[Runs]],
    notes: Sequence[str],
) -> Runs:
    """Return the slices of a system as one run, with a row for each response that is missing.

    Args:
        folder: Folder of the system.
        sweep: Folder of the sweep.
        asked: The responses of the slices, at least one slice.
        graded: Stage → the slices that it has graded.
        notes: Notes on slices that could not be read.

    Raises:
        LogError: The slices are from different selections of scenarios.
    """
    responses = pl.concat([runs.responses for runs in asked])
    judgments = pl.concat([asked[0].judgments.clear(), *_numbered(graded)])
    if responses["bank_hash"].n_unique() > 1:
        raise LogError(
            f"{folder}: its slices are from different selections of scenarios",
            hint="start the sweep again in another folder: the bank has changed since it began",
        )
    whole, n_missing = _with_missing(responses, sweep)
    if n_missing:
        notes = [
            *notes,
            f"{responses['system'][0]}: {n_missing} of {whole.height} responses are still missing; "
            "'careeval sweep' asks for them",
        ]
    return Runs.sorted(whole, judgments, notes)


def _numbered(by_stage: Mapping[str, Iterable[Runs]]) -> Iterator[pl.DataFrame]:
    """Yield each stage's judgments; gradings of a rubric by one grader are numbered from 1."""
    stages: dict[tuple[str, str], list[str]] = {}
    for stage, parts in by_stage.items():
        for judgments in (runs.judgments for runs in parts if runs.judgments.height):
            gradings = stages.setdefault(judgments.select("grader", "rubric").row(0), [])
            if stage not in gradings:
                gradings.append(stage)
            number = pl.lit(gradings.index(stage) + 1, judgments.schema["grading"])
            yield judgments.with_columns(number.alias("grading"))


def _with_missing(responses: pl.DataFrame, sweep: Path) -> tuple[pl.DataFrame, int]:
    """Return the responses with a row added for each missing one, and the number of rows added."""
    families = read_json(sweep / SWEEP_FILE)["families"]
    first = responses.row(0, named=True)
    present = set(responses.select("scenario", "epoch").iter_rows())
    n_epochs = _n_epochs(sweep, first["system"])
    absent = [
        (scenario, epoch)
        for family in families
        for scenario in family
        for epoch in range(1, n_epochs + 1)
        if (scenario, epoch) not in present
    ]
    run_columns = {name: first[name] for name in _RUN_COLUMNS}
    rows = [{**run_columns, **missing_row(*key, NOT_ASKED)} for key in absent]
    return pl.concat([responses, table(rows, RESPONSES)]), len(absent)


def _n_epochs(sweep: Path, system: str) -> int:
    systems = read_json(sweep / SWEEP_FILE)["systems"]
    return next(int(each["run"]["epochs"]) for each in systems if each["run"]["system"] == system)
