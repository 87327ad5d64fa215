"""The processes of runs: which of them live, how they are waited for, and how they are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

HUNG = 240.0
"""Seconds after which a process is given up."""
MARK = "FAULTS_ROOT"
"""Variable of the environment that names the folder to which a process belongs."""


def processes(root: Path) -> Iterator[tuple[int, bytes]]:
    """Yield id and command line of each living process that was started with `MARK` as `root`."""
    mark = f"{MARK}={root}".encode()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            is_marked = mark in (path / "environ").read_bytes().split(b"\0")
            line = (path / "cmdline").read_bytes()
        except OSError:
            continue
        # a process that has ended but was not waited for has no command line
        if is_marked and line:
            yield int(path.name), line


def workers(root: Path) -> list[int]:
    """Return the ids of a run's living workers."""
    return [pid for pid, line in processes(root) if b"careeval.protocol.workers" in line]


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> bool:
    """Send a signal, and return whether there was a process to send it to."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def wait_until(
    moment: Callable[[], object],
    process: subprocess.Popen[bytes] | None = None,
    seconds: float = HUNG,
) -> bool:
    """Wait for a moment, for the end of a process, or so long; return whether the moment came."""
    end = time.monotonic() + seconds
    while not moment():
        if time.monotonic() > end or (process is not None and process.poll() is not None):
            return False
        time.sleep(0.01)
    return True


def wait(seconds: float, process: subprocess.Popen[bytes]) -> None:
    """Wait so many seconds, or for the end of a process."""
    wait_until(lambda: False, process, seconds)
