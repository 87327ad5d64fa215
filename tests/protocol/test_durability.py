"""Killed at any moment, a run loses the calls in flight, is finished later, and comes out the same.

`bench/faults.py` does this a hundred times at moments drawn by chance; here are the main cases.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from careeval.__main__ import main
from careeval.errors import ProtocolError
from careeval.protocol.folder import is_complete, prepare
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE
from careeval.protocol.lock import locked
from careeval.protocol.logs import read_runs
from careeval.protocol.regrade import prepare_regrading
from careeval.protocol.spec import Run, Stop
from careeval.protocol.workers import carry_out
from careeval.results.tables import Runs
from fake_server import FakeServer
from fakes import write_bank

MODEL, GRADER, SECOND = (f"openai-api/fake/{name}" for name in ("a", "g", "h"))
N_SAMPLES, N_SCENARIOS, CONNECTIONS = 4, 3, 2
N_ASKED = N_GRADED = N_SAMPLES * N_SCENARIOS
IN_FLIGHT = 2 * CONNECTIONS
"""Calls that one worker has on their way at most, questions and gradings."""
RUN_OUT = 60.0
"""Seconds after which a test gives up waiting."""


@pytest.fixture(scope="module")
def small_bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank of three scenarios."""
    ids = ["dressing-001", "eating-001", "bathing-001"]
    return write_bank(tmp_path_factory.mktemp("bank"), ids)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    """A server that this process and its workers reach as openai-api/fake/…."""
    with FakeServer() as running:
        monkeypatch.setenv("FAKE_BASE_URL", running.base_url)
        monkeypatch.setenv("FAKE_API_KEY", "planted")
        yield running


@pytest.fixture(scope="module")
def undisturbed(small_bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that nothing happened to."""
    root = tmp_path_factory.mktemp("undisturbed")
    with FakeServer() as server, pytest.MonkeyPatch.context() as patched:
        patched.setenv("FAKE_BASE_URL", server.base_url)
        patched.setenv("FAKE_API_KEY", "planted")
        assert finished(prepare(make(small_bank), root / "a"))
        assert sum(server.answered.values()) == N_ASKED + N_GRADED
    return root


def make(bank: Path) -> Run:
    """A run of twelve responses and their gradings."""
    task = {"bank": str(bank)}
    return Run(MODEL, MODEL, GRADER, N_SAMPLES, task, max_connections=CONNECTIONS)


def comparable(runs: Runs) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables without the clock."""
    return runs.responses.drop("created", "seconds"), runs.judgments.drop("seconds")


def assert_same(root: Path, undisturbed: Path) -> None:
    """What came of a disturbed run is what came of the one that nothing happened to."""
    for found, expected in zip(
        comparable(read_runs(root)), comparable(read_runs(undisturbed)), strict=True
    ):
        assert_frame_equal(found, expected)


def until(happened: Callable[[], bool]) -> None:
    """Wait for something to happen."""
    end = time.monotonic() + RUN_OUT
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


def n_lines(file: Path) -> int:
    """Lines of a file that are not broken off; none where there is no file."""
    n = 0
    for line in file.read_bytes().splitlines() if file.exists() else ():
        with suppress(ValueError):
            json.loads(line)
            n += 1
    return n


def worker(folder: Path) -> subprocess.Popen[bytes]:
    """A process that carries out the run in a folder, as the command line starts one."""
    process = subprocess.Popen(
        [sys.executable, "-m", "careeval.protocol.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert process.stdin is not None  # and it stays open: its end would end the run
    order = json.dumps({"folder": str(folder), "siblings": [str(folder)]})
    process.stdin.write(f"{order}\ngo\n".encode())
    process.stdin.flush()
    return process


def killed_midway(folder: Path, server: FakeServer, after: int) -> int:
    """Kill a run's process when so many calls are answered; the replies that were lost come back.

    A reply is lost that the server sent whole and that is not on disk.
    """
    before, n_kept = sum(server.answered.values()), n_lines(folder / CALLS_FILE)
    with worker(folder) as process:
        until(lambda: sum(server.answered.values()) - before >= after)
        process.kill()
        process.wait()
    time.sleep(0.2 + server.latency)  # what was in flight is answered by now, or never
    n_answered = sum(server.answered.values()) - before
    return n_answered - (n_lines(folder / CALLS_FILE) - n_kept)


def finished(folder: Path) -> bool:
    """Whether a run is complete after what is left of it was done."""
    with worker(folder) as process:
        until(lambda: process.poll() is not None)
    return is_complete(folder)


def cut_off(file: Path, n_bytes: int) -> None:
    """Take the end of a file away."""
    file.write_bytes(file.read_bytes()[:-n_bytes])


def command(*words: str) -> subprocess.Popen[str]:
    """The command line, its messages to be read."""
    return subprocess.Popen(
        [sys.executable, "-m", "careeval", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def test_kill_of_a_run_and_of_its_resuming(
    server: FakeServer, small_bank: Path, undisturbed: Path, tmp_path: Path
) -> None:
    """Killed twice, its log and its last line cut off, a run asks again what was in flight only."""
    folder = prepare(make(small_bank), tmp_path / "a")
    server.latency = 0.05
    n_lost = killed_midway(folder, server, 10)
    assert 0 <= n_lost <= IN_FLIGHT
    calls, ledger = folder / CALLS_FILE, folder / SPENT_FILE
    assert n_lines(ledger) - n_lines(calls) in {0, 1}  # paid, and killed before it was kept
    cut_off(calls, 5)
    cut_off(ledger, 5)
    (log,) = folder.glob("*.eval")
    cut_off(log, log.stat().st_size // 2)
    n_lost += 1 + killed_midway(folder, server, 8)
    assert n_lost <= 1 + 2 * IN_FLIGHT

    assert finished(folder)
    assert sum(server.answered.values()) <= N_ASKED + N_GRADED + n_lost
    assert len(server.answered) == N_ASKED + N_GRADED
    assert_same(tmp_path, undisturbed)
    assert not calls.exists()
    assert n_lines(ledger) >= N_ASKED + N_GRADED - 1
    assert [path.suffix for path in folder.glob(f"{log.name}*")] == [".broken"]


def test_kill_of_the_parent(
    server: FakeServer, small_bank: Path, undisturbed: Path, tmp_path: Path
) -> None:
    """Its parent dead, a worker keeps what is in flight and ends; until then it has the folder."""
    server.latency = 1.5
    folder = prepare(make(small_bank), tmp_path / "a")
    with command("run", "--resume", "-o", str(tmp_path)) as parent:
        until(lambda: sum(server.answered.values()) > 0)
        parent.kill()
        parent.wait()
        refused = pytest.raises(ProtocolError, match="is being worked on by process")
        with refused as caught, locked(folder):
            pass
    pid = int(str(caught.value).rpartition(" ")[2])
    assert pid != parent.pid
    until(lambda: not Path(f"/proc/{pid}").exists())
    n_answered = sum(server.answered.values())
    assert n_answered == n_lines(folder / CALLS_FILE)
    assert n_answered < N_ASKED

    server.latency = 0.0
    assert finished(folder)
    assert set(server.answered.values()) == {1}
    assert_same(tmp_path, undisturbed)


def told(root: Path, server: FakeServer, *signals: signal.Signals) -> str:
    """Resume, and send signals when calls are answered; what is said comes back.

    Nothing else of it is looked at but that it ends as one that was interrupted.
    """
    before = sum(server.answered.values())
    with command("run", "--resume", "-o", str(root)) as process:
        until(lambda: sum(server.answered.values()) > before)
        for number in signals:
            os.kill(process.pid, number)
            time.sleep(0.1)
        _, said = process.communicate(timeout=RUN_OUT)
    assert process.returncode == 130
    assert "Traceback" not in said
    return said


def test_a_run_that_is_told_to_end(
    server: FakeServer, small_bank: Path, undisturbed: Path, tmp_path: Path
) -> None:
    """Told once a run keeps what is in flight, told twice it drops it; both say how to go on."""
    server.latency = 0.4
    folder = prepare(make(small_bank), tmp_path / "a")
    again = f"careeval run --resume -o {tmp_path}"
    assert again in told(tmp_path, server, signal.SIGTERM)
    assert sum(server.answered.values()) == n_lines(folder / CALLS_FILE)
    assert again in told(tmp_path, server, signal.SIGINT, signal.SIGINT)
    n_answered = sum(server.answered.values())
    n_lost = n_answered - n_lines(folder / CALLS_FILE)
    assert 0 <= n_lost <= IN_FLIGHT
    assert n_answered < N_ASKED + N_GRADED

    server.latency = 0.0
    assert finished(folder)
    assert sum(server.answered.values()) == N_ASKED + N_GRADED + n_lost
    assert_same(tmp_path, undisturbed)


def test_kill_of_a_grading(
    server: FakeServer, small_bank: Path, undisturbed: Path, tmp_path: Path
) -> None:
    """A later grading that is killed asks for no answer, and leaves the first grading as it was."""
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    first = read_runs(tmp_path).judgments.drop("seconds")
    like = Run("", None, SECOND, 1, {}, max_connections=CONNECTIONS)
    (folder,) = prepare_regrading(tmp_path, small_bank, like)
    server.latency = 0.05
    n_lost = killed_midway(folder, server, 8)
    assert 0 <= n_lost <= CONNECTIONS

    assert finished(folder)
    assert server.n_arrived("ask") == 0
    assert server.n_answered("grade") == N_GRADED + n_lost
    judgments = read_runs(tmp_path).judgments
    of_first = pl.col("grader").str.starts_with(GRADER)
    assert_frame_equal(judgments.filter(of_first).drop("seconds"), first)
    again = judgments.filter(~of_first)
    assert_frame_equal(
        again.select("scenario", "epoch", "rubric", "item", "present"),
        first.select("scenario", "epoch", "rubric", "item", "present"),
    )


def test_a_budget_that_ends_calls_in_flight(
    server: FakeServer, small_bank: Path, tmp_path: Path
) -> None:
    """A run whose money is spent while calls are in flight keeps them, and says what ended it."""
    server.latency = 0.2
    price = {"input": 1000.0, "output": 1000.0, "cache_read": 0.0, "cache_write": 0.0}
    run = replace(make(small_bank), prices={MODEL: price, GRADER: price}, max_cost=2.0)
    folder = prepare(run, tmp_path / "a")
    (outcome,) = carry_out([folder])
    assert (outcome.complete, outcome.stopped) == (False, Stop.budget)
    assert sum(server.answered.values()) == n_lines(folder / CALLS_FILE) < N_ASKED + N_GRADED


def test_ctrl_c_while_it_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped before there is anything to end in order, it ends as interrupted, in one word."""

    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("careeval.cli.app.run", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"
