"""Striking a process of careeval at the moment that a strike names."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from faults.drawn import FULL, SET_UP, Strike
from faults.processes import kill, wait, wait_until, workers
from support.fake_server import FakeServer

CONNECTIONS = 4


@dataclass(frozen=True)
class Struck:
    """The result of a strike."""

    at: float | None = None  # when; `None` if there was nothing left to strike
    # Whether calls of the process were answered then, and others were still to come
    midway: bool = False
    n_killed: int = 0  # workers whose calls in flight may be lost


@dataclass(frozen=True)
class Striker:
    """A run that is struck, with its server and its disk."""

    root: Path  # folder of the run
    disk: Path  # folder of a disk that can be filled
    server: FakeServer  # the server that is asked
    rng: random.Random  # of what the strike itself leaves open

    def strike(self, process: subprocess.Popen[bytes], strike: Strike, n_expected: int) -> Struck:
        """Wait for the moment, and strike.

        Args:
            process: Careeval.
            strike: What happens to it, and when.
            n_expected: Different calls that are answered once the command is done.
        """
        n_before = self._n_answered
        n_left = max(1, n_expected - len(self.server.answered))
        self._wait_for(process, strike, lambda: self._n_answered - n_before, n_left)
        if process.poll() is not None:
            return Struck()
        n_new = self._n_answered - n_before
        midway = 0 < n_new < n_left - 2 * CONNECTIONS
        return self._hit(process, strike.kind, midway)

    @property
    def _n_answered(self) -> int:
        return sum(self.server.answered.values())

    def _wait_for(
        self,
        process: subprocess.Popen[bytes],
        strike: Strike,
        n_new: Callable[[], int],
        n_left: int,
    ) -> None:
        match strike.moment:
            case "starting":
                # from the first line of Python to when calls are under way
                wait(0.2 + 4 * strike.share, process)
            case moment if moment == SET_UP:
                n_files = self._n_files()
                wait_until(lambda: self._n_files() > n_files, process)
                wait(0.1 * strike.share**2, process)
            case "answered":
                n_wanted = 1 + int(strike.share * (n_left - 1))
                wait_until(lambda: n_new() >= n_wanted, process)
                # else always just as replies come, which is the worst moment
                wait(self.rng.choice([0, 0.5, 1]) * self.server.latency, process)
            case _:
                wait_until(lambda: n_new() >= n_left, process)
                wait(1.2 * strike.share, process)

    def _n_files(self) -> int:
        return sum(1 for _ in self.root.rglob("*"))

    def _hit(self, process: subprocess.Popen[bytes], kind: str, midway: bool) -> Struck:
        living = workers(self.root)
        now = time.monotonic()
        n_killed, is_hit = 0, True
        match kind:
            case "kill parent":
                process.kill()
            case "kill all":
                process.kill()
                n_killed = sum(kill(pid) for pid in living)
            case "kill worker":
                is_hit = bool(living) and kill(self.rng.choice(living))
                n_killed = int(is_hit)
            case "SIGTERM worker":
                is_hit = bool(living) and kill(self.rng.choice(living), signal.SIGTERM)
            case "SIGTERM":
                kill(process.pid, signal.SIGTERM)
            case "SIGINT":
                kill(process.pid, signal.SIGINT)
            case "two SIGINT":
                kill(process.pid, signal.SIGINT)
                time.sleep(0.02 + 0.3 * self.rng.random())
                now = time.monotonic()
                n_killed = len(living)
                kill(process.pid, signal.SIGINT)
            case _:
                assert kind == FULL
                self._fill()
                n_killed = max(1, len(living))  # what is in flight finds no room
        return Struck(now if is_hit else None, midway, n_killed)

    @property
    def _filler(self) -> Path:
        return self.disk / "filler"

    def _fill(self) -> None:
        with self._filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4096)):
                pass

    def make_room(self) -> None:
        """Give back the room that was filled."""
        self._filler.unlink(missing_ok=True)
