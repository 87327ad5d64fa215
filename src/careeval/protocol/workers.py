"""Carrying out several runs at once, each in a process of its own.

Runs thus use several cores, and the failure of one run does not affect the others. Runs of hosted
models go on side by side, as many as the machine has room for, and the others wait. Runs whose
model is loaded on this machine go one at a time.

A worker gets orders on stdin and reports on stdout, each one line of JSON. It loads Inspect before
it reads the first order, so that it may be started early.

```text
in    {"folder": …, "siblings": […]}, then "go" once every worker is ready. At the end of stdin,
      which also comes when the parent dies, it begins no more calls, and ends.
out   {"ready": …}, {"progress": …} now and then, and at last {"ended": …} or {"refused": …}
```
"""

from __future__ import annotations

import gc
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import IO, Any, TextIO

from careeval.errors import CareEvalError, ProtocolError
from careeval.protocol.held_out_runs import public_error
from careeval.protocol.machine import max_parallel_runs, n_cores
from careeval.protocol.run import Outcome, Pace, RunCallbacks, RunProgress, Stop, Stoppable
from careeval.protocol.run_folder import amend_run, budget_folders, read_run_file
from careeval.protocol.run_setup import discard

Show = Callable[[Sequence[RunProgress], bool], None]
"""A function that is called with the progress of each run, and whether the runs are ending."""

EndSignals = Callable[[], int]
"""A function that returns how often the runs were told to end: see `carry_out`."""

EVERY = 0.25
"""The most seconds between two calls of `Show`."""

LAST_LINES = 60
"""Lines of a worker's output kept for its error message."""


@dataclass(eq=False)
class _Worker:
    """A process that carries out one run, with its last reports."""

    folder: Path
    process: subprocess.Popen[str]
    local: bool  # True if the run's model is loaded on this machine
    output: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))
    """The last lines that it printed besides reports."""
    ready: bool = False  # True if it is set up, and waits for the first call
    progress: RunProgress | None = None  # Its last report of progress; `None` before the first
    pace: Pace = field(default_factory=Pace)  # The rate of its responses
    outcome: Outcome | None = None  # `None` before the run has ended
    refused: ProtocolError | None = None  # The error of a run that could not be set up

    def __post_init__(self) -> None:
        self.stderr_reader = threading.Thread(target=self._read_stderr, daemon=True)

    def _read_stderr(self) -> None:
        self.output.extend(_lines(self.process.stderr))

    def order(self, line: str) -> None:
        """Send an order to the process, if it is alive."""
        stdin = self.process.stdin
        assert stdin is not None
        with suppress(BrokenPipeError, ValueError):
            stdin.write(line + "\n")
            stdin.flush()

    def end(self) -> None:
        """Tell the process to begin no more calls, and to end."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()

    def kill(self) -> None:
        """Kill the process and every process that it has started, such as a server with a model."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def progress_now(self) -> RunProgress | None:
        """Return the progress of the run with the present rate; `None` before the run has begun."""
        if self.progress is None:
            return None
        rate = self.pace.rate(self.progress.n_done + self.progress.n_failed)
        return replace(self.progress, rate=rate, ended=self.outcome is not None)

    def take_report(self, report: dict[str, Any]) -> None:
        """Take over what the process reports."""
        match report:
            case {"ready": _}:
                self.ready = True
            case {"progress": progress}:
                self.progress = RunProgress(**progress)
            case {"refused": {"message": message, "hint": hint}}:
                self.refused = ProtocolError(message, hint=hint)
            case {"ended": ended}:
                stopped = Stop(ended["stopped"]) if ended["stopped"] else None
                self.outcome = Outcome(
                    self.folder, ended["complete"], ended["n_failed"], stopped, ended["why"]
                )

    def take_exit(self) -> None:
        """Wait until the process ends; if it has reported no outcome, its death is the outcome."""
        self.end()
        status = self.process.wait()
        self.stderr_reader.join(timeout=EVERY)
        if self.outcome is None and self.refused is None and status == 0:
            # told to end before it had its order
            self.outcome = Outcome(self.folder, False, 0, Stop.interrupted)
        elif self.outcome is None and self.refused is None:
            run = read_run_file(self.folder)
            why = (
                f"its process was killed by signal {-status}"
                if status < 0
                else public_error(run, self.folder, "".join(self.output).strip())
            )
            self.outcome = Outcome(self.folder, False, 0, Stop.died, why)


class _WorkerPool:
    def __init__(
        self,
        folders: Sequence[Path],
        show: Show,
        early: EarlyWorkers,
        asked_to_end: EndSignals | None,
    ) -> None:
        self._folders, self._show, self._early = folders, show, early
        self._asked_to_end = asked_to_end
        self._reports: queue.Queue[tuple[_Worker, dict[str, Any] | None]] = queue.Queue()
        self._workers: dict[Path, _Worker] = {}
        self._local_queue: deque[Path] = deque()
        self._hosted_queue: deque[Path] = deque()
        self._max_working = max_parallel_runs()
        self._n_working = 0
        self._n_signals = 0

    def carry_out(self) -> list[Outcome]:
        runs = {folder: read_run_file(folder) for folder in self._folders}
        self._systems = {folder: run.system for folder, run in runs.items()}
        self._local_queue.extend(folder for folder, run in runs.items() if run.local)
        self._hosted_queue.extend(f for f in self._folders if f not in self._local_queue)
        with self._signals_counted():
            while folder := self._next_due():
                self._start(folder)
            self._wait_until(lambda: all(w.ready or w.refused or w.outcome for w in self._all))
            if refused := next((w for w in self._all if w.refused), None):
                for worker in self._all:
                    worker.end()
                self._wait_until(lambda: False)
                raise self._refusal(refused)
            for worker in self._all:
                self._go(worker)
            while True:
                while folder := self._next_due():
                    self._go(self._start(folder))
                if not self._n_working:
                    break
                self._take_next()
        return [self._outcome(folder) for folder in self._folders]

    @property
    def _all(self) -> list[_Worker]:
        return list(self._workers.values())

    def _start(self, folder: Path) -> _Worker:
        process = self._early.popleft() if self._early else _process()
        worker = self._workers[folder] = _Worker(folder, process, read_run_file(folder).local)
        self._n_working += 1
        threading.Thread(target=self._read, args=(worker,), daemon=True).start()
        worker.stderr_reader.start()
        siblings = [str(sibling) for sibling in budget_folders(folder)]
        worker.order(json.dumps({"folder": str(folder), "siblings": siblings}))
        return worker

    def _read(self, worker: _Worker) -> None:
        for line in _lines(worker.process.stdout):
            try:
                self._reports.put((worker, json.loads(line)))
            except ValueError:
                # output of a library, or a line cut off when the process was killed
                worker.output.append(line)
        self._reports.put((worker, None))

    def _go(self, worker: _Worker) -> None:
        # a worker that was started while Ctrl-C was pressed did not get the signal
        worker.end() if self._n_signals else worker.order("go")

    def _next_due(self) -> Path | None:
        """Take the run that should begin now from the queues; `None` if no run should begin."""
        if self._n_working >= self._max_working or self._stop_for_all is not None:
            return None
        if self._hosted_queue:
            return self._hosted_queue.popleft()
        is_local_working = any(w.local and not (w.outcome or w.refused) for w in self._all)
        return self._local_queue.popleft() if self._local_queue and not is_local_working else None

    @property
    def _stop_for_all(self) -> Stop | None:
        """The reason why no further run may begin; `None` if further runs may begin."""
        if self._n_signals:
            return Stop.interrupted
        stopped = {w.outcome.stopped for w in self._all if w.outcome}
        for_all = (Stop.budget, Stop.unmetered, Stop.disk, Stop.unusable)
        return next((why for why in for_all if why in stopped), None)

    def _wait_until(self, is_enough: Callable[[], bool]) -> None:
        while self._n_working and not is_enough():
            self._take_next()

    def _take_next(self) -> None:
        """Show the progress, end the runs if asked to, and take the next report within `EVERY`."""
        progress = [now for w in self._all if (now := w.progress_now())]
        if progress:
            waiting = (*self._hosted_queue, *self._local_queue)
            progress += [RunProgress(self._systems[folder], 0, waiting=True) for folder in waiting]
        self._show(progress, bool(self._n_signals))
        if self._asked_to_end and (n_asked := self._asked_to_end()) > self._n_signals:
            self._end(n_asked)
        try:
            worker, report = self._reports.get(timeout=EVERY)
        except queue.Empty:
            return
        if report is not None:
            worker.take_report(report)
        else:
            worker.take_exit()
            self._n_working -= 1

    def _refusal(self, worker: _Worker) -> ProtocolError:
        """Return the error of a run that could not be set up; of several runs, with its name."""
        assert worker.refused is not None
        if len(self._folders) == 1:
            return worker.refused
        return ProtocolError(f"{worker.folder.name}: {worker.refused}", hint=worker.refused.hint)

    def _outcome(self, folder: Path) -> Outcome:
        worker = self._workers.get(folder)
        if worker is None:
            return Outcome(folder, False, 0, self._stop_for_all or Stop.interrupted)
        if worker.refused:
            return Outcome(folder, False, 0, Stop.died, str(worker.refused))
        assert worker.outcome is not None
        if worker.outcome.stopped is Stop.died and self._n_signals > 1:
            # killed here, at the second signal
            return replace(worker.outcome, stopped=Stop.interrupted)
        return worker.outcome

    def _end(self, n_signals: int) -> None:
        """End the runs: after the calls in flight at the first signal, at once at the second."""
        self._n_signals = n_signals
        for worker in self._all:
            worker.end() if n_signals == 1 else worker.kill()

    @contextmanager
    def _signals_counted(self) -> Iterator[None]:
        """Handle Ctrl-C and SIGTERM during the block; kill all workers at its end."""
        signals = () if self._asked_to_end else (signal.SIGINT, signal.SIGTERM)

        def handle(*_: object) -> None:
            self._end(self._n_signals + 1)

        before = [signal.signal(number, handle) for number in signals]
        try:
            yield
        finally:
            for number, handler in zip(signals, before, strict=True):
                signal.signal(number, handler)
            for worker in self._all:
                worker.kill()


EarlyWorkers = deque[subprocess.Popen[str]]
"""Workers started before their runs were prepared; a worker that gets its run is removed."""


@contextmanager
def early_workers(n: int) -> Iterator[EarlyWorkers]:
    """Start workers for `n` runs that are still to be prepared; they load Inspect meanwhile.

    No more are started than there are processors, or than may go on at once. Workers that got no
    run are killed at the end of the block.
    """
    early = deque(_process() for _ in range(min(n, n_cores(), max_parallel_runs())))
    try:
        yield early
    finally:
        for process in early:
            process.kill()
            process.communicate()


def _process() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "careeval.protocol.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # keep Ctrl-C from the workers: this process ends them in good order
        start_new_session=True,
    )


def carry_out(
    folders: Sequence[Path],
    show: Show = lambda *_: None,
    *,
    fresh: bool = False,
    early: EarlyWorkers | None = None,
    asked_to_end: EndSignals | None = None,
) -> list[Outcome]:
    """Do the unfinished part of the runs in these folders, several at the same time.

    No call is made before all runs that begin at once have checked their set-up. If one of them
    fails, none begins. Runs that the machine has no room for begin when others have ended. Ctrl-C
    and SIGTERM end all of them in good order.

    `show` is called several times a second. So is `asked_to_end`, instead of handling signals: it
    returns 0 to go on, 1 to end the runs in good order, 2 to end them at once. `fresh` runs were
    prepared just now, and are discarded if none begins. Outcomes are in the order of the folders.

    Raises:
        ProtocolError: A run is set up wrongly, or another process works on its folder.
    """
    for folder in folders if fresh and len(folders) > 1 else ():
        together = [os.path.relpath(other, folder) for other in folders]
        if read_run_file(folder).together != together:
            amend_run(folder, together=together)
    try:
        pool = _WorkerPool(folders, show, deque() if early is None else early, asked_to_end)
        return pool.carry_out()
    except ProtocolError:
        for folder in folders if fresh else ():
            discard(folder)
        raise


def _lines(stream: IO[str] | None) -> Iterator[str]:
    assert stream is not None
    with stream:
        yield from stream


# In the process of a worker

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
