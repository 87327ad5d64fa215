"""A held-out split against servers that repeat what they are asked: its words stay in `private`.

Everything that the commands write anywhere, and all that they say, is searched for five words of
the split in a row.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyrage
import pytest

from careeval.bank.sealed import KEY_VARIABLE, pack, seal
from careeval.cli.app import OK, SOME_FAILED
from careeval.cli.app import run as command
from careeval.protocol.tables import read_runs
from faults.search import texts
from support.fake_server import (
    Completion,
    FakeServer,
    Fault,
    Request,
    Status,
    asked_of_grader,
    entries,
    error,
    well,
)
from support.fakes import item, write_bank

N_RUN = 5
"""Words in a row by which the split is known."""

SCENARIO = (
    "Quiet Mrs Wendelin counts seven marbles beside a tilted porcelain bowl. Her nephew hums "
    "an old ferry tune while rain drums upon copper gutters. What do you do?"
)
ITEMS = (
    "Offers the marbles one by one into her open left palm.",
    "Hums the ferry tune together with the nephew before lunch.",
    "Sweeps every marble off the tray without one word to her.",
)
RUNG = "Turns the porcelain bowl until its painted heron faces her."

SPY = '''
"""What a package may plug into Inspect: it writes down what it is told."""

import os
from inspect_ai.hooks import Hooks, hooks


def _note(what):
    with open(os.environ["SPY_FILE"], "a", encoding="utf-8") as file:
        file.write(f"{what}\\n")


@hooks(name="spy", description="Writes down what it is told.")
class Spy(Hooks):
    async def on_sample_end(self, data):
        _note(data)

    async def on_model_usage(self, data):
        _note("told of a call")


async def send(kind, told):
    _note(f"{kind} {told}")
    return False
'''


def in_a_row(text: str) -> set[tuple[str, ...]]:
    """Every five words in a row of a text; what JSON escapes parts words."""
    words = re.findall(r"[^\W_]+", re.sub(r"\\[nrt]", " ", text).casefold())
    return set(zip(*(words[n:] for n in range(N_RUN)), strict=False))


SECRETS = frozenset().union(*map(in_a_row, (SCENARIO, *ITEMS, RUNG)))


@dataclass
class Echo:
    """A server that repeats each question in another way."""

    asked: Sequence[Callable[[Request], Completion | Fault]]  # how a question is met, in turn
    # How a grading request is met, in turn
    graded: Sequence[Callable[[Request], Completion | Fault]]
    seen: dict[str, int] = field(default_factory=dict)  # question → the number of its way
    met: Counter[str] = field(default_factory=Counter)  # how often each way was gone

    def __call__(self, request: Request) -> Completion | Fault:
        """Return the server's reply."""
        ways = self.asked if request.kind == "ask" else self.graded
        n_before = sum(key.startswith(request.kind) for key in self.seen)
        way = ways[self.seen.setdefault(f"{request.kind} {request.key}", n_before) % len(ways)]
        self.met[way.__name__] += 1
        return way(request)


def answers(request: Request) -> Completion:
    """Repeat the question, with other words."""
    return Completion(f"{request.user}\n\n{well(request).text}")


def refuses(request: Request) -> Completion:
    """Refuse, and quote the question."""
    return Completion(None, refusal=f"I cannot help with: {request.user}")


def turns_away(request: Request) -> Status:
    """401, as for a wrong key."""
    return error(401, f"Not allowed: {request.user}", "invalid_api_key")


def finds_fault(request: Request) -> Status:
    """400."""
    return error(400, f"Invalid prompt: {request.user}", "invalid_prompt")


def filters(request: Request) -> Status:
    """400 of a content filter."""
    return error(400, f"The response was filtered: {request.user}", "content_filter")


def breaks(request: Request) -> Status | Completion:
    """429 at first, which is tried again."""
    if request.came > 1:
        return answers(request)
    return error(429, f"Too many like this: {request.user}", None, Retry_After="0")


def shows_a_page(request: Request) -> Status | Completion:
    """200 with a page, at first."""
    if request.came > 1:
        return answers(request)
    return Status(200, f"<html><body>{request.user}</body></html>", (), "text/html")


def answers_otherwise(request: Request) -> Status | Completion:
    """200 with JSON of another form, at first."""
    if request.came > 1:
        return answers(request)
    return Status(200, json.dumps({"result": request.user}))


def quotes(request: Request) -> Completion:
    """Whole judgments, with the items' words for reasons and the response's for quotes."""
    response, items = asked_of_grader(request.user)
    said = entries([True] * len(items), response[:200])
    given = [{**entry, "reason": text} for entry, text in zip(said, items, strict=True)]
    return Completion(json.dumps({"judgments": given}))


def rambles(request: Request) -> Completion:
    """No JSON."""
    return Completion(f"Let me see. {request.user}")


def names_a_key(request: Request) -> Completion:
    """JSON, with what it was asked as a key."""
    return Completion(json.dumps({request.user: True, "judgments": [{request.user: 1}]}))


ASKED = (answers, finds_fault, breaks, refuses, filters, shows_a_page, answers_otherwise, answers)
GRADED = (quotes, rambles, finds_fault, refuses, names_a_key, shows_a_page)


# --- where it happens ----------------------------------------------------------------------------


@dataclass
class Place:
    """A folder with everything that a command could write to."""

    root: Path  # of it all
    env: dict[str, str]  # the variables of a command
    said: list[str] = field(default_factory=list)  # what commands have said

    def run(self, *typed: str) -> int:
        """Run `careeval` in a process of its own, whose stderr is a terminal."""
        ours, theirs = pty.openpty()
        read: list[bytes] = []

        def listen() -> None:
            try:
                while some := os.read(ours, 65536):
                    read.append(some)
            except OSError:
                pass  # Linux says so when the other end is closed

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "careeval", *typed],
                env=self.env, cwd=self.root, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                stderr=theirs, timeout=300, check=False,
            )  # fmt: skip
        finally:
            os.close(theirs)
            listener.join(60)
            os.close(ours)
        self.said += [done.stdout.decode(), b"".join(read).decode(errors="replace")]
        return done.returncode

    def leaks(self) -> dict[str, int]:
        """Return place → number of five words in a row from the split, where there are any."""
        everywhere = {f"said {n}": text for n, text in enumerate(self.said)}
        for path in sorted(self.root.rglob("*")):
            place = path.relative_to(self.root)
            if path.is_file() and "private" not in place.parts and place.parts[0] != "apart":
                everywhere[str(place)] = "\n".join(texts(path.read_bytes()))
        found = {name: len(in_a_row(text) & SECRETS) for name, text in everywhere.items()}
        return {name: n for name, n in found.items() if n}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A sealed bank, and every place that Inspect may be told to write to."""
    bank = write_bank(tmp_path / "bank")
    rung = {"points": 1, "text": RUNG, "domains": {}}
    more: dict[str, Any] = {
        "split": "held-out",
        "text": SCENARIO,
        "actions": [item(name, 2, text) for name, text in zip("abc", ITEMS, strict=True)],
        "ladder": [rung],
    }
    apart = write_bank(tmp_path / "apart", ["eating-h01", "dressing-h01"], **more)
    key = str(pyrage.x25519.Identity.generate())
    seal(pack(apart), bank, key)
    for name in ("home", "tmp", "spy/spy-1.0.dist-info"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "spy/spy.py").write_text(SPY)
    info = tmp_path / "spy/spy-1.0.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[inspect_ai]\nspy = spy\n")
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    above = [str(tmp_path / "spy"), *filter(None, sys.path)]
    env = {
        **kept,
        "PYTHONPATH": os.pathsep.join(above),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "tmp"),
        "TERM": "xterm",
        "FAKE_API_KEY": "planted",
        "SPY_FILE": str(tmp_path / "spied"),
        "INSPECT_TRACE_LEVEL": "debug",
        "INSPECT_LOG_LEVEL": "debug",
        "OPENAI_LOG": "debug",
        KEY_VARIABLE: key,
    }
    return Place(tmp_path, env)


TYPED = ("run", "-m", "openai-api/fake/a", "--bank", "bank", "--grader", "openai-api/fake/g",
         "--split", "held-out", "--yes")  # fmt: skip
BESIDE = ("-m", "openai-api/fake/b")


def telling(place: Place) -> dict[str, str]:
    """Variables by which a user has Inspect write elsewhere."""
    return {
        "INSPECT_TRACE_FILE": str(place.root / "traced.log"),
        "INSPECT_PY_LOGGER_FILE": str(place.root / "logged.txt"),
        "INSPECT_PY_LOGGER_LEVEL": "trace",
        "INSPECT_TELEMETRY": "spy.send",
    }


@pytest.mark.parametrize("told", ["nothing", "by variables", "by a file"])
def test_a_run_against_a_server_that_repeats_what_it_is_asked(
    place: Place,
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No five words in a row of the split are printed, or in a file outside `private`."""
    if told == "by variables":
        place.env |= telling(place)
    elif told == "by a file":
        # as Inspect reads it, over the variables that are there: see its `init_dotenv`
        place.env["TERM_PROGRAM"] = "vscode"
        lines = [f"{name}={value}\n" for name, value in telling(place).items()]
        (place.root / ".env").write_text("".join(lines))
    script = Echo(ASKED, GRADED)
    with FakeServer(script) as server:
        place.env["FAKE_BASE_URL"] = server.base_url
        systems = BESIDE if told == "by variables" else ()
        assert place.run(*TYPED, *systems, "--samples", "5", "-o", "runs/a") == SOME_FAILED
    assert {way.__name__ for way in (*ASKED, *GRADED)} == set(script.met)
    private = place.root / "runs/a/private"
    inside = [text for path in private.rglob("*") if path.is_file()
              for text in texts(path.read_bytes())]  # fmt: skip
    assert frozenset().union(*map(in_a_row, inside)) >= SECRETS - in_a_row(RUNG)
    assert place.leaks() == {}
    if told != "by variables":
        return

    monkeypatch.chdir(place.root)
    for typed in (
        *(f"summary runs/a --format {form}" for form in ("table", "md", "csv", "json")),
        "report runs/a -o made/report.html",
        "site runs/a -o made/site",
        "export runs/a --to csv parquet md latex svg eee -o made/tables",
        "status runs/a",
        "compare runs/a",
    ):
        Path("made").mkdir(exist_ok=True)
        assert command(typed.split()) == OK, typed
    said = capsys.readouterr()
    place.said += [said.out, said.err]
    assert place.leaks() == {}
    assert read_runs("runs/a").judgments.height


def test_a_server_that_turns_everything_away(place: Place) -> None:
    """A run that ends early names the file with the server's error, and does not quote it."""
    with FakeServer(Echo([turns_away], GRADED)) as server:
        place.env |= telling(place) | {"FAKE_BASE_URL": server.base_url}
        assert place.run(*TYPED, "--samples", "8", "-o", "runs/a") == SOME_FAILED
    assert "no call succeeded" in place.said[-1]
    (words,) = (place.root / "runs/a/private").rglob("last-words.txt")
    assert in_a_row(words.read_text(encoding="utf-8")) & SECRETS
    assert place.leaks() == {}


def test_the_search_finds(place: Place) -> None:
    """A run over the public split leaves its words in every place that the search looks at."""
    script = Echo([answers, finds_fault, breaks], [quotes, rambles])
    typed = [word for word in TYPED if word not in {"--split", "held-out"}]
    with FakeServer(script) as server:
        place.env |= telling(place) | {"FAKE_BASE_URL": server.base_url}
        # the sealed scenarios as a public bank of their own
        for path in (place.root / "apart").rglob("*.yaml"):
            text = path.read_text().replace("held-out", "public")
            path.write_text(text)
        typed[typed.index("bank")] = "apart"
        place.run(*typed, "--samples", "6", "-o", "runs/a")
    found = " ".join(place.leaks())
    for where in ("traced.log", "spied", "runs/a/"):
        assert where in found
