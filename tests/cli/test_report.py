"""`careeval report`: what it leaves out, and whose agreement with the probes it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from careeval.bank import load_bank
from careeval.cli.app import OK, run
from careeval.core.response import LEXICAL, Response, ResponseState
from careeval.protocol.evaluate import resume
from careeval.protocol.regrade import prepare_probes
from careeval.protocol.run import Run
from careeval.protocol.run_setup import prepare_recorded
from support.command_line import CommandLine
from support.fakes import Fake, keyword_grader, write_bank

ANSWER = "I wait, and then she asks for the towel."


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scenarios, two probes each."""
    return write_bank(tmp_path_factory.mktemp("bank"))


@pytest.fixture(scope="module")
def grader() -> Fake:
    """A grader that looks for an item's last word."""
    return Fake("report-grader", keyword_grader)


@pytest.fixture(scope="module")
def runs(bank: Path, grader: Fake, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An answer to each scenario, judged by that grader."""
    folder = tmp_path_factory.mktemp("runs") / "by-hand"
    answers = [
        Response(scenario.id, 1, ANSWER, ResponseState.answered)
        for scenario in load_bank(bank).scenarios
    ]
    task = {"bank": str(bank)}
    resume(prepare_recorded(folder, answers, Run("by-hand", None, grader.model, 1, task)))
    return folder


def _audited(bank: Path, root: Path, grader: str, *, finished: bool = True) -> Path:
    folder = prepare_probes(load_bank(bank), root, Run("", None, grader, 1, {"bank": str(bank)}))
    if finished:
        resume(folder)
    return root


def test_a_grader_that_was_tried_has_it_on_its_card(
    bank: Path, grader: Fake, runs: Path, tmp_path: Path
) -> None:
    """With the folder of its audit the grader's agreement is on the page, and else it is not."""
    page = tmp_path / "page.html"
    line = ["report", str(runs), "--bank", str(bank), "-o", str(page)]
    assert run(line) == OK
    assert "Not tried on the bank" in page.read_text(encoding="utf-8")
    audit = _audited(bank, tmp_path / "audit", grader.model)
    assert run([*line, "--probes", str(audit)]) == OK
    assert "Tried on 12 labelled judgments" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ("runs", "has no audit of a grader"),
        ("unfinished", "has no finished audit"),
        ("other", "but these runs were judged by"),
    ],
)
def test_an_audit_that_does_not_fit(
    which: str, said: str, bank: Path, grader: Fake, runs: Path, tmp_path: Path, cli: CommandLine
) -> None:
    """A folder without a finished audit of this very grader is refused, and no page is written."""
    folder = runs
    if which == "unfinished":
        folder = _audited(bank, tmp_path / "audit", grader.model, finished=False)
    if which == "other":
        folder = _audited(bank, tmp_path / "audit", LEXICAL)
    page = tmp_path / "page.html"
    line = ["report", str(runs), "--bank", str(bank), "--probes", str(folder), "-o", str(page)]
    assert said in " ".join(cli.refused(*line).split())
    assert not page.exists()


def test_responses_can_be_left_out(bank: Path, runs: Path, tmp_path: Path) -> None:
    """With --no-responses the page is written without a word of them, and says so."""
    page = tmp_path / "page.html"
    assert run(["report", str(runs), "--bank", str(bank), "--no-responses", "-o", str(page)]) == OK
    text = page.read_text(encoding="utf-8")
    assert "written without responses" in text
    assert ANSWER not in text
