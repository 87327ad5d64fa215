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
from careeval.files import open_in_place

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
        ProtocolError: Another process holds it, or its file is a folder, a link or the like.
        OSError: The folder cannot be written.
    """
    with _opened(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT) as file:
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
    """Return the number of the process that has locked a run's folder; `None` if none has.

    Raises:
        ProtocolError: The lock's file is a folder, a link or the like.
    """
    try:
        file = _opened(folder / LOCK_FILE, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with file:
        if _try_lock(file, fcntl.LOCK_SH):
            return None
        return file.read(MAX_NUMBER).strip() or "unknown"


def _opened(path: Path, flags: int) -> IO[str]:
    try:
        descriptor = open_in_place(path, flags)
    except OSError as error:
        if not path.is_symlink() and (path.is_file() or not path.exists()):
            raise
        raise ProtocolError(
            f"{path}: {error.strerror}", hint="move it away: the file is made anew"
        ) from error
    mode = "r" if flags == os.O_RDONLY else "r+"
    return os.fdopen(descriptor, mode, encoding="ascii", errors="replace")


def _try_lock(file: IO[str], kind: int = fcntl.LOCK_EX) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
