"""Running the server of a model, which a cell starts on its own machine, and stops."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from careeval.errors import ProtocolError
from careeval.sweep.description import Server
from careeval.sweep.guardian import GRACE

LOG_FILE = "server.log"
"""Name of the file with the server's output, in the cell's folder."""

LOOK_EVERY = 0.5
"""Seconds between two checks whether the server is ready."""


@dataclass(frozen=True)
class RunningServer:
    """A server that is ready."""

    base_url: str
    is_alive: Callable[[], bool]


@contextmanager
def run_server(
    server: Server, folder: Path, is_to_end: Callable[[], object]
) -> Iterator[RunningServer]:
    """Run a server during the block, with its log in a folder.

    If `is_to_end` returns true, the block begins although the server is not ready.

    Raises:
        ProtocolError: The server cannot be started, ends by itself, or is not ready in time.
    """
    port = _free_port()
    log = folder / LOG_FILE
    process = _started(server.command.format(port=port), log)
    try:
        _wait_until_ready(server, process, port, log, is_to_end)
        yield RunningServer(f"http://127.0.0.1:{port}/v1", lambda: process.poll() is None)
    finally:
        _stop(process)


def _started(command: str, log: Path) -> subprocess.Popen[bytes]:
    """Start the guardian of a server: if the cell is killed, its server must not keep its GPU."""
    try:
        words = shlex.split(command)
        if shutil.which(words[0]) is None:
            raise ValueError(f"there is no program {words[0]!r}")
        with log.open("ab") as file:
            return subprocess.Popen(
                [sys.executable, "-m", "careeval.sweep.guardian", *words],
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        raise ProtocolError(
            f"the model's server cannot be started: {error}", hint=f"check its command: {command}"
        ) from error


def _wait_until_ready(
    server: Server,
    process: subprocess.Popen[bytes],
    port: int,
    log: Path,
    is_to_end: Callable[[], object],
) -> None:
    end = time.monotonic() + server.ready_seconds
    while not _is_ready(f"http://127.0.0.1:{port}{server.health}"):
        if (status := process.poll()) is not None:
            raise ProtocolError(
                f"the model's server ended with status {status} before it was ready",
                hint=f"see its output in {log}",
            )
        if is_to_end():
            return
        if time.monotonic() > end:
            raise ProtocolError(
                f"the model's server was not ready after {server.ready_seconds:g} seconds",
                hint=f"see its output in {log}; raise ready_seconds if it needs longer, "
                f"or set health if its path is not {server.health}",
            )
        time.sleep(LOOK_EVERY)


def _is_ready(url: str) -> bool:
    # no proxy: the server is on this machine
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except (OSError, urllib.error.URLError, ValueError):
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    with suppress(BrokenPipeError, subprocess.TimeoutExpired):
        # its guardian kills what has not ended in time
        process.communicate(b"end\n", timeout=3 * GRACE)
    process.kill()
    process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
