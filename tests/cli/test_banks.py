"""Two banks in one command: scenarios in words, and worlds in which a plan is judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from careeval.cli.app import OK, USAGE, run
from careeval.protocol.run_folder import read_run_file
from careeval.protocol.tables import read_runs
from careeval.results.entries import entries
from support.fake_server import FakeServer
from support.fakes import write_bank
from support.small_world import write_world_bank


@pytest.fixture(autouse=True)
def banks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bank of one scenario and one of one world, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAB_API_KEY", "none")
    write_bank(tmp_path / "words", ["dressing-001"])
    write_world_bank(tmp_path / "acts")


def test_one_command_asks_both(capsys: pytest.CaptureFixture[str]) -> None:
    """Each bank has a run of its own; options of one mode do not go to the other."""
    with FakeServer() as server:
        words = ["run", "-m", "openai-api/lab/small", "--base-url", server.base_url, "--yes"]
        words += ["--grader", "openai-api/lab/judge", "--grader-base-url", server.base_url]
        words += ["--bank", "words", "acts", "--given", "told", "--samples", "2", "-o", "out"]
        assert run([*words, "--rubric", "actions"]) == OK
        assert (server.n_arrived("ask"), server.n_arrived("grade")) == (4, 2)
        assert run(["run", "--resume", "-o", "out"]) == OK
        assert server.n_arrived("ask") == 4
    asked = {each.rubric.value: (each.given, each.n_epochs) for each in entries(read_runs("out"))}
    assert asked == {"actions": (None, 2), "plan": ("told", 2)}
    folder = "openai-api-lab-small"
    graders = [read_run_file(Path("out", bank, folder)).grader for bank in ("words", "acts")]
    assert graders == ["openai-api/lab/judge", "careeval/plan@3"]
    shown = capsys.readouterr().out
    assert "on the actions" in shown
    assert "on the plan" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--bank", "words", "words"], "a bank is named twice"),
        (["--bank", "words", "acts", "--scenario", "dressing-001"], "--scenario belongs to one"),
        (["--bank", "words", "--given", "told"], "a system cannot be given 'told'"),
    ],
)
def test_what_does_not_fit_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bank named twice, an id of one bank among two, and a condition that no bank has."""
    assert run(["run", "-m", "openai-api/lab/small", *words, "--dry-run"]) == USAGE
    assert message in capsys.readouterr().err
