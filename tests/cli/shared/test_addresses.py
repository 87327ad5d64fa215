"""Calls go only where the user has agreed to: runs to resume, probe checks and sweeps."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from careeval.cli.app import OK, USAGE, run
from careeval.modes.response import RESPONSE
from careeval.protocol.run_folder import amend_run, read_run_file
from support.command_line import CommandLine
from support.fake_server import FakeServer
from support.fakes import write_bank
from support.sweep_files import write_sweep

KEY = "the-user-s-own-key"


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    """A server that the user has never heard of, and a user who has a key of OpenAI."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    write_bank(tmp_path / "bank")
    with FakeServer() as server:
        yield server


@pytest.fixture
def theirs(elsewhere: FakeServer, tmp_path: Path) -> Path:
    """The folder of a run that somebody has sent, with the address of their server."""
    folder = tmp_path / "theirs" / "robot"
    folder.mkdir(parents=True)
    description = {
        **{"system": "robot", "model": "openai-api/fake/a", "grader": None, "epochs": 1},
        **{"task": {"bank": str(tmp_path / "bank")}, "base_url": elsewhere.base_url},
        "protocol": RESPONSE.protocol,
    }
    (folder / "run.json").write_text(json.dumps(description), encoding="utf-8")
    return folder


class Terminal(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def test_a_foreign_folder_gets_no_key(
    theirs: Path, elsewhere: FakeServer, cli: CommandLine
) -> None:
    """An address of the folder alone is refused, with the option that agrees, which is kept."""
    line = ["run", "--resume", "-o", "theirs"]
    error = cli.refused(*line)
    assert f"calls to openai-api/fake/a would go to {elsewhere.base_url}, with your key" in error
    assert f"add --allow-address {elsewhere.base_url}, once" in error
    assert run([*line, "--yes"]) == USAGE
    assert elsewhere.n_arrived("ask") == 0

    assert run([*line, "--allow-address", elsewhere.base_url]) == OK
    n_asked = elsewhere.n_arrived("ask")
    assert n_asked > 0
    (theirs / "calls.jsonl").touch()
    for log in theirs.glob("*.eval"):
        log.unlink()
    assert run(line) == OK
    assert elsewhere.n_arrived("ask") == 2 * n_asked


@pytest.mark.parametrize(("reply", "status"), [("y\n", OK), ("n\n", USAGE), ("", USAGE)])
def test_on_a_terminal_the_user_is_asked(
    theirs: Path,
    elsewhere: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    reply: str,
    status: int,
) -> None:
    """Only yes agrees; what was agreed to is not asked again."""
    assert read_run_file(theirs).base_url == elsewhere.base_url
    line = ["run", "--resume", "-o", "theirs"]
    monkeypatch.setattr("sys.stdin", Terminal(reply))
    assert run(line) == status
    assert bool(elsewhere.n_arrived("ask")) is (status == OK)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert run(line) == status


def test_what_was_typed_is_not_asked_about(
    elsewhere: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run begun with --base-url on this machine is resumed without another word."""
    line = ["run", "-m", "openai-api/fake/a", "--no-grade", "--samples", "1", "--bank", "bank"]
    assert run([*line, "--base-url", elsewhere.base_url, "--yes", "-o", "mine"]) == OK
    (folder,) = (path.parent for path in Path("mine").rglob("run.json"))
    (folder / "calls.jsonl").touch()
    for log in folder.glob("*.eval"):
        log.unlink()
    before = elsewhere.n_arrived("ask")
    assert run(["run", "--resume", "-o", "mine"]) == OK
    assert elsewhere.n_arrived("ask") == 2 * before
    assert "agreed" not in capsys.readouterr().err


def test_an_argument_that_redirects_is_refused(
    theirs: Path, elsewhere: FakeServer, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A provider's argument of the folder is shown with its value, quoted for the shell."""
    monkeypatch.setenv("FAKE_BASE_URL", elsewhere.base_url)
    headers = {"Host": "it's"}
    amend_run(theirs, base_url=None, model_args={"default_headers": headers})
    error = cli.refused("run", "--resume", "-o", "theirs")
    assert 'would be called with default_headers={"Host": "it\'s"}' in error
    assert "--allow-address 'default_headers=" in error
    assert elsewhere.n_arrived("ask") == 0


def test_a_probe_check_that_was_planted_gets_no_key(
    theirs: Path, elsewhere: FakeServer, tmp_path: Path, cli: CommandLine
) -> None:
    """An unfinished check that asks a model at an address of its own is not resumed."""
    line = ["audit", "probes", "--grader", "careeval/lexical", "-o", "audit"]
    task = {
        **{"rubric": None, "per_item": False, "grader_context": "none", "prompts": None},
        **{"grade_seed": 0, "bank": None},
    }
    amend_run(theirs, system="probes", grader="careeval/lexical", task=task)
    theirs.rename(tmp_path / "audit")
    assert "you have not agreed to this" in cli.refused(*line)
    assert elsewhere.n_arrived("ask") == 0


def test_a_sweeps_file_needs_agreement_too(
    elsewhere: FakeServer, tmp_path: Path, cli: CommandLine
) -> None:
    """The address in a sweep's file is refused until it is agreed to, also with --yes."""
    systems = f'[[systems]]\nmodel = "openai-api/fake/a"\nbase_url = "{elsewhere.base_url}"\n'
    file = write_sweep(tmp_path, tmp_path / "bank", systems)
    assert f"--allow-address {elsewhere.base_url}" in cli.refused(
        "sweep", str(file), "-o", "s", "--yes"
    )
    assert not Path("s").exists()


def test_a_settings_file_of_the_folder_cannot_agree(
    theirs: Path, elsewhere: FakeServer, cli: CommandLine
) -> None:
    """careeval.toml may come with the folder, so it has no allow_address."""
    assert theirs.exists()
    for name in ("allow_address", "allow-address"):
        text = f'[run]\n{name} = ["{elsewhere.base_url}"]\n'
        Path("careeval.toml").write_text(text, encoding="utf-8")
        assert "careeval.toml: --allow-address must be typed" in cli.refused(
            "run", "--resume", "-o", "theirs"
        )
    assert elsewhere.n_arrived("ask") == 0
