"""Strike sweeps at random moments: each must end with the tables of one that nothing happened to.

    python bench/sweep_faults.py --trials 50 --seed 1            # on this machine
    python bench/sweep_faults.py --trials 50 --seed 1 --on ray   # on three nodes of Ray

A sweep of four cells runs against a fake server. At a moment drawn from the seed a process of a
cell, a task, a node or the driver is killed, the driver also by SIGTERM; a driver that has ended is
started again until the sweep is complete. The tables must be those of the undisturbed sweep, and
the server may have answered no more calls than there are, but for those in flight at each kill.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from careeval.protocol.logs import read_runs
from fake_server import FakeServer
from fakes import write_bank
from faults_processes import MARK, kill, processes

RESULTS = Path(__file__).parent / "results"
IDS = ("dressing-001", "eating-001", "bathing-001", "grooming-001")
SAMPLES = 6
CONNECTIONS = 2
LATENCY = 0.2
MOST_SECONDS = 8.0
"""Until the fault strikes, at most."""
STARTS = 10
"""After so many starts a sweep is given up."""
KINDS = {"local": ("cell", "driver", "driver told to end"),
         "ray": ("cell", "task", "node", "driver")}  # fmt: skip
ASK_CALLS = len(IDS) * SAMPLES


@dataclass(frozen=True)
class Trial:
    """What came of one fault.

    Attributes:
        kind: What was struck.
        struck: Seconds after the start; `None` if the sweep had ended before.
        equal: Whether the tables are those of the undisturbed sweep.
        n_extra: Calls that the server answered more than there are.
        n_may: How many it may have been, by the calls in flight at each kill.
        n_starts: How often the driver was started.
        seconds: It all took.
    """

    kind: str
    struck: float | None
    equal: bool
    n_extra: int
    n_may: int
    n_starts: int
    seconds: float


def sweep_file(work: Path, bank: Path) -> Path:
    """Write the sweep's file: one system in two slices, asked and graded."""
    file = work / "sweep.toml"
    file.write_text(
        f'samples = {SAMPLES}\nslices = 2\n[scenarios]\nbank = "{bank}"\n'
        f'[[gradings]]\ngrader = "openai-api/fake/grader"\nmax_connections = {CONNECTIONS}\n'
        f'[[systems]]\nmodel = "openai-api/fake/a"\nmax_connections = {CONNECTIONS}\n'
    )
    return file


def tables(root: Path) -> dict[str, Any]:
    """Return what must be equal: each response's words, and each judgment."""
    runs = read_runs(root)
    responses = runs.responses.select("system", "scenario", "epoch", "state", "text", "bank_hash")
    judged = runs.judgments.select("scenario", "epoch", "grading", "item", "present", "quote")
    order = ["scenario", "epoch"]
    return {
        "responses": responses.sort(order).rows(),
        "judgments": judged.sort([*order, "item"]).rows(),
        "notes": runs.notes,
    }


def started(
    file: Path, root: Path, on: str, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start the driver, as a user does."""
    command = [sys.executable, "-m", "careeval", "sweep", str(file), "-o", str(root)]
    return subprocess.Popen(
        [*command, "--on", on, "--yes"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def strike(kind: str, mark: Path, driver: subprocess.Popen[bytes], nodes: Any) -> bool:
    """Strike, and return whether there was anything to strike."""
    if kind == "driver":
        return driver.poll() is None and kill(driver.pid)
    if kind == "driver told to end":
        return driver.poll() is None and kill(driver.pid, signal.SIGTERM)
    if kind == "node":
        return bool(nodes.take_one_away())
    name = b"careeval.protocol.worker" if kind == "cell" else b"ray::_attended"
    pids = [pid for pid, line in processes(mark) if name in line]
    return bool(pids) and kill(random.choice(pids))


class Nodes:
    """Three nodes of Ray on this machine."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._size = {"object_store_memory": 80_000_000}
        head = {"num_cpus": 1, "include_dashboard": False, **self._size}
        self._cluster = Cluster(initialize_head=True, connect=False, head_node_args=head)
        self._others = [self._cluster.add_node(num_cpus=1, **self._size) for _ in range(2)]
        self.address: str = self._cluster.address

    def take_one_away(self) -> bool:
        """Kill a node that is not the head."""
        self._cluster.remove_node(self._others.pop(), allow_graceful=False)
        return True

    def bring_back(self) -> None:
        """Add what was taken away."""
        while len(self._others) < 2:
            self._others.append(self._cluster.add_node(num_cpus=1, **self._size))

    def close(self) -> None:
        """End all of them."""
        self._cluster.shutdown()


def carry_out(
    kind: str, moment: float, work: Path, bank: Path, server: FakeServer, on: str, nodes: Any
) -> Trial:
    """Carry out one trial in an empty folder, and hold it against the undisturbed sweep."""
    work.mkdir()
    root, mark = work / "root", work.parent if nodes else work
    environment = os.environ | {MARK: str(mark)}
    file, before = sweep_file(work, bank), server.n_answered("ask") + server.n_answered("grade")
    began, struck, n_kills = time.monotonic(), None, 0
    n_starts = 0
    while n_starts < STARTS:
        n_starts += 1
        driver = started(file, root, on, environment)
        while driver.poll() is None:
            waited = time.monotonic() - began
            if n_kills == 0 and waited > moment and strike(kind, mark, driver, nodes):
                struck, n_kills = waited, 1
            time.sleep(0.05)
            if waited > 240:
                os.killpg(driver.pid, signal.SIGKILL)
        if nodes:
            nodes.bring_back()
        if driver.returncode == 0:
            break
    n_calls = server.n_answered("ask") + server.n_answered("grade") - before
    # a driver or a node that is killed takes all its cells with it, each with its connections
    n_may = 0 if kind == "driver told to end" or not n_kills else 4 * CONNECTIONS
    try:
        equal = tables(root) == tables(work.parent / "undisturbed" / "root")
    except Exception as error:
        sys.stdout.write(f"{work}: {error}\n")
        equal = False
    seconds = time.monotonic() - began
    extra = n_calls - 2 * ASK_CALLS
    return Trial(kind, struck, equal, extra, n_may, n_starts, round(seconds, 1))


@contextmanager
def engine(on: str, mark: Path) -> Iterator[Nodes | None]:
    """Start three nodes where the sweeps run on Ray."""
    if on != "ray":
        yield None
        return
    os.environ |= {MARK: str(mark), "RAY_USAGE_STATS_ENABLED": "0"}
    nodes = Nodes()
    os.environ["RAY_ADDRESS"] = nodes.address
    try:
        yield nodes
    finally:
        nodes.close()


def main() -> None:
    """Carry out the trials, print a line for each and write what they came to."""
    parser = argparse.ArgumentParser(description="Strike sweeps at random moments.")
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--on", choices=tuple(KINDS), default="local")
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="sweep-faults-"))
    bank = write_bank(work / "bank", IDS)
    rng, trials = random.Random(given.seed), []
    with FakeServer(latency=LATENCY) as server:
        os.environ |= {"FAKE_BASE_URL": server.base_url, "FAKE_API_KEY": "sk-fake"}
        with engine(given.on, work) as nodes:
            carry_out("none", 1e9, work / "undisturbed", bank, server, given.on, nodes)
            for n in range(given.trials):
                kind, moment = rng.choice(KINDS[given.on]), rng.uniform(1, MOST_SECONDS)
                folder = work / str(n)
                trials.append(carry_out(kind, moment, folder, bank, server, given.on, nodes))
                sys.stdout.write(f"{n}: {trials[-1]}\n")
                sys.stdout.flush()
                if trials[-1].equal:
                    shutil.rmtree(folder, ignore_errors=True)
    struck = [trial for trial in trials if trial.struck is not None]
    summary = {
        "on": given.on,
        "trials": len(trials),
        "struck": Counter(trial.kind for trial in struck),
        "equal": sum(trial.equal for trial in trials),
        "extra_calls": sum(trial.n_extra for trial in trials),
        "within_calls_in_flight": sum(trial.n_extra <= trial.n_may for trial in trials),
        "calls": 2 * ASK_CALLS * len(trials),
        "each": [asdict(trial) for trial in trials],
    }
    text = json.dumps(summary, indent=1) + "\n"
    (RESULTS / f"sweep_faults_{given.on}.json").write_text(text)
    sys.stdout.write(text.partition('"each"')[0])


if __name__ == "__main__":
    main()
