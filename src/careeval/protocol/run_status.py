"""Reading the status of a run from its folder, during the run or afterwards, without Inspect."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from careeval.errors import CareEvalError, LogError
from careeval.protocol.ledger import TotalCost, read_paid_calls
from careeval.protocol.lock import holder
from careeval.protocol.log_fields import is_cancelled
from careeval.protocol.logs import log_summaries, read_log
from careeval.protocol.recorded_responses import kept_responses, read_responses
from careeval.protocol.run import Run, SampleKey
from careeval.protocol.run_folder import RESPONSES_FILE, is_complete, kept_samples, read_run_file
from careeval.protocol.selection import selection_of


@dataclass(frozen=True)
class RunStatus:
    """The status of one run."""

    folder: Path
    run: Run
    n_samples: int | None  # Responses that it will have; `None` if its scenarios cannot be read
    n_asked: int | None  # Responses that it has; `None` if recorded ones cannot be read
    n_graded: int | None
    """Responses that are graded or have nothing to grade; `None` if the run has no grader."""
    n_failed: int  # Responses that were given up; resuming asks for them again
    spent: TotalCost
    process: str | None  # Number of the process that works on it; `None` if none does
    complete: bool  # True if nothing is left to do


def read_run_status(folder: Path) -> RunStatus:
    """Return the status of the run in a folder; raise a `ProtocolError` if it holds none."""
    run = read_run_file(folder)
    # read first: a run that ends meanwhile is shown as running, with all its responses
    process = holder(folder)
    asked, graded = kept_samples(folder)
    finished, failed = logged_samples(folder)
    n_samples = _n_samples(folder, run)
    n_asked = _n_recorded(folder, run) if run.model is None else len(asked | finished)
    return RunStatus(
        folder,
        run,
        n_samples,
        n_asked,
        None if run.grader is None else len((graded | finished) - failed),
        len(failed),
        TotalCost.of(read_paid_calls(folder)),
        process,
        complete=is_complete(folder) and not failed and process is None,
    )


def logged_samples(folder: Path) -> tuple[set[SampleKey], set[SampleKey]]:
    """Return the finished samples in a folder's logs, and the samples that were given up."""
    finished, failed = set[SampleKey](), set[SampleKey]()
    for log in folder.glob("*.eval"):
        for sample in log_summaries(log):
            with suppress(AttributeError, KeyError, TypeError, ValueError):
                key = (str(sample["id"]), int(sample["epoch"]))
                error = sample.get("error")
                if not is_cancelled(error):
                    (failed if error else finished).add(key)
    return finished, failed - finished


def _n_recorded(folder: Path, run: Run) -> int | None:
    with suppress(CareEvalError):
        if run.asks_function:
            return len(kept_responses(folder / RESPONSES_FILE))
        return sum(map(len, read_responses(folder / RESPONSES_FILE).values()))
    return None


def _n_samples(folder: Path, run: Run) -> int | None:
    """Return how many responses a run will have: as recorded, as logged, or else as in its bank."""
    try:
        if run.model is None and not run.asks_function:
            return _n_recorded(folder, run)
        for log in folder.glob("*.eval"):
            try:
                return len(read_log(log).header.scenarios) * run.epochs
            except LogError:
                continue
        return len(selection_of(run.task).asked) * run.epochs
    except CareEvalError:
        return None
