"""The address of a grader's server: given, in careeval.toml, missing, and beside the system's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from careeval.cli.app import OK, USAGE, run
from careeval.protocol.run_folder import read_run_file
from support.command_line import CommandLine
from support.fake_server import FakeServer
from support.fakes import write_bank


class Servers(NamedTuple):
    """A server with a system, and one with a grader."""

    system: FakeServer
    grader: FakeServer

    @property
    def asked(self) -> tuple[int, int]:
        """Questions and gradings that arrived where they belong."""
        assert self.system.n_arrived("grade") == self.grader.n_arrived("ask") == 0
        return self.system.n_arrived("ask"), self.grader.n_arrived("grade")


@pytest.fixture
def servers() -> Iterator[Servers]:
    """Two servers."""
    with ExitStack() as stack:
        yield Servers(stack.enter_context(FakeServer()), stack.enter_context(FakeServer()))


@pytest.fixture(autouse=True)
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bank of one scenario, in the current folder, and an environment without addresses."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("LAB_API_KEY", "none")
    monkeypatch.delenv("LAB_BASE_URL", raising=False)
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    return write_bank(tmp_path / "bank", ["dressing-001"])


@pytest.mark.parametrize(
    ("system", "grader"),
    [
        ("vllm/small", "vllm/judge"),
        # one model on two servers
        ("vllm/small", "vllm/small"),
        ("llama-cpp-python/small", "openai-api/lab/judge"),
    ],
)
def test_a_system_and_a_grader_on_own_servers(system: str, grader: str, servers: Servers) -> None:
    """Questions go to the system's address, and gradings to the grader's."""
    words = ["run", "-m", system, "--base-url", servers.system.base_url, "--bank", "bank"]
    words += ["--grader", grader, "--grader-base-url", servers.grader.base_url]
    assert run([*words, "--samples", "2", "--yes", "-o", "out"]) == OK
    assert servers.asked == (2, 2)


def test_later_gradings(servers: Servers) -> None:
    """`grade` and `audit probes` send to the address too."""
    words = ["run", "-m", "vllm/small", "--base-url", servers.system.base_url, "--bank", "bank"]
    assert run([*words, "--no-grade", "--samples", "2", "--yes", "-o", "out"]) == OK
    grading = ["--grader", "vllm/judge", "--grader-base-url", servers.grader.base_url]
    assert run(["grade", "out", *grading, "--bank", "bank", "--yes"]) == OK
    assert servers.asked == (2, 2)
    assert run(["audit", "probes", *grading, "--bank", "bank", "--yes"]) == OK
    assert servers.asked == (2, 4)


def test_the_address_beside_the_grader_in_the_file(servers: Servers) -> None:
    """careeval.toml may have the grader with its address, and the system is only typed."""
    Path("careeval.toml").write_text(
        f'[run]\nbank = "bank"\nsamples = 1\ngrader = "vllm/judge"\n'
        f'grader_base_url = "{servers.grader.base_url}"\n',
        encoding="utf-8",
    )
    words = ["run", "-m", "vllm/small", "--base-url", servers.system.base_url]
    assert run([*words, "--yes", "-o", "out"]) == OK
    assert servers.asked == (1, 1)
    # the file's address does not stand in the way of resuming
    assert run(["run", "--resume", "-o", "out"]) == OK


@pytest.mark.parametrize("more", [["--yes"], ["--dry-run"]])
@pytest.mark.parametrize(
    "command",
    [
        ["run", "-m", "vllm/small", "--base-url", "http://127.0.0.1:9/v1"],
        ["run", "--responses", "answers.jsonl"],
        ["audit", "probes"],
    ],
)
def test_a_grader_without_an_address(
    command: list[str], more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The grader, the option and the variable are named before anything is sent or set up."""
    Path("answers.jsonl").write_text(
        '{"scenario": "dressing-001", "response": "I wait."}\n', encoding="utf-8"
    )
    words = [*command, "--grader", "openai-api/lab/judge", "--bank", "bank", "-o", "out", *more]
    assert run(words) == USAGE
    printed = capsys.readouterr()
    assert (
        "grading with openai-api/lab/judge needs the address of its server: neither "
        "--grader-base-url nor the variable LAB_BASE_URL is set" in printed.err
    )
    assert not Path("out").exists()


def test_a_grader_with_an_address_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable of the grader's service is enough."""
    monkeypatch.setenv("LAB_BASE_URL", "http://127.0.0.1:9/v1")
    words = ["run", "-m", "openai-api/lab/small", "--grader", "openai-api/lab/judge"]
    assert run([*words, "--bank", "bank", "--dry-run"]) == OK


def test_an_address_with_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    """A password in the grader's address is refused, and not shown."""
    words = ["run", "-m", "vllm/small", "--base-url", "http://127.0.0.1:9/v1", "--bank", "bank"]
    words += ["--grader", "vllm/judge", "--grader-base-url", "http://me:hush@127.0.0.1:9/v1"]
    assert run([*words, "--yes", "-o", "out"]) == USAGE
    printed = capsys.readouterr()
    assert "--grader-base-url has a user name or a password" in printed.err
    assert "hush" not in printed.out + printed.err


def test_another_grader_of_an_unfinished_run(servers: Servers) -> None:
    """A run resumed with another grader asks it at the address typed with it."""
    words = ["run", "-m", "vllm/small", "--base-url", servers.system.base_url, "--bank", "bank"]
    words += ["--grader", "vllm/nobody", "--grader-base-url", "http://127.0.0.1:9/v1"]
    # nobody listens there, so that nothing is graded
    assert run([*words, "--samples", "1", "--yes", "-o", "out"]) != OK
    again = ["run", "--resume", "-o", "out", "--yes"]
    address = ["--grader-base-url", servers.grader.base_url]
    assert run([*again, *address]) == USAGE
    assert run([*again, "--grader", "vllm/judge", *address]) == OK
    assert servers.asked == (1, 1)
    (folder,) = Path("out").iterdir()
    assert read_run_file(folder).grader_base_url == servers.grader.base_url


def test_one_address_for_two_graders(cli: CommandLine) -> None:
    """Two graders to be checked cannot share an address."""
    graders = ["--grader", "vllm/a", "--grader", "vllm/b"]
    address = ["--grader-base-url", "http://127.0.0.1:9/v1"]
    assert "the address of one grader's server, but 2 are given" in cli.refused(
        "audit", "probes", *graders, *address, "--bank", "bank"
    )
