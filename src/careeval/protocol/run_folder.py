"""Reading, finding and changing the folders of runs, and their status; `run_setup` makes them.

```text
DIR/<system>/            logs of asking and first grading, run.json, spent.jsonl, and calls.jsonl
                         until the run is complete
DIR/<system>/graded/<grader>-<rubric>-<n>/   the same for a later grading of the same responses
```

Each folder is an `eval_set` of its own. `run.json` describes the run, so that carrying it out needs
nothing but its folder.
"""

from __future__ import annotations

import json
import os
import zipfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from careeval.errors import CareEvalError, LogError, ProtocolError
from careeval.files import open_file, write_text
from careeval.protocol.ledger import (
    CALLS_FILE,
    SIGHT_TEST,
    SPENT_FILE,
    TotalCost,
    finished_keys,
    read_paid_calls,
)
from careeval.protocol.logs import is_finished, logged_samples, read_log
from careeval.protocol.recorded_responses import kept_responses, read_responses
from careeval.protocol.run import PROBES, Run, SampleKey, as_fields, run_from_fields
from careeval.protocol.run_files import LOCK_FILE, holder, read_json
from careeval.protocol.sweep_cells import without_cells

RUN_FILE = "run.json"
"""File name of the description of a run; a folder with this file is the folder of a run."""

GRADED = "graded"
"""Name of the folder of later gradings, in a run's folder."""

RESPONSES_FILE = "responses.jsonl"
"""File name of the recorded responses of a run that asks no model."""


def has_run(folder: Path) -> bool:
    """Tell whether a folder has a run, be it without its logs or without its run.json."""
    return (folder / RUN_FILE).exists() or any(folder.glob("*.eval"))


def has_begun(folder: Path) -> bool:
    """Tell whether the run in a folder has made a call or begun a log."""
    files = (folder / name for name in (CALLS_FILE, SPENT_FILE))
    has_calls = any(file.exists() and file.stat().st_size > 0 for file in files)
    return has_calls or any(folder.glob("*.eval*"))


def run_above(folder: Path) -> Path | None:
    """Return the run's folder that a folder is in; `None` if it is in none."""
    for above in folder.absolute().parents:
        # require logs too, since other programs may write a run.json
        if (above / RUN_FILE).exists() and any(above.glob("*.eval")):
            return above
    return None


def read_run_file(folder: Path) -> Run:
    """Return the description of the run in a folder.

    Raises:
        ProtocolError: The folder has no run, or its file is damaged; the hint says what is lost.
    """
    file = folder / RUN_FILE
    try:
        return run_from_fields(read_json(file))
    except (OSError, ValueError, TypeError) as error:
        match error:
            case FileNotFoundError():
                problem = f"{folder} has no run: {RUN_FILE} is missing"
            case OSError():
                problem = f"{file} cannot be read: {error.strerror}"
            case _:
                why = "the file is empty" if not file.stat().st_size else str(error)
                problem = f"{file} is damaged: {why}"
        raise ProtocolError(problem, hint=_without_run_file(folder)) from error


def _without_run_file(folder: Path) -> str:
    """Return the hint for a run whose run.json is missing or cannot be read."""
    if any(folder.glob("*.eval")):
        kept = f"'careeval summary {folder}' still reads the logs"
    elif has_begun(folder):
        kept = f"{CALLS_FILE} and {SPENT_FILE} still have the finished calls"
    else:
        return (
            "delete the folder, or repeat the 'careeval run': nothing was asked, so nothing is lost"
        )
    return f"restore {RUN_FILE} from a backup, or run the system again with another -o; {kept}"


def write_run_file(folder: Path, run: Run) -> None:
    """Write the description of a run; a process killed meanwhile leaves the old file or the new.

    Raises:
        OSError: The file cannot be written; the old file is unchanged.
    """
    text = json.dumps(as_fields(run), indent=1, ensure_ascii=False) + "\n"
    write_text(folder / RUN_FILE, text, synced=True)


def amend_run(folder: Path, **changes: Any) -> None:
    """Change fields of the run in a folder, such as its prices or its budget.

    Raises:
        ProtocolError: The folder holds no run, or has a link.
    """
    refuse_links(folder)
    write_run_file(folder, replace(read_run_file(folder), **changes))


def bank_of(folder: Path) -> str | None:
    """Return the bank that a run was asked with, as `load_bank` takes it.

    `None` is careeval's own, and is also returned for a folder without a run.json of careeval.

    Raises:
        ProtocolError: There is no bank in that place any more.
    """
    try:
        name: str | None = read_run_file(folder).task.get("bank")
    except ProtocolError:
        return None
    # not at the top: the tables of runs are read without the bank
    from careeval.bank import bank_folder

    place = bank_folder(name)
    if not (place / "bank.yaml").exists():
        raise ProtocolError(
            f"{folder} was asked with the bank in {place}, where no bank is now",
            hint="if the bank has moved, name its folder: --bank DIR",
        )
    return name


def system_of(folder: Path) -> str | None:
    """Return the name of a run's system; `None` if the folder has no run.json of careeval."""
    with suppress(ProtocolError):
        return read_run_file(folder).system
    return None


def refuse_links(folder: Path) -> None:
    """Raise a `ProtocolError` if a run's folder has a link, by which it would write elsewhere."""
    for where, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            if (path := Path(where, name)).is_symlink():
                raise ProtocolError(
                    f"{path} is a link, to {path.readlink()}: a run does not follow links",
                    hint="replace the link by a copy of what it leads to, or remove it; if the "
                    "folder is not yours, ask where it came from",
                )


def is_probe_check(folder: Path) -> bool:
    """Tell whether a folder has a probe check of a grader, instead of a run of a system."""
    try:
        run = read_run_file(folder)
    except ProtocolError:
        return False
    return run.model is None and run.system == PROBES


def is_grading(folder: Path) -> bool:
    """Tell whether a folder has a later grading, inside the folder `graded` of a run.

    The name alone is not enough: a user may choose `graded` as a folder for runs.
    """
    return folder.parent.name == GRADED and has_run(folder.parent.parent)


def budget_folders(folder: Path) -> list[Path]:
    """Return the folders of all runs that share a run's budget, its own among them."""
    return [(folder / path).resolve() for path in read_run_file(folder).together] or [folder]


def is_complete(folder: Path) -> bool:
    """Tell whether the run in a folder is complete, from its file of calls and its log headers.

    A run that is not complete has a file of calls. If that was lost, a log header tells whether the
    run came to its end.
    """
    logs = list(folder.glob("*.eval"))
    if not logs or (folder / CALLS_FILE).exists():
        return False
    return all(map(_is_zip, logs)) and any(map(is_finished, logs))


def _is_zip(path: Path) -> bool:
    with suppress(OSError), open_file(path) as file:
        return zipfile.is_zipfile(file)
    return False


def n_lost_calls(folder: Path) -> int:
    """Return how many paid calls, at least, are lost from an unfinished run's file of calls.

    Lost calls are made and paid for again. A process that is killed loses at most one.
    """
    # a lower bound: the file of calls may also hold calls that cost nothing
    return max(0, len(read_paid_calls(folder)) - len(finished_keys(folder)))


def kept_samples(folder: Path) -> tuple[set[SampleKey], set[SampleKey]]:
    """Return for an unfinished run the responses obtained, and the responses graded."""
    asked, graded = set[SampleKey](), set[SampleKey]()
    for key in finished_keys(folder):
        role, scenario, epoch, *_ = key.split()
        if scenario == SIGHT_TEST:
            continue
        (asked if role == "ask" else graded).add((scenario, int(epoch)))
    return asked, graded


def run_folders(root: Path) -> list[Path]:
    """Return the folders at or below `root` that have a run or a grading.

    The cells of a sweep are left out.
    """
    return without_cells(sorted(path.parent for path in root.rglob(RUN_FILE)))


def runs_named(root: Path, system: str) -> list[Path]:
    """Return the folders of the runs at or below `root` whose system has this name."""
    return [
        folder
        for folder in run_folders(root)
        if not is_grading(folder) and system_of(folder) == system
    ]


def orphaned_folders(root: Path) -> list[Path]:
    """Return the folders at or below `root` with a cost log or calls, but without run.json."""
    files = [*root.rglob(SPENT_FILE), *root.rglob(CALLS_FILE)]
    return without_cells(
        sorted({file.parent for file in files if not (file.parent / RUN_FILE).exists()})
    )


def latest_unfinished(root: Path) -> Path | None:
    """Return the folder just below `root` with the unfinished run that was worked on last.

    An unfinished grading counts like its run; a probe check does not count. `None` if every run is
    finished.
    """
    open_runs = (
        folder
        for folder in run_folders(root)
        if folder != root and not is_complete(folder) and not is_probe_check(folder)
    )
    newest = max(open_runs, key=_worked_on, default=None)
    return None if newest is None else root / newest.relative_to(root).parts[0]


def _worked_on(folder: Path) -> float:
    files = [folder / name for name in (RUN_FILE, LOCK_FILE, SPENT_FILE)]
    return max(file.stat().st_mtime for file in files if file.exists())


# The status of a run, during the run or afterwards, without Inspect


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


def _n_recorded(folder: Path, run: Run) -> int | None:
    with suppress(CareEvalError):
        if run.asks_function:
            return len(kept_responses(folder / RESPONSES_FILE))
        return sum(map(len, read_responses(folder / RESPONSES_FILE).values()))
    return None


def _n_samples(folder: Path, run: Run) -> int | None:
    """Return how many responses a run will have: as recorded, as logged, or else as in its bank."""
    from careeval.protocol.selection import selection_of

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
