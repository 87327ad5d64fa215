"""Runs side by side, each in a process of its own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from careeval.errors import ProtocolError
from careeval.protocol import machine
from careeval.protocol.run import Run, RunProgress, Stop
from careeval.protocol.run_setup import prepare
from careeval.protocol.tables import read_runs
from careeval.protocol.workers import _Worker, carry_out, early_workers
from support.fake_server import FakeServer
from support.forked_workers import true_worker

GRADER = "openai-api/fake/grader"


@pytest.fixture
def true_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run has a process that begins from nothing, as it does for a user."""
    monkeypatch.setattr("careeval.protocol.workers._process", true_worker)


def make(bank: Path, name: str, model: str | None = None) -> Run:
    """A run of four responses of one of the server's models."""
    return Run(name, model or f"openai-api/fake/{name}", GRADER, 2, {"bank": str(bank)})


def test_worked_example(
    server: FakeServer, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs side by side come to the same tables as one after the other."""
    shown: list[Sequence[RunProgress]] = []
    names = ("a", "b")
    with monkeypatch.context() as patched:
        patched.setattr("careeval.protocol.workers._process", true_worker)
        outcomes = carry_out(
            [prepare(make(bank, name), tmp_path / "many" / name) for name in names],
            lambda progress, _: shown.append(progress),
        )
    assert [(o.folder.name, o.complete, o.stopped) for o in outcomes] == [
        ("a", True, None),
        ("b", True, None),
    ]
    assert sum(server.answered.values()) == 2 * (4 + 4)
    for name in names:
        carry_out([prepare(make(bank, name), tmp_path / "one" / name)])
    many, one = read_runs(tmp_path / "many"), read_runs(tmp_path / "one")
    apart = ["created", "seconds"]
    assert_frame_equal(many.responses.drop(apart), one.responses.drop(apart))
    assert_frame_equal(many.judgments.drop("seconds"), one.judgments.drop("seconds"))
    done = [[run.n_done for run in progress] for progress in shown if len(progress) == 2]
    assert done == sorted(done)
    assert done[-1] == [4, 4]
    assert [run.n_calls for run in shown[-1]] == [8, 8]


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
    """If one model cannot be reached none is asked, and nothing is left of either run."""
    folders = [
        prepare(make(bank, "a"), tmp_path / "runs" / "a"),
        prepare(make(bank, "b", model), tmp_path / "runs" / "b"),
    ]
    with pytest.raises(ProtocolError, match=message):
        carry_out(folders, fresh=True)
    assert sum(server.arrived.values()) == 0
    assert not (tmp_path / "runs").exists()


def test_no_more_at_once_than_the_machine_has_room_for(
    server: FakeServer, bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three runs on a machine with room for one, two wait, are said to, and are completed."""
    monkeypatch.setattr("careeval.protocol.workers.max_parallel_runs", lambda: 1)
    shown: list[Sequence[RunProgress]] = []
    names = ("a", "b", "c")
    outcomes = carry_out(
        [prepare(make(bank, name), tmp_path / name) for name in names],
        lambda progress, _: shown.append(progress),
    )
    assert [o.complete for o in outcomes] == [True, True, True]
    assert max(sum(not (run.ended or run.waiting) for run in each) for each in shown) == 1
    assert {sum(run.waiting for run in each) for each in shown if each} == {2, 1, 0}


def test_a_worker_that_is_killed(server: FakeServer, bank: Path, tmp_path: Path) -> None:
    """A run whose process is killed is said to have been, and the other one is completed."""
    server.latency = 0.2
    killed: list[int] = []

    def show(progress: Sequence[RunProgress], _: bool) -> None:
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
    assert sum(server.answered.values()) <= 16 + 8


@pytest.mark.usefixtures("true_workers")
def test_a_worker_that_was_there_before_its_run(
    server: FakeServer, bank: Path, tmp_path: Path
) -> None:
    """A worker that was started before a run was prepared carries it out, and no other is begun."""
    with early_workers(1) as early:
        [process] = early
        [outcome] = carry_out([prepare(make(bank, "a"), tmp_path / "a")], early=early)
        assert not early
    assert (outcome.complete, process.returncode) == (True, 0)
    assert sum(server.answered.values()) == 4 + 4


@pytest.mark.usefixtures("true_workers")
def test_a_worker_that_no_run_took_is_ended(bank: Path, tmp_path: Path) -> None:
    """Workers that got no run are killed."""
    folder = prepare(make(bank, "a"), tmp_path / "a")
    with early_workers(1) as early:
        [process] = early
        with pytest.raises(ProtocolError):
            prepare(make(bank, "b"), folder)
    assert process.returncode is not None


@pytest.mark.parametrize(
    ("available", "limit", "used", "n"),
    [
        (10**7, "max", 0, 8),
        (1_000_000, "max", 0, 4),
        (10**7, 2 * 10**9, 10**9, 4),
        (1, "max", 0, 1),
    ],
)
def test_room_for_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    available: int,
    limit: object,
    used: int,
    n: int,
) -> None:
    """Two runs on each of four processors, less where the machine or its container has no memory.

    A run has 250 MB: in 1,024,000,000 bytes there is room for four.
    """
    files = {"proc/meminfo": f"MemTotal: 99 kB\nMemAvailable: {available} kB\n",
             "sys/fs/cgroup/memory.max": f"{limit}\n",
             "sys/fs/cgroup/memory.current": f"{used}\n"}  # fmt: skip
    write_files(tmp_path, files)
    monkeypatch.setattr(machine, "n_cores", lambda: 4)
    free = machine.free_memory(tmp_path)
    monkeypatch.setattr(machine, "free_memory", lambda: free)
    assert machine.max_parallel_runs() == n
    monkeypatch.setattr(machine, "free_memory", lambda: None)
    assert machine.max_parallel_runs() == 8


def write_files(root: Path, files: dict[str, str]) -> None:
    """Write the files of a made-up machine."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="ascii")


@pytest.mark.parametrize(
    ("files", "n"),
    [
        ({}, 64),
        ({"sys/fs/cgroup/cpu.max": "max 100000\n"}, 64),
        ({"sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4),
        ({"sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        ({"sys/fs/cgroup/cpu.max": "strange\n"}, 64),
        # the group of the job, as of Slurm, within that of the node
        (
            {
                "proc/self/cgroup": "0::/node/job\n",
                "sys/fs/cgroup/node/cpu.max": "1600000 100000\n",
                "sys/fs/cgroup/node/job/cpu.max": "250000 100000\n",
            },
            3,
        ),
        # version 1
        (
            {
                "proc/self/cgroup": "3:cpu,cpuacct:/\n2:memory:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            2,
        ),
    ],
)
def test_a_quota_limits_the_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], n: int
) -> None:
    """A container with the time of four of 64 processors has four."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)))
    write_files(tmp_path, files)
    assert machine.n_cores(tmp_path) == n


def test_read_files_count_as_free(tmp_path: Path) -> None:
    """Of 2,000 bytes used, 1,500 are files that were read; files in memory alone are not free."""
    group = "sys/fs/cgroup/"
    stat = "anon 300\nfile 1700\nshmem 200\ninactive_file 1000\nactive_file 500\n"
    write_files(
        tmp_path,
        {
            f"{group}memory.max": "2100\n",
            f"{group}memory.current": "2000\n",
            f"{group}memory.stat": stat,
        },
    )
    assert machine.free_memory(tmp_path) == 1600


@pytest.mark.usefixtures("true_workers")
def test_a_run_ends_in_order_where_interrupts_are_blocked(
    server: FakeServer, bank: Path, tmp_path: Path
) -> None:
    """Ray blocks them in all that it starts; a worker hears its own nevertheless."""
    server.latency = 0.3
    told: list[float] = []

    def asked_to_end() -> int:
        if sum(server.answered.values()) < 2:
            return 0
        told.append(time.monotonic())
        # where it does not end in order, it is killed
        return 1 if told[-1] - told[0] < 60 else 2

    run = Run("a", "openai-api/fake/a", GRADER, 9, {"bank": str(bank)}, max_connections=1)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        (outcome,) = carry_out([prepare(run, tmp_path / "a")], asked_to_end=asked_to_end)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert outcome.stopped is Stop.interrupted
    assert told[-1] - told[0] < 60


def test_a_signal_before_the_order(
    server: FakeServer,
    bank: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    true_workers: None,
) -> None:
    """Ctrl-C between a worker's start and its order interrupts the run: it did not die."""
    folder = prepare(make(bank, "a"), tmp_path / "a")
    order = _Worker.order

    def struck(worker: _Worker, line: str) -> None:
        if "siblings" in line:
            signal.raise_signal(signal.SIGINT)
        order(worker, line)

    monkeypatch.setattr(_Worker, "order", struck)
    (outcome,) = carry_out([folder], lambda *_: None)
    assert outcome.stopped is Stop.interrupted
    assert not server.arrived
