"""A campaign of faults: runs that are killed and cut off must come out as if they were not.

    python bench/faults.py --runs 100 --seed 1
    python bench/faults.py --seed 1 --only 7 --keep

Each run is the command line as a user starts it, against a fake server. What happens to it is drawn
from the seed; at what moment exactly, the machine decides. Afterwards it is resumed until it is
complete, and compared with one of the same answers that nothing happened to.

The bound on what is asked twice. A call is in flight from its request until its line is on disk in
calls.jsonl. With C connections a worker has at most C questions and C gradings in flight. So, for
every time that careeval was started:

- no worker was killed by SIGKILL: every reply that the server sent whole is on disk;
- w workers were killed: at most 2 C w replies are not, each of them sent less than `RECENT` seconds
  before the kill. A parent's death kills no worker.

Over all, each call is answered whole at most once, and once more for each time that its reply was
lost so, or that its line was cut off by this campaign.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import fake_server as fake
from careeval.protocol.calls import _key as careeval_key
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE
from careeval.protocol.logs import read_runs
from careeval.protocol.run import is_complete, run_folders
from careeval.protocol.solvers import epoch_seed
from careeval.results.summary import summarise
from careeval.results.summary_json import summary_json
from fakes import write_bank

CONNECTIONS = 4
RECENT = 5.0
"""Seconds between a reply and its line on disk, at most, on a busy machine."""
ORPHANED = 30.0
"""Seconds in which a worker whose parent has died must be gone, should it be starting even."""
HUNG = 240.0
"""Seconds after which a process is given up."""
N_RESUMED = 8
"""How often a run is resumed before it counts as one that never ends."""
RESULTS = Path(__file__).parent / "results" / "faults.json"
MARK = "FAULTS_ROOT"
"""Variable of the environment that names the run to which a process belongs."""

RESPONSE_KEY = ("system", "scenario", "epoch")
JUDGMENT_KEY = (*RESPONSE_KEY, "grader", "grading", "rubric", "item")
RESPONSE = (*RESPONSE_KEY, "text", "state", "cut", "note")
JUDGMENT = (*JUDGMENT_KEY, "present", "quote", "reason", "points")

IDS = ("dressing-001", "eating-001", "bathing-001", "toileting-001", "grooming-001")
OK, SOME_FAILED, USAGE, BUDGET_REACHED, INTERRUPTED = 0, 1, 2, 4, 130


# --- what is drawn -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """What is asked: runs of one shape share the run that nothing happens to."""

    models: tuple[str, ...]
    n_scenarios: int
    n_samples: int


SHAPES = (Shape(("a",), 3, 4), Shape(("a",), 5, 3), Shape(("a", "b"), 3, 3), Shape(("b",), 4, 4))

KILLS = ("kill parent", "kill worker", "kill all", "two SIGINT")
SIGNALS = ("SIGTERM", "SIGINT", "SIGTERM worker")
MOMENTS = ("starting", "answered", "answered", "answered", "ending")
TEARS = ("log", CALLS_FILE, SPENT_FILE)


@dataclass(frozen=True)
class Strike:
    """One thing that happens to a process.

    Attributes:
        kind: What.
        moment: When: as it starts, when a share of its calls is answered, or at its very end.
        share: Of the calls, or of the span of time that the moment leaves.
        tears: Files that are cut off in the middle afterwards.
        hasty: Whether it is resumed at once, while workers may live.
    """

    kind: str
    moment: str
    share: float
    tears: tuple[str, ...] = ()
    hasty: bool = False

    def __str__(self) -> str:
        when = {"starting": "at start", "ending": "at end"}.get(self.moment, f"{self.share:.0%}")
        torn = "".join(f" -{name.partition('.')[0]}" for name in self.tears)
        return f"{self.kind} {when}{torn}"


@dataclass(frozen=True)
class Drawn:
    """Everything that is to happen in one run.

    Attributes:
        asking: What befalls the run and its resuming, one after the other.
        grading: The same of a later grading; `None` without one.
        unsteady: Whether the server fails now and then.
        budget: Share of the whole cost at which the money runs out; `None` without a budget.
    """

    number: int
    shape: Shape
    latency: float
    asking: tuple[Strike, ...]
    grading: tuple[Strike, ...] | None
    unsteady: bool
    budget: float | None

    @property
    def kinds(self) -> set[str]:
        """The kinds of fault that are in it."""
        strikes = (*self.asking, *(self.grading or ()))
        named = {strike.kind for strike in strikes}
        named |= {f"{strike.kind.split()[0]} {strike.moment}" for strike in strikes}
        named |= {f"{name.partition('.')[0]} cut off" for s in strikes for name in s.tears}
        named |= {"resumed at once"} if any(strike.hasty for strike in strikes) else set()
        named |= {"during grade"} if self.grading else set()
        named |= {"server errors"} if self.unsteady else set()
        return named | ({"budget"} if self.budget else set())

    def __str__(self) -> str:
        parts = [", ".join(map(str, self.asking))] if self.asking else []
        if self.grading is not None:
            parts.append("grade: " + (", ".join(map(str, self.grading)) or "undisturbed"))
        parts += ["server errors"] * self.unsteady
        parts += [f"budget {self.budget:.0%}"] if self.budget else []
        return "; ".join(parts)


def draw(seed: int, number: int) -> Drawn:
    """The n-th run of a campaign."""
    rng = random.Random(f"{seed}:{number}")

    def strikes(n: int) -> tuple[Strike, ...]:
        return tuple(strike() for _ in range(n))

    def strike() -> Strike:
        kind = rng.choice([*KILLS[:3], *KILLS, *SIGNALS])
        tears = tuple(name for name in TEARS if kind in KILLS and rng.random() < 0.2)
        hasty = kind == "kill parent" and rng.random() < 0.4
        return Strike(kind, rng.choice(MOMENTS), rng.random(), () if hasty else tears, hasty)

    return Drawn(
        number,
        rng.choice(SHAPES),
        rng.uniform(0.1, 0.3),
        strikes(rng.choice([1, 1, 1, 2, 2, 3])),
        strikes(rng.choice([1, 1, 2])) if rng.random() < 0.35 else None,
        rng.random() < 0.4,
        rng.uniform(0.2, 0.9) if rng.random() < 0.2 else None,
    )


def share_of(*seen: object) -> float:
    """A number from 0 to 1 that is the same for the same things."""
    digest = blake2b(repr(seen).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


# --- the server ----------------------------------------------------------------------------------


def with_oddities(request: fake.Request) -> fake.Said:
    """What is replied: by content alone, so that it is the same however often it is asked."""
    drawn = share_of(request.key)
    said = fake.well(request)
    if request.kind == "ask":
        if drawn < 0.05:
            return fake.FILTERED
        return fake.Said(said.text, finish="length") if drawn < 0.1 else said
    response, items = fake.asked_of_grader(request.user)
    partly = fake.judgments(fake.by_keyword(request.user)[: len(items) - 1])
    # with the key in the reply no two repairs send the same
    if share_of(response, items) < 0.06:
        # and so again at each repair: one item stays unresolved
        return fake.Said(f"{partly} {request.key}")
    if drawn < 0.08:
        return fake.Said(f"{partly} {request.key}")
    return fake.Said(f"I would rather not, {request.key}.") if drawn < 0.14 else said


def failing(seed: int) -> Callable[[fake.Request], fake.Fault | None]:
    """How requests fail when they first come: the same ones each time."""
    kinds: list[tuple[float, fake.Fault]] = [
        (0.07, fake.error(500, "An error", None, Retry_After="0")),
        (0.07, fake.too_many("0")),
        (0.02, fake.too_many("1")),
        (0.01, fake.SERVER_ERROR),
        (0.01, fake.too_many()),
        (0.01, fake.Drop(0.0)),
        (0.01, fake.Drop(0.5)),
    ]

    def fails(request: fake.Request) -> fake.Fault | None:
        if request.came > 2:
            return None
        drawn = share_of(seed, request.key, request.came)
        for share, fault in kinds:
            if drawn < share:
                return fault
            drawn -= share
        return None

    return fails


@dataclass(frozen=True)
class Ident:
    """A call as both sides know it; `part` is the run, or the grading, that it belongs to."""

    part: str
    role: str
    digest: str
    seed: int | None


@dataclass
class Record:
    """What a server has replied, and when."""

    fails: Callable[[fake.Request], fake.Fault | None] = lambda _: None
    replies: list[tuple[float, Ident]] = field(default_factory=list)
    idents: dict[str, Ident] = field(default_factory=dict)
    said_by: dict[str, str] = field(default_factory=dict)

    def script(self, request: fake.Request) -> fake.Said | fake.Fault:
        """Reply, and write it down."""
        if fault := self.fails(request):
            return fault
        said = with_oddities(request)
        model = request.model.rpartition("/")[2]
        if request.kind == "ask":
            part = model
            self.said_by[said.text or ""] = part
        else:
            part = self.said_by[fake.asked_of_grader(request.user)[0]]
            part += "/h" if model == "h" else ""
        ident = Ident(part, request.kind, _digest(request, model), request.body.get("seed"))
        self.idents[f"{request.kind}:{request.key}"] = ident
        self.replies.append((time.monotonic(), ident))
        return said


def _digest(request: fake.Request, model: str) -> str:
    """A request's digest in calls.jsonl."""
    messages: Any = [
        SimpleNamespace(role=message["role"], text=_words(message["content"]))
        for message in request.body["messages"]
    ]
    name: Any = f"openai-api/fake/{model}"
    return careeval_key(request.kind, "", name, messages).rpartition(" ")[2]


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


# --- what is on disk -----------------------------------------------------------------------------


def part_of(folder: Path) -> str:
    """The name of a run's or grading's folder in an `Ident`."""
    own = folder.parent.parent if folder.parent.name == "graded" else folder
    return own.name.rpartition("-")[2] + ("" if own == folder else "/h")


def rows(file: Path) -> list[dict[str, Any]]:
    """The whole lines of a file; none where there is no file."""
    found = []
    for line in file.read_bytes().splitlines() if file.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def kept(folder: Path) -> set[Ident]:
    """The calls whose replies are in a folder's calls.jsonl."""
    part, found = part_of(folder), set()
    for row in rows(folder / CALLS_FILE):
        role, *name, digest = row["key"].split(" ")
        seed = epoch_seed(0, name[0], int(name[1])) if role == "ask" else None
        found.add(Ident(part, role, digest, seed))
    return found


def unpaid(folder: Path) -> int:
    """How many of the kept calls are not in the folder's ledger."""
    paid = Counter(
        (row["role"], row["input_tokens"], row["output_tokens"])
        for row in rows(folder / SPENT_FILE)
    )
    usages = [(r["key"].split()[0], r["output"]["usage"]) for r in rows(folder / CALLS_FILE)]
    used = Counter((role, u["input_tokens"], u["output_tokens"]) for role, u in usages)
    return (used - paid).total()


def tear(root: Path, name: str, rng: random.Random) -> bool:
    """Cut a file of an unfinished run off in the middle, as a power cut may."""
    unfinished = [f for f in run_folders(root) if (f / CALLS_FILE).exists()]
    files = [
        file
        for folder in unfinished
        for file in sorted(folder.glob("*.eval") if name == "log" else [folder / name])
        if file.exists() and file.stat().st_size
    ]
    if not files:
        return False
    file = rng.choice(files)
    content = file.read_bytes()
    last = len(content.splitlines(keepends=True)[-1])
    most = len(content) if name == "log" else last
    file.write_bytes(content[: -rng.randint(1, most)])
    return True


# --- processes -----------------------------------------------------------------------------------


def workers(root: Path) -> list[int]:
    """The workers of a run that live."""
    return [pid for pid, line in _processes(root) if b"careeval.protocol.worker" in line]


def _processes(root: Path) -> Iterator[tuple[int, bytes]]:
    mark = f"{MARK}={root}".encode()
    for path in Path("/proc").iterdir():
        if not path.name.isdecimal():
            continue
        try:
            ours = mark in (path / "environ").read_bytes().split(b"\0")
            line = (path / "cmdline").read_bytes()
        except OSError:
            continue
        # a process that has ended but was not waited for has no command line
        if ours and line:
            yield int(path.name), line


def _gone(root: Path, within: float) -> bool:
    end = time.monotonic() + within
    while workers(root):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _kill(pid: int, number: signal.Signals = signal.SIGKILL) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Attributes:
        struck: When it was struck; `None` if it had come to its end before.
        midway: Whether calls of its own were answered then, and others were still to come.
        n_killed: Workers that were killed by SIGKILL.
    """

    status: int
    stderr: str
    struck: float | None = None
    midway: bool = False
    n_killed: int = 0


# --- one run -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Undisturbed:
    """What a run comes to that nothing happens to.

    Attributes:
        n_asking: Calls of the run.
        n_grading: Calls of its later grading.
        usd: What the run costs.
        dearest: What its dearest call costs.
    """

    responses: pl.DataFrame
    judgments: pl.DataFrame
    summary: list[dict[str, Any]]
    n_asking: int
    n_grading: int
    usd: float
    dearest: float


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
        self.root, self.bank = folder / "run", bank
        self.record = Record(failing(seed) if drawn.unsteady else lambda _: None)
        self.server = fake.FakeServer(self.record.script, drawn.latency)
        self.rng = random.Random(f"moments {seed}:{drawn.number}")
        self.verdict = Verdict(drawn)
        self.lost: Counter[Ident] = Counter()
        self.before: set[Ident] = set()
        self.n_torn_spent = 0
        self.n_started = 0
        folder.mkdir(parents=True)
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
                for pid, _ in _processes(self.root):
                    _kill(pid)
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
            if folders and len(folders) < n_parts and n_parts - len(folders) < self._n_parts():
                self._problem(f"only {len(folders)} of {n_parts} runs were set up")
                return
        self._problem("is never complete")

    def _start(self, command: list[str], strike: Strike | None) -> Ended:
        """Start careeval, strike it, wait for its end, and account for its calls."""
        self.n_started += 1
        n_replies = len(self.record.replies)
        env = os.environ | {
            MARK: str(self.root),
            "FAKE_BASE_URL": self.server.base_url,
            "FAKE_API_KEY": "none",
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
        ended = Ended(status, err.read_text(encoding="utf-8").partition("\n# ")[2], *struck)
        if "Traceback" in ended.stderr:
            self._problem(f"a traceback: {ended.stderr.strip().splitlines()[-1]} ({err.name})")
        if strike and strike.hasty and ended.struck is not None and workers(self.root):
            self._refused_while_a_worker_lives()
        orphaned = time.monotonic()
        gone = _gone(self.root, ORPHANED)
        if strike and strike.kind == "kill parent":
            waited = time.monotonic() - orphaned
            self.verdict.orphaned = max(self.verdict.orphaned, waited)
        if not gone:
            self._problem(f"a worker lives {ORPHANED:.0f} s after its parent")
            for pid in workers(self.root):
                _kill(pid)
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
            | {MARK: str(self.root), "FAKE_BASE_URL": self.server.base_url, "FAKE_API_KEY": "x"},
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
                _until(lambda: time.monotonic() - began > wait, process)
            case "answered":
                wanted = 1 + int(strike.share * (left - 1))
                _until(lambda: n_new() >= wanted, process)
                # else always just as replies come, which is the worst moment
                _until_passed(self.rng.choice([0, 0.5, 1]) * self.drawn.latency, process)
            case _:
                _until(lambda: n_new() >= left, process)
                _until_passed(1.2 * strike.share, process)
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
                n_killed = sum(_kill(pid) for pid in living)
            case "kill worker":
                hit = bool(living) and _kill(self.rng.choice(living))
                n_killed = int(hit)
            case "SIGTERM worker":
                hit = bool(living) and _kill(self.rng.choice(living), signal.SIGTERM)
            case "SIGTERM" | "SIGINT" | "two SIGINT":
                _kill(process.pid, signal.SIGTERM if strike.kind == "SIGTERM" else signal.SIGINT)
                if strike.kind == "two SIGINT":
                    time.sleep(0.02 + 0.3 * self.rng.random())
                    now = time.monotonic()
                    n_killed = len(living)
                    _kill(process.pid, signal.SIGINT)
        return (now if hit else None), midway, n_killed

    def _n_expected(self) -> int:
        """Different calls until the phase that is under way is complete."""
        if self.like is None:
            return 0
        grading = any(folder.parent.name == "graded" for folder in run_folders(self.root))
        asked = {is_complete(f) for f in run_folders(self.root)} == {True}
        return self.like.n_asking + (self.like.n_grading if grading or asked else 0)

    def _after(self, strike: Strike, ended: Ended) -> None:
        """Check how a struck process ended, and tear what is to be torn."""
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
        for name in strike.tears:
            if tear(self.root, name, self.rng):
                self.verdict.struck[f"{name.partition('.')[0]} cut off"] += 1
                self.n_torn_spent += name == SPENT_FILE
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

    def _check_budget(self, ended: Ended) -> None:
        assert self.like is not None
        assert self.drawn.budget is not None
        if "--max-cost MORE" not in ended.stderr:
            self._problem("does not say how to go on after the budget is reached")
        spent = sum(row["cost_usd"] for f in run_folders(self.root) for row in rows(f / SPENT_FILE))
        most = self.drawn.budget * self.like.usd
        most += 2 * CONNECTIONS * self._n_parts() * self.like.dearest
        if spent > most:
            self._problem(f"spent {spent:.4f} where {most:.4f} is the most")

    def _check(self) -> None:
        """Compare what is there at the end with what should be."""
        for folder in run_folders(self.root):
            if (folder / CALLS_FILE).exists():
                self._problem(f"{part_of(folder)}: {CALLS_FILE} is left")
        if workers(self.root):
            self._problem("a worker is left")
        n_spent = sum(len(rows(f / SPENT_FILE)) for f in run_folders(self.root))
        if n_spent + self.n_torn_spent < len(self.server.answered):
            self._problem(f"{n_spent} calls paid, {len(self.server.answered)} kept")
        if n_spent > sum(self.server.answered.values()):
            self._problem("more calls paid than were answered")
        for name, n in self.server.answered.items():
            if n > 1 + self.lost[self.record.idents[name]]:
                self._problem(f"{name} answered {n} times")
        runs = read_runs(self.root)
        if runs.notes:
            self._problem(f"a note: {runs.notes[0]}")
        responses = runs.responses.select(RESPONSE).sort(RESPONSE_KEY)
        judgments = runs.judgments.select(JUDGMENT).sort(JUDGMENT_KEY)
        if judgments.select(JUDGMENT_KEY).is_duplicated().any():
            self._problem("a judgment is there twice")
        silent = pl.col("present").is_null() & (pl.col("reason").fill_null("") == "")
        if judgments.filter(silent).height:
            self._problem("a judgment is unknown, and nobody says why")
        if (like := self.like) is None:
            return
        graded = like.judgments
        summary = like.summary
        if self.drawn.grading is None:
            graded = graded.filter(~pl.col("grader").str.starts_with("openai-api/fake/h"))
            summary = [m for m in summary if not m["grader"].startswith("openai-api/fake/h")]
        for what, found, expected, key in (
            ("responses", responses, like.responses, RESPONSE_KEY),
            ("judgments", judgments, graded, JUDGMENT_KEY),
        ):
            if not found.equals(expected):
                lacking = expected.join(found, on=key, how="anti").height
                extra = found.join(expected, on=key, how="anti").height
                other = max(found.height, expected.height) - max(lacking, extra)
                self._problem(f"{what} differ: {lacking} lack, {extra} too many, of {other}")
        if summary_of(self.root) != summary:
            self._problem("the summary differs")


def summary_of(root: Path) -> list[dict[str, Any]]:
    """The models of `summary --json`, without what may differ: money and time."""
    models = summary_json(summarise(read_runs(root)))["models"]
    return [
        {key: value for key, value in model.items() if not re.search("cost|usd|second|time", key)}
        for model in json.loads(json.dumps(models))
    ]


def _until(moment: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + HUNG
    while process.poll() is None and not moment() and time.monotonic() < end:
        time.sleep(0.01)


def _until_passed(seconds: float, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + seconds
    _until(lambda: time.monotonic() >= end, process)


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
    runs = read_runs(trial.root)
    return Undisturbed(
        runs.responses.select(RESPONSE).sort(RESPONSE_KEY),
        runs.judgments.select(JUDGMENT).sort(JUDGMENT_KEY),
        summary_of(trial.root),
        n_asking,
        len(trial.server.answered) - n_asking,
        sum(paid),
        max(paid),
    )


# --- the campaign --------------------------------------------------------------------------------


def campaign(seed: int, numbers: Sequence[int], jobs: int, keep: bool) -> list[Verdict]:
    """Carry out the runs of these numbers, and print a line for each."""
    work = Path(tempfile.mkdtemp(prefix="faults-"))
    bank = write_bank(work / "bank", IDS)
    drawn = [draw(seed, number) for number in numbers]
    say = threading.Lock()

    def carry_out(each: Drawn) -> Verdict:
        trial = Trial(each, seed, work / str(each.number), bank, like[each.shape])
        verdict = trial.carry_out()
        with say:
            print(verdict, flush=True)  # noqa: T201
        if not verdict.problems and not keep:
            shutil.rmtree(trial.folder)
        return verdict

    with ThreadPoolExecutor(jobs) as pool:
        shapes = list(dict.fromkeys(each.shape for each in drawn))
        folders = [work / f"undisturbed-{i}" for i in range(len(shapes))]
        calm = pool.map(undisturbed, shapes, folders, repeat(bank))
        like = dict(zip(shapes, calm, strict=True))
        verdicts = list(pool.map(carry_out, drawn))
    if keep or any(verdict.problems for verdict in verdicts):
        print(f"kept in {work}")  # noqa: T201
    else:
        shutil.rmtree(work)
    return verdicts


def as_json(seed: int, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """A campaign in numbers."""
    kinds = sorted({kind for verdict in verdicts for kind in verdict.drawn.kinds})
    struck = sum((verdict.struck for verdict in verdicts), Counter[str]())
    of_kind = {k: [v for v in verdicts if k in v.drawn.kinds] for k in kinds}
    return {
        "seed": seed,
        "runs": len(verdicts),
        "survived": sum(not verdict.problems for verdict in verdicts),
        "calls_asked": sum(verdict.n_asked for verdict in verdicts),
        "calls_answered_again": sum(verdict.n_extra for verdict in verdicts),
        "most_replies_lost_at_a_start": max(verdict.n_lost_most for verdict in verdicts),
        "longest_orphan_seconds": round(max(verdict.orphaned for verdict in verdicts), 1),
        "struck": dict(sorted(struck.items())),
        "runs_by_fault": {
            kind: {"runs": len(of), "survived": sum(not verdict.problems for verdict in of)}
            for kind, of in of_kind.items()
        },
    }


def main() -> int:
    """Carry out a campaign; 1 comes back if a run did not survive."""
    parser = argparse.ArgumentParser(description="A campaign of faults.")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--only", type=int, help="one run, by its number; its folder is kept")
    parser.add_argument("--keep", action="store_true", help="keep the folders of all runs")
    given = parser.parse_args()
    numbers = range(given.runs) if given.only is None else [given.only]
    verdicts = campaign(given.seed, numbers, given.jobs, given.keep or given.only is not None)
    result = as_json(given.seed, verdicts)
    print(f"\nsurvived {result['survived']} of {result['runs']}")  # noqa: T201
    for kind, of in result["runs_by_fault"].items():
        print(f"  {kind:<22} {of['survived']:>4} of {of['runs']}")  # noqa: T201
    if given.only is None:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(result["survived"] < result["runs"])


if __name__ == "__main__":
    sys.exit(main())
