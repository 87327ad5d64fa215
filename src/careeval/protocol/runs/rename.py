"""Another name for the system of a run: it stands in `run.json` and wins over that in the logs.

No log is rewritten. The task keeps the name that the run began with, by which an unfinished run
finds its logs and its recorded answers again.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from careeval.errors import ProtocolError
from careeval.protocol.runs.folder import (
    GRADED,
    RUN_FILE,
    amend,
    is_audit,
    is_grading,
    read_run_file,
    run_folders,
    system_of,
)
from careeval.protocol.runs.held_out_runs import PRIVATE
from careeval.protocol.runs.lock import locked
from careeval.protocol.runs.spec import PROBES, check_name
from careeval.protocol.runs.sweep_cells import refuse_sweep


def run_in(folder: Path) -> Path:
    """The folder of the one run that a folder is or holds.

    Raises:
        ProtocolError: It holds none or several, is a grading, or holds an audit of a grader.
    """
    refuse_sweep(folder)
    runs = [each for each in run_folders(folder) if not is_grading(each)]
    if not runs and run_folders(folder):
        raise ProtocolError(
            f"{folder} is a later grading of a run", hint=f"name the run: {folder.parent.parent}"
        )
    if not runs:
        raise ProtocolError(f"{folder} holds no run", hint="name the folder of a run")
    if len(runs) > 1:
        raise ProtocolError(
            f"{folder} holds {len(runs)} runs: {', '.join(map(str, runs))}", hint="name one of them"
        )
    if is_audit(runs[0]):
        raise ProtocolError(f"{runs[0]} is the audit of a grader, and no system's run")
    return runs[0]


def rename(folder: Path, name: str) -> str:
    """Give the system of a run another name, in its later gradings too; the old name comes back.

    Args:
        folder: The run's, as `run_in` finds it.
        name: The new name.

    Raises:
        ProtocolError: A system cannot be called so, or a run beside this one is; or the run, or a
            grading of it, is being worked on.
    """
    check_name(name)
    if name == PROBES:
        raise ProtocolError(
            f"{name!r} is what an audit of a grader is called", hint="give another name"
        )
    with ExitStack() as held:
        # the run last: its name is what readers go by
        folders = [*(folder / GRADED).glob("*/"), folder]
        folders = [each for each in folders if (each / RUN_FILE).exists()]
        for each in folders:
            held.enter_context(locked(each))
        before = read_run_file(folder).system
        _refuse_taken(folder, name)
        for each in folders:
            run = read_run_file(each)
            amend(each, system=name, task={"system": run.system, **run.task})
    return before


def _refuse_taken(folder: Path, name: str) -> None:
    root = folder.parent.parent if folder.parent.name == PRIVATE else folder.parent
    for other in run_folders(root):
        if not is_grading(other) and system_of(other) == name:
            if other == folder:
                raise ProtocolError(f"{folder} is called {name!r} already")
            raise ProtocolError(
                f"{other} holds a run of {name!r} already", hint="give another name"
            )
