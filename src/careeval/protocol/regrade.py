"""Grading stored responses again: they are recorded answers, and go the way that those go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from careeval.bank import content_hash, load_bank
from careeval.errors import ProtocolError
from careeval.protocol.logs import NOT_ASKED, read_run, responses_of, run_roots
from careeval.protocol.run import Outcome, grade_again


def regrade(folder: Path, grader: str, bank: Path | None, grading: dict[str, Any]) -> list[Outcome]:
    """Have a grader judge the responses of every run in a folder.

    Args:
        folder: What `careeval run -o` wrote to.
        grader: Inspect's name of the grader.
        bank: Folder of the bank that the runs were made with; careeval's own if `None`.
        grading: Arguments of the task that say how the grader is asked.

    Raises:
        ProtocolError: There is no run, one of them has not come to all its responses, or its
            scenarios are not what the bank holds now.
    """
    roots = run_roots(folder)
    if not roots:
        raise ProtocolError(
            f"{folder} holds no run", hint="name the folder that 'careeval run -o' wrote to"
        )
    loaded = load_bank(bank)
    outcomes = []
    for root in roots:
        runs = read_run(root)
        row = runs.responses.row(0, named=True)
        if n_open := runs.responses.filter(pl.col("note") == NOT_ASKED).height:
            raise ProtocolError(
                f"{root}: {n_open} responses are not there yet",
                hint="finish the run with 'careeval run --resume', then grade it",
            )
        asked = [loaded.scenario(scenario) for scenario in runs.responses["scenario"].unique()]
        then, now = row["bank_hash"], content_hash(asked)
        if (row["bank"], then) != (loaded.about.name, now):
            raise ProtocolError(
                f"{root} was made with bank {row['bank']} {row['bank_version']} ({then}), "
                f"and this is {loaded.about.name} {loaded.about.version} ({now})",
                hint="give the bank that it was made with: --bank DIR",
            )
        task = {
            **grading,
            "bank": str(bank.resolve()) if bank else None,
            "split": row["split"] or "public",
        }
        outcomes.append(grade_again(root, row["system"], responses_of(runs), grader, task))
    return outcomes
