"""Renaming the system of a run: the name in `run.json` has precedence over that in the logs.

No log is rewritten. The task keeps the name that the run began with, by which an unfinished run
finds its logs and its recorded responses again.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from careeval.errors import ProtocolError
from careeval.protocol.held_out_runs import PRIVATE
from careeval.protocol.lock import locked
from careeval.protocol.run import PROBES, check_name
from careeval.protocol.run_folder import (
    GRADED,
    RUN_FILE,
    amend_run,
    is_grading,
    is_probe_check,
    read_run_file,
    run_folders,
    runs_named,
)
from careeval.protocol.sweep_cells import refuse_sweep


def single_run(folder: Path) -> Path:
    """Return the folder of the one run at or below a folder.

    Raises:
        ProtocolError: The folder has no run or several, or is a grading or a probe check.
    """
    refuse_sweep(folder)
    runs = [run for run in run_folders(folder) if not is_grading(run)]
    if not runs and run_folders(folder):
        raise ProtocolError(
            f"{folder} is a later grading of a run", hint=f"give the run: {folder.parent.parent}"
        )
    if not runs:
        raise ProtocolError(f"{folder} has no run", hint="give the folder of a run")
    if len(runs) > 1:
        raise ProtocolError(
            f"{folder} has {len(runs)} runs: {', '.join(map(str, runs))}",
            hint="give the folder of one run",
        )
    if is_probe_check(runs[0]):
        raise ProtocolError(
            f"{runs[0]} is a probe check of a grader, not a run of a system",
            hint="give the folder of a run of a system",
        )
    return runs[0]


def rename_system(folder: Path, name: str) -> str:
    """Give the system of a run another name, in its later gradings too; return the old name.

    Raises:
        ProtocolError: The name is not allowed, or taken by a run beside this one; or another
            process works on the run or a grading of it.
    """
    check_name(name)
    if name == PROBES:
        raise ProtocolError(
            f"{name!r} is reserved for probe checks of graders", hint="give another name"
        )
    with ExitStack() as locks:
        # the run's own file last, since readers take the name from it
        candidates = [*(folder / GRADED).glob("*/"), folder]
        folders = [candidate for candidate in candidates if (candidate / RUN_FILE).exists()]
        for run_folder in folders:
            locks.enter_context(locked(run_folder))
        old_name = read_run_file(folder).system
        _refuse_taken(folder, name)
        for run_folder in folders:
            run = read_run_file(run_folder)
            amend_run(run_folder, system=name, task={"system": run.system, **run.task})
    return old_name


def _refuse_taken(folder: Path, name: str) -> None:
    root = folder.parent.parent if folder.parent.name == PRIVATE else folder.parent
    for other in runs_named(root, name):
        problem = (
            f"the system of {folder} is already named {name!r}"
            if other == folder
            else f"{other} already has a run of {name!r}"
        )
        raise ProtocolError(problem, hint="give another name")
