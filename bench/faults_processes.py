"""The processes of a run: which of them live, how they are struck, and how one ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HUNG = 240.0
"""Seconds after which a process is given up."""
MARK = "FAULTS_ROOT"
"""Variable of the environment that names the run to which a process belongs."""


def workers(root: Path) -> list[int]:
    """The workers of a run that live."""
    return [pid for pid, line in processes(root) if b"careeval.protocol.worker" in line]


def processes(root: Path) -> Iterator[tuple[int, bytes]]:
    """Id and command line of each process of a run that lives, its workers and careeval itself."""
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


def are_gone(root: Path, within: float) -> bool:
    """Wait for all workers of a run to end: whether they have after so many seconds."""
    end = time.monotonic() + within
    while workers(root):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> bool:
    """Send a signal: whether there was a process to send it to."""
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


def until(moment: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait for a moment, for the end of a process, or until it is given up."""
    end = time.monotonic() + HUNG
    while process.poll() is None and not moment() and time.monotonic() < end:
        time.sleep(0.01)


def until_passed(seconds: float, process: subprocess.Popen[bytes]) -> None:
    """Wait so many seconds, or for the end of a process."""
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() >= end, process)
