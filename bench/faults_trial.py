"""One run of a campaign of faults: started, struck, resumed, and held to account."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import fake_server as fake
from careeval.protocol.folder import is_complete, run_folders
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE
from faults_drawn import FULL, SET_UP, Drawn, Shape, Strike
from faults_kept import damage, kept, part_of, rows, unpaid
from faults_outcome import Outcome, differences, flaws, outcome_of
from faults_processes import (
    HUNG,
    MARK,
    Ended,
    are_gone,
    kill,
    processes,
    until,
    until_passed,
    workers,
)
from faults_server import Ident, Record, failing

CONNECTIONS = 4
RECENT = 5.0
"""Seconds between a reply and its line on disk, at most, on a busy machine."""
ORPHANED = 30.0
"""Seconds in which a worker whose parent has died must be gone, should it be starting even."""
N_RESUMED = 8
"""How often a run is resumed before it counts as one that never ends."""

IDS = ("dressing-001", "eating-001", "bathing-001", "toileting-001", "grooming-001")
OK, SOME_FAILED, USAGE, BUDGET_REACHED, INTERRUPTED = 0, 1, 2, 4, 130
KEY = "sk-planted-7f3a91c4d2"
DISK = "64m"
"""Size of a disk that is filled, as mount names it."""


@dataclass(frozen=True)
class Undisturbed:
    """What a run comes to that nothing happens to.

    Attributes:
        n_asking: Calls of the run.
        n_grading: Calls of its later grading.
        usd: What the run costs.
    """

    outcome: Outcome
    n_asking: int
    n_grading: int
    usd: float


@dataclass
class Verdict:
    """What came of a run."""

    drawn: Drawn
    problems: list[str] = field(default_factory=list)
    struck: Counter[str] = field(default_factory=Counter)
    n_asked: int = 0
    n_extra: int = 0
    n_lost_most: int = 0
    orphaned: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        verdict = "; ".join(self.problems) or "survived"
        missed = " (missed)" if not self.struck else ""
        return (
            f"{self.drawn.number:4d}  {self.drawn}{missed}  asked {self.n_asked}, "
            f"twice {self.n_extra}, {self.seconds:.0f} s: {verdict}"
        )


class Trial:
    """One run with what befalls it."""

    def __init__(
        self, drawn: Drawn, seed: int, folder: Path, bank: Path, like: Undisturbed | None
    ) -> None:
        self.drawn, self.folder, self.like = drawn, folder, like
        self.disk = folder / "disk" if drawn.needs_a_disk else None
        self.root, self.bank = (self.disk or folder) / "run", bank
        self.record = Record(failing(seed) if drawn.unsteady else lambda _: None)
        self.server = fake.FakeServer(self.record.script, drawn.latency)
        self.rng = random.Random(f"moments {seed}:{drawn.number}")
        self.verdict = Verdict(drawn)
        self.lost: Counter[Ident] = Counter()
        self.before: set[Ident] = set()
        self.n_torn_spent = 0
        self.n_started = 0
        folder.mkdir(parents=True)
        if self.disk is not None:
            self.disk.mkdir()
            mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(self.disk)]
            subprocess.run(mount, check=True)
        prices = "\n".join(
            f'["openai-api/fake/{model}"]\ninput = 10.0\noutput = 30.0\n' for model in "abgh"
        )
        (folder / "prices.toml").write_text(prices, encoding="utf-8")

    # --- the command lines ---

    def run_command(self) -> list[str]:
        """A user's first."""
        shape = self.drawn.shape
        models = [part for model in shape.models for part in ("-m", f"openai-api/fake/{model}")]
        budget = []
        if self.drawn.budget and self.like:
            budget = ["--max-cost", f"{self.drawn.budget * self.like.usd:.6f}"]
        scenarios = [part for name in IDS[: shape.n_scenarios] for part in ("--scenario", name)]
        return [
            *("run", *models, "--grader", "openai-api/fake/g", "-o", str(self.root), *scenarios),
            *("--samples", str(shape.n_samples), *self._common(), *budget),
        ]

    def grade_command(self) -> list[str]:
        """A user's later."""
        return ["grade", str(self.root), "--grader", "openai-api/fake/h", *self._common()]

    def _common(self) -> list[str]:
        return [
            *("--bank", str(self.bank), "--yes", "--prices", str(self.folder / "prices.toml")),
            *("--max-connections", str(CONNECTIONS)),
        ]

    def resume_command(self) -> list[str]:
        """What careeval says to type after a stop."""
        return ["run", "--resume", "-o", str(self.root)]

    # --- the course of things ---

    def carry_out(self) -> Verdict:
        """Disturb, resume until complete, and check."""
        began = time.monotonic()
        with self.server:
            try:
                self._phase(self.run_command(), self.drawn.asking, self._n_parts())
                if self.drawn.grading is not None:
                    n_parts = 2 * self._n_parts()
                    self._phase(self.grade_command(), self.drawn.grading, n_parts)
                self._check()
            except Exception as error:
                self._problem(f"{type(error).__name__}: {error}")
            finally:
                for pid, _ in processes(self.root):
                    kill(pid)
                self._search_for_the_key()
                if self.disk is not None and not self.verdict.problems:
                    subprocess.run(["umount", "--lazy", str(self.disk)], check=True)
        self.verdict.n_asked = sum(self.server.arrived.values())
        self.verdict.n_extra = sum(n - 1 for n in self.server.answered.values())
        self.verdict.seconds = time.monotonic() - began
        return self.verdict

    def _n_parts(self) -> int:
        return len(self.drawn.shape.models)

    def _problem(self, what: str) -> None:
        self.verdict.problems.append(what)

    def _phase(self, command: list[str], strikes: Sequence[Strike], n_parts: int) -> None:
        """Start a command, strike it and its resuming, and resume until all parts are complete."""
        pending = list(strikes)
        more: list[str] = []
        for _ in range(N_RESUMED + len(pending)):
            begun = len(run_folders(self.root)) == n_parts if self.root.exists() else False
            strike = pending.pop(0) if pending else None
            ended = self._start([*self.resume_command(), *more] if begun else command, strike)
            if strike and ended.struck is not None:
                self._after(strike, ended)
            elif ended.status == BUDGET_REACHED:
                self.verdict.struck["budget"] += 1
                self._check_budget(ended)
                more = ["--max-cost", "inf"]
            elif ended.status != OK:
                said = ended.stderr.strip().splitlines()[-1:] or ["nothing"]
                self._problem(f"exit {ended.status} though nothing happened: {said[0]}")
            folders = run_folders(self.root) if self.root.exists() else []
            if len(folders) == n_parts and all(map(is_complete, folders)):
                return
        self._problem("is never complete")

    def _start(self, command: list[str], strike: Strike | None) -> Ended:
        """Start careeval, strike it, wait for its end, and account for its calls."""
        self.n_started += 1
        n_replies = len(self.record.replies)
        env = os.environ | {
            MARK: str(self.root),
            "FAKE_BASE_URL": self.server.base_url,
            "FAKE_API_KEY": KEY,
        }
        err = self.folder / f"{self.n_started}.err"
        with err.open("wb") as stderr, (self.folder / f"{self.n_started}.out").open("wb") as stdout:
            stderr.write(f"# {' '.join(command)}\n# {strike}\n".encode())
            stderr.flush()
            process = subprocess.Popen(
                [sys.executable, "-m", "careeval", *command],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=env,
                cwd=self.folder,
            )
            struck = self._strike(process, strike, n_replies) if strike else (None, False, 0)
            try:
                status = process.wait(HUNG)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
                self._problem(f"hung for {HUNG:.0f} s")
            self._filler.unlink(missing_ok=True)
        ended = Ended(status, err.read_text(encoding="utf-8").partition("\n# ")[2], *struck)
        if "Traceback" in ended.stderr:
            self._problem(f"a traceback: {ended.stderr.strip().splitlines()[-1]} ({err.name})")
        if strike and strike.hasty and ended.struck is not None and workers(self.root):
            self._refused_while_a_worker_lives()
        orphaned = time.monotonic()
        gone = are_gone(self.root, ORPHANED)
        if strike and strike.kind == "kill parent":
            waited = time.monotonic() - orphaned
            self.verdict.orphaned = max(self.verdict.orphaned, waited)
        if not gone:
            self._problem(f"a worker lives {ORPHANED:.0f} s after its parent")
            for pid in workers(self.root):
                kill(pid)
        if ended.n_killed:
            # what was on its way to the dead is sent, or dropped, by then
            time.sleep(self.drawn.latency + 0.5)
        self._account(n_replies, ended)
        return ended

    def _refused_while_a_worker_lives(self) -> None:
        ended = subprocess.run(
            [sys.executable, "-m", "careeval", *self.resume_command()],
            capture_output=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            env=os.environ
            | {MARK: str(self.root), "FAKE_BASE_URL": self.server.base_url, "FAKE_API_KEY": KEY},
            cwd=self.folder,
            timeout=HUNG,
            check=False,
        )
        if ended.returncode == USAGE and "is being worked on by process" in ended.stderr:
            self.verdict.struck["refused while a worker lives"] += 1
        elif ended.returncode not in (OK, BUDGET_REACHED):
            self._problem(f"exit {ended.returncode} when resumed while a worker may live")
        if "Traceback" in ended.stderr:
            self._problem("a traceback when resumed while a worker lives")

    def _strike(
        self, process: subprocess.Popen[bytes], strike: Strike, n_replies: int
    ) -> tuple[float | None, bool, int]:
        """Wait for the moment and strike: when, whether midway, how many workers were killed."""
        expected = self._n_expected()
        answered = sum(self.server.answered.values())
        left = max(1, expected - len(set(self.server.answered)))

        def n_new() -> int:
            return sum(self.server.answered.values()) - answered

        began = time.monotonic()
        match strike.moment:
            case "starting":
                # from the first line of Python to when calls are under way
                wait = 0.2 + 4 * strike.share
                until(lambda: time.monotonic() - began > wait, process)
            case moment if moment == SET_UP:
                n_files = self._n_files()
                until(lambda: self._n_files() > n_files, process)
                until_passed(0.1 * strike.share**2, process)
            case "answered":
                wanted = 1 + int(strike.share * (left - 1))
                until(lambda: n_new() >= wanted, process)
                # else always just as replies come, which is the worst moment
                until_passed(self.rng.choice([0, 0.5, 1]) * self.drawn.latency, process)
            case _:
                until(lambda: n_new() >= left, process)
                until_passed(1.2 * strike.share, process)
        if process.poll() is not None:
            return None, False, 0
        midway = len(self.record.replies) > n_replies and n_new() < left - 2 * CONNECTIONS
        living = workers(self.root)
        now = time.monotonic()
        n_killed, hit = 0, True
        match strike.kind:
            case "kill parent":
                process.kill()
            case "kill all":
                process.kill()
                n_killed = sum(kill(pid) for pid in living)
            case "kill worker":
                hit = bool(living) and kill(self.rng.choice(living))
                n_killed = int(hit)
            case "SIGTERM worker":
                hit = bool(living) and kill(self.rng.choice(living), signal.SIGTERM)
            case kind if kind == FULL:
                self._fill()
                n_killed = max(1, len(living))  # what is in flight finds no room
            case "SIGTERM" | "SIGINT" | "two SIGINT":
                kill(process.pid, signal.SIGTERM if strike.kind == "SIGTERM" else signal.SIGINT)
                if strike.kind == "two SIGINT":
                    time.sleep(0.02 + 0.3 * self.rng.random())
                    now = time.monotonic()
                    n_killed = len(living)
                    kill(process.pid, signal.SIGINT)
        return (now if hit else None), midway, n_killed

    @property
    def _filler(self) -> Path:
        return (self.disk or self.folder) / "filler"

    def _fill(self) -> None:
        """Fill the disk."""
        with self._filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4096)):
                pass

    def _n_files(self) -> int:
        return sum(1 for _ in self.root.rglob("*"))

    def _n_expected(self) -> int:
        """Different calls until the phase that is under way is complete."""
        if self.like is None:
            return 0
        grading = any(folder.parent.name == "graded" for folder in run_folders(self.root))
        asked = {is_complete(f) for f in run_folders(self.root)} == {True}
        return self.like.n_asking + (self.like.n_grading if grading or asked else 0)

    def _after(self, strike: Strike, ended: Ended) -> None:
        """Check how a struck process ended, and damage what is to be damaged."""
        self.verdict.struck[strike.kind] += 1
        again = f"careeval run --resume -o {self.root}"
        may: set[int]
        match strike.kind:
            case "kill parent" | "kill all":
                may = {-signal.SIGKILL}
            case "kill worker":
                may = {SOME_FAILED}
            case "SIGTERM worker":
                may = {INTERRUPTED, SOME_FAILED}
            case kind if kind == FULL:
                may = {SOME_FAILED, USAGE}
            case _:
                may = {INTERRUPTED}
        if not ended.midway:
            # before careeval could listen to signals, or when it was done but for its table
            may |= {OK, INTERRUPTED, -signal.SIGTERM, -signal.SIGINT}
        if self.drawn.budget:
            may |= {BUDGET_REACHED}
        if ended.status not in may:
            said = ended.stderr.strip().splitlines()[-1:] or ["nothing"]
            self._problem(f"exit {ended.status} after {strike}: {said[0]}")
        elif ended.midway and ended.status > 0 and again not in " ".join(ended.stderr.split()):
            self._problem(f"does not say how to go on after {strike}")
        for name, how in strike.damage:
            n_spent = self._n_spent()
            if damage(self.root, name, how, self.rng):
                self.verdict.struck[f"{name.partition('.')[0]} {how}"] += 1
                self.n_torn_spent += n_spent - self._n_spent()
        now = self._on_disk()
        for ident in self.before - now:
            self.lost[ident] += 1
        self.before = now

    # --- the accounts ---

    def _on_disk(self) -> set[Ident]:
        """The calls that are not to be asked again."""
        found: set[Ident] = set()
        for folder in run_folders(self.root) if self.root.exists() else ():
            if is_complete(folder):
                part = part_of(folder)
                found |= {ident for _, ident in self.record.replies if ident.part == part}
            else:
                found |= kept(folder)
        return found

    def _account(self, n_replies: int, ended: Ended) -> None:
        """Hold what one start of careeval has lost against the bound."""
        now = self._on_disk()
        new = self.record.replies[n_replies:]
        last = {ident: at for at, ident in new}
        lost = (self.before | last.keys()) - now
        self.lost.update(lost)
        if vanished := len(self.before - now):
            self._problem(f"{vanished} kept calls have vanished")
        most = 2 * CONNECTIONS * ended.n_killed
        self.verdict.n_lost_most = max(self.verdict.n_lost_most, len(lost))
        if len(lost) > most:
            self._problem(f"{len(lost)} replies lost where {most} may be")
        at = ended.struck or 0
        old = [round(at - last[ident], 1) for ident in lost if ident in last]
        if old and max(old) > RECENT:
            self._problem(f"a reply that came {max(old)} s before the kill is lost")
        for folder in run_folders(self.root) if self.root.exists() else ():
            if (n := unpaid(folder)) > self.n_torn_spent:
                self._problem(f"{n} kept calls are not in the ledger")
        self.before = now

    def _n_spent(self) -> int:
        folders = run_folders(self.root) if self.root.exists() else ()
        return sum(len(rows(folder / SPENT_FILE)) for folder in folders)

    def _search_for_the_key(self) -> None:
        """Look for the key in everything that was written: an error may repeat it."""
        for file in self.folder.rglob("*"):
            if file.is_file() and KEY.encode() in file.read_bytes():
                self._problem(f"the key stands in {file}")

    def _check_budget(self, ended: Ended) -> None:
        assert self.like is not None
        assert self.drawn.budget is not None
        if "--max-cost MORE" not in ended.stderr:
            self._problem("does not say how to go on after the budget is reached")
        spent = sum(row["cost_usd"] for f in run_folders(self.root) for row in rows(f / SPENT_FILE))
        # replies are shorter than is estimated, so that what is set aside for them is enough
        most = self.drawn.budget * self.like.usd
        if spent > most:
            self._problem(f"spent {spent:.4f} where {most:.4f} is the most")

    def _check(self) -> None:
        """Compare what is there at the end with what should be."""
        for folder in run_folders(self.root):
            if (folder / CALLS_FILE).exists():
                self._problem(f"{part_of(folder)}: {CALLS_FILE} is left")
        if workers(self.root):
            self._problem("a worker is left")
        n_spent = self._n_spent()
        if n_spent + self.n_torn_spent < len(self.server.answered):
            self._problem(f"{n_spent} calls paid, {len(self.server.answered)} kept")
        if n_spent > sum(self.server.answered.values()):
            self._problem("more calls paid than were answered")
        for name, n in self.server.answered.items():
            if n > 1 + self.lost[self.record.idents[name]]:
                self._problem(f"{name} answered {n} times")
        outcome = outcome_of(self.root)
        self.verdict.problems += flaws(outcome)
        if self.like is not None:
            graded = self.drawn.grading is not None
            expected = self.like.outcome
            expected = expected if graded else expected.without("openai-api/fake/h")
            self.verdict.problems += differences(outcome, expected)


def undisturbed(shape: Shape, folder: Path, bank: Path) -> Undisturbed:
    """Run and grade once with nothing happening.

    Raises:
        RuntimeError: That alone goes wrong.
    """
    calm = Drawn(-1, shape, 0.01, (), (), unsteady=False, budget=None)
    trial = Trial(calm, 0, folder, bank, None)
    with trial.server:
        trial._phase(trial.run_command(), (), len(shape.models))
        n_asking = len(trial.server.answered)
        paid = [row["cost_usd"] for f in run_folders(trial.root) for row in rows(f / SPENT_FILE)]
        trial._phase(trial.grade_command(), (), 2 * len(shape.models))
        trial._check()
        if trial.verdict.problems or max(trial.server.answered.values()) > 1:
            raise RuntimeError(f"{shape} fails undisturbed: {trial.verdict.problems}")
    return Undisturbed(
        outcome_of(trial.root),
        n_asking,
        len(trial.server.answered) - n_asking,
        sum(paid),
    )
