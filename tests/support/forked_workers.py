"""Workers that are forked from a process that has loaded Inspect, instead of loading it each time.

Loading takes a worker one to two seconds of processor time, and hundreds of tests begin a run. A
forked worker is a process like any other, with the same code, orders, reports, signals and death;
only where it comes from differs. Some of `tests/protocol/test_workers.py`, and all tests that type
a command into a process of its own, begin true workers.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from io import TextIOWrapper

from careeval.protocol.workers import _process as true_worker

__all__ = ["ForkedWorker", "WorkerSource", "true_worker"]

LOADED = (
    "careeval.protocol.evaluate",
    "careeval.protocol.workers",
    "inspect_ai.model._providers.openai_compatible",
    "inspect_ai.log._recorders.eval",
    # what the first run loads
    "careeval.protocol._registry",
    "careeval.protocol.connect",
    "anyio._backends._asyncio",
    "httpcore2",
    "inspect_ai.agent._acp.server",
    "inspect_ai.hooks._startup",
    "inspect_ai.model._providers.none",
    "IPython",
    "openai.resources.chat.completions",
    "rich.markdown",
)
"""Modules that a worker loads sooner or later."""

WORKER = "from careeval.protocol import workers; workers.main()"


class ForkedWorker:
    """A worker with what `careeval.protocol.workers` uses of `subprocess.Popen`."""

    def __init__(self, parent: socket.socket, script: str, words: Sequence[str]) -> None:
        orders, self.stdin = _pipe_to()
        self.stdout, reports = _pipe_from()
        self.stderr, errors = _pipe_from()
        news, told = os.pipe()
        given = {"environment": dict(os.environ), "folder": os.getcwd()}  # noqa: PTH109
        given |= {"script": script, "words": list(words), "path": sys.path}
        sent = [orders, reports, errors, told]
        socket.send_fds(parent, [json.dumps(given).encode()], sent)
        for descriptor in sent:
            os.close(descriptor)
        self._news = os.fdopen(news, encoding="utf-8")
        self.pid = int(self._news.readline())
        self.returncode: int | None = None
        self._ended = threading.Event()
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        with self._news:
            status = self._news.readline()
        self.returncode = int(status) if status else -signal.SIGKILL
        self._ended.set()

    def poll(self) -> int | None:
        """Return the status, or `None` if it has not ended."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the status once it has ended."""
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired("worker", timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        """Kill it, if it has not ended."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def communicate(self) -> tuple[str, str]:
        """Return what it has written, once it has ended."""
        with suppress(BrokenPipeError):
            self.stdin.close()
        with self.stdout, self.stderr:
            written = self.stdout.read(), self.stderr.read()
        self.wait()
        return written


def _pipe_to() -> tuple[int, TextIOWrapper]:
    read, write = os.pipe()
    return read, os.fdopen(write, "w", encoding="utf-8")


def _pipe_from() -> tuple[TextIOWrapper, int]:
    read, write = os.pipe()
    return os.fdopen(read, encoding="utf-8"), write


class WorkerSource:
    """The process that workers are forked from; it is started with the first of them."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def fork(self, script: str = WORKER, words: Sequence[str] = ()) -> ForkedWorker:
        """Return a new worker, with this process's environment and current folder.

        Args:
            script: What it does instead of a worker's work, as `python -c` takes it.
            words: The words after the script.
        """
        with self._lock:
            if self._socket is None:
                self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                with theirs:
                    self._process = subprocess.Popen(
                        [sys.executable, __file__],
                        stdin=theirs,
                        stdout=subprocess.DEVNULL,
                        start_new_session=True,
                    )
            return ForkedWorker(self._socket, script, words)

    def close(self) -> None:
        """End the process; workers that were forked from it go on."""
        if self._socket is not None and self._process is not None:
            self._socket.close()
            self._process.wait()


def load() -> None:
    """Load what a worker loads for its first run, Inspect's tables included."""
    importlib.metadata.packages_distributions = cache(importlib.metadata.packages_distributions)
    importlib.metadata.packages_distributions()
    for name in LOADED:
        import_module(name)
    import_module("inspect_ai.model._model_info")._get_model_info_db()


def serve(orders: socket.socket) -> None:
    """Fork a worker for each order, and report its end; return when nobody orders any more."""
    os.environ.setdefault("INSPECT_TRACE_LEVEL", "WARNING")
    load()
    gc.freeze()  # no worker copies what it only looks through
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    told: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([orders, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
        _report_ended(told)
        if orders not in ready:
            continue
        order, descriptors, _, _ = socket.recv_fds(orders, 1_000_000, 4)
        if not order:
            return
        *streams, news = descriptors
        if not (pid := os.fork()):
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for descriptor in (orders.fileno(), woken, wake, news, *told.values()):
                os.close(descriptor)
            _become_worker(json.loads(order), streams)
        told[pid] = news
        os.write(news, f"{pid}\n".encode())
        for descriptor in streams:
            os.close(descriptor)


def _report_ended(told: dict[int, int]) -> None:
    while told:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        news = told.pop(pid)
        with suppress(BrokenPipeError):
            os.write(news, f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os.close(news)


def _become_worker(order: dict[str, object], streams: list[int]) -> None:
    os.setsid()
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(order["environment"])  # type: ignore[call-overload]
    os.chdir(str(order["folder"]))
    sys.path[:] = order["path"]  # type: ignore[call-overload]
    sys.argv = ["-c", *order["words"]]  # type: ignore[misc]
    exec(str(order["script"]), {"__name__": "__main__"})


if __name__ == "__main__":
    serve(socket.socket(fileno=os.dup(0)))
