"""A process that carries out one run, told what to do on stdin and telling how it goes on stdout.

It loads Inspect before it is told anything, so that one may be started early.

```text
in    {"folder": …, "siblings": […]}, then "go" once every worker is ready; the end of stdin, which
      also comes when the parent dies, however it dies: begin no more calls, and end
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
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from careeval.errors import CareEvalError
from careeval.protocol.runs.spec import Outcome, Stop, Stoppable, Watch

GRACE = 20.0
"""Seconds that calls in flight may take when the run is to end: less than most who send SIGTERM
wait before they kill."""


class Worker:
    """One run, between a parent's orders and its own reports."""

    def __init__(self, orders: TextIO, reports: TextIO) -> None:
        self._orders, self._reports = orders, reports
        self._go = threading.Event()
        self._ending = False
        self._calls: Stoppable | None = None

    def work(self) -> None:
        """Carry out the run that the first order names."""
        # Inspect is loaded by now: see `main`
        from careeval.protocol.work.evaluate import resume

        if not (first := self._orders.readline()):
            return  # the parent died before it said what to do
        order = json.loads(first)
        threading.Thread(target=self._listen, daemon=True).start()
        signal.signal(signal.SIGTERM, lambda *_: self._end())
        folder = Path(order["folder"])
        watch = Watch(lambda p: self._tell(progress=p.as_json()), self._wait_for_go, self._hold)
        try:
            outcome = resume(folder, [Path(sibling) for sibling in order["siblings"]], watch)
        except CareEvalError as error:
            self._tell(refused={"message": str(error), "hint": error.hint})
        except OSError as error:
            # a full disk, most of all; what was finished before is kept
            where = error.filename or folder
            self._tell(refused={"message": f"{where}: {error.strerror or error}", "hint": ""})
        except KeyboardInterrupt:
            self._tell(ended=as_json(Outcome(folder, False, 0, Stop.interrupted)))
        else:
            self._tell(ended=as_json(outcome))

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
        # what is loaded by now stays, and need not be looked through again and again
        gc.freeze()
        # each sample leaves some 700 objects that only a search finds; searching as often as
        # Python does took a fifth of a run
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
        # a parent that is gone hears nothing; the end of stdin says that it is
        with suppress(BrokenPipeError):
            print(json.dumps(report), file=self._reports, flush=True)


def as_json(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON values."""
    return {
        "folder": str(outcome.folder),
        "complete": outcome.complete,
        "n_failed": outcome.n_failed,
        "stopped": outcome.stopped,
        "why": outcome.why,
    }


def main() -> None:
    """Carry out one run, and leave stdout to the reports: what libraries print goes to stderr."""
    # a run is ended by an interrupt of its own process, which Ray blocks in all that it starts
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # on a full disk logging would fill stderr with its own failures
    logging.raiseExceptions = False
    reports = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    status = 1
    try:
        # a fifth of the time to load would go to looking for garbage that is not there
        gc.set_threshold(1_000_000)
        # a trace of its own doings, two lines a call, for whoever asks for it
        os.environ.setdefault("INSPECT_TRACE_LEVEL", "WARNING")
        import_module("careeval.protocol.work.evaluate")
        Worker(sys.stdin, reports).work()
        status = 0
    except Exception:
        traceback.print_exc()
    finally:
        # threads of engines and clients may linger; all that is to be kept is on disk
        for stream in (reports, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
