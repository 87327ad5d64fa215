"""A place where all that careeval writes and says is searched for what is held out.

Its servers repeat what they are asked.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyrage
import pytest

from careeval.bank.sealed import KEY_VARIABLE, pack, seal
from careeval.cli.app import OK
from careeval.cli.app import run as command
from faults.processes import MARK
from faults.search import texts
from support.fake_server import Completion, Request, Status, error

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


@dataclass
class Place:
    """A folder with everything that a command could write to."""

    root: Path  # of it all
    env: dict[str, str]  # the variables of a command
    secrets_in: Callable[[str], int]  # the number of held-out words, or rows of words, in a text
    said: list[str] = field(default_factory=list)  # what commands have said

    def run(
        self,
        *typed: str,
        meanwhile: Callable[[subprocess.Popen[bytes]], object] = lambda _: None,
    ) -> int:
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
            with subprocess.Popen(
                [sys.executable, "-m", "careeval", *typed],
                env=self.env, cwd=self.root, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                stderr=theirs,
            ) as process:  # fmt: skip
                try:
                    meanwhile(process)
                    said, _ = process.communicate(timeout=300)
                finally:
                    process.kill()
        finally:
            os.close(theirs)
            listener.join(60)
            os.close(ours)
        self.said += [said.decode(), b"".join(read).decode(errors="replace")]
        return process.returncode

    def leaks(self) -> dict[str, int]:
        """Return place → number of secrets outside `private`, where there are any."""
        everywhere = {f"said {n}": text for n, text in enumerate(self.said)}
        for path in sorted(self.root.rglob("*")):
            place = path.relative_to(self.root)
            if path.is_file() and "private" not in place.parts and place.parts[0] != "apart":
                everywhere[str(place)] = "\n".join([str(place), *texts(path.read_bytes())])
        found = {name: self.secrets_in(text) for name, text in everywhere.items()}
        return {name: n for name, n in found.items() if n}

    def inside(self, run: str) -> str:
        """Return all that the private folder of a run holds."""
        private = self.root / run / "private"
        files = (path for path in private.rglob("*") if path.is_file())
        return "\n".join(text for path in files for text in texts(path.read_bytes()))


def sealed_place(root: Path, secrets_in: Callable[[str], int]) -> Place:
    """Seal the scenarios below `apart` into `bank`, and give Inspect all places to write to."""
    key = str(pyrage.x25519.Identity.generate())
    seal(pack(root / "apart"), root / "bank", key)
    for name in ("home", "tmp", "spy/spy-1.0.dist-info"):
        (root / name).mkdir(parents=True)
    (root / "spy/spy.py").write_text(SPY)
    info = root / "spy/spy-1.0.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[inspect_ai]\nspy = spy\n")
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    above = [str(root / "spy"), *filter(None, sys.path)]
    env = {
        **kept,
        "PYTHONPATH": os.pathsep.join(above),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
        "TERM": "xterm",
        "FAKE_API_KEY": "planted",
        "SPY_FILE": str(root / "spied"),
        "INSPECT_TRACE_LEVEL": "debug",
        "INSPECT_LOG_LEVEL": "debug",
        "OPENAI_LOG": "debug",
        KEY_VARIABLE: key,
        MARK: str(root),
    }
    return Place(root, env, secrets_in)


def telling(place: Place) -> dict[str, str]:
    """Variables by which a user has Inspect write elsewhere."""
    return {
        "INSPECT_TRACE_FILE": str(place.root / "traced.log"),
        "INSPECT_PY_LOGGER_FILE": str(place.root / "logged.txt"),
        "INSPECT_PY_LOGGER_LEVEL": "trace",
        "INSPECT_TELEMETRY": "spy.send",
    }


def publish(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Show the run `runs/a`, and write all that can be made of it."""
    monkeypatch.chdir(place.root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.root / "cache"))
    (place.root / "made").mkdir()
    for typed in (
        *(f"summary runs/a --format {form}" for form in ("table", "md", "csv", "json")),
        "report runs/a -o made/report.html",
        "site runs/a -o made/site",
        "export runs/a --to csv parquet md latex svg eee -o made/tables",
        "status runs/a",
        "compare runs/a",
    ):
        assert command(typed.split()) == OK, typed
    said = capsys.readouterr()
    place.said += [said.out, said.err]


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
