"""Grading stored responses again: they are recorded answers, and go the way that those go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from careeval.bank import content_hash, load_bank
from careeval.bank.sealed import split_key
from careeval.errors import ProtocolError
from careeval.protocol.logs import read_run, responses_of, run_roots
from careeval.protocol.run import Run, grading_folder, prepare_recorded
from careeval.results.tables import NOT_ASKED, Runs


def prepare_regrading(folder: Path, bank: Path | None, like: Run) -> list[Path]:
    """Set up a grading of the responses of every run in a folder; the new folders come back.

    Args:
        folder: What `careeval run -o` wrote to.
        bank: Folder of the bank that the runs were made with; careeval's own if `None`.
        like: How to grade: its grader, its arguments of the task, its prices and its budget.

    Raises:
        ProtocolError: There is no run, one of them has not come to all its responses, or its
            scenarios are not what the bank holds now.
    """
    roots = run_roots(folder)
    if not roots:
        raise ProtocolError(
            f"{folder} holds no run", hint="name the folder that 'careeval run -o' wrote to"
        )
    assert like.grader is not None
    checked = [(root, _checked(root, bank)) for root in roots]
    return [
        prepare_recorded(
            grading_folder(root, like.grader),
            responses_of(runs),
            replace(
                like,
                system=runs.responses["system"][0],
                task=like.task
                | {
                    "bank": str(bank.resolve()) if bank else None,
                    "split": runs.responses["split"][0] or "public",
                },
            ),
        )
        for root, runs in checked
    ]


def _checked(root: Path, folder: Path | None) -> Runs:
    """The run in a folder, if it has all its responses and was made with this bank."""
    runs = read_run(root)
    row = runs.responses.row(0, named=True)
    if n_open := runs.responses.filter(pl.col("note") == NOT_ASKED).height:
        raise ProtocolError(
            f"{root}: {n_open} responses are not there yet",
            hint="finish the run with 'careeval run --resume', then grade it",
        )
    bank = load_bank(folder, split_key(row["split"]), probes=False)
    asked = [bank.scenario(scenario) for scenario in runs.responses["scenario"].unique()]
    then, now = row["bank_hash"], content_hash(asked)
    if (row["bank"], then) != (bank.about.name, now):
        raise ProtocolError(
            f"{root} was made with bank {row['bank']} {row['bank_version']} ({then}), "
            f"and this is {bank.about.name} {bank.about.version} ({now})",
            hint="give the bank that it was made with: --bank DIR",
        )
    return runs
