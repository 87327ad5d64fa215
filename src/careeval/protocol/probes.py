"""The probes of a bank, put to a grader as recorded answers: epoch k is a scenario's k-th probe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from careeval.bank import Bank
from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Rubric
from careeval.errors import ProtocolError
from careeval.protocol.lexical import judgments
from careeval.protocol.logs import read_run
from careeval.protocol.run import begin_recorded, folder_name
from careeval.results.probes import Labelled, ProbeAgreement, labelled

SYSTEM = "probes"


def audit_probes(bank: Bank, grader: str, folder: Path, task: dict[str, object]) -> ProbeAgreement:
    """Have a grader judge every probe of a bank, and hold its judgments against the labels.

    Args:
        bank: Whose probes.
        grader: Inspect's name of the grader.
        folder: Where the logs go; the next free `<grader>-<n>` below it.
        task: Arguments of the task: the bank's folder, the rubric, how the grader is asked.

    Raises:
        ProtocolError: The bank has no probes, or the grading did not finish.
    """
    responses = [
        Response(scenario, epoch, probe.text, ResponseState.answered)
        for scenario, probes in bank.probes.items()
        for epoch, probe in enumerate(probes, start=1)
    ]
    if not responses:
        raise ProtocolError(f"bank {bank.about.name!r} has no probes")
    n = 1
    while (free := folder / f"{folder_name(grader)}-{n}").exists():
        n += 1
    outcome = begin_recorded(free, SYSTEM, responses, grader, task)
    if not outcome.complete:
        raise ProtocolError(
            f"{outcome.n_failed} probes could not be graded",
            hint=f"finish with 'careeval run --resume -o {free}'",
        )
    return ProbeAgreement.of(labelled(read_run(free).judgments, bank.probes))


def lexical_agreement(bank: Bank) -> ProbeAgreement:
    """How the lexical grader does on a bank's probes: computed at once, since it costs nothing."""
    return ProbeAgreement.of(_lexical_judgments(bank))


def _lexical_judgments(bank: Bank) -> Iterator[Labelled]:
    for scenario_id, probes in bank.probes.items():
        for rubric in Rubric:
            items = bank.scenario(scenario_id).rubric(rubric)
            for probe in probes:
                found = judgments(probe.text, [item.text for item in items])
                for item, judged in zip(items, found, strict=True):
                    yield Labelled(
                        rubric, item.points, probe.trap, probe.labels[item.id], judged["present"]
                    )
