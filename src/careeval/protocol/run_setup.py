"""Setting up runs in their folders: one, several together, or over recorded responses.

A system can be renamed afterwards.

A run is *prepared* once, and from then on only *resumed*.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from careeval.core.response import Response
from careeval.core.scenario import Rubric
from careeval.errors import ProtocolError
from careeval.files import write_text
from careeval.modes import MODES
from careeval.modes.mode import PROVIDER
from careeval.protocol.held_out_runs import PRIVATE
from careeval.protocol.ledger import BUDGET_LOCK, CALLS_FILE, SPENT_FILE
from careeval.protocol.providers import check_address, provider_of
from careeval.protocol.recorded_responses import n_epochs, write_responses
from careeval.protocol.run import (
    PROBES,
    Run,
    as_fields,
    check_name,
    folder_name,
    run_from_fields,
    run_identity,
)
from careeval.protocol.run_files import LOCK_FILE, holder, locked, read_json
from careeval.protocol.run_folder import (
    GRADED,
    RESPONSES_FILE,
    RUN_FILE,
    amend_run,
    has_begun,
    has_run,
    is_grading,
    is_probe_check,
    read_run_file,
    refuse_links,
    run_above,
    run_folders,
    runs_named,
    write_run_file,
)
from careeval.protocol.sweep_cells import refuse_sweep


def prepare(run: Run, folder: Path) -> Path:
    """Set up a run in a folder that has no run yet; return the folder.

    A run that was set up with the same description, and has not begun, is set up again.

    Raises:
        ProtocolError: The run may not go into the folder: see `check_folder`.
        OSError: The folder cannot be written; nothing of the run is in it.
    """
    check_folder(folder, run)
    folder.mkdir(parents=True, exist_ok=True)
    refuse_links(folder)
    try:
        # if two commands come at once, the second must see the run of the first
        with locked(folder):
            if not _may_take(folder, run):
                raise _taken(folder)
            write_run_file(folder, run)
    except OSError:
        if not _is_readable(folder):
            discard(folder)
        raise
    return folder


def prepare_recorded(folder: Path, responses: Sequence[Response], run: Run) -> Path:
    """Set up a run over recorded responses, as `store_responses` takes them; return the folder.

    Raises:
        ProtocolError: As `prepare`; or a chosen scenario has no response.
    """
    return prepare(store_responses(folder, responses, run), folder)


def store_responses(folder: Path, responses: Sequence[Response], run: Run) -> Run:
    """Write recorded responses of one system into a folder, and return the run over them.

    The model and the epochs of `run` are replaced, since they follow from the responses. If its
    task names scenarios, the other responses are left out.

    Raises:
        ProtocolError: As `prepare`; or a chosen scenario has no response.
        OSError: The folder cannot be written.
    """
    # checked first, so as not to overwrite the responses of another run
    check_folder(folder, run)
    answered = {response.scenario for response in responses}
    part = run.task.get("part")
    wanted = set(part or run.task.get("scenario") or answered)
    if unanswered := sorted(wanted - answered):
        raise ProtocolError(
            f"no response is recorded to {', '.join(unanswered)}",
            hint="add responses to these scenarios, or leave the scenarios out",
        )
    responses = [response for response in responses if response.scenario in wanted]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / RESPONSES_FILE
    try:
        write_responses(file, run.system, responses)
    except OSError:
        if not _is_readable(folder):
            discard(folder)
        raise
    task = run.task | {
        "scenario": run.task["scenario"] if part else sorted(wanted),
        "responses": str(file.resolve()),
        "system": run.system,
    }
    n = len(responses)
    return replace(run, model=None, epochs=n_epochs(responses), task=task, n_answers=n)


def grading_folder(folder: Path, grader: str, rubric: Rubric) -> Path:
    """Return the folder for the next grading of a run's rubric by this grader.

    Its number is also above those of careeval 0.1's gradings, whose folder names have no rubric.
    """
    gradings = folder / GRADED
    name = folder_name(grader)
    numbered = re.compile(rf"{re.escape(name)}(?:-{rubric})?-(\d+)")
    named = (numbered.fullmatch(path.name) for path in gradings.glob("*"))
    n = 1 + max((int(match[1]) for match in named if match), default=0)
    return gradings / f"{name}-{rubric}-{n}"


def discard(folder: Path) -> None:
    """Delete the files of a prepared run, unless it has a log, has made a call or is locked."""
    if has_begun(folder) or holder(folder):
        return
    with suppress(OSError):
        call_files = (CALLS_FILE, SPENT_FILE, BUDGET_LOCK)
        for name in (RUN_FILE, RESPONSES_FILE, *call_files, LOCK_FILE):
            (folder / name).unlink(missing_ok=True)
        # fails, as it should, if other files are in them
        folder.rmdir()
        folder.parent.rmdir()


def check_folder(folder: Path, run: Run) -> None:
    """Check that a run may go into a folder.

    Raises:
        ProtocolError: The model can only grade, the system's name is not allowed, a server's
            address is invalid or has a secret in it, the folder already has a run, or it lies in
            a run's folder, where it would be taken for part of that run.
    """
    is_program = provider_of(run.model).name == PROVIDER
    if is_program and any(run.model in mode.programs for mode in MODES.values()):
        hint = f"give it as the grader: --grader {run.model}"
        raise ProtocolError(f"{run.model} can only grade, not be asked", hint=hint)
    check_name(run.system)
    if run.base_url is not None:
        check_address(run.model, run.base_url, "--base-url")
    if run.grader_base_url is not None:
        check_address(run.grader, run.grader_base_url, "--grader-base-url")
    if above := run_above(folder.parent.parent if is_grading(folder) else folder):
        hint = "give a folder outside that run's folder"
        raise ProtocolError(f"{folder} is inside the folder of a run, {above}", hint=hint)
    if holder(folder) or not _may_take(folder, run):
        raise _taken(folder)


def _may_take(folder: Path, run: Run) -> bool:
    """Tell whether a folder has no run, or one that has not begun and is the same or damaged."""
    if not (folder / RUN_FILE).exists():
        return True
    if has_begun(folder):
        return False
    try:
        existing = read_run_file(folder)
    except ProtocolError:
        return True
    return run_identity(existing) == run_identity(run)


def _is_readable(folder: Path) -> bool:
    with suppress(ProtocolError):
        read_run_file(folder)
        return True
    return False


def refuse_runs_folder(folder: Path) -> None:
    """Raise a `ProtocolError` if a folder is part of a run or a sweep, or has a run just below it.

    Else other files may go there.
    """
    refuse_sweep(folder)
    hint = "give a folder without runs, such as -o site"
    if has_run(folder):
        raise ProtocolError(f"{folder} is the folder of a run", hint=hint)
    if above := run_above(folder):
        raise ProtocolError(f"{folder} is inside the folder of a run, {above}", hint=hint)
    below = [*folder.glob(f"*/{RUN_FILE}"), *folder.glob(f"private/*/{RUN_FILE}")]
    if below:
        raise ProtocolError(f"{folder} has runs in it, such as {below[0].parent}", hint=hint)


def _taken(folder: Path) -> ProtocolError:
    return ProtocolError(
        f"{folder} already has a run",
        hint=f"finish it with 'careeval run --resume -o {folder.parent}', "
        "or give another folder or --name",
    )


# Several runs, set up together

SETUP_FILE = ".setup.json"
"""Name of the list of runs to be set up: path of each run's folder → the run."""


def prepare_together(root: Path, runs: Mapping[Path, Run]) -> list[Path]:
    """Set up runs that share a budget, by their folders below `root`, either all or none.

    Raises:
        ProtocolError: As `prepare`.
        OSError: A folder cannot be written.
    """
    for folder, run in runs.items():
        check_folder(folder, run)
    if len(runs) > 1:
        runs = {
            folder: replace(run, together=[os.path.relpath(other, folder) for other in runs])
            for folder, run in runs.items()
        }
    file = root / SETUP_FILE
    try:
        if len(runs) > 1:
            root.mkdir(parents=True, exist_ok=True)
            planned = {
                os.path.relpath(folder, root): as_fields(run) for folder, run in runs.items()
            }
            write_text(file, json.dumps(planned, ensure_ascii=False) + "\n", synced=True)
        for folder, run in runs.items():
            prepare(run, folder)
    except Exception:
        file.unlink(missing_ok=True)
        for folder in runs:
            discard(folder)
        raise
    file.unlink(missing_ok=True)
    return list(runs)


def unfinished_setups(root: Path) -> list[Path]:
    """Return the folders at or below `root` with an interrupted set-up."""
    return sorted(file.parent for file in root.rglob(SETUP_FILE))


def finish_setup(root: Path) -> None:
    """Finish an interrupted set-up: set up the runs that are left.

    Raises:
        ProtocolError: The list of runs cannot be read.
        OSError: The folder cannot be written.
    """
    file = root / SETUP_FILE
    try:
        planned = {
            root / path: run_from_fields(fields)
            for path, fields in read_json(file).items()
            # never outside the folder, whatever the file says
            if (root / path).resolve().is_relative_to(root.resolve())
        }
    except (ValueError, TypeError, AttributeError, IsADirectoryError) as error:
        raise ProtocolError(
            f"{file} is damaged: {error}",
            hint="move it away: only the set-up of runs that had not begun is lost",
        ) from error
    for folder, run in planned.items():
        # leave a folder that is already set up or taken
        with suppress(ProtocolError):
            if not (folder / RUN_FILE).exists():
                prepare(run, folder)
    file.unlink(missing_ok=True)


# Renaming a system: the name in `run.json` has precedence over that in the logs, of which none is
# rewritten. The task keeps the name that the run began with, by which an unfinished run finds its
# logs and its recorded responses again


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
