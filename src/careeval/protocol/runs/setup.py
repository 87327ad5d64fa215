"""Setting up several runs as one: killed anywhere in it, it is finished later.

While it lasts, `.setup.json` in the folder that they lie in says what is to be there.
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
from careeval.protocol.runs.folder import RUN_FILE, check_fit, forget, prepare
from careeval.protocol.runs.spec import Run, run_from

SETUP_FILE = ".setup.json"
"""What is to be set up: the runs by their folders, seen from its own."""


def prepare_together(root: Path, runs: Mapping[Path, Run]) -> list[Path]:
    """Set up runs that share a budget, all or none; their folders come back.

    Args:
        root: The folder that they are below.
        runs: The runs by their folders.

    Raises:
        ProtocolError: As `prepare`.
        OSError: A folder cannot be written.
    """
    for folder, run in runs.items():
        check_fit(folder, run)
    if len(runs) > 1:
        runs = {folder: replace(run, together=_ways(folder, runs)) for folder, run in runs.items()}
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
            forget(folder)
        raise
    file.unlink(missing_ok=True)
    return list(runs)


def _ways(folder: Path, folders: Mapping[Path, Run]) -> list[str]:
    return [os.path.relpath(each, folder) for each in folders]


def broken_off(root: Path) -> list[Path]:
    """The folders at or below `root` in which a set-up was broken off."""
    return sorted(file.parent for file in root.rglob(SETUP_FILE))


def finish_setup(root: Path) -> None:
    """Do what is left of the set-up that was broken off in a folder.

    Raises:
        ProtocolError: What was to be set up cannot be read.
        OSError: The folder cannot be written.
    """
    file = root / SETUP_FILE
    try:
        planned = {
            root / way: run_from(run)
            for way, run in read_json(file).items()
            if (root / way).resolve().is_relative_to(root.resolve())
        }
    except (ValueError, TypeError, AttributeError, IsADirectoryError) as error:
        raise ProtocolError(
            f"{file} is not what careeval wrote: {error}",
            hint="move it away: nothing is lost but the set-up of runs that had not begun",
        ) from error
    for folder, run in planned.items():
        # what is there already stays
        with suppress(ProtocolError):
            if not (folder / RUN_FILE).exists():
                prepare(run, folder)
    file.unlink(missing_ok=True)
