"""One process a run: a lock that the system lets go when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from careeval.errors import ProtocolError

LOCK_FILE = ".lock"
"""In a run's folder; holds the number of the process that has it, or had it last."""

MAX_NUMBER = 20
"""Characters that are read of the number of a process."""

INSTANT = 0.05
"""Seconds: longer than it takes to look whether a folder is held."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run's folder for the time of the block.

    Raises:
        ProtocolError: Another process holds it.
        OSError: The folder cannot be written.
    """
    with _opened(folder / LOCK_FILE) as file:
        if not _taken(file):
            # it may have been `holder`, which has it for an instant
            time.sleep(INSTANT)
            if not _taken(file):
                file.seek(0)
                number = file.read(MAX_NUMBER).strip() or "unknown"
                raise ProtocolError(
                    f"{folder} is being worked on by process {number}",
                    hint="wait until it is done, or stop it: kill PROCESS",
                )
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def holder(folder: Path) -> str | None:
    """The number of the process that holds a run's folder; `None` where nobody does."""
    try:
        file = (folder / LOCK_FILE).open(encoding="ascii", errors="replace")
    except (FileNotFoundError, IsADirectoryError):
        return None
    with file:
        if _taken(file, fcntl.LOCK_SH):
            return None
        return file.read(MAX_NUMBER).strip() or "unknown"


def _opened(file: Path) -> IO[str]:
    try:
        return file.open("a+", encoding="ascii", errors="replace")
    except IsADirectoryError as error:
        raise ProtocolError(
            f"{file} is a folder, and should be a file", hint="move it away: nothing is lost"
        ) from error


def _taken(file: IO[str], how: int = fcntl.LOCK_EX) -> bool:
    """Try to take the lock; whether that went well."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
