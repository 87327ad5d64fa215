"""Locking a run's folder, so that one process works on it at a time.

The operating system releases the lock when its process ends, however it ends.
"""

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
"""The lock file in a run's folder; contains the number of the process that took it last."""

MAX_NUMBER = 20
"""The most characters read as a process number."""

RETRY_AFTER = 0.05
"""Seconds until a second attempt: longer than `holder` keeps the lock."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a run's folder during the block.

    Raises:
        ProtocolError: Another process holds it.
        OSError: The folder cannot be written.
    """
    with _opened(folder / LOCK_FILE) as file:
        if not _try_lock(file):
            # a call of `holder` may have it briefly
            time.sleep(RETRY_AFTER)
            if not _try_lock(file):
                file.seek(0)
                number = file.read(MAX_NUMBER).strip() or "unknown"
                stop = f", or stop it: kill {number}" if number.isdecimal() else ""
                raise ProtocolError(
                    f"{folder} is locked: process {number} is working on it",
                    hint=f"wait until that process ends{stop}",
                )
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def holder(folder: Path) -> str | None:
    """Return the number of the process that has locked a run's folder; `None` if none has."""
    try:
        file = (folder / LOCK_FILE).open(encoding="ascii", errors="replace")
    except (FileNotFoundError, IsADirectoryError):
        return None
    with file:
        if _try_lock(file, fcntl.LOCK_SH):
            return None
        return file.read(MAX_NUMBER).strip() or "unknown"


def _opened(file: Path) -> IO[str]:
    try:
        return file.open("a+", encoding="ascii", errors="replace")
    except IsADirectoryError as error:
        raise ProtocolError(
            f"{file} is a folder, but must be a file",
            hint="move the folder away: the file is made anew",
        ) from error


def _try_lock(file: IO[str], kind: int = fcntl.LOCK_EX) -> bool:
    """Try to take the lock; tell whether that succeeded."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
