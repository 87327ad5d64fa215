"""Checking a grader on the labelled probes of a bank.

The probes are graded as recorded responses, with the k-th probe of a scenario as its epoch k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from careeval.bank import Bank
from careeval.core.response import Grader, Response, ResponseState
from careeval.core.scenario import READ_RUBRICS
from careeval.errors import ProtocolError
from careeval.modes.response.lexical import THRESHOLD, coverage
from careeval.protocol.run import PROBES, Run, folder_name
from careeval.protocol.run_folder import is_complete, read_run_file, run_folders
from careeval.protocol.run_setup import prepare_recorded
from careeval.protocol.selection import rubric_graded
from careeval.protocol.tables import read_run
from careeval.results.probe_check import (
    LabelledJudgment,
    ProbeAgreement,
    ProbeTrial,
    labelled_judgments,
)
from careeval.results.summary import grading_cost


def prepare_probes(bank: Bank, root: Path, run: Run) -> Path:
    """Set up a grading of every probe of a bank by the grader of a run; return its folder.

    The folder is the next free `<grader>-<rubric>-<n>` below `root`.

    Raises:
        ProtocolError: The bank has no probes, or none of its probed scenarios has the rubric.
    """
    responses = [
        Response(scenario, epoch, probe.text, ResponseState.answered)
        for scenario, probes in bank.probes.items()
        for epoch, probe in enumerate(probes, start=1)
    ]
    if not responses:
        raise ProtocolError(
            f"bank {bank.about.name!r} has no probes",
            hint="give a bank with probes; careeval's own has some",
        )
    probed = [bank.scenario(scenario) for scenario in bank.probes]
    rubric = rubric_graded(run.task.get("rubric"), probed, bank.mode)
    n = 1
    while (free := root / f"{folder_name(run.grader or '')}-{rubric}-{n}").exists():
        n += 1
    return prepare_recorded(free, responses, replace(run, system=PROBES))


def unfinished_probe_check(root: Path, run: Run) -> Path | None:
    """Return the newest unfinished probe check below `root` with the same settings as `run`."""
    wanted = (run.grader, run.task, run.protocol, PROBES)
    for folder in sorted(run_folders(root), key=lambda each: each.stat().st_mtime, reverse=True):
        other = read_run_file(folder)
        task = {name: other.task.get(name) for name in run.task}
        is_same = (other.grader, task, other.protocol, other.system) == wanted
        if is_same and not is_complete(folder):
            return folder
    return None


def read_agreement(bank: Bank, folder: Path) -> ProbeAgreement:
    """Return how far a finished grading of a bank's probes agrees with their labels."""
    return ProbeAgreement.of(
        labelled_judgments(read_run(folder).judgments, bank.probes, bank.pair_of)
    )


def read_trial(bank: Bank, folder: Path) -> ProbeTrial:
    """Return a finished probe check: the grader's name in tables, its agreement, cost and time.

    Raises:
        ProtocolError: No probe was judged.
    """
    judgments = read_run(folder).judgments
    if judgments.is_empty():
        raise ProtocolError(
            f"{folder}: no probe was judged",
            hint="check the grader again: careeval audit probes",
        )
    seconds = judgments["seconds"]
    return ProbeTrial(
        grader=Grader(judgments["grader"][0]),
        agreement=ProbeAgreement.of(labelled_judgments(judgments, bank.probes, bank.pair_of)),
        cost=grading_cost(judgments),
        seconds=None if seconds.null_count() else float(seconds.sum()),
    )


def lexical_agreement(bank: Bank) -> ProbeAgreement:
    """Return how far the lexical grader agrees with the labels of a bank's probes.

    The agreement is computed without a run, since the lexical grader makes no calls.
    """
    return ProbeAgreement.of(_lexical_judgments(bank))


def _lexical_judgments(bank: Bank) -> Iterator[LabelledJudgment]:
    for scenario_id, probes in bank.probes.items():
        for rubric in READ_RUBRICS:
            items = bank.scenario(scenario_id).rubric(rubric)
            for place, probe in enumerate(probes, start=1):
                shares = coverage(probe.text, [item.text for item in items])
                for item, share in zip(items, shares, strict=True):
                    label, present = probe.labels[item.id], share >= THRESHOLD
                    yield LabelledJudgment(
                        rubric, item.points, probe.trap, label, present, scenario_id, place,
                        bank.pair_of(scenario_id, item.id),
                    )  # fmt: skip
