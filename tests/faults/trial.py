"""One run that is struck: started, struck, resumed until it is complete, and held to account."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from careeval.cli.app import BUDGET_REACHED, INTERRUPTED, OK, SOME_FAILED, USAGE
from careeval.protocol.ledger import TotalCost
from careeval.protocol.run_files import holder
from careeval.protocol.run_folder import is_complete
from faults.accounts import Accounts
from faults.drawn import FULL, Drawn, Shape, Strike
from faults.kept import folders_of, missed, paid, part_of, unfinished
from faults.outcome import Outcome, differences, flaws, outcome_of
from faults.processes import HUNG, MARK, kill, processes, wait_until, workers
from faults.recorded_server import Record, failing
from faults.search import KEY, files_that_hold
from faults.striking import CONNECTIONS, Striker, Struck
from support.fake_server import FakeServer

ORPHANED = 30.0
"""Seconds in which a worker whose parent has died must be gone, should it be starting even."""
N_RESUMED = 8
"""How often a run is resumed before it counts as one that never ends."""

IDS = ("dressing-001", "eating-001", "bathing-001", "toileting-001", "grooming-001")
GRADER, LATER_GRADER = "openai-api/fake/g", "openai-api/fake/h"
DISK = "64m"
"""Size of a disk that is filled, as mount names it."""

MAY_END = {
    "kill parent": {-signal.SIGKILL},
    "kill all": {-signal.SIGKILL},
    "kill worker": {SOME_FAILED},
    "SIGTERM worker": {INTERRUPTED, SOME_FAILED},
    FULL: {SOME_FAILED, USAGE},
    "SIGTERM": {INTERRUPTED},
    "SIGINT": {INTERRUPTED},
    "two SIGINT": {INTERRUPTED},
}
"""Statuses with which a process ends that is struck midway."""
MAY_END_ELSE = {OK, INTERRUPTED, -signal.SIGTERM, -signal.SIGINT}
"""And of one that could not listen to signals yet, or was done but for its table."""


@dataclass(frozen=True)
class Undisturbed:
    """The outcome and the cost of an undisturbed run."""

    outcome: Outcome  # of the run and its later grading
    n_asking: int  # calls of the run
    n_grading: int  # calls of its later grading
    usd: float  # what the run costs


@dataclass
class Verdict:
    """The verdict on a run."""

    drawn: Drawn  # what was to happen
    # What went wrong; a run without any has survived
    problems: list[str] = field(default_factory=list)
    struck: Counter[str] = field(default_factory=Counter)  # what did happen
    n_asked: int = 0  # requests that came to the server
    n_extra: int = 0  # calls that it answered more often than once
    max_lost: int = 0  # replies that were lost at one start of careeval, at most
    orphaned: float = 0.0  # seconds that workers lived after their parent, at most
    seconds: float = 0.0  # that it all took

    def __str__(self) -> str:
        verdict = "; ".join(self.problems) or "survived"
        missed = " (missed)" if not self.struck else ""
        return (
            f"{self.drawn.number:4d}  {self.drawn}{missed}  asked {self.n_asked}, "
            f"twice {self.n_extra}, {self.seconds:.0f} s: {verdict}"
        )


@dataclass(frozen=True)
class _Ended:
    """The end of one start of careeval."""

    status: int
    stderr: str
    struck: Struck

    @property
    def last_words(self) -> str:
        return next(iter(self.stderr.strip().splitlines()[-1:]), "nothing")


class Trial:
    """One run with its strikes."""

    def __init__(
        self, drawn: Drawn, seed: int, folder: Path, bank: Path, calm: Undisturbed | None
    ) -> None:
        self.verdict = Verdict(drawn)
        self._drawn, self._folder, self._bank, self._calm = drawn, folder, bank, calm
        folder.mkdir(parents=True)
        disk = _mounted(folder / "disk") if drawn.needs_a_disk else folder
        self.root = disk / "run"
        self._rng = random.Random(f"moments {seed}:{drawn.number}")
        record = Record(failing(seed)) if drawn.unsteady else Record()
        self._server = FakeServer(record.script, drawn.latency)
        self._accounts = Accounts(self.root, record)
        self._striker = Striker(self.root, disk, self._server, self._rng)
        self._n_started = 0
        prices = "".join(
            f'["openai-api/fake/{model}"]\ninput = 10.0\noutput = 30.0\n' for model in "abgh"
        )
        (folder / "prices.toml").write_text(prices, encoding="utf-8")

    # --- the command lines, as a user types them ---

    def _run_command(self) -> list[str]:
        shape = self._drawn.shape
        models = [word for model in shape.models for word in ("-m", f"openai-api/fake/{model}")]
        scenarios = [word for name in IDS[: shape.n_scenarios] for word in ("--scenario", name)]
        words = ["run", *models, "--grader", GRADER, "-o", str(self.root), *scenarios]
        words += ["--samples", str(shape.n_samples), *self._common()]
        if self._drawn.budget and self._calm:
            words += ["--max-cost", f"{self._drawn.budget * self._calm.usd:.6f}"]
        return words

    def _grade_command(self) -> list[str]:
        return ["grade", str(self.root), "--grader", LATER_GRADER, *self._common()]

    def _common(self) -> list[str]:
        prices = str(self._folder / "prices.toml")
        words = ["--bank", str(self._bank), "--yes", "--prices", prices]
        return [*words, "--max-connections", str(CONNECTIONS)]

    def _resume_command(self) -> list[str]:
        return ["run", "--resume", "-o", str(self.root)]

    # --- the course of things ---

    def carry_out(self) -> Verdict:
        """Strike the run, resume it until it is complete, check it, and return the verdict."""
        began = time.monotonic()
        with self._server:
            try:
                self._ask(self._drawn.asking)
                if self._drawn.grading is not None:
                    self._grade(self._drawn.grading)
                self._check()
                for name in files_that_hold(self._folder, KEY):
                    self._problem(f"the key stands in {name}")
            except Exception as error:
                self._problem(f"{type(error).__name__}: {error}")
            finally:
                for pid, _ in processes(self.root):
                    kill(pid)
                if self._drawn.needs_a_disk and not self.verdict.problems:
                    subprocess.run(["umount", "--lazy", str(self.root.parent)], check=True)
        self.verdict.n_asked = sum(self._server.arrived.values())
        self.verdict.n_extra = sum(n - 1 for n in self._server.answered.values())
        self.verdict.max_lost = self._accounts.max_lost
        self.verdict.seconds = time.monotonic() - began
        return self.verdict

    def undisturbed(self, *, graded: bool) -> Undisturbed:
        """Return what the run comes to with nothing happening.

        Args:
            graded: Whether it is graded once more afterwards.

        Raises:
            RuntimeError: That alone goes wrong.
        """
        with self._server:
            self._ask(())
            n_asking = len(self._server.answered)
            usd = TotalCost.of(paid(self.root)).known_usd
            if graded:
                self._grade(())
            self._check()
        if self.verdict.problems or max(self._server.answered.values()) > 1:
            raise RuntimeError(f"{self._drawn.shape} fails undisturbed: {self.verdict.problems}")
        n_grading = len(self._server.answered) - n_asking
        return Undisturbed(outcome_of(self.root), n_asking, n_grading, usd)

    def _problem(self, words: str) -> None:
        self.verdict.problems.append(words)

    def _ask(self, strikes: Sequence[Strike]) -> None:
        n_calls = self._calm.n_asking if self._calm else 0
        self._phase(self._run_command(), strikes, len(self._drawn.shape.models), n_calls)

    def _grade(self, strikes: Sequence[Strike]) -> None:
        n_calls = self._calm.n_asking + self._calm.n_grading if self._calm else 0
        self._phase(self._grade_command(), strikes, 2 * len(self._drawn.shape.models), n_calls)

    def _phase(
        self, command: list[str], strikes: Sequence[Strike], n_parts: int, n_calls: int
    ) -> None:
        """Start a command, strike it and its resuming, and resume until all parts are complete."""
        pending = list(strikes)
        more: list[str] = []
        for _ in range(N_RESUMED + len(pending)):
            is_begun = len(folders_of(self.root)) == n_parts
            strike = pending.pop(0) if pending else None
            words = [*self._resume_command(), *more] if is_begun else command
            ended = self._start(words, strike, n_calls, grading=command[0] == "grade")
            if strike and ended.struck.at is not None:
                self._check_end(strike, ended)
                self.verdict.struck.update(self._accounts.damaged(strike, self._rng))
            elif ended.status == BUDGET_REACHED:
                self._check_budget(ended)
                more = ["--max-cost", "inf"]
            elif ended.status != OK:
                self._problem(f"exit {ended.status} though nothing happened: {ended.last_words}")
            folders = folders_of(self.root)
            if len(folders) == n_parts and all(map(is_complete, folders)):
                return
        self._problem("is never complete")

    def _start(
        self, words: list[str], strike: Strike | None, n_calls: int, *, grading: bool
    ) -> _Ended:
        """Start careeval, strike it, wait for its end, and account for its calls."""
        self._n_started += 1
        err = self._folder / f"{self._n_started}.err"
        struck = Struck()
        with err.open("wb") as stderr, err.with_suffix(".out").open("wb") as stdout:
            stderr.write(f"# {' '.join(words)}\n# {strike}\n".encode())
            stderr.flush()
            process = subprocess.Popen(
                [sys.executable, "-m", "careeval", *words],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=self._environment(),
                cwd=self._folder,
            )
            if strike:
                struck = self._striker.strike(process, strike, n_calls)
            try:
                status = process.wait(HUNG)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
                self._problem(f"hung for {HUNG:.0f} s")
            self._striker.make_room()
        ended = _Ended(status, err.read_text(encoding="utf-8").partition("\n# ")[2], struck)
        if "Traceback" in ended.stderr:
            self._problem(f"a traceback: {ended.last_words} ({err.name})")
        if strike and strike.hasty and struck.at is not None and workers(self.root):
            self._resume_while_a_worker_lives()
        self._wait_for_orphans(is_timed=strike is not None and strike.kind == "kill parent")
        if struck.n_killed:
            # what was on its way to the dead is sent, or dropped, by then
            time.sleep(self._drawn.latency + 0.5)
        self.verdict.problems += self._accounts.settle(strike, struck, grading=grading)
        return ended

    def _environment(self) -> dict[str, str]:
        planted = {"FAKE_BASE_URL": self._server.base_url, "FAKE_API_KEY": KEY}
        return os.environ | planted | {MARK: str(self.root)}

    def _resume_while_a_worker_lives(self) -> None:
        living = {str(pid) for pid in workers(self.root)}
        if living & {holder(folder) for folder in folders_of(self.root)}:
            self.verdict.struck["folder held by a living worker"] += 1
        ended = subprocess.run(
            [sys.executable, "-m", "careeval", *self._resume_command()],
            capture_output=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            env=self._environment(),
            cwd=self._folder,
            timeout=HUNG,
            check=False,
        )
        if ended.returncode == USAGE and "is locked: process" in ended.stderr:
            self.verdict.struck["refused while a worker lives"] += 1
        elif ended.returncode not in (OK, BUDGET_REACHED):
            self._problem(f"exit {ended.returncode} when resumed while a worker may live")
        if "Traceback" in ended.stderr:
            self._problem("a traceback when resumed while a worker lives")

    def _wait_for_orphans(self, *, is_timed: bool) -> None:
        """Wait for all workers of a run whose command has ended."""
        began = time.monotonic()
        if not wait_until(lambda: not workers(self.root), seconds=ORPHANED):
            self._problem(f"a worker lives {ORPHANED:.0f} s after its parent")
            for pid in workers(self.root):
                kill(pid)
        if is_timed:
            self.verdict.orphaned = max(self.verdict.orphaned, time.monotonic() - began)

    # --- what is checked ---

    def _check_end(self, strike: Strike, ended: _Ended) -> None:
        """Check how a struck process ended, and what it said last."""
        self.verdict.struck[strike.kind] += 1
        may = MAY_END[strike.kind] | ({BUDGET_REACHED} if self._drawn.budget else set())
        if not ended.struck.midway:
            may |= MAY_END_ELSE
        again = " ".join(["careeval", *self._resume_command()])
        if ended.status not in may:
            self._problem(f"exit {ended.status} after {strike}: {ended.last_words}")
        elif (
            ended.struck.midway and ended.status > 0 and again not in " ".join(ended.stderr.split())
        ):
            self._problem(f"does not say how to go on after {strike}")

    def _check_budget(self, ended: _Ended) -> None:
        """Check what a run has spent whose money has run out."""
        assert self._calm is not None
        assert self._drawn.budget is not None
        self.verdict.struck["budget"] += 1
        if "--max-cost MORE" not in ended.stderr:
            self._problem("does not say how to go on after the budget is reached")
        spent = TotalCost.of(paid(self.root)).known_usd
        # by no more than what the estimates of the calls in flight miss
        n_in_flight = 2 * CONNECTIONS * len(self._drawn.shape.models)
        max_spent = self._drawn.budget * self._calm.usd + sum(missed(self.root)[:n_in_flight])
        if spent > max_spent:
            self._problem(f"spent {spent:.4f} where {max_spent:.4f} is the most")

    def _check(self) -> None:
        """Compare what is there at the end with what should be."""
        for folder in unfinished(self.root):
            self._problem(f"{part_of(folder)}: its calls are left")
        if workers(self.root):
            self._problem("a worker is left")
        self.verdict.problems += self._accounts.close(self._server)
        outcome = outcome_of(self.root)
        self.verdict.problems += flaws(outcome)
        if self._calm is None:
            return
        is_graded = self._drawn.grading is not None
        n_calls = self._calm.n_asking + (self._calm.n_grading if is_graded else 0)
        if (n := len(self._server.answered)) != n_calls:
            self._problem(f"{n} different calls where {n_calls} are")
        calm = self._calm.outcome
        self.verdict.problems += differences(
            outcome, calm if is_graded else calm.without(LATER_GRADER)
        )


def undisturbed(shape: Shape, folder: Path, bank: Path, graded: bool = True) -> Undisturbed:
    """Run once with nothing happening, and grade; see `Trial.undisturbed`."""
    trial = Trial(Drawn(-1, shape, latency=0.01), 0, folder, bank, None)
    return trial.undisturbed(graded=graded)


def _mounted(disk: Path) -> Path:
    """Mount a small disk in memory; only root can."""
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(disk)]
    subprocess.run(mount, check=True)
    return disk
