"""Files of a run that survive if the process that writes them is killed; the lock of a run."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from careeval.errors import ProtocolError
from careeval.files import open_file, open_in_place, size_of_file

MAX_JSON = 32_000_000
"""The most bytes of a JSON text: a member of a log, unpacked, or a file of a run's folder."""


MAX_CALLS = 50_000_000_000
"""The most bytes of a `calls.jsonl`, which is read line by line."""

MAX_LEDGER = 1_000_000_000
"""The most bytes of a `spent.jsonl`; 1,000,000 calls with a budget make 250 million."""

CHUNK = 1_000_000
"""Bytes read at a time while a line that is too long is skipped."""


class LineSpan(NamedTuple):
    """The place of a line in its file, in bytes."""

    start: int
    length: int


class JsonLines:
    """A file of JSON lines that one process appends to.

    If that process is killed in the middle of a line, readers skip the line.
    """

    def __init__(self, path: Path) -> None:
        """Open the file for appending.

        Raises:
            OSError: The file cannot be written, or is a link.
        """
        self.path = path
        self._file = open_in_place(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")

    def append(self, row: object) -> LineSpan:
        """Write one line, which is kept even if the process is killed afterwards; return its place.

        Raises:
            OSError: The disk is full, or the file cannot be written.
        """
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        # UTF-8 cannot hold half of a surrogate pair: escape it as JSON does
        line = text.encode(errors="backslashreplace") + b"\n"
        at = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            # else the next line would follow on half a line, and both be lost
            os.ftruncate(self._file, at)
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        return LineSpan(at, len(line))

    def rows(self) -> Iterator[tuple[LineSpan, Any]]:
        """Yield the place and the value of every undamaged line, in the order of writing.

        Raises:
            ProtocolError: The file is longer than `MAX_CALLS`.
        """
        start = 0
        for length, row in json_rows(self.path, MAX_CALLS):
            if row is not None:
                yield LineSpan(start, length), row
            start += length

    def at(self, span: LineSpan) -> Any:
        """Return the value of the line at a place."""
        return json.loads(os.pread(self._file, span.length, span.start))

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class LineTail:
    """Reads a file to which other processes append, each line once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def new_rows(self) -> Iterator[Any]:
        """Yield the values of the lines added since the last call; none if there is no file.

        Damaged and incomplete lines are skipped.

        Raises:
            OSError: It cannot be read, or is a pipe or the like.
            ProtocolError: The file is longer than `MAX_LEDGER`.
        """
        try:
            if check_length(self._path, MAX_LEDGER) <= self._at:
                return
            for length, row in json_rows(self._path, MAX_LEDGER, self._at):
                self._at += length
                if row is not None:
                    yield row
        except FileNotFoundError:
            return


def json_rows(path: Path, max_bytes: int, at: int = 0) -> Iterator[tuple[int, Any]]:
    """Yield the length and the value of each complete line from the byte `at`.

    The value of a damaged line is `None`.

    Raises:
        ProtocolError: The file has more than `max_bytes` bytes.
    """
    check_length(path, max_bytes)
    with open_file(path) as file:
        file.seek(at)
        for length, line in whole_lines(file):
            yield length, parse_line(line)


def parse_line(line: bytes) -> Any:
    """Return the JSON value of a line; `None` for a damaged line."""
    try:
        return parse_json(line)
    except ValueError:
        return None  # cut off when a process was killed or the disk was full; or damaged


def parse_json(content: bytes) -> Any:
    """Parse a JSON value.

    Raises:
        ValueError: It is not JSON, is longer than `MAX_JSON`, or is nested too deeply.
    """
    if len(content) > MAX_JSON:
        raise ValueError(f"it is longer than {MAX_JSON:,} bytes")
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        OSError: It cannot be read.
        ValueError: As `parse_json`.
    """
    with open_file(path) as file:
        return parse_json(file.read(MAX_JSON + 1))


def check_length(path: Path, max_bytes: int) -> int:
    """Return the length of a file in bytes.

    Raises:
        OSError: The file does not exist, or is a pipe or the like.
        ProtocolError: It is longer than `max_bytes`.
    """
    length = size_of_file(path)
    if length > max_bytes:
        raise ProtocolError(
            f"{path} has {length:,} bytes, at most {max_bytes:,}",
            hint="move the file away: no run of careeval writes so much; "
            "check where the folder came from",
        )
    return length


def whole_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    r"""Yield the length and the content of each line that ends with \n.

    The content of a line longer than `MAX_JSON` is empty.
    """
    while line := file.readline(MAX_JSON):
        length = len(line)
        while not line.endswith(b"\n"):
            if not (more := file.readline(CHUNK)):
                return
            length, line = length + len(more), more
        yield length, line if length == len(line) else b""


# The lock of a run's folder, by which one process works on it at a time. The operating system
# releases it when its process ends, however it ends

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
