"""Preparing, reading, finding and discarding the folders of runs.

```text
DIR/<system>/            logs of asking and first grading, run.json, spent.jsonl, and calls.jsonl
                         until the run is complete
DIR/<system>/graded/<grader>-<rubric>-<n>/   the same for a later grading of the same responses
```

Each folder is an `eval_set` of its own. `run.json` describes the run, so that carrying it out needs
nothing but its folder: a run is *prepared* once, and from then on only *resumed*.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from careeval.core.response import Response
from careeval.core.scenario import Rubric
from careeval.errors import ProtocolError
from careeval.files import open_file, write_text
from careeval.modes import MODES
from careeval.modes.mode import PROVIDER
from careeval.protocol.address import check_address
from careeval.protocol.budget import BUDGET_LOCK, RESERVED_FILE
from careeval.protocol.json_lines import read_json
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE, finished_keys, read_paid_calls
from careeval.protocol.lock import LOCK_FILE, holder, locked
from careeval.protocol.logs import is_finished
from careeval.protocol.providers import provider_of
from careeval.protocol.recorded_responses import n_epochs, write_responses
from careeval.protocol.run import (
    PROBES,
    Run,
    SampleKey,
    check_name,
    folder_name,
    run_from_fields,
    run_identity,
)
from careeval.protocol.sweep_cells import refuse_sweep, without_cells

RUN_FILE = "run.json"
"""File name of the description of a run; a folder with this file is the folder of a run."""


GRADED = "graded"
"""Name of the folder of later gradings, in a run's folder."""


RESPONSES_FILE = "responses.jsonl"
"""File name of the recorded responses of a run that asks no model."""


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
        # of two commands at once, the second has to see the run of the first
        with locked(folder):
            if not _may_take(folder, run):
                raise _taken(folder)
            write_text(folder / RUN_FILE, _text(run), synced=True)
    except OSError:
        if not _readable(folder):
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
    """Write recorded responses into a folder, and return the run over them.

    Args:
        folder: Folder of the run, which is to be prepared next.
        responses: Responses of one system; if `run.task` names scenarios, at least one to each of
            these.
        run: The run; its model and epochs are replaced, since they follow from the responses.

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
        if not _readable(folder):
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
    if _has_calls(folder) or holder(folder):
        return
    with suppress(OSError):
        call_files = (CALLS_FILE, SPENT_FILE, RESERVED_FILE)
        for name in (RUN_FILE, RESPONSES_FILE, *call_files, LOCK_FILE, BUDGET_LOCK):
            (folder / name).unlink(missing_ok=True)
        # fails, as it should, where other files are in them
        folder.rmdir()
        folder.parent.rmdir()


def _has_calls(folder: Path) -> bool:
    """Tell whether the run in a folder has made a call or begun a log."""
    files = (folder / name for name in (CALLS_FILE, SPENT_FILE))
    has_calls = any(file.exists() and file.stat().st_size > 0 for file in files)
    return has_calls or any(folder.glob("*.eval*"))


def read_run_file(folder: Path) -> Run:
    """Return the description of the run in a folder.

    Raises:
        ProtocolError: The folder has no run, or its file is damaged; the hint says what is lost.
    """
    file = folder / RUN_FILE
    try:
        run = run_from_fields(read_json(file))
    except FileNotFoundError as error:
        raise ProtocolError(
            f"{folder} has no run: {RUN_FILE} is missing", hint=_without_run_file(folder)
        ) from error
    except OSError as error:
        raise ProtocolError(
            f"{file} cannot be read: {error.strerror}", hint=_without_run_file(folder)
        ) from error
    except (ValueError, TypeError) as error:
        why = "the file is empty" if not file.stat().st_size else str(error)
        raise ProtocolError(f"{file} is damaged: {why}", hint=_without_run_file(folder)) from error
    return run


def _without_run_file(folder: Path) -> str:
    """Return the hint for a run whose run.json is missing or cannot be read."""
    if any(folder.glob("*.eval")):
        return (
            f"restore {RUN_FILE} from a backup, or run the system again with another -o; "
            f"'careeval summary {folder}' still reads the logs"
        )
    if _has_calls(folder):
        return (
            f"restore {RUN_FILE} from a backup, or run the system again with another -o; "
            f"{CALLS_FILE} and {SPENT_FILE} still have the finished calls"
        )
    return "delete the folder, or repeat the 'careeval run': nothing was asked, so nothing is lost"


def _readable(folder: Path) -> bool:
    """Tell whether a folder has a run.json that can be read."""
    with suppress(ProtocolError):
        read_run_file(folder)
        return True
    return False


def bank_of(folder: Path) -> str | None:
    """Return the bank that a run was asked with, as `load_bank` takes it.

    `None` is careeval's own, and is also returned for a folder without a run.json of careeval.

    Raises:
        ProtocolError: There is no bank in that place any more.
    """
    # imported here, since --help does not need the bank's package
    from careeval.bank import bank_folder

    try:
        name: str | None = read_run_file(folder).task.get("bank")
    except ProtocolError:
        return None
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
    """Check that a run's folder has no links, through which a run would write elsewhere.

    Raises:
        ProtocolError: The folder, or a folder in it, has a link.
    """
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
    run = folder.parent.parent
    in_graded = folder.parent.name == GRADED
    return in_graded and ((run / RUN_FILE).exists() or any(run.glob("*.eval")))


def amend_run(folder: Path, **changes: Any) -> None:
    """Change fields of the run in a folder, such as its prices or its budget.

    Raises:
        ProtocolError: The folder holds no run, or has a link.
    """
    refuse_links(folder)
    run = replace(read_run_file(folder), **changes)
    # a process killed here leaves the old file or the new one
    write_text(folder / RUN_FILE, _text(run), synced=True)


def budget_folders(folder: Path) -> list[Path]:
    """Return the folders of all runs that share a run's budget, including the run's own."""
    return [(folder / path).resolve() for path in read_run_file(folder).together] or [folder]


def is_complete(folder: Path) -> bool:
    """Tell whether the run in a folder is complete, from its file of calls and its log headers.

    A run that is not complete has a file of calls. Where that was lost, a log header tells whether
    the run came to its end.
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


def n_kept_responses(folder: Path) -> tuple[int, int]:
    """Return for an unfinished run the number of responses obtained, and the number graded."""
    asked, graded = kept_samples(folder)
    return len(asked), len(graded)


def kept_samples(folder: Path) -> tuple[set[SampleKey], set[SampleKey]]:
    """Return for an unfinished run the responses obtained, and the responses graded."""
    asked, graded = set[SampleKey](), set[SampleKey]()
    for key in finished_keys(folder):
        role, scenario, epoch, *_ = key.split()
        (asked if role == "ask" else graded).add((scenario, int(epoch)))
    return asked, graded


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
    runs = {folder: _worked_on(folder) for folder in open_runs}
    if not runs:
        return None
    newest = max(runs, key=runs.__getitem__)
    return root / newest.relative_to(root).parts[0]


def _worked_on(folder: Path) -> float:
    files = [folder / name for name in (RUN_FILE, LOCK_FILE, SPENT_FILE)]
    return max(file.stat().st_mtime for file in files if file.exists())


def _text(run: Run) -> str:
    return json.dumps(asdict(run), indent=1, ensure_ascii=False) + "\n"


def run_folders(root: Path) -> list[Path]:
    """Return the folders at or below `root` that have a run or a grading.

    The cells of a sweep are left out.
    """
    return without_cells(sorted(path.parent for path in root.rglob(RUN_FILE)))


def orphaned_folders(root: Path) -> list[Path]:
    """Return the folders at or below `root` with a cost log or calls, but without run.json."""
    files = [*root.rglob(SPENT_FILE), *root.rglob(CALLS_FILE)]
    return without_cells(
        sorted({file.parent for file in files if not (file.parent / RUN_FILE).exists()})
    )


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
    run_folder = folder.parent.parent if is_grading(folder) else folder
    for above in run_folder.absolute().parents:
        # require logs too, since other programs may write a run.json
        if (above / RUN_FILE).exists() and any(above.glob("*.eval")):
            hint = "give a folder outside that run's folder"
            raise ProtocolError(f"{folder} is inside the folder of a run, {above}", hint=hint)
    if holder(folder) or not _may_take(folder, run):
        raise _taken(folder)


def _may_take(folder: Path, run: Run) -> bool:
    """Tell whether a folder has no run, or one that has not begun and is the same or damaged."""
    if not (folder / RUN_FILE).exists():
        return True
    if _has_calls(folder):
        return False
    try:
        existing = read_run_file(folder)
    except ProtocolError:
        return True
    return run_identity(existing) == run_identity(run)


def refuse_runs_folder(folder: Path) -> None:
    """Check that a folder is not part of a run and has no runs, so that other files may go there.

    Raises:
        ProtocolError: The folder is that of a run or a sweep, is inside one, or has a run just
            below it.
    """
    refuse_sweep(folder)
    hint = "give a folder without runs, such as -o site"
    if (folder / RUN_FILE).exists() or any(folder.glob("*.eval")):
        raise ProtocolError(f"{folder} is the folder of a run", hint=hint)
    for above in folder.absolute().parents:
        if (above / RUN_FILE).exists() and any(above.glob("*.eval")):
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
    """Set up runs that share a budget, either all or none; return their folders.

    Args:
        root: The folder below which the runs' folders are.
        runs: The runs by their folders.

    Raises:
        ProtocolError: As `prepare`.
        OSError: A folder cannot be written.
    """
    for folder, run in runs.items():
        check_folder(folder, run)
    if len(runs) > 1:
        runs = {
            folder: replace(run, together=_relative_paths(folder, runs))
            for folder, run in runs.items()
        }
    file = root / SETUP_FILE
    try:
        if len(runs) > 1:
            root.mkdir(parents=True, exist_ok=True)
            planned = {os.path.relpath(folder, root): asdict(run) for folder, run in runs.items()}
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


def _relative_paths(folder: Path, folders: Mapping[Path, Run]) -> list[str]:
    return [os.path.relpath(other, folder) for other in folders]


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
