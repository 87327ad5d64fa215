"""Graders' agreement with labelled probes and with people's labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from careeval.bank.load import OWN_BANKS, OWN_NAME, Bank, load_bank
from careeval.core.rating import Label
from careeval.core.response import Grader
from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.people.audit.results import audit_results
from careeval.people.audit.sample import AuditSample
from careeval.protocol.regrade import lexical_agreement, read_agreement
from careeval.protocol.run_folder import is_complete, is_probe_check, run_folders
from careeval.protocol.tables import read_run
from careeval.results.entries import entries
from careeval.results.grader_accuracy import PeopleAudit
from careeval.results.probe_check import LabelledJudgment, ProbeAgreement
from careeval.results.tables import Runs


def probe_agreement(
    runs: Runs, bank: Bank | None, audits: Path | None
) -> dict[str, ProbeAgreement]:
    """Return grader, as `runs` name it → its agreement with a bank's probes.

    The lexical grader is checked anew, since that costs nothing, on the bank, or else on careeval's
    own banks that it judged. For any other grader the newest finished check on each rubric is read.

    Args:
        runs: Runs that the graders judged.
        bank: Bank that has the probes; `None` for careeval's own that the runs are of.
        audits: Folder that `careeval audit probes -o` wrote; `None` for the lexical grader alone.

    Raises:
        UsageError: There is no finished check over this bank, or no check of a grader of these
            runs.
    """
    graders = runs.judgments["grader"].unique().sort().to_list()
    agreement = {name: a for name in graders if (a := _lexical(name, runs, bank))}
    if not audits:
        return agreement
    own = _own_banks(runs)
    stored = bank or (own[0] if len(own) == 1 else load_bank())
    return agreement | _stored_agreement(graders, stored, audits)


def _lexical(grader: str, runs: Runs, bank: Bank | None) -> ProbeAgreement | None:
    """Return the agreement of the lexical grader; `None` for others, or without a bank."""
    if not Grader(grader).is_lexical:
        return None
    if bank is not None:
        return lexical_agreement(bank)
    checks = [lexical_agreement(each) for each in _own_banks(runs, grader)]
    return ProbeAgreement.of(j for check in checks for j in check.judgments) if checks else None


def _own_banks(runs: Runs, grader: str | None = None) -> list[Bank]:
    """Return the banks of these runs, or of what a grader judged, that ship with careeval."""
    responses = runs.responses
    if grader is not None:
        judged = runs.judgments.filter(grader=grader).select("system", "scenario", "epoch").unique()
        responses = responses.join(judged, on=judged.columns, how="semi")
    versions = responses.filter(bank=OWN_NAME)["bank_version"].drop_nulls().unique()
    numbers = sorted({version.partition("-")[0] for version in versions} & OWN_BANKS.keys())
    return [load_bank(OWN_BANKS[number]) for number in numbers]


def people_audits(
    runs: Runs, audits: Iterable[tuple[Path, AuditSample, Sequence[Label]]]
) -> dict[str, PeopleAudit]:
    """Return grader, as `runs` name it → the results of people's audit of it.

    Args:
        runs: Runs that the graders judged.
        audits: The file, the sample and the labels of each audit.

    Raises:
        UsageError: An audit is of a grader that judged none of these runs, or of responses to other
            scenarios.
    """
    graders = set(runs.judgments["grader"])
    results: dict[str, PeopleAudit] = {}
    for path, sample, labels in audits:
        if sample.grader not in graders:
            raise UsageError(
                f"{path} has labels for the grader {sample.grader}, "
                f"but these runs were judged by {', '.join(sorted(graders))}",
                hint="give an audit of their grader, in the same mode and with the same prompt",
            )
        hidden = sample.hidden
        if not set(hidden.bank_hashes) & set(runs.responses["bank_hash"]):
            raise UsageError(
                f"{path} has labels for responses to other scenarios: "
                f"none of these runs used its bank, {hidden.bank} {hidden.bank_version}",
                hint="draw judgments from these runs with careeval audit sample",
            )
        results[sample.grader] = audit_results(sample, labels, entries(runs))
    return results


def _stored_agreement(graders: list[str], bank: Bank, root: Path) -> dict[str, ProbeAgreement]:
    audits = [folder for folder in run_folders(root) if is_probe_check(folder)]
    finished = [folder for folder in audits if is_complete(folder)]
    if not finished:
        missing = "no finished audit of a grader" if audits else "no audit of a grader"
        raise UsageError(
            f"{root} has {missing}", hint=f"careeval audit probes --grader NAME -o {root}"
        )
    by_grader: dict[str, dict[Rubric, list[LabelledJudgment]]] = {}
    others: set[str] = set()
    # by the logs' date: a copy of a folder has a date of its own
    by_date = sorted(
        ((read_run(folder), folder) for folder in finished),
        key=lambda each: (each[0].responses["created"].max(), each[1].stat().st_mtime_ns),
    )
    for audit, folder in by_date:
        if set(audit.responses["bank"]) != {bank.about.name}:
            raise UsageError(
                f"{folder} is an audit over another bank than {bank.about.name}",
                hint="name the audit's bank with --bank",
            )
        audited = audit.judgments["grader"].unique().to_list()
        if matching := set(audited) & set(graders):
            judgments = _agreement(bank, folder).judgments
            for rubric in {judgment.rubric for judgment in judgments}:
                of_rubric = [judgment for judgment in judgments if judgment.rubric is rubric]
                for name in matching:
                    by_grader.setdefault(name, {})[rubric] = of_rubric
        others |= set(audited) - matching
    if not by_grader:
        raise UsageError(
            f"{root} has audits of {', '.join(sorted(others))}, "
            f"but these runs were judged by {', '.join(graders)}",
            hint="give an audit of their grader, in the same mode and with the same prompt",
        )
    return {
        name: ProbeAgreement.of(each for rubric in Rubric for each in rubrics.get(rubric, ()))
        for name, rubrics in by_grader.items()
    }


def _agreement(bank: Bank, folder: Path) -> ProbeAgreement:
    try:
        return read_agreement(bank, folder)
    except (KeyError, IndexError) as error:
        raise UsageError(
            f"{folder} used other probes than bank {bank.about.name} has: it lacks {error}",
            hint="repeat the audit: careeval audit probes --grader NAME -o FOLDER",
        ) from error
