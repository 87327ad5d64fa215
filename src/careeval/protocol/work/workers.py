"""Many runs at once, each in a process of its own: more cores, and a failure stays with its run.

Hosted models run side by side, as many as the machine has room for; the others wait. Those that
are loaded on this machine take turns.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from careeval.errors import ProtocolError
from careeval.protocol.capacity import n_cores, runs_at_once
from careeval.protocol.runs.folder import amend, forget, read_run_file, sharing
from careeval.protocol.runs.held_out_runs import tellable
from careeval.protocol.runs.progress import Pace, Progress
from careeval.protocol.runs.spec import Outcome, Stop

Show = Callable[[Sequence[Progress], bool], None]
"""Is shown how far each run has come, and whether they are being ended."""

Asked = Callable[[], int]
"""Says whether runs are to end: see `carry_out`."""

EVERY = 0.25
"""Seconds after which things are shown again, though nothing may have happened."""

LAST_LINES = 60
"""Of what a worker says on stderr, kept for when it breaks down."""


@dataclass(eq=False)
class _Worker:
    """A process that carries out one run, and what it has told."""

    folder: Path
    process: subprocess.Popen[str]
    local: bool
    said: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))
    ready: bool = False
    progress: Progress | None = None
    pace: Pace = field(default_factory=Pace)
    outcome: Outcome | None = None
    refused: ProtocolError | None = None

    def __post_init__(self) -> None:
        self.listener = threading.Thread(target=self._listen, daemon=True)

    def _listen(self) -> None:
        self.said.extend(_lines(self.process.stderr))

    def order(self, line: str) -> None:
        """Say something to it; one that has died does not hear it."""
        stdin = self.process.stdin
        assert stdin is not None
        with suppress(BrokenPipeError, ValueError):
            stdin.write(line + "\n")
            stdin.flush()

    def end(self) -> None:
        """Have it begin no more calls, and end."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()

    def kill(self) -> None:
        """End it at once, with what it has started: a server with a model in it, say."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def progress_now(self) -> Progress | None:
        """How far its run has come and how fast; `None` before it has begun."""
        if self.progress is None:
            return None
        rate = self.pace.rate(self.progress.n_done + self.progress.n_failed)
        return replace(self.progress, rate=rate, ended=self.outcome is not None)

    def told(self, report: dict[str, Any]) -> None:
        """Take down what it tells."""
        match report:
            case {"ready": _}:
                self.ready = True
            case {"progress": progress}:
                self.progress = Progress(**progress)
            case {"refused": {"message": message, "hint": hint}}:
                self.refused = ProtocolError(message, hint=hint)
            case {"ended": ended}:
                stopped = Stop(ended["stopped"]) if ended["stopped"] else None
                self.outcome = Outcome(
                    self.folder, ended["complete"], ended["n_failed"], stopped, ended["why"]
                )

    def died(self) -> None:
        """Its process has ended: what has come of the run, should it not have told."""
        self.end()
        status = self.process.wait()
        self.listener.join(timeout=EVERY)
        if self.outcome is None and self.refused is None:
            run = read_run_file(self.folder)
            why = (
                f"its process was killed by signal {-status}"
                if status < 0
                else tellable(run, self.folder, "".join(self.said).strip())
            )
            self.outcome = Outcome(self.folder, False, 0, Stop.died, why)


class _Crew:
    """The workers of some runs."""

    def __init__(
        self, folders: Sequence[Path], show: Show, early: Early, asked_to_end: Asked | None
    ) -> None:
        self._folders, self._show, self._early = folders, show, early
        self._asked_to_end = asked_to_end
        self._reports: queue.Queue[tuple[_Worker, dict[str, Any] | None]] = queue.Queue()
        self._workers: dict[Path, _Worker] = {}
        self._turns: deque[Path] = deque()
        self._waiting: deque[Path] = deque()
        self._most = runs_at_once()
        self._n_working = 0
        self._n_signals = 0

    def carry_out(self) -> list[Outcome]:
        runs = {folder: read_run_file(folder) for folder in self._folders}
        self._systems = {folder: run.system for folder, run in runs.items()}
        self._turns.extend(folder for folder, run in runs.items() if run.local)
        self._waiting.extend(folder for folder in self._folders if folder not in self._turns)
        with self._signals_counted():
            while folder := self._due():
                self._start(folder)
            self._until(lambda: all(w.ready or w.refused or w.outcome for w in self._all))
            if refused := next((w for w in self._all if w.refused), None):
                for worker in self._all:
                    worker.end()
                self._until(lambda: False)
                raise self._named(refused)
            for worker in self._all:
                self._go(worker)
            while True:
                while folder := self._due():
                    self._go(self._start(folder))
                if not self._n_working:
                    break
                self._hear()
        return [self._outcome(folder) for folder in self._folders]

    @property
    def _all(self) -> list[_Worker]:
        return list(self._workers.values())

    def _start(self, folder: Path) -> _Worker:
        process = self._early.popleft() if self._early else _process()
        worker = self._workers[folder] = _Worker(folder, process, read_run_file(folder).local)
        self._n_working += 1
        threading.Thread(target=self._read, args=(worker,), daemon=True).start()
        worker.listener.start()
        siblings = [str(sibling) for sibling in sharing(folder)]
        worker.order(json.dumps({"folder": str(folder), "siblings": siblings}))
        return worker

    def _read(self, worker: _Worker) -> None:
        for line in _lines(worker.process.stdout):
            try:
                self._reports.put((worker, json.loads(line)))
            except ValueError:
                # what a library printed, or a line that a kill broke off
                worker.said.append(line)
        self._reports.put((worker, None))

    def _go(self, worker: _Worker) -> None:
        # one that was started while Ctrl-C was pressed has not heard of it
        worker.end() if self._n_signals else worker.order("go")

    def _due(self) -> Path | None:
        """The run that is to begin now, taken from those that wait; `None` while none is."""
        if self._n_working >= self._most or self._ending is not None:
            return None
        if self._waiting:
            return self._waiting.popleft()
        at_work = any(w.local and not (w.outcome or w.refused) for w in self._all)
        return self._turns.popleft() if self._turns and not at_work else None

    @property
    def _ending(self) -> Stop | None:
        """Why no further run is to begin."""
        if self._n_signals:
            return Stop.interrupted
        stopped = {w.outcome.stopped for w in self._all if w.outcome}
        for_all = (Stop.budget, Stop.unmetered, Stop.disk, Stop.unusable)
        return next((why for why in for_all if why in stopped), None)

    def _until(self, enough: Callable[[], bool]) -> None:
        while self._n_working and not enough():
            self._hear()

    def _hear(self) -> None:
        """Take one report, if there is one."""
        progress = [now for w in self._all if (now := w.progress_now())]
        if progress:
            waiting = (*self._waiting, *self._turns)
            progress += [Progress(self._systems[each], 0, waiting=True) for each in waiting]
        self._show(progress, bool(self._n_signals))
        if self._asked_to_end and (n_asked := self._asked_to_end()) > self._n_signals:
            self._end(n_asked)
        try:
            worker, report = self._reports.get(timeout=EVERY)
        except queue.Empty:
            return
        if report is not None:
            worker.told(report)
        else:
            worker.died()
            self._n_working -= 1

    def _named(self, worker: _Worker) -> ProtocolError:
        assert worker.refused is not None
        if len(self._folders) == 1:
            return worker.refused
        return ProtocolError(f"{worker.folder.name}: {worker.refused}", hint=worker.refused.hint)

    def _outcome(self, folder: Path) -> Outcome:
        worker = self._workers.get(folder)
        if worker is None:
            return Outcome(folder, False, 0, self._ending or Stop.interrupted)
        if worker.refused:
            return Outcome(folder, False, 0, Stop.died, str(worker.refused))
        assert worker.outcome is not None
        if worker.outcome.stopped is Stop.died and self._n_signals > 1:
            # by our own hand
            return replace(worker.outcome, stopped=Stop.interrupted)
        return worker.outcome

    def _end(self, n_signals: int) -> None:
        """End the runs: in order at the first signal, at once at the second."""
        self._n_signals = n_signals
        for worker in self._all:
            worker.end() if n_signals == 1 else worker.kill()

    @contextmanager
    def _signals_counted(self) -> Iterator[None]:
        """The first Ctrl-C or SIGTERM ends the runs in order, the second at once."""
        signals = () if self._asked_to_end else (signal.SIGINT, signal.SIGTERM)

        def take(*_: object) -> None:
            self._end(self._n_signals + 1)

        before = [signal.signal(each, take) for each in signals]
        try:
            yield
        finally:
            for each, handler in zip(signals, before, strict=True):
                signal.signal(each, handler)
            for worker in self._all:
                worker.kill()


Early = deque[subprocess.Popen[str]]
"""Workers that were started before there was a run for them; who gives one a run takes it out."""


@contextmanager
def started_early(n: int) -> Iterator[Early]:
    """Start workers for `n` runs that are still to be prepared: they load Inspect meanwhile.

    No more are started than there are processors, or than may go on at once. Those that no run took
    are ended with the block.
    """
    early = deque(_process() for _ in range(min(n, n_cores(), runs_at_once())))
    try:
        yield early
    finally:
        for process in early:
            process.kill()
            process.communicate()


def _process() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "careeval.protocol.work.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # Ctrl-C is for us alone: we end them in order
        start_new_session=True,
    )


def carry_out(
    folders: Sequence[Path],
    show: Show = lambda *_: None,
    *,
    fresh: bool = False,
    early: Early | None = None,
    asked_to_end: Asked | None = None,
) -> list[Outcome]:
    """Do what is left of the runs in these folders, side by side.

    No call is made before every run that begins at once is known to be set up rightly; where one is
    not, none begins. Runs that the machine has no room for begin when others have ended.

    Args:
        folders: Prepared for runs.
        show: Is called when something has happened, and several times a second.
        fresh: The runs were prepared just now: take them back if none begins.
        early: Workers that are there already.
        asked_to_end: Is asked several times a second, instead of taking signals: 0 to go on, 1 to
            end the runs in order, 2 to end them at once.

    Returns:
        How each ended, in the order of the folders. Ctrl-C and SIGTERM end them all, in order.

    Raises:
        ProtocolError: A run is set up wrongly, or its folder is another process's.
    """
    for folder in folders if fresh and len(folders) > 1 else ():
        together = [os.path.relpath(each, folder) for each in folders]
        if read_run_file(folder).together != together:
            amend(folder, together=together)
    try:
        return _Crew(folders, show, deque() if early is None else early, asked_to_end).carry_out()
    except ProtocolError:
        for folder in folders if fresh else ():
            forget(folder)
        raise


def _lines(stream: IO[str] | None) -> Iterator[str]:
    assert stream is not None
    with stream:
        yield from stream
