"""An entry: one system as one grader judged it. Every number of theirs is computed from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric
from careeval.results.estimates import GradedRubric
from careeval.results.points import graded_scenarios
from careeval.results.tables import Runs


@dataclass(frozen=True, eq=False)
class Entry:
    """One system as one grader judged it.

    Attributes:
        model: Name of the system.
        grader: Name of the grader, with its mode and the hash of its prompt.
        responses: Of the system, columns `careeval.results.tables.RESPONSES`, one row at least.
        judgments: By this grader, all gradings, columns `careeval.results.tables.JUDGMENTS`.
        first: Those of one grading of each response that is there, on each rubric: what counts.
            It is the earliest in which any judgment could be made, or else the earliest.
        n_epochs: Responses asked for a scenario.
        ladder: The paper's instrument, as `first` has it.
        actions: The second instrument.
    """

    model: str
    grader: str
    responses: pl.DataFrame
    judgments: pl.DataFrame
    first: pl.DataFrame
    n_epochs: int
    ladder: GradedRubric
    actions: GradedRubric

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
    def mixed(self) -> dict[str, list[str]]:
        """Where the responses are not of one bank and one protocol: what differs → its names.

        Empty as it should be: such a run's numbers are over two things at once.
        """
        columns = {"banks": "bank", "versions of the bank": "bank_version",
                   "versions of the protocol": "protocol"}  # fmt: skip
        found = {
            what: sorted(self.responses[name].drop_nulls().unique())
            for what, name in columns.items()
        }
        return {what: names for what, names in found.items() if len(names) > 1}

    def rubric(self, rubric: Rubric) -> GradedRubric:
        """One of its two rubrics."""
        return self.ladder if rubric is Rubric.ladder else self.actions


def entries(runs: Runs) -> Iterator[Entry]:
    """An entry for each (system, grader), in the order of their names; none without judgments."""
    by_grader = runs.judgments.partition_by("system", "grader", as_dict=True)
    by_system = runs.responses.sort("scenario", "epoch").partition_by("system", as_dict=True)
    for system, grader in sorted(by_grader):
        yield _entry(system, grader, by_system[system,], by_grader[system, grader])


def _entry(system: str, grader: str, responses: pl.DataFrame, judgments: pl.DataFrame) -> Entry:
    there = responses.filter(pl.col("state") != ResponseState.missing)
    # of each response and rubric: a part may have been graded first, or one rubric later
    of_one = ("scenario", "epoch", "rubric")
    earliest = pl.col("grading").min().over(of_one)
    # a grading that failed altogether must not stand for ever before one that did not
    made = pl.when(pl.col("present").is_not_null()).then(pl.col("grading")).min().over(of_one)
    is_first = pl.col("grading") == pl.coalesce(made, earliest)
    first = judgments.filter(is_first).join(there, on=["scenario", "epoch"], how="semi")
    n_epochs = max(responses["epoch"].to_list())
    ladder, actions = (
        GradedRubric(graded_scenarios(responses, first, rubric), n_epochs)
        for rubric in (Rubric.ladder, Rubric.actions)
    )
    return Entry(system, grader, responses, judgments, first, n_epochs, ladder, actions)
