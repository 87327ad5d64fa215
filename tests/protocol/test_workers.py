"""Runs side by side, each in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from careeval.errors import ProtocolError
from careeval.protocol.logs import read_runs
from careeval.protocol.progress import Progress
from careeval.protocol.run import Run, prepare
from careeval.protocol.workers import carry_out
from fake_server import FakeServer

GRADER = "openai-api/fake/grader"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A server that this process and its workers reach as openai-api/fake/…."""
    with FakeServer() as running:
        monkeypatch.setenv("FAKE_BASE_URL", running.base_url)
        monkeypatch.setenv("FAKE_API_KEY", "planted")
        yield running


def make(bank: Path, name: str, model: str | None = None) -> Run:
    """A run of four responses of one of the server's models."""
    return Run(name, model or f"openai-api/fake/{name}", GRADER, 2, {"bank": str(bank)})


def test_worked_example(server: FakeServer, bank: Path, tmp_path: Path) -> None:
    """Two runs side by side come to the same tables as one after the other."""
    shown: list[Sequence[Progress]] = []
    names = ("a", "b")
    outcomes = carry_out(
        [prepare(make(bank, name), tmp_path / "many" / name) for name in names],
        lambda progress, _: shown.append(progress),
    )
    assert [(o.folder.name, o.complete, o.stopped) for o in outcomes] == [
        ("a", True, None),
        ("b", True, None),
    ]
    assert sum(server.answered.values()) == 2 * (4 + 8)
    for name in names:
        carry_out([prepare(make(bank, name), tmp_path / "one" / name)])
    many, one = read_runs(tmp_path / "many"), read_runs(tmp_path / "one")
    apart = ["created", "seconds"]
    assert_frame_equal(many.responses.drop(apart), one.responses.drop(apart))
    assert_frame_equal(many.judgments.drop("seconds"), one.judgments.drop("seconds"))
    done = [[run.n_done for run in progress] for progress in shown if len(progress) == 2]
    assert done == sorted(done)
    assert done[-1] == [4, 4]
    assert [run.n_calls for run in shown[-1]] == [12, 12]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("nowhere/model", "b: Model API nowhere"),
        ("openai-api/keyless/model", "(?s)b: .*KEYLESS_API_KEY"),
    ],
)
def test_one_that_is_set_up_wrongly_keeps_all_from_beginning(
    server: FakeServer, bank: Path, tmp_path: Path, model: str, message: str
) -> None:
    """Where one model cannot be reached none is asked, and nothing is left of either run."""
    folders = [
        prepare(make(bank, "a"), tmp_path / "runs" / "a"),
        prepare(make(bank, "b", model), tmp_path / "runs" / "b"),
    ]
    with pytest.raises(ProtocolError, match=message):
        carry_out(folders, fresh=True)
    assert sum(server.arrived.values()) == 0
    assert not (tmp_path / "runs").exists()


def test_a_worker_that_is_killed(server: FakeServer, bank: Path, tmp_path: Path) -> None:
    """A run whose process is killed is said to have been, and the other one is completed."""
    server.latency = 0.2
    killed: list[int] = []

    def show(progress: Sequence[Progress], _: bool) -> None:
        begun = [run for run in progress if run.system == "a" and run.n_calls]
        if begun and not killed:
            killed.append(int((tmp_path / "a" / ".lock").read_text(encoding="ascii")))
            os.kill(killed[0], 9)

    folders = [prepare(make(bank, name), tmp_path / name) for name in ("a", "b")]
    a, b = carry_out(folders, show)
    assert (a.complete, a.stopped, a.why) == (False, "died", "its process was killed by signal 9")
    assert b.complete
    assert carry_out([folders[0]])[0].complete
    # four calls at most were in flight to each of model and grader
    assert sum(server.answered.values()) <= 24 + 8


@pytest.mark.parametrize(
    ("run", "local"),
    [
        (Run("x", "openai/gpt-5.1", "openai/gpt-4o", 1), False),
        (Run("x", "gguf/smollm2-135m", "careeval/lexical", 1), True),
        (Run("x", "vllm/model", "openai/gpt-4o", 1), True),
        (Run("x", "vllm/model", "openai/gpt-4o", 1, base_url="http://localhost:8000/v1"), False),
        (Run("x", None, "gguf/smollm2-135m", 1), True),
        (Run("x", None, None, 1), False),
    ],
)
def test_which_runs_take_turns(run: Run, local: bool) -> None:
    """A run that loads a model on this machine takes turns, one that asks a server does not."""
    assert run.local is local
