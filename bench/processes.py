"""Processes that are measured, and the fake server that they ask."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

HERE = Path(__file__).parent
POLL = 0.05
"""Seconds between two looks at the memory of a tree of processes."""


class BenchError(RuntimeError):
    """A measured command failed, so there is nothing to report."""


@dataclass(frozen=True)
class Taken:
    """The time and memory of a command, with all processes that it started.

    Attributes:
        began: Time of its start, by the clock that all processes share.
        wall: Seconds.
        cpu: Seconds of all cores, user and system.
        largest_mb: Peak resident memory of the largest of its processes.
        all_mb: Peak of the sum over its processes; shared pages count in each, 0 if not polled.
        output: Its stdout and stderr.
    """

    began: float
    wall: float
    cpu: float
    largest_mb: float
    all_mb: float
    output: str


def take(
    command: Sequence[str | Path], folder: Path, env: Mapping[str, str] = {}, *, poll: bool = False
) -> Taken:
    """Run a command to its end.

    Args:
        command: Its words; the first is a path.
        folder: Its current folder.
        env: Variables to add to the environment of this process.
        poll: Whether to poll its memory, which itself takes a little time.

    Raises:
        BenchError: Its status is not 0.
    """
    with TemporaryFile("w+") as output:
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **env}, stdout=output, stderr=subprocess.STDOUT
        )
        ended = threading.Event()
        peak = [0.0]
        watcher = threading.Thread(target=_watch, args=(process.pid, ended, peak))
        try:
            if poll:
                watcher.start()
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.monotonic() - began
            process.returncode = os.waitstatus_to_exitcode(status)
        except BaseException:
            process.kill()
            raise
        finally:
            ended.set()
        if poll:
            watcher.join()
        output.seek(0)
        text = output.read()
    if process.returncode:
        words = " ".join(map(str, command))
        raise BenchError(f"{words}\nended with {process.returncode}:\n{text[-4000:]}")
    # ru_maxrss is in KiB
    return Taken(
        began, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, peak[0], text
    )


def _watch(root: int, ended: threading.Event, peak: list[float]) -> None:
    while not ended.wait(POLL):
        peak[0] = max(peak[0], sum(map(_resident_mb, _tree(root))))


def _tree(root: int) -> list[int]:
    """Return a process and all its descendants; those that end meanwhile are left out."""
    pids = [root]
    for pid in pids:
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                pids += map(int, file.read_text().split())
            except OSError:
                continue
    return pids


def _resident_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True)
class Answered:
    """Counts and times of the requests that a server has answered.

    Attributes:
        n_ask: Questions.
        n_grade: Requests of graders.
        first_came: Time of the first request, by the clock that all processes share.
        seconds: Time from the first request to the last answer.
    """

    n_ask: int
    n_grade: int
    first_came: float
    seconds: float


class Server:
    """The fake server, in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._url = self._line()

    @property
    def env(self) -> dict[str, str]:
        """Environment variables of the provider `openai-api/fake`."""
        return {"FAKE_BASE_URL": self._url, "FAKE_API_KEY": "none"}

    def answered(self, n_ask: int, n_grade: int) -> Answered:
        """Return the requests that it has answered since the last call of this.

        Raises:
            BenchError: It has answered other numbers of requests than these.
        """
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        counts = json.loads(self._line())
        if (counts["n_ask"], counts["n_grade"]) != (n_ask, n_grade):
            raise BenchError(f"answered {counts}, where {n_ask} and {n_grade} were to be")
        first, last = counts["first_came"], counts["last_answered"]
        return Answered(n_ask, n_grade, first, last - first)

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@contextmanager
def serving(latency: float) -> Iterator[Server]:
    """Yield a server that answers after so many seconds; it runs during the block."""
    process = subprocess.Popen(
        [sys.executable, HERE / "fake.py", "--latency", str(latency)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Server(process)
    finally:
        process.kill()
        process.communicate()
