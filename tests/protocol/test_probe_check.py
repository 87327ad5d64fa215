"""The probes of a bank as a grader's exam."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from careeval.bank import Bank, load_bank
from careeval.core.response import LEXICAL
from careeval.core.scenario import READ_RUBRICS
from careeval.errors import CareEvalError, LogError, ProtocolError
from careeval.protocol.evaluate import resume
from careeval.protocol.regrade import (
    lexical_agreement,
    prepare_probes,
    read_agreement,
    read_trial,
    unfinished_probe_check,
)
from careeval.protocol.run import Run
from careeval.protocol.run_folder import amend_run
from careeval.protocol.tables import read_runs
from careeval.results.probe_check import LabelCounts, ProbeAgreement
from support.fakes import Call, Fake, keyword_grader, write_bank


def audit_probes(bank: Bank, grader: str, root: Path, task: dict[str, object]) -> ProbeAgreement:
    """Put the probes to a grader in this process."""
    folder = prepare_probes(bank, root, Run("", None, grader, 1, task))
    resume(folder)
    return read_agreement(bank, folder)


def test_worked_example(bank: Path, tmp_path: Path) -> None:
    """A grader that looks for an item's last word is right on every label of the small bank."""
    # 2 scenarios × 2 probes × 3 actions = 12 labels. Present: "asks" in the one probe, "pulls" in
    # the other: 2 a scenario.
    grader = Fake("examined", keyword_grader)
    found = audit_probes(load_bank(bank), grader.model, tmp_path, {"bank": str(bank)})
    assert found.overall == LabelCounts(found=4, missed=0, invented=0, cleared=8, unresolved=0)
    assert found.by_trap["harmful"].found == 2
    assert len(grader.calls) == 4


def test_the_lexical_grader_is_the_same_by_both_ways(bank: Path, tmp_path: Path) -> None:
    """Put through Inspect or computed at once, the lexical grader agrees with as many labels."""
    loaded = load_bank(bank)
    tasks = [{"bank": str(bank), "rubric": rubric.value} for rubric in READ_RUBRICS]
    audits = [audit_probes(loaded, LEXICAL, tmp_path, task) for task in tasks]
    by_log = ProbeAgreement.of([judged for audit in audits for judged in audit.judgments])
    at_once = lexical_agreement(loaded)
    assert (by_log.by_points, by_log.by_trap) == (at_once.by_points, at_once.by_trap)
    assert {j.scenario for j in by_log.judgments} == {j.scenario for j in at_once.judgments}
    assert by_log.overall.n == 24
    assert by_log.overall.unresolved == 0


def test_a_trial_tells_what_it_took(bank: Path, tmp_path: Path) -> None:
    """A grader without a price cost an unknown amount, never 0; its calls took what they took."""
    loaded = load_bank(bank)
    model = Fake("priceless", keyword_grader).model
    folder = prepare_probes(loaded, tmp_path, Run("", None, model, 1, {"bank": str(bank)}))
    resume(folder)
    found = read_trial(loaded, folder)
    assert found.grader.startswith("fake/priceless (batched")
    assert (found.cost.value, found.cost.n, found.cost.n_unknown) == (None, 4, 4)
    assert found.seconds is not None
    assert found.seconds > 0
    assert found.agreement.overall.n == 12


def test_a_trial_without_a_judgment(bank: Path, tmp_path: Path) -> None:
    """A folder in which nothing has been judged yet is no trial."""
    loaded = load_bank(bank)
    folder = prepare_probes(loaded, tmp_path, Run("", None, LEXICAL, 1, {"bank": str(bank)}))
    with pytest.raises(CareEvalError):
        read_trial(loaded, folder)


def test_each_audit_has_a_folder_of_its_own(bank: Path, tmp_path: Path) -> None:
    """A second audit by the same grader lies beside the first."""
    for _ in range(2):
        audit_probes(load_bank(bank), LEXICAL, tmp_path, {"bank": str(bank), "rubric": "ladder"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "careeval-lexical-ladder-1",
        "careeval-lexical-ladder-2",
    ]


def test_an_audit_of_protocol_1_is_not_gone_on_with(bank: Path, tmp_path: Path) -> None:
    """An audit that is not complete is gone on with by its like, which is of the same protocol."""
    run = Run("", None, LEXICAL, 1, {"bank": str(bank), "rubric": "actions"})
    folder = prepare_probes(load_bank(bank), tmp_path, run)
    assert unfinished_probe_check(tmp_path, run) == folder
    assert (
        unfinished_probe_check(tmp_path, replace(run, task={**run.task, "rubric": "ladder"}))
        is None
    )
    amend_run(folder, protocol="1-A")
    assert unfinished_probe_check(tmp_path, run) is None


def test_an_audit_that_breaks_off(bank: Path, tmp_path: Path) -> None:
    """Probes that a grader failed on are unresolved, not absent, until the audit is resumed."""
    down = True

    def failing(call: Call) -> str:
        if down and "cuff" in call.request.partition("The items:")[0]:
            raise ConnectionError("down")
        return keyword_grader(call)

    loaded = load_bank(bank)
    model = Fake("breaks-off", failing).model
    folder = prepare_probes(loaded, tmp_path, Run("", None, model, 1, {"bank": str(bank)}))
    assert resume(folder).n_failed == 2
    assert read_agreement(loaded, folder).overall.unresolved == 6
    down = False
    assert resume(folder).complete
    assert read_agreement(loaded, folder).overall.unresolved == 0


def test_a_bank_without_probes(tmp_path: Path) -> None:
    """A bank that has no probes cannot examine anybody."""
    folder = write_bank(tmp_path / "bank", ["eating-001"])
    (folder / "eating" / "eating-001.probes.yaml").write_text(
        json.dumps({"probes": []}), encoding="utf-8"
    )
    with pytest.raises(ProtocolError, match="bank 'small' has no probes"):
        audit_probes(load_bank(folder), LEXICAL, tmp_path, {"bank": str(folder)})


def test_an_audit_is_no_run(bank: Path, tmp_path: Path) -> None:
    """An audit on the probes is not read as the run of a system called probes."""
    audit_probes(load_bank(bank), LEXICAL, tmp_path / "audit", {"bank": str(bank)})
    with pytest.raises(LogError, match="probe check of a grader"):
        read_runs(tmp_path)
