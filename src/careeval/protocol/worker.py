"""A process that carries out one run, with orders on stdin and reports on stdout.

It loads Inspect before it reads the first order, so that it may be started early.

```text
in    {"folder": …, "siblings": […]}, then "go" once every worker is ready. At the end of stdin,
      which also comes when the parent dies, it begins no more calls, and ends.
out   {"ready": …}, {"progress": …} now and then, and at last {"ended": …} or {"refused": …}
```

Each is one line of JSON.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from careeval.errors import CareEvalError
from careeval.protocol.run import Outcome, RunCallbacks, Stop, Stoppable

GRACE = 20.0
"""Seconds that calls in flight may still take when the run is to end; most programs that send
SIGTERM wait longer than this before they kill."""


class Worker:
    """The run of this process, with the parent's orders and the reports to it."""

    def __init__(self, orders: TextIO, reports: TextIO) -> None:
        self._orders, self._reports = orders, reports
        self._go = threading.Event()
        self._ending = False
        self._calls: Stoppable | None = None

    def work(self) -> None:
        """Carry out the run of the first order."""
        # Inspect is loaded already: see `main`
        from careeval.protocol.evaluate import resume

        if not (first := self._orders.readline()):
            return  # the parent died before it gave an order
        order = json.loads(first)
        threading.Thread(target=self._listen, daemon=True).start()
        signal.signal(signal.SIGTERM, lambda *_: self._end())
        folder = Path(order["folder"])
        watch = RunCallbacks(
            lambda p: self._tell(progress=asdict(p)), self._wait_for_go, self._hold
        )
        try:
            outcome = resume(folder, [Path(sibling) for sibling in order["siblings"]], watch)
        except CareEvalError as error:
            self._tell(refused={"message": str(error), "hint": error.hint})
        except OSError as error:
            # often a full disk; what was finished before is kept
            where = error.filename or folder
            self._tell(refused={"message": f"{where}: {error.strerror or error}", "hint": ""})
        except KeyboardInterrupt:
            self._tell(ended=asdict(Outcome(folder, False, 0, Stop.interrupted)))
        else:
            self._tell(ended=asdict(outcome))

    def _listen(self) -> None:
        for line in self._orders:
            if line.strip() == "go":
                self._go.set()
        self._end()

    def _end(self) -> None:
        self._ending = True
        self._go.set()
        if self._calls:
            self._calls.stop(Stop.interrupted, GRACE)

    def _wait_for_go(self) -> None:
        # objects loaded so far stay: exclude them from garbage collection
        gc.freeze()
        # each sample leaves some 700 objects in cycles; with Python's default thresholds,
        # collecting them took a fifth of a run's time
        gc.set_threshold(50_000, 3, 5)
        self._tell(ready=True)
        self._go.wait()
        if self._ending:
            raise KeyboardInterrupt

    def _hold(self, calls: Stoppable) -> None:
        self._calls = calls
        if self._ending:
            calls.stop(Stop.interrupted, GRACE)

    def _tell(self, **report: Any) -> None:
        # when the parent has died, the end of stdin ends this process
        with suppress(BrokenPipeError):
            print(json.dumps(report, default=str), file=self._reports, flush=True)


def main() -> None:
    """Carry out one run; what libraries print goes to stderr, so that stdout has only reports."""
    # SIGINT ends a run, and Ray blocks it in the processes that it starts
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # on a full disk logging would fill stderr with its own failures
    logging.raiseExceptions = False
    reports = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    status = 1
    try:
        # loading leaves no garbage, and looking for it would take a fifth of the time
        gc.set_threshold(1_000_000)
        # Inspect's trace of itself, two lines a call, is written only if the user asks for it
        os.environ.setdefault("INSPECT_TRACE_LEVEL", "WARNING")
        import_module("careeval.protocol.evaluate")
        Worker(sys.stdin, reports).work()
        status = 0
    except Exception:
        traceback.print_exc()
    finally:
        # do not wait for threads of engines and clients; all results are on disk
        for stream in (reports, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
