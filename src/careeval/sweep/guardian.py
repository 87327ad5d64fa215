"""A process that runs a model's server and ends it, with all its children, when its parent dies.

`python -m careeval.sweep.guardian COMMAND…` ends the server in order when it reads a line on stdin,
and at once at the end of stdin, which also comes when the parent is killed. Its exit status is the
server's. On Linux it finds children that have left the server's process group, too.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

GRACE = 15.0
"""Seconds that a server has to end before it is killed, and then to be gone."""

LOOK_EVERY = 0.1
"""Seconds between two looks whether all processes are gone."""

_ADOPT_ORPHANS = 36
"""Linux's number of the prctl option PR_SET_CHILD_SUBREAPER."""

_NOT_STARTED = 127
"""The status that shells give a command that cannot be started."""


def main(command: list[str]) -> int:
    """Run the server's command; return its exit status, or that of a shell if it was killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1)
    # the parent tells when to end: what is sent to the process group is for the server
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    try:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return _NOT_STARTED
    threading.Thread(target=_end_when_told, args=(server,), daemon=True).start()
    status = server.wait()
    _kill_all(server.pid)
    return status if status >= 0 else 128 - status


def _end_when_told(server: subprocess.Popen[bytes]) -> None:
    if sys.stdin.readline():
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            server.wait(GRACE)
    _kill_all(server.pid)


def _kill_all(group: int) -> None:
    """Kill the processes of the server, and those that they start meanwhile."""
    end = time.monotonic() + GRACE
    while True:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        for pid in (alive := _alive()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not alive or time.monotonic() > end:
            return
        time.sleep(LOOK_EVERY)


def _alive() -> list[int]:
    """Return the processes below this one that have not ended; none if there is no /proc."""
    parents: dict[int, int] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            state, parent = file.read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(file.parent.name)] = int(parent)
    below = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return sorted(below - {os.getpid()})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
