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
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from careeval.errors import CareEvalError
from faults.outcome import Outcome, differences
from faults.processes import HUNG, MARK, kill
from support.fake_server import FakeServer
from support.fakes import write_bank
from support.sweep_files import IDS, swept, write_sweep
from support.sweep_nodes import Nodes, kill_one, nodes_of_ray

RESULTS = Path(__file__).parent / "results"
WHOLE = 50
"""Trials of a campaign whose result is kept."""
CONNECTIONS = 2
LATENCY = 0.2
STARTS = 10
"""After so many starts a sweep is given up."""
KINDS = {"local": ("cell", "driver", "driver told to end"),
         "ray": ("cell", "task", "node", "driver")}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """Sizes of a sweep of four scenarios.

    Attributes:
        max_seconds: Until a fault strikes, at most.
    """

    slices: int = 2
    samples: int = 6
    max_seconds: float = 8.0

    @property
    def n_calls(self) -> int:
        """Number of calls; each response is asked and graded."""
        return 2 * len(IDS) * self.samples


SMALL = Size(slices=1, samples=2, max_seconds=4.0)


@dataclass(frozen=True)
class Trial:
    """The outcome of one fault.

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


@dataclass(frozen=True)
class Place:
    """The place where sweeps run, and their server."""

    on: str
    bank: Path
    server: FakeServer
    nodes: Nodes | None
    size: Size

    @property
    def n_answered(self) -> int:
        """Calls that were answered so far."""
        return sum(self.server.answered.values())

    def started(self, file: Path, root: Path, mark: Path) -> subprocess.Popen[bytes]:
        """Start the driver, as a user does."""
        command = [sys.executable, "-m", "careeval", "sweep", str(file), "-o", str(root)]
        return subprocess.Popen(
            [*command, "--on", self.on, "--yes"],
            env=os.environ | {MARK: str(mark)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def strike(self, kind: str, mark: Path, driver: subprocess.Popen[bytes]) -> bool:
        """Strike, and return whether there was anything to strike."""
        match kind:
            case "driver":
                return driver.poll() is None and kill(driver.pid)
            case "driver told to end":
                return driver.poll() is None and kill(driver.pid, signal.SIGTERM)
            case "node":
                return self.nodes is not None and self.nodes.take_one_away()
            case "cell":
                return kill_one(mark, b"careeval.protocol.workers")
            case _:
                return kill_one(mark, b"ray::_attend_on_node")


def carry_out(
    kind: str, moment: float, work: Path, place: Place, undisturbed: Outcome | None
) -> Trial:
    """Carry out one trial in an empty folder, and hold it against the undisturbed sweep."""
    work.mkdir()
    # the processes of Ray's nodes outlive a trial
    root, mark = work / "root", work.parent if place.nodes else work
    system = f'[[systems]]\nmodel = "openai-api/fake/a"\nmax_connections = {CONNECTIONS}\n'
    grading = f"max_connections = {CONNECTIONS}\n"
    size = {"slices": place.size.slices, "samples": place.size.samples}
    file = write_sweep(work, place.bank, system, grading, **size)
    began, n_before = time.monotonic(), place.n_answered
    struck, n_starts, is_complete = None, 0, False
    while n_starts < STARTS and not is_complete:
        n_starts += 1
        started, driver = time.monotonic(), place.started(file, root, mark)
        while driver.poll() is None:
            now = time.monotonic()
            is_due = struck is None and now - began > moment
            if is_due and place.strike(kind, mark, driver):
                struck = now - began
            if now - started > HUNG:
                os.killpg(driver.pid, signal.SIGKILL)
            time.sleep(0.05)
        if place.nodes:
            place.nodes.bring_back()
        is_complete = driver.returncode == 0
    n_extra = place.n_answered - n_before - place.size.n_calls
    # a driver or a node that is killed takes all its cells with it, each with its connections
    n_may = 0 if kind == "driver told to end" or struck is None else 4 * CONNECTIONS
    try:
        problems = differences(swept(root), undisturbed) if undisturbed else []
    except CareEvalError as error:
        problems = [str(error)]
    for problem in problems:
        sys.stdout.write(f"{work}: {problem}\n")
    seconds = round(time.monotonic() - began, 1)
    return Trial(kind, struck, not problems, n_extra, n_may, n_starts, seconds)


def campaign(place: Place, work: Path, n_trials: int, seed: int) -> list[Trial]:
    """Carry out the trials, and print a line for each."""
    rng, trials = random.Random(seed), []
    carry_out("none", float("inf"), work / "undisturbed", place, None)
    undisturbed = swept(work / "undisturbed" / "root")
    for n in range(n_trials):
        kind, moment = rng.choice(KINDS[place.on]), rng.uniform(1, place.size.max_seconds)
        trial = carry_out(kind, moment, work / str(n), place, undisturbed)
        trials.append(trial)
        sys.stdout.write(f"{n}: {trial}\n")
        sys.stdout.flush()
        if trial.equal:
            shutil.rmtree(work / str(n), ignore_errors=True)
    return trials


def main() -> None:
    """Carry out the trials, and write what they came to."""
    parser = argparse.ArgumentParser(description="Strike sweeps at random moments.")
    parser.add_argument("--trials", type=int, default=WHOLE, help=f"{WHOLE} are kept, fewer not")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--on", choices=tuple(KINDS), default="local")
    parser.add_argument("--small", action="store_true", help="a try: small sweeps, not kept")
    args = parser.parse_args()
    size = SMALL if args.small else Size()
    work = Path(tempfile.mkdtemp(prefix="sweep-faults-"))
    bank = write_bank(work / "bank", IDS)
    with FakeServer(latency=LATENCY) as server:
        os.environ |= {"FAKE_BASE_URL": server.base_url, "FAKE_API_KEY": "sk-fake"}
        os.environ |= {MARK: str(work), "RAY_USAGE_STATS_ENABLED": "0"}
        with nodes_of_ray() if args.on == "ray" else nullcontext() as nodes:
            if nodes:
                os.environ["RAY_ADDRESS"] = nodes.address
            place = Place(args.on, bank, server, nodes, size)
            trials = campaign(place, work, args.trials, args.seed)
    summary = {
        "on": args.on,
        "trials": len(trials),
        "struck": Counter(trial.kind for trial in trials if trial.struck is not None),
        "equal": sum(trial.equal for trial in trials),
        "extra_calls": sum(trial.n_extra for trial in trials),
        "within_calls_in_flight": sum(trial.n_extra <= trial.n_may for trial in trials),
        "calls": size.n_calls * len(trials),
        "each": [asdict(trial) for trial in trials],
    }
    text = json.dumps(summary, indent=1) + "\n"
    if args.trials >= WHOLE and not args.small:
        (RESULTS / f"sweep_faults_{args.on}.json").write_text(text)
    sys.stdout.write(text.partition('"each"')[0])


if __name__ == "__main__":
    main()
