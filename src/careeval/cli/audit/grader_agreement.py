"""How far graders agree with labelled probes, read from where they were tried on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from careeval.bank.load import Bank
from careeval.core.grader import Grader
from careeval.core.scenario import Rubric
from careeval.errors import UsageError
from careeval.protocol.probe_check import lexical_agreement, read_agreement
from careeval.protocol.runs.folder import is_complete, is_probe_check, run_folders
from careeval.protocol.tables.run_tables import read_run
from careeval.results.tables import Runs
from careeval.results.trust.audit.results import AuditResults, audit_results
from careeval.results.trust.probe_check import LabelledJudgment, ProbeAgreement


def probe_agreement(runs: Runs, bank: Bank, audits: Path | None) -> dict[str, ProbeAgreement]:
    """Grader, as `runs` name it → its agreement with a bank's probes.

    The lexical grader is tried at once, since that costs nothing; any other where it was audited,
    on each rubric the newest finished audit of it.

    Args:
        runs: Whose graders.
        bank: Whose probes.
        audits: What `careeval audit probes -o` wrote to; `None` where there is none.

    Raises:
        UsageError: There is no finished audit over this bank, or none of a grader of these runs.
    """
    graders = runs.judgments["grader"].unique().sort().to_list()
    found = {name: lexical_agreement(bank) for name in graders if Grader.parse(name).is_lexical}
    return found | (_audited(graders, bank, audits) if audits else {})


def people_say(runs: Runs, audits: Sequence[Path]) -> dict[str, AuditResults]:
    """Grader, as `runs` name it → what people who read its judgments say of it.

    Args:
        runs: Whose graders.
        audits: What `careeval audit new -o` wrote to, a file each.

    Raises:
        UsageError: One is no audit, of a grader that judged none of these runs, or of responses to
            other scenarios.
    """
    if not audits:
        return {}
    # what serves pages is not loaded where nobody asks for it
    from careeval.cli.audit.labelling import labelled

    graders = set(runs.judgments["grader"])
    found: dict[str, AuditResults] = {}
    for path in audits:
        sample, labels = labelled(path)
        if sample.grader not in graders:
            raise UsageError(
                f"{path} is about {sample.grader}, "
                f"and these runs were judged by {', '.join(sorted(graders))}",
                hint="grader, mode and prompt must be the same",
            )
        of = sample.hidden
        if not set(of.bank_hashes) & set(runs.responses["bank_hash"]):
            raise UsageError(
                f"{path} is about responses to other scenarios: bank {of.bank} {of.bank_version}, "
                "and none of these runs took the same",
                hint="draw judgments from these runs: careeval audit sample",
            )
        found[sample.grader] = audit_results(sample, labels)
    return found


def _audited(graders: list[str], bank: Bank, root: Path) -> dict[str, ProbeAgreement]:
    begun = [folder for folder in run_folders(root) if is_probe_check(folder)]
    finished = [folder for folder in begun if is_complete(folder)]
    if not finished:
        what = "no finished audit of a grader" if begun else "no audit of a grader"
        raise UsageError(
            f"{root} holds {what}", hint=f"careeval audit probes --grader NAME -o {root}"
        )
    tried: dict[str, dict[Rubric, list[LabelledJudgment]]] = {}
    others: set[str] = set()
    for folder in sorted(finished, key=lambda each: each.stat().st_mtime):
        audit = read_run(folder)
        if set(audit.responses["bank"]) != {bank.about.name}:
            raise UsageError(
                f"{folder}: it is not an audit over bank {bank.about.name}",
                hint="name the audit's bank with --bank",
            )
        named = audit.judgments["grader"].unique().to_list()
        if fitting := set(named) & set(graders):
            judgments = _agreement(bank, folder).judgments
            for rubric in {judged.rubric for judged in judgments}:
                of_rubric = [judged for judged in judgments if judged.rubric is rubric]
                for name in fitting:
                    tried.setdefault(name, {})[rubric] = of_rubric
        others |= set(named) - fitting
    if not tried:
        raise UsageError(
            f"{root} is about {', '.join(sorted(others))}, "
            f"and these runs were judged by {', '.join(graders)}",
            hint="grader, mode and prompt must be the same",
        )
    return {
        name: ProbeAgreement.of(judged for rubric in Rubric for judged in rubrics.get(rubric, ()))
        for name, rubrics in tried.items()
    }


def _agreement(bank: Bank, folder: Path) -> ProbeAgreement:
    try:
        return read_agreement(bank, folder)
    except (KeyError, IndexError) as error:
        raise UsageError(
            f"{folder} was tried on other probes than bank {bank.about.name} has: no {error}",
            hint="careeval audit probes --grader NAME -o FOLDER tries them again",
        ) from error
