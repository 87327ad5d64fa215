"""One process a run: a lock that the system lets go when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from careeval.errors import ProtocolError

LOCK_FILE = ".lock"
"""In a run's folder; holds the number of the process that has it, or had it last."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run's folder for the time of the block.

    Raises:
        ProtocolError: Another process holds it.
        OSError: The folder cannot be written.
    """
    with (folder / LOCK_FILE).open("a+", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise ProtocolError(
                f"{folder} is being worked on by process {file.read().strip() or 'unknown'}",
                hint="wait until it is done, or stop it: kill PROCESS",
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
