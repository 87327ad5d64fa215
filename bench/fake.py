"""The tests' fake server in a process of its own, which also tells when its requests came.

The first line that it prints is its address. A line on its stdin asks for what has been answered
since the last one, which it prints as one line of JSON: see `server.Answered`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.fake_server import Completion, FakeServer, Fault, Request, longer

WORDS = 120
"""Of an answer, about: what the protocol's prompt asks for."""


@dataclass
class Log:
    """The times of requests and answers, by the clock that all processes share."""

    first_came: float | None = None
    last_answered: float = 0.0
    n_ask: int = 0
    n_grade: int = 0

    def add(self, request: Request, latency: float) -> None:
        """Note a request that is answered now."""
        now = time.monotonic()
        if self.first_came is None:
            self.first_came = now - latency
        self.last_answered = now
        if request.kind == "ask":
            self.n_ask += 1
        else:
            self.n_grade += 1


def main() -> None:
    """Serve until stdin ends."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    latency = parser.parse_args().latency
    log = Log()
    well = longer(WORDS)

    def noted(request: Request) -> Completion | Fault:
        log.add(request, latency)
        return well(request)

    def tell() -> None:
        nonlocal log
        for _ in sys.stdin:
            told, log = log, Log()
            _say(json.dumps(vars(told)))

    server = FakeServer(noted, latency)
    threading.Thread(
        target=lambda: asyncio.run(server.serve(0, lambda: _say(server.base_url))), daemon=True
    ).start()
    tell()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
