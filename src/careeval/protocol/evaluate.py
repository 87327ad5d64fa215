"""Carrying out one run with Inspect, in this process."""

from __future__ import annotations

import re
import signal
import threading
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval_set
from inspect_ai._util.error import PrerequisiteError
from inspect_ai._util.registry import registry_find
from inspect_ai.hooks import BeforeModelGenerate, Hooks, ModelRetry, RunEnd, SampleEnd, hooks
from inspect_ai.log import EvalLog
from inspect_ai.model import Model

from careeval.bank import bank_mode
from careeval.errors import LogError, ProtocolError
from careeval.files import open_file
from careeval.modes import check_version
from careeval.protocol.calls import RunCalls, current_calls, last_failure_reason, using_calls
from careeval.protocol.connect import ReplyQueue, calls_in_flight, connect, set_prices
from careeval.protocol.held_out_runs import (
    allow_held_out,
    private_output,
    public_error,
)
from careeval.protocol.ledger import CALLS_FILE, Budget, forget_calls
from careeval.protocol.logs import check_size, logged_samples, read_log
from careeval.protocol.pictures import write_pictures
from careeval.protocol.recorded_responses import read_responses
from careeval.protocol.run import NO_CALLBACKS, Outcome, Run, RunCallbacks, Stop, Tally
from careeval.protocol.run_files import locked
from careeval.protocol.run_folder import RESPONSES_FILE, read_run_file, refuse_links
from careeval.protocol.solvers import picture_in
from careeval.protocol.task import careeval

LOG_EVERY = 20
"""Finished samples that Inspect keeps in memory before writing; their calls are already on disk."""


def resume(
    folder: Path, siblings: Sequence[Path] = (), watch: RunCallbacks = NO_CALLBACKS
) -> Outcome:
    """Do the unfinished part of the run in a folder, in this process.

    `siblings` are the folders of all runs that share its budget; none if it has its own.

    Raises:
        ProtocolError: The folder holds no run or has a link, another process works on it, or the
            run is set up wrongly; nothing has been asked.
        OSError: The folder cannot be written; what was finished before is kept.
    """
    refuse_links(folder)
    run = read_run_file(folder)
    with locked(folder), private_output(run, folder):
        return _evaluate(run, folder, siblings or [folder], watch)


def _evaluate(run: Run, folder: Path, siblings: Sequence[Path], watch: RunCallbacks) -> Outcome:
    mode = bank_mode(run.task.get("bank"))
    check_version(run.protocol, mode)
    _set_aside_broken(folder)
    task = _task(run, folder)
    check_size(len(task.dataset), run.epochs)
    about = (task.metadata or {})["careeval"]
    if run.grader is not None:
        mode.check_grader(run.grader)
    _refuse_changed(folder, about)
    model, grader = connected(run)
    watch.ready()
    if not run.is_held_out:
        write_pictures(folder, filter(None, (picture_in(each.input) for each in task.dataset)))

    n_samples = len(task.dataset) * run.epochs
    finished, _ = logged_samples(folder)
    tally = Tally(run.system, n_samples, finished, watch.report, is_held_out=run.is_held_out)
    sweep = (folder / run.sweep).resolve() if run.sweep else None
    budget = Budget(run.max_cost, siblings, folder, sweep) if run.max_cost is not None else None
    calls = RunCalls(folder, tally, budget, run.prices)
    older_logs = set(folder.glob("*.eval"))
    watch.hold(calls)
    tally.flush()
    try:
        with (
            _plain_errors(),
            using_calls(calls),
            without_other_hooks() if run.is_held_out else nullcontext(),
            _interruptible(),
        ):
            complete, logs = _eval_set(task, run, folder, model, grader)
    except KeyboardInterrupt:
        # Inspect has closed its log, but sometimes raises the interrupt that `RunCalls` sent
        complete, logs = False, []
    finally:
        calls.close()
        tally.flush()
    if calls.stopped is Stop.unusable:
        _forget_gradings(folder, older_logs, calls.gradings)
    if calls.stopped is Stop.blind:
        forget_calls(folder, calls.sight_tests)
    return _outcome(run, folder, calls, n_samples, logs, complete=complete)


def connected(run: Run) -> tuple[Model | None, Model | None]:
    """Return the model and the grader of a run, ready to be called; nothing is sent.

    Raises:
        ProtocolError: A provider, key, package or address is unknown or missing.
    """
    with _plain_errors():
        set_prices(run.prices)
        replies = ReplyQueue()
        models = {each.role: connect(run, each, replies) for each in run.endpoints}
    return models.get("ask"), models.get("grade")


def _task(run: Run, folder: Path) -> Task:
    """Return the task of a run, with the arguments that it had when the run began."""
    file = (folder / RESPONSES_FILE).resolve()
    recorded = {} if run.model else {"responses": str(file)}
    # keep the system's first name: with another, it would be another task to Inspect
    arguments = {"system": run.system, **run.task, **recorded, "grade": run.grader is not None}
    try:
        with allow_held_out():
            task = careeval(**arguments)
        if run.n_answers is not None:
            n = sum(map(len, read_responses(file).values()))
            if n != run.n_answers:
                raise ProtocolError(
                    f"{file} has {n} responses, but had {run.n_answers} when the run was set up: "
                    "it has been changed"
                )
    except ProtocolError as error:
        if not str(error).startswith(str(file)):
            raise
        raise ProtocolError(
            str(error),
            hint="restore the run's file of recorded responses from a backup, or begin a new run "
            "with 'careeval run --responses FILE' and another -o",
        ) from error
    return task


def _eval_set(
    task: Task, run: Run, folder: Path, model: Model | None, grader: Model | None
) -> tuple[bool, list[EvalLog]]:
    """Have Inspect do the unfinished part of a task; return whether all succeeded, and the logs."""
    return eval_set(
        task,
        log_dir=str(folder),
        log_dir_allow_dirty=True,
        model=model or "none",
        model_roles={"grader": grader} if grader else None,
        epochs=run.epochs,
        continue_on_fail=True,
        # calls are retried where they are made, not here too
        retry_on_error=0,
        retry_attempts=0,
        retry_immediate=False,
        # twice the connections: half of the samples are asked while the other half is graded
        max_samples=2 * calls_in_flight(run),
        log_buffer=LOG_EVERY,
        # not needed: the file of calls records unfinished samples, and sooner
        log_realtime=False,
        # not needed: the messages in the log have the same text as the requests and replies
        log_model_api=False,
        # the run's folder has each picture once, and a sample its hash
        log_images=False,
        display="none",
        # would compute means all the time, which nobody sees
        score_display=False,
        log_level="error",
        ctl_server=False,
    )


def _outcome(
    run: Run,
    folder: Path,
    calls: RunCalls,
    n_samples: int,
    logs: Sequence[EvalLog],
    *,
    complete: bool,
) -> Outcome:
    """Return the outcome of a run; delete its file of calls if the run is complete."""
    if calls.stopped or not logs:
        # after an interrupt Inspect returns success without logs
        stopped = calls.stopped or Stop.interrupted
        why = "; ".join(filter(None, (calls.safe_why, public_error(run, folder, calls.why))))
        return Outcome(folder, complete=False, n_failed=0, stopped=stopped, why=why)
    n_failed = sum(
        n_samples - (log.results.completed_samples if log.results else 0) for log in logs
    )
    complete = complete and not n_failed
    if complete:
        (folder / CALLS_FILE).unlink()
    why = public_error(run, folder, calls.last_failure) if n_failed else ""
    return Outcome(folder, complete, n_failed, why=why)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Restore the handler of SIGINT, by which `RunCalls` ends a run, if SIGINT is ignored.

    Shells ignore SIGINT for what a script runs in the background. Without the handler, a run whose
    budget is reached there would never end.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turn Inspect's errors about a model's name, key or package into `ProtocolError`."""
    try:
        yield
    except PrerequisiteError as error:
        plain = re.sub(r"\[/?[a-z ]+\]", "", str(error.message)).removeprefix("ERROR: ").strip()
        raise ProtocolError(plain) from error
    except ValueError as error:
        # Inspect raises a plain ValueError for these
        if not str(error).startswith(("Model API ", "Model name ")):
            raise
        raise ProtocolError(
            str(error), hint="give a model name of the form PROVIDER/MODEL"
        ) from error


def _set_aside_broken(folder: Path) -> None:
    """Rename logs that are cut off or damaged, as by a power cut: Inspect fails on them.

    Nothing is lost: while a run is not complete, its calls are in a file of their own.
    """
    for path in folder.glob("*.eval"):
        if not _is_intact(path):
            path.rename(f"{path}.broken")
    for below in {path.parent for path in folder.rglob("*.eval")} - {folder}:
        # skip gradings in progress, whose logs are being written
        with suppress(ProtocolError), locked(below):
            _set_aside_broken(below)


def _forget_gradings(folder: Path, older_logs: Collection[Path], keys: Collection[str]) -> None:
    """Discard the gradings of an unusable grader, so that resuming makes them again.

    The new logs are renamed, since Inspect would count their samples as finished. The responses
    remain in the file of calls.
    """
    forget_calls(folder, keys)
    for path in set(folder.glob("*.eval")) - set(older_logs):
        path.rename(f"{path}.unusable")


def _is_intact(log: Path) -> bool:
    try:
        with open_file(log) as file, zipfile.ZipFile(file) as archive:
            return archive.testzip() is None
    except Exception:  # a damaged zip fails in many ways
        return False


def _refuse_changed(folder: Path, about: Mapping[str, Any]) -> None:
    """Check that a resumed run still has the scenarios and prompts that it began with."""
    prompts = about["prompts"]
    for path in sorted(folder.glob("*.eval")):
        try:
            logged_about = read_log(path).header.about
        except LogError:
            continue
        if logged_about.mode != about["mode"]:
            raise ProtocolError(
                f"the bank of {folder} had the mode {logged_about.mode} when the run began, "
                f"and has the mode {about['mode']} now",
                hint="begin a new run in another folder, or restore the bank",
            )
        for name, then, now in (
            ("scenarios", logged_about.bank_hash, about["bank_hash"]),
            ("twins", logged_about.twins_hash, about.get("twins_hash")),
            ("asking prompts", logged_about.prompts.ask, prompts["ask"]),
            ("grading prompts", logged_about.prompts.grade, prompts["grade"]),
        ):
            if then != now:
                raise ProtocolError(
                    f"{folder} was begun with {name} that have changed since "
                    f"(hash {then}, now {now})",
                    hint=f"begin a new run in another folder, or restore the {name}",
                )


# Inspect's hooks

LONG = 60.0
"""Waits of this many seconds or more are shown with the time of day when they end."""


@contextmanager
def without_other_hooks() -> Iterator[None]:
    """Switch off the hooks of other packages inside the block."""
    others: list[Any] = [
        each
        for each in registry_find(lambda info: info.type == "hooks")
        if not isinstance(each, RunHooks)
    ]
    for each in others:
        each.enabled = lambda: False
    try:
        yield
    finally:
        for each in others:
            del each.enabled


@hooks(name="careeval", description="Lets calls in, and counts what happens.")
class RunHooks(Hooks):
    """The hooks that pass events on to the current run."""

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Hold back an attempt, once it has its connection, until the run allows it."""
        if calls := current_calls():
            await calls.wait_to_begin(data.config)

    async def on_run_end(self, data: RunEnd) -> None:  # noqa: ARG002
        """Close all connections, now that all samples are finished or cancelled."""
        if calls := current_calls():
            await calls.disconnect()

    async def on_model_retry(self, data: ModelRetry) -> None:
        """Show why an attempt at a call failed, and when the call is retried."""
        if calls := current_calls():
            reason = last_failure_reason() or str(data.status_code or "an error")
            error = f"{data.model_name}: {reason}"
            calls.tally.count_failed_attempt(error, _retry_time(data.wait_time))
            if data.wait_time >= LONG:
                # nothing else may be shown during the wait
                calls.tally.flush()

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Count a sample as finished or given up, unless the end of the run interrupted it."""
        calls, error = current_calls(), data.sample.error
        if calls and not (error and calls.stopped):
            message = (
                (error.message.strip().splitlines() or ["an error"])[-1][:200] if error else None
            )
            calls.tally.count_sample((str(data.sample.id), data.sample.epoch), message)


def _retry_time(wait: float) -> str:
    if wait < LONG:
        return f"in {wait:.0f} s"
    end = datetime.now() + timedelta(seconds=wait)
    return f"in {wait / 60:.0f} min, at {end:%H:%M}"
