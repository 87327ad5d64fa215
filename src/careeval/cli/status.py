"""`careeval status`: the progress of runs, read from their files, and another name for a system."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cyclopts import App
from rich.text import Text

from careeval.cli.app import OK, USAGE, print_json, say
from careeval.cli.shared.options import Json
from careeval.cli.shared.run_execution import is_readable
from careeval.core.text import dollars, plain
from careeval.errors import UsageError
from careeval.protocol.ledger import TotalCost
from careeval.protocol.run_folder import (
    GRADED,
    RunStatus,
    orphaned_folders,
    read_run_status,
    run_folders,
)
from careeval.protocol.run_setup import rename_system, single_run, unfinished_setups
from careeval.protocol.sweep_cells import refuse_sweep
from careeval.sheets.terminal import console, new_table

EXAMPLES = """\
Examples:

How far is the run that goes on in another window?

  careeval status runs/first

Every run below a folder:

  careeval status runs

Two runs of one name cannot be in one table; another name for one:

  careeval status runs/second --rename "gpt-5.1, new prompt"

No log is rewritten and the folder stays; an unfinished run resumes.
"""

app = App(name="status", help_epilogue=EXAMPLES)


@app.default
def status(
    folder: Path,
    *,
    rename: str | None = None,
    as_json: Json = False,
) -> int:
    """Show how far runs are, what they have cost, and what to type next.

    Only files are read, so a running run is not disturbed.

    Args:
        folder: Folder that `careeval run -o` wrote, or a folder of such folders.
        rename: Give the system of the folder's only run this name, in every table, page and later
            grading; no run beside it may have it.
        as_json: Print JSON.
    """
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is not a folder", hint="name a folder that careeval run -o wrote"
        )
    refuse_sweep(folder)
    if rename is not None:
        run_path = single_run(folder)
        before = rename_system(run_path, rename)
        say(f"{run_path}: {before!r} is now called {rename!r}.")
    run_paths, runs = [*run_folders(folder), *orphaned_folders(folder)], list[RunStatus]()
    for path in run_paths:
        is_readable(path, lambda run: runs.append(read_run_status(run)))
    status = OK if len(runs) == len(run_paths) else USAGE
    if as_json:
        print_json({"runs": [_as_json(run) for run in runs]})
        return status
    for each in unfinished_setups(folder):
        say(f"{each}: the run's set-up was interrupted. Finish it: careeval run --resume -o {each}")
    if not runs and (run_paths or unfinished_setups(folder)):
        return status
    if not runs:
        say(f"{folder} has no run.")
        say("Start one: careeval run -m MODEL -o FOLDER")
        return OK
    _print(runs, folder)
    for note in _next_steps(runs, folder):
        say(note)
    return status


def _print(runs: Sequence[RunStatus], root: Path) -> None:
    left = ("run", "system", "now")
    table = new_table("Runs", left, ("asked", "graded", "failed", "cost"))
    for run in runs:
        path = run.folder.relative_to(root)
        table.add_row(
            Text(plain(str(path if path.parts else run.folder))),
            Text(plain(run.run.system)),
            _state(run),
            _n_of(run.n_asked, run.n_samples),
            "–" if run.n_graded is None else _n_of(run.n_graded, run.n_samples),
            f"{run.n_failed:,}",
            _cost(run.spent),
        )
    console().print(table)


def _n_of(n: int | None, total: int | None) -> str:
    n_text, total_text = ("unknown" if number is None else f"{number:,}" for number in (n, total))
    return f"{n_text} of {total_text}"


def _state(run: RunStatus) -> str:
    if run.process:
        return f"running (process {run.process})"
    if run.complete:
        return "complete"
    return "stopped" if run.n_asked or run.spent.n_calls else "not begun"


def _cost(spent: TotalCost) -> str:
    if spent.n_unknown:
        return f"{dollars(spent.known_usd)} + unknown" if spent.known_usd else "unknown"
    return dollars(spent.known_usd)


def _next_steps(runs: Sequence[RunStatus], root: Path) -> list[str]:
    """Return a line with the next command for each kind of run in the folder."""
    notes = []
    # a grading lies in the folder of its run
    idle = [run for run in runs if not run.complete and run.process is None]
    done = [run for run in runs if run.complete]
    graded = [run for run in done if run.run.grader is not None]
    if any(run.process for run in runs):
        notes.append(f"Look again: careeval status {root}")
    if idle:
        notes.append(f"Do what is left: careeval run --resume -o {root}")
    if graded:
        notes.append(f"The result: careeval summary {root}")
    if any(run.run.grader is None and not (run.folder / GRADED).exists() for run in done):
        notes.append(f"Grade what is ungraded: careeval grade {root} --grader MODEL")
    return notes


def _as_json(run: RunStatus) -> dict[str, object]:
    return {
        "folder": str(run.folder),
        "system": run.run.system,
        "model": run.run.model,
        "grader": run.run.grader,
        "responses": run.n_samples,
        "asked": run.n_asked,
        "graded": run.n_graded,
        "failed": run.n_failed,
        "calls": run.spent.n_calls,
        "cost_usd": run.spent.usd,
        "running": run.process is not None,
        "complete": run.complete,
    }
