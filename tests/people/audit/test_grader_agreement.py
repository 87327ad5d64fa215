"""Graders' agreement with probes, and the prompts that they were sent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from zipfile import ZipFile

from careeval.bank import load_bank
from careeval.bank.load import OWN_BANK
from careeval.cli.export import _grader_prompts
from careeval.core.response import Response, ResponseState
from careeval.core.scenario import READ_RUBRICS
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from careeval.people.audit.grader_agreement import probe_agreement
from careeval.protocol.evaluate import resume
from careeval.protocol.regrade import lexical_agreement, prepare_probes
from careeval.protocol.run import Run
from careeval.protocol.run_setup import prepare_recorded
from careeval.protocol.tables import read_runs
from support.fake_server import judgments
from support.fakes import Fake, keyword_grader, write_bank


def test_audits_of_both_rubrics_are_one_agreement(tmp_path: Path) -> None:
    """A grader tried on actions and on the ladder has both; of one rubric, the newest audit."""
    folder = write_bank(tmp_path / "bank")
    bank, task = load_bank(folder), {"bank": str(folder)}
    grader = Fake("tried", lambda _: judgments([False] * 3))
    run = Run("by-hand", None, grader.model, 1, task)
    answers = [Response("eating-001", 1, "I wait.", ResponseState.answered)]
    resume(prepare_recorded(tmp_path / "runs" / "by-hand", answers, run))

    def tried(rubric: str) -> None:
        about = Run("", None, grader.model, 1, {**task, "rubric": rubric})
        resume(prepare_probes(bank, tmp_path / "audits", about))

    tried("actions")
    grader.script = keyword_grader
    tried("ladder")
    tried("actions")
    # a copy of the first has a newer folder, but no newer date
    (first,) = (tmp_path / "audits").glob("*-actions-1")
    _date_back(first)
    os.utime(first)
    (found,) = probe_agreement(read_runs(tmp_path / "runs"), bank, tmp_path / "audits").values()
    assert {judged.rubric for judged in found.judgments} == set(READ_RUBRICS)
    # the first audit of the actions, which found nothing, does not count
    assert (found.overall.n, found.overall.missed) == (24, 0)


def _date_back(folder: Path) -> None:
    """Give the logs of a run another day, an earlier one."""
    for log in folder.rglob("*.eval"):
        edited = log.with_suffix(".new")
        with ZipFile(log) as before, ZipFile(edited, "w") as after:
            for name in before.namelist():
                text = before.read(name)
                if name in {"header.json", "_journal/start.json"}:
                    header = json.loads(text)
                    header["eval"]["created"] = "2020-01-01T00:00:00+00:00"
                    text = json.dumps(header).encode()
                after.writestr(name, text)
        edited.replace(log)


def test_the_lexical_grader_is_checked_on_the_bank_of_its_runs(tmp_path: Path) -> None:
    """Without a bank its agreement is that on careeval's own bank, which was asked."""
    bank = load_bank()
    answer = Response(bank.scenarios[0].id, 1, "I wait.", ResponseState.answered)
    run = Run("by-hand", None, "careeval/lexical", 1, {"bank": str(OWN_BANK)})
    resume(prepare_recorded(tmp_path / "run", [answer], run))
    (agreement,) = probe_agreement(read_runs(tmp_path / "run"), None, None).values()
    assert agreement.sentence() == lexical_agreement(bank).sentence()


def test_prompts_of_graders() -> None:
    """Prompts are found for graders that were asked with them, and not for other graders."""
    prompts = load_prompts(RESPONSE)
    name = f"openai/x (batched, prompt {prompts.grade_hash})"
    told = _grader_prompts([name, "openai/x (batched, prompt 00000000)"], None)
    assert list(told) == [name]
    assert told[name].startswith(prompts.texts["grade-system.md"])
