"""Grading stored responses again: they are recorded answers, and go the way that those go.

A drawn part of them, graded a few times more, shows how far a grader agrees with itself, at a
fraction of the cost of grading all.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from careeval.bank import bank_folder, bank_mode, load_bank
from careeval.bank.sealed import split_key
from careeval.core.grader import Grader
from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Rubric, Scenario
from careeval.errors import LogError, ProtocolError
from careeval.modes import Mode
from careeval.protocol.logs.eval_file import read_log
from careeval.protocol.runs.folder import forget, grading_folder, recorded
from careeval.protocol.runs.setup import broken_off, prepare_together
from careeval.protocol.runs.spec import Run
from careeval.protocol.runs.sweep_cells import refuse_sweep
from careeval.protocol.select import rubrics_graded, selection_hashes
from careeval.protocol.tables.run_tables import read_run, responses_of, run_roots
from careeval.results.tables import NOT_ASKED, Runs


@dataclass(frozen=True, slots=True)
class Part:
    """What is graded again, and how often.

    Attributes:
        share: Of the responses to each scenario, above 0, at most 1.
        times: Gradings, each of the same responses.
        seed: Of the drawing. The same seed draws the same responses of a run again.

    Raises:
        ProtocolError: There is no such part, or nothing to do.
    """

    share: float = 1.0
    times: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ProtocolError(
                f"there is no part {self.share:g} of the responses",
                hint="give a fraction: --part 0.2 is one in five, --part 1 is all",
            )
        if self.times < 1:
            raise ProtocolError(f"graded {self.times} times is nothing to do", hint="use 1 or more")

    def of(self, responses: Sequence[Response]) -> list[Response]:
        """The part of one run's responses, in their order; all of them where the share is 1.

        Of each scenario `round(share × epochs)` are drawn, and at least one. They are drawn from
        those with words, since nothing else is put to a grader: where fewer have words, all of
        those are taken.
        """
        if self.share == 1:
            return list(responses)
        n_drawn = max(1, round(self.share * max(response.epoch for response in responses)))
        with_words = defaultdict(list)
        for response in responses:
            if response.state is ResponseState.answered:
                with_words[response.scenario].append(response.epoch)
        drawn = {
            (scenario, epoch)
            for scenario, epochs in with_words.items()
            for epoch in random.Random(f"{self.seed}:{scenario}").sample(
                epochs, min(n_drawn, len(epochs))
            )
        }
        return [r for r in responses if (r.scenario, r.epoch) in drawn]


def prepare_regrading(
    folder: Path, bank: Path | None, like: Run, part: Part = Part()
) -> list[Path]:
    """Set up gradings of the responses of every run in a folder; the new folders come back.

    Each grading judges one rubric: the one that the task of `like` names, else that of the run if
    it was graded on one alone, else the actions, or the ladder where there are no actions.

    Each shows the items in an order of its own: the seed of the order is that of `like`, and one
    more for each grading that the grader has made of the run's rubric. The order is the grader's
    noise as much as its changes of mind are.

    Args:
        folder: What `careeval run -o` wrote to.
        bank: Folder of the bank that the runs were made with; careeval's own if `None`.
        like: How to grade: its grader, its arguments of the task, its prices and its budget.
        part: What is graded, and how often.

    Raises:
        ProtocolError: There is no run, one of them has not come to all its responses or has none
            with words, its scenarios are not what the bank holds now, or they have no such rubric.
    """
    refuse_sweep(folder)
    if any(broken_off(folder)):
        raise ProtocolError(
            f"{folder}: the set-up of several runs was broken off there",
            hint=f"finish it with 'careeval run --resume -o {folder}', then grade",
        )
    roots = run_roots(folder)
    if not roots:
        raise ProtocolError(
            f"{folder} holds no run", hint="name the folder that 'careeval run -o' wrote to"
        )
    assert like.grader is not None
    # all of them, before the first folder is made
    mode = bank_mode(bank)
    checked = [(root, *_checked(root, bank)) for root in roots]
    planned = [
        (root, runs, _rubric(runs, scenarios, mode, like), _drawn(root, runs, part))
        for root, runs, scenarios in checked
    ]
    prepared: dict[Path, Run] = {}
    try:
        for root, runs, rubric, drawn in planned:
            n_before = _n_gradings(runs, like.grader, rubric)
            for n in range(part.times):
                grading = replace(
                    like,
                    system=runs.responses["system"][0],
                    task=like.task
                    | {
                        "bank": str(bank_folder(bank).resolve()) if bank else None,
                        "split": runs.responses["split"][0] or "public",
                        "rubric": rubric.value,
                        "grade_seed": like.task.get("grade_seed", 0) + n_before + n,
                    },
                )
                below = grading_folder(root, like.grader, rubric)
                prepared[below] = recorded(below, drawn, grading)
    except Exception:
        for below in prepared:
            forget(below)
        raise
    return prepare_together(folder, prepared)


def _drawn(root: Path, runs: Runs, part: Part) -> list[Response]:
    drawn = part.of(responses_of(runs))
    if not drawn:
        raise ProtocolError(f"{root}: no response has words, so there is nothing to grade")
    return drawn


def _rubric(runs: Runs, scenarios: Sequence[Scenario], mode: Mode, like: Run) -> Rubric:
    """The rubric that a grading of a run judges."""
    graded = runs.judgments["rubric"].unique().to_list()
    of_run = graded[0] if len(graded) == 1 else None
    (rubric,) = rubrics_graded(like.task.get("rubric") or of_run, scenarios, mode)
    return rubric


def _n_gradings(runs: Runs, grader: str, rubric: Rubric) -> int:
    """How often a grader has graded a run's rubric, in whichever mode it did so most often."""
    names = [n for n in runs.judgments["grader"].unique() if Grader.parse(n).model == grader]
    its = runs.judgments.filter(pl.col("grader").is_in(names), pl.col("rubric") == rubric.value)
    return max(its["grading"].to_list(), default=0)


def _twins_changed(root: Path, now: str | None) -> tuple[str, str] | None:
    """The hashes of the twins of a run then and now, where they differ."""
    for path in sorted(root.glob("*.eval")):
        try:
            then = read_log(path).header.about.twins_hash
        except LogError:
            continue
        if then != now:
            return str(then), str(now)
    return None


def _checked(root: Path, folder: Path | None) -> tuple[Runs, list[Scenario]]:
    """The run in a folder with its scenarios, if it is complete and was made with this bank."""
    runs = read_run(root)
    row = runs.responses.row(0, named=True)
    if n_open := runs.responses.filter(pl.col("note") == NOT_ASKED).height:
        raise ProtocolError(
            f"{root}: {n_open} responses are not there yet",
            hint="finish the run with 'careeval run --resume', then grade it",
        )
    bank = load_bank(folder, split_key(row["split"]), probes=False)
    asked = [bank.scenario(scenario) for scenario in runs.responses["scenario"].unique()]
    hashes = selection_hashes(asked)
    then, now = row["bank_hash"], hashes["bank_hash"]
    if then == now and (changed := _twins_changed(root, hashes.get("twins_hash"))):
        then, now = changed
    if (row["bank"], then) != (bank.about.name, now):
        raise ProtocolError(
            f"{root} was made with bank {row['bank']} {row['bank_version']} ({then}), "
            f"and this is {bank.about.name} {bank.about.version} ({now})",
            hint="give the bank that it was made with: --bank DIR",
        )
    return runs, asked
