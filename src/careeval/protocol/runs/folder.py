"""A run's folder: how it is prepared, read, found and taken back.

```text
DIR/<system>/            logs of asking and first grading, run.json, spent.jsonl, and calls.jsonl
                         until the run is complete
DIR/<system>/graded/<grader>-<rubric>-<n>/   the same for a later grading of the same responses
```

Each folder is an `eval_set` of its own. What was asked for stands in `run.json`, so that carrying
out a run needs no more than its folder: a run is *prepared*, and from then on only *resumed*.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from careeval.core.response import Response
from careeval.core.scenario import Rubric
from careeval.errors import ProtocolError
from careeval.files import write_text
from careeval.modes import MODES
from careeval.protocol.address import BARE, check_address
from careeval.protocol.costs.cost_log import CALLS_FILE, SPENT_FILE, kept_keys, paid_for
from careeval.protocol.logs.eval_file import is_finished
from careeval.protocol.logs.json_limits import read_json
from careeval.protocol.runs.budget import BUDGET_LOCK, RESERVED_FILE
from careeval.protocol.runs.lock import LOCK_FILE, holder, locked
from careeval.protocol.runs.progress import SampleKey
from careeval.protocol.runs.recorded_responses import n_epochs, write_answers
from careeval.protocol.runs.spec import (
    PROBES,
    Run,
    asked_for,
    check_name,
    folder_name,
    provider,
    run_from,
)
from careeval.protocol.runs.sweep_cells import refuse_sweep, without_cells

RUN_FILE = "run.json"
"""What a run was asked for; a folder that has one holds a run."""


GRADED = "graded"
"""Folder of later gradings within a run's."""


RESPONSES_FILE = "responses.jsonl"
"""The recorded answers of a run that asks no model."""


def prepare(run: Run, folder: Path) -> Path:
    """Set up a run in a folder that holds none yet, whole or not at all; the folder comes back.

    One that was set up like this before, and has not begun, is set up anew.

    Raises:
        ProtocolError: The folder holds another run or one that has begun, or lies in one.
        OSError: The folder cannot be written; nothing of the run is in it.
    """
    check_fit(folder, run)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        # one of two commands at once finds the run of the other
        with locked(folder):
            if not _may_take(folder, run):
                raise _taken(folder)
            write_text(folder / RUN_FILE, _text(run), synced=True)
    except OSError:
        if not _readable(folder):
            forget(folder)
        raise
    return folder


def prepare_recorded(folder: Path, responses: Sequence[Response], run: Run) -> Path:
    """Set up a run over recorded responses: see `recorded`; the folder comes back.

    Raises:
        ProtocolError: As `prepare`; or a scenario that is asked for has no response.
    """
    return prepare(recorded(folder, responses, run), folder)


def recorded(folder: Path, responses: Sequence[Response], run: Run) -> Run:
    """Keep recorded responses in a folder, for the run over them that comes back.

    Args:
        folder: The run's, which is to be prepared next.
        responses: Of one system, to scenarios that `run.task` names or to any.
        run: Without model and epochs, which follow from the responses.

    Raises:
        ProtocolError: As `prepare`; or a scenario that is asked for has no response.
        OSError: The folder cannot be written.
    """
    # before the responses of the run that is there are written over
    check_fit(folder, run)
    answered = {response.scenario for response in responses}
    part = run.task.get("part")
    wanted = set(part or run.task.get("scenario") or answered)
    if unanswered := sorted(wanted - answered):
        raise ProtocolError(f"there is no answer to {', '.join(unanswered)}")
    responses = [response for response in responses if response.scenario in wanted]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / RESPONSES_FILE
    try:
        write_answers(file, run.system, responses)
    except OSError:
        if not _readable(folder):
            forget(folder)
        raise
    task = run.task | {
        "scenario": run.task["scenario"] if part else sorted(wanted),
        "responses": str(file.resolve()),
        "system": run.system,
    }
    n = len(responses)
    return replace(run, model=None, epochs=n_epochs(responses), task=task, n_answers=n)


def grading_folder(folder: Path, grader: str, rubric: Rubric) -> Path:
    """Where the next grading of a rubric by this grader goes, below a run's folder.

    Its number also counts on from those of careeval 0.1, whose folders name no rubric.
    """
    gradings = folder / GRADED
    name = folder_name(grader)
    numbered = re.compile(rf"{re.escape(name)}(?:-{rubric})?-(\d+)")
    named = (numbered.fullmatch(path.name) for path in gradings.glob("*"))
    n = 1 + max((int(match[1]) for match in named if match), default=0)
    return gradings / f"{name}-{rubric}-{n}"


def forget(folder: Path) -> None:
    """Take back a run that was prepared, if nothing has come of it: no log and no call."""
    if _has_calls(folder) or holder(folder):
        return
    with suppress(OSError):
        of_calls = (CALLS_FILE, SPENT_FILE, RESERVED_FILE)
        for name in (RUN_FILE, RESPONSES_FILE, *of_calls, LOCK_FILE, BUDGET_LOCK):
            (folder / name).unlink(missing_ok=True)
        # unless somebody else's files are in them
        folder.rmdir()
        folder.parent.rmdir()


def _has_calls(folder: Path) -> bool:
    """Whether anything has come of the run in a folder: a log, a call."""
    files = (folder / name for name in (CALLS_FILE, SPENT_FILE))
    called = any(file.exists() and file.stat().st_size > 0 for file in files)
    return called or any(folder.glob("*.eval*"))


def read_run_file(folder: Path) -> Run:
    """What the run in a folder was asked for.

    Raises:
        ProtocolError: The folder holds no run, or its file is damaged: the hint says what is lost.
    """
    file = folder / RUN_FILE
    try:
        run = run_from(read_json(file))
    except FileNotFoundError as error:
        raise ProtocolError(
            f"{folder} holds no run: there is no {RUN_FILE}", hint=_without_run_file(folder)
        ) from error
    except OSError as error:
        raise ProtocolError(
            f"{file} cannot be read: {error.strerror}", hint=_without_run_file(folder)
        ) from error
    except (ValueError, TypeError) as error:
        why = "it is empty" if not file.stat().st_size else str(error)
        raise ProtocolError(
            f"{file} is not what careeval wrote: {why}", hint=_without_run_file(folder)
        ) from error
    return run


def _without_run_file(folder: Path) -> str:
    """What to do about a run whose file cannot be read."""
    if any(folder.glob("*.eval")):
        return (
            "what it was asked for is lost, and it cannot go on; its logs are there, and 'careeval "
            f"summary {folder}' reads them: put {RUN_FILE} back from a copy, or run the system "
            "anew with another -o"
        )
    if _has_calls(folder):
        return (
            f"what it was asked for is lost, and it cannot go on; {CALLS_FILE} and {SPENT_FILE} "
            f"have its finished calls: put {RUN_FILE} back from a copy, or run the system anew "
            "with another -o"
        )
    return "nothing was asked and nothing is lost: delete the folder, or give 'careeval run' again"


def _readable(folder: Path) -> bool:
    """Whether a folder has a run.json that can be read."""
    with suppress(ProtocolError):
        read_run_file(folder)
        return True
    return False


def system_of(folder: Path) -> str | None:
    """The name of a run's system; `None` where the folder has no run.json of ours."""
    with suppress(ProtocolError):
        return read_run_file(folder).system
    return None


def is_audit(folder: Path) -> bool:
    """Whether a folder holds a grader's audit on the probes, and no system's run."""
    try:
        run = read_run_file(folder)
    except ProtocolError:
        return False
    return run.model is None and run.system == PROBES


def is_grading(folder: Path) -> bool:
    """Whether a folder holds a later grading: it lies in `graded` in the folder of a run.

    A folder of that name may also be one that a user chose for runs.
    """
    run = folder.parent.parent
    in_graded = folder.parent.name == GRADED
    return in_graded and ((run / RUN_FILE).exists() or any(run.glob("*.eval")))


def amend(folder: Path, **changes: Any) -> None:
    """Change what is still open about the run in a folder: its prices, its budget.

    Raises:
        ProtocolError: The folder holds no run.
    """
    run = replace(read_run_file(folder), **changes)
    # a process killed here leaves the old or the new
    write_text(folder / RUN_FILE, _text(run), synced=True)


def sharing(folder: Path) -> list[Path]:
    """The folders of the runs that share a run's budget, its own among them."""
    return [(folder / way).resolve() for way in read_run_file(folder).together] or [folder]


def is_complete(folder: Path) -> bool:
    """Whether nothing is left of the run in a folder, as far as its files show at a glance.

    The calls of a run that is not complete are in a file. Should that be gone, a log says whether
    it came to its end.
    """
    logs = list(folder.glob("*.eval"))
    if not logs or (folder / CALLS_FILE).exists():
        return False
    return all(map(zipfile.is_zipfile, logs)) and any(map(is_finished, logs))


def n_lost(folder: Path) -> int:
    """Paid calls of the run in a folder, not complete, that are in its file of calls no more.

    They are made and paid for again. A process that is killed loses one at most.
    """
    # a call that was never paid for may be there too, so that this is the least
    return max(0, len(paid_for(folder)) - len(kept_keys(folder)))


def on_disk(folder: Path) -> tuple[int, int]:
    """Of the run in a folder that is not complete, how many responses are asked, and graded."""
    asked, graded = kept_calls(folder)
    return len(asked), len(graded)


def kept_calls(folder: Path) -> tuple[set[SampleKey], set[SampleKey]]:
    """The responses of a run that is not complete that are asked, and those that are graded."""
    asked, graded = set[SampleKey](), set[SampleKey]()
    for key in kept_keys(folder):
        role, scenario, epoch, *_ = key.split()
        (asked if role == "ask" else graded).add((scenario, int(epoch)))
    return asked, graded


def latest_unfinished(root: Path) -> Path | None:
    """Find the folder just below `root` with the unfinished run of a system worked on last.

    A grading that is not finished counts as its run does; an audit on the probes does not count.
    `None` where every run is finished.
    """
    open_runs = (
        folder
        for folder in run_folders(root)
        if folder != root and not is_complete(folder) and not is_audit(folder)
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
    """Return the folders under `root` that hold a run or a grading, `root` itself included.

    The cells of a sweep are not among them.
    """
    return without_cells(sorted(path.parent for path in root.rglob(RUN_FILE)))


def orphans(root: Path) -> list[Path]:
    """The folders under `root` that have what a run has paid for, and no run.json any more."""
    files = [*root.rglob(SPENT_FILE), *root.rglob(CALLS_FILE)]
    return without_cells(
        sorted({file.parent for file in files if not (file.parent / RUN_FILE).exists()})
    )


def check_fit(folder: Path, run: Run) -> None:
    """Return if a run may go into a folder.

    Raises:
        ProtocolError: The system cannot be called so, its server's address is none or holds a
            secret, or the folder holds a run already, or lies in one, where it would be mistaken
            for part of it.
    """
    if any(run.model in mode.programs for mode in MODES.values()):
        raise ProtocolError(f"{run.model} can only grade", hint="use it as --grader")
    check_name(run.system)
    if run.base_url is not None and provider(run.model) not in BARE:
        check_address(run.base_url, "--base-url")
    outside = folder.parent.parent if is_grading(folder) else folder
    for above in outside.absolute().parents:
        # with its logs, since a run.json alone may be anybody's
        if (above / RUN_FILE).exists() and any(above.glob("*.eval")):
            raise ProtocolError(f"{above} is a run's own folder", hint="give a folder beside it")
    if holder(folder) or not _may_take(folder, run):
        raise _taken(folder)


def _may_take(folder: Path, run: Run) -> bool:
    """Whether a folder holds no run; or the same one, or one that cannot be read, not begun."""
    if not (folder / RUN_FILE).exists():
        return True
    if _has_calls(folder):
        return False
    try:
        there = read_run_file(folder)
    except ProtocolError:
        return True
    return asked_for(there) == asked_for(run)


def refuse_runs_folder(folder: Path) -> None:
    """Return if a folder is apart from runs, so that other files may be written into it.

    Raises:
        ProtocolError: It is a run's, lies in a run's, or has those of runs just below it.
    """
    refuse_sweep(folder)
    hint = "give a folder of its own, such as -o site"
    if (folder / RUN_FILE).exists() or any(folder.glob("*.eval")):
        raise ProtocolError(f"{folder} is a run's own folder", hint=hint)
    for above in folder.absolute().parents:
        if (above / RUN_FILE).exists() and any(above.glob("*.eval")):
            raise ProtocolError(f"{folder} lies in the folder of a run, {above}", hint=hint)
    below = [*folder.glob(f"*/{RUN_FILE}"), *folder.glob(f"private/*/{RUN_FILE}")]
    if below:
        raise ProtocolError(f"{folder} holds runs, such as {below[0].parent}", hint=hint)


def _taken(folder: Path) -> ProtocolError:
    return ProtocolError(
        f"{folder} holds a run already",
        hint=f"finish it with 'careeval run --resume -o {folder.parent}', "
        "or give another folder or --name",
    )
