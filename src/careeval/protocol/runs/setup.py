"""Setting up several runs together; a set-up that is killed halfway is finished later.

While it lasts, `.setup.json` in their common folder lists the runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from careeval.errors import ProtocolError
from careeval.files import write_text
from careeval.protocol.logs.json_limits import read_json
from careeval.protocol.runs.folder import RUN_FILE, check_folder, discard, prepare
from careeval.protocol.runs.spec import Run, run_from_fields

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
