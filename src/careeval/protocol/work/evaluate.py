"""Carrying out one run with Inspect, in this process."""

from __future__ import annotations

import re
import signal
import threading
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval_set
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog
from inspect_ai.model import Model

from careeval.errors import LogError, ProtocolError
from careeval.modes import MODES
from careeval.modes.version import PROTOCOL_VERSION
from careeval.protocol.calls.inspect_hooks import alone, counted_by
from careeval.protocol.calls.run_calls import Calls, kept_by
from careeval.protocol.costs.cost_log import CALLS_FILE, forget_calls
from careeval.protocol.grade.task import careeval
from careeval.protocol.logs.eval_file import read_log
from careeval.protocol.logs.limits import check_size
from careeval.protocol.models.connect import calls_in_flight, connect, set_prices
from careeval.protocol.models.reply_queue import Turns
from careeval.protocol.runs.budget import Budget, tidy
from careeval.protocol.runs.folder import RESPONSES_FILE, is_complete, read_run_file
from careeval.protocol.runs.held_out_runs import apart, is_held_out, tellable, unheard
from careeval.protocol.runs.lock import locked
from careeval.protocol.runs.progress import Tally
from careeval.protocol.runs.recorded_responses import read_answers
from careeval.protocol.runs.spec import UNWATCHED, Outcome, Run, Stop, Watch
from careeval.protocol.work.run_status import logged

LOG_EVERY = 20
"""Finished samples that Inspect holds before it writes them; their calls are on disk already."""


def resume(folder: Path, siblings: Sequence[Path] = (), watch: Watch = UNWATCHED) -> Outcome:
    """Do what is left of the run in a folder, in this process; nothing when it is complete.

    Args:
        folder: The run's.
        siblings: Folders of the runs that share its budget.
        watch: Whom to tell.

    Raises:
        ProtocolError: The folder holds no run, is another process's now, or the run is set up
            wrongly.
    """
    run = read_run_file(folder)
    with locked(folder):
        return evaluate(run, folder, siblings or [folder], watch)


def evaluate(run: Run, folder: Path, siblings: Sequence[Path], watch: Watch) -> Outcome:
    """Do what is left of a run, in a folder that this process holds.

    Args:
        run: What the folder was prepared for.
        folder: The run's.
        siblings: Folders of the runs that share its budget, its own among them.
        watch: Whom to tell.

    Raises:
        ProtocolError: The run is set up wrongly; nothing has been asked.
        OSError: The folder cannot be written; what was finished before is kept.
    """
    with unheard(run, folder):
        return _evaluate(run, folder, siblings, watch)


def _evaluate(run: Run, folder: Path, siblings: Sequence[Path], watch: Watch) -> Outcome:
    _set_aside_broken(folder)
    task = _task(run, folder)
    check_size(len(task.dataset), run.epochs)
    about = (task.metadata or {})["careeval"]
    if run.grader is not None:
        MODES[about["mode"]].check_grader(run.grader)
    _refuse_changed(folder, about)
    if run.protocol != PROTOCOL_VERSION and is_complete(folder):
        # Inspect would not know its log again, whose task named no protocol, and ask once more
        return Outcome(folder, complete=True, n_failed=0)
    with _plain_errors():
        set_prices(run.prices)
        turns = Turns()
        model = connect(run, "ask", turns) if run.model else None
        grader = connect(run, "grade", turns) if run.grader else None
    watch.ready()

    n_samples = len(task.dataset) * run.epochs
    finished, _ = logged(folder)
    secret = is_held_out(run)
    tally = Tally(run.system, n_samples, finished, watch.report, is_held_out=secret)
    sweep = (folder / run.sweep).resolve() if run.sweep else None
    budget = Budget(run.max_cost, siblings, folder, sweep) if run.max_cost is not None else None
    calls = Calls(folder, budget, tally.paid, run.prices)
    begun_before = set(folder.glob("*.eval"))
    watch.hold(calls)
    tally.flush()
    try:
        with (
            _plain_errors(),
            kept_by(calls),
            counted_by(tally),
            alone() if secret else nullcontext(),
            _interruptible(),
        ):
            complete, logs = _carried_out(task, run, folder, model, grader)
    except KeyboardInterrupt:
        # Inspect has ended its log, and at times lets our own interruption through
        complete, logs = False, []
    finally:
        calls.close()
        tally.flush()
    if calls.stopped is Stop.unusable:
        _forget_gradings(folder, begun_before, calls.gradings)
    return _outcome(run, folder, calls, n_samples, logs, complete=complete)


def _task(run: Run, folder: Path) -> Task:
    """Return the task of a run, as Inspect knows it from the run's beginning."""
    recorded = {} if run.model else {"responses": str((folder / RESPONSES_FILE).resolve())}
    earlier = {"protocol": run.protocol} if run.protocol != PROTOCOL_VERSION else {}
    with apart():
        # the name that it began with: Inspect would take a task of another for another task
        begun = {"system": run.system, **run.task}
        with _own_answers(folder):
            task = careeval(**{**begun, **recorded, **earlier, "grade": run.grader is not None})
            _expect_all_answers(run, folder)
    return task


def _carried_out(
    task: Task, run: Run, folder: Path, model: Model | None, grader: Model | None
) -> tuple[bool, list[EvalLog]]:
    """Have Inspect do what is left of a task; return whether all succeeded, and its logs."""
    return eval_set(
        task,
        log_dir=str(folder),
        log_dir_allow_dirty=True,
        model=model or "none",
        model_roles={"grader": grader} if grader else None,
        epochs=run.epochs,
        continue_on_fail=True,
        # a call is repeated where it is made, and in no second place
        retry_on_error=0,
        retry_attempts=0,
        retry_immediate=False,
        # twice the connections, so that one half is asked while the other is graded
        max_samples=2 * calls_in_flight(run),
        log_buffer=LOG_EVERY,
        # Inspect's own record of what is unfinished: ours is on disk sooner
        log_realtime=False,
        # requests and replies as they were sent: the messages say the same
        log_model_api=False,
        display="none",
        # means that nobody sees, reckoned anew all the time
        score_display=False,
        log_level="error",
        ctl_server=False,
    )


def _outcome(
    run: Run,
    folder: Path,
    calls: Calls,
    n_samples: int,
    logs: Sequence[EvalLog],
    *,
    complete: bool,
) -> Outcome:
    """Return what has come of a run; of one that is complete, remove what was kept to resume it."""
    if calls.stopped or not logs:
        # interrupted: Inspect gives back no log, and says that all of none succeeded
        stopped = calls.stopped or Stop.interrupted
        why = "; ".join(filter(None, (calls.shape, tellable(run, folder, calls.why))))
        return Outcome(folder, complete=False, n_failed=0, stopped=stopped, why=why)
    n_failed = sum(
        n_samples - (log.results.completed_samples if log.results else 0) for log in logs
    )
    complete = complete and not n_failed
    if complete:
        (folder / CALLS_FILE).unlink()
        tidy(folder)
    why = tellable(run, folder, calls.last_failure) if n_failed else ""
    return Outcome(folder, complete, n_failed, why=why)


def _expect_all_answers(run: Run, folder: Path) -> None:
    if run.n_answers is None:
        return
    file = (folder / RESPONSES_FILE).resolve()
    n = sum(map(len, read_answers(file).values()))
    if n != run.n_answers:
        raise ProtocolError(f"{file}: holds {n} answers; expected {run.n_answers}")


@contextmanager
def _own_answers(folder: Path) -> Iterator[None]:
    """Say what to do where the answers that a run keeps are damaged."""
    try:
        yield
    except ProtocolError as error:
        if not str(error).startswith(str((folder / RESPONSES_FILE).resolve())):
            raise
        raise ProtocolError(
            str(error),
            hint="the run's recorded answers are damaged, and it cannot go on: put the file back "
            "from a copy, or begin it anew with 'careeval run --responses FILE' and another -o",
        ) from error


@contextmanager
def _interruptible() -> Iterator[None]:
    """Take SIGINT, by which `Calls` ends a run, where a shell has it ignored.

    Shells do so for what a script runs in the background. Without this, a run whose budget is
    reached there would wait for its end for ever.
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
    """Say in our words what Inspect finds wrong with a model's name, key or package."""
    try:
        yield
    except PrerequisiteError as error:
        plain = re.sub(r"\[/?[a-z ]+\]", "", str(error.message)).removeprefix("ERROR: ").strip()
        raise ProtocolError(plain) from error
    except ValueError as error:
        # Inspect has no type of its own for this one
        if not str(error).startswith(("Model API ", "Model name ")):
            raise
        raise ProtocolError(str(error), hint="a model's name is PROVIDER/MODEL") from error


def _set_aside_broken(folder: Path) -> None:
    """Rename logs that are cut off or damaged, as by a power cut: Inspect fails on seeing one.

    Nothing is lost with one: while a run is not complete, its calls are in a file of their own.
    """
    for path in folder.glob("*.eval"):
        if not _whole(path):
            path.rename(f"{path}.broken")
    for below in {path.parent for path in folder.rglob("*.eval")} - {folder}:
        # a log there may be one that is being written now
        with suppress(ProtocolError), locked(below):
            _set_aside_broken(below)


def _forget_gradings(folder: Path, begun_before: Collection[Path], keys: Collection[str]) -> None:
    """Have the responses that a useless grader was shown be graded anew, by it or by another.

    Inspect takes them for finished: its log is renamed. The responses are in the file of calls.
    """
    forget_calls(folder, keys)
    for path in set(folder.glob("*.eval")) - set(begun_before):
        path.rename(f"{path}.unusable")


def _whole(log: Path) -> bool:
    try:
        with zipfile.ZipFile(log) as file:
            return file.testzip() is None
    except Exception:  # a damaged zip fails in many ways
        return False


def _refuse_changed(folder: Path, about: Mapping[str, Any]) -> None:
    """Stop before a resumed run goes on with other scenarios or prompts than it began with."""
    prompts = about["prompts"]
    for path in sorted(folder.glob("*.eval")):
        try:
            begun = read_log(path).header.about
        except LogError:
            continue
        if begun.mode != about["mode"]:
            raise ProtocolError(
                f"{folder} was begun with a bank of the mode {begun.mode}, "
                f"which is of the mode {about['mode']} now",
                hint="begin a new run in another folder, or give back the bank as it was",
            )
        for what, then, now in (
            ("scenarios", begun.bank_hash, about["bank_hash"]),
            ("twins", begun.twins_hash, about.get("twins_hash")),
            ("asking prompts", begun.prompts.ask, prompts["ask"]),
            ("grading prompts", begun.prompts.grade, prompts["grade"]),
        ):
            if then != now:
                raise ProtocolError(
                    f"{folder} was begun with {what} that have changed since ({then}, now {now})",
                    hint=f"begin a new run in another folder, or give back the {what} as they were",
                )
