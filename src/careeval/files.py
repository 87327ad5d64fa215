"""Files: what is no file is not read, and what is written is written whole or not at all.

Whoever opens a named pipe waits until somebody writes into it, and a device may never end. Both are
refused before anything is read. A write goes beside its place and is then moved into it, so that
one that fails, or whose process is killed, leaves what was there before.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
"""What is no file, in words."""


def open_file(path: Path) -> IO[bytes]:
    """Open a file for reading.

    Raises:
        OSError: It cannot be opened, or is no file: its `strerror` says in words what it is.
    """
    _refuse_other(path, path.stat())
    # should it have become a pipe meanwhile, this does not wait
    descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    try:
        _refuse_other(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Read a whole file.

    Args:
        path: Its.
        most: Bytes that it may have.

    Raises:
        OSError: As `open_file`; or it is longer.
    """
    with open_file(path) as file:
        content = file.read(-1 if most is None else most + 1)
    if most is not None and len(content) > most:
        raise OSError(errno.EOVERFLOW, f"it is too long: at most {most:,} bytes", str(path))
    return content


def read_text(path: Path, encoding: str = "utf-8", most: int | None = None) -> str:
    """Read a whole text file, with lines that end as Python's do.

    Raises:
        OSError: As `read_bytes`.
        UnicodeDecodeError: It is not text in that encoding.
    """
    text = read_bytes(path, most).decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def _refuse_other(path: Path, found: os.stat_result) -> None:
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file", str(path))
    if kind in KINDS:
        raise OSError(errno.EINVAL, f"it is {KINDS[kind]}, not a file", str(path))


SYSTEM = ("/dev", "/proc")
"""What lies there is no file: /dev/stdout leads to one that somebody else has open."""


@contextmanager
def written_whole(path: Path, *, mode: int = 0o666, synced: bool = False) -> Iterator[Path]:
    """Give the block a path to write to; what it wrote takes `path`'s place when the block ends.

    A link is followed, and a file keeps its permissions. What is no plain file, such as a pipe, is
    written where it is.

    Args:
        path: Of the file, in a folder that is there.
        mode: Permissions of a new file, less those that the owner's mask takes.
        synced: Whether it is to outlive a power cut from the moment that the block has ended.

    Raises:
        OSError: The file cannot be written; it names `path`.
    """
    if (path.exists() and not path.is_file()) or str(path.parent).startswith(SYSTEM):
        yield path
        return
    target = path.resolve()
    beside = target.with_name(f".{target.name[:40]}.{os.getpid()}.new")
    try:
        with suppress(FileNotFoundError):
            beside.unlink()  # of a process of our number that was killed
        os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        with suppress(FileNotFoundError):
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        yield beside
        if synced:
            _sync(beside)
        beside.replace(target)
        if synced:
            _sync(target.parent)
    except OSError as error:
        if error.filename not in (None, str(beside)) or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            beside.unlink()


def write_text(
    path: Path, text: str, *, encoding: str = "utf-8", mode: int = 0o666, synced: bool = False
) -> None:
    """Write a text, whole or not at all; its ends of lines stay as they are.

    Raises:
        OSError: As `written_whole`.
    """
    write_bytes(path, text.encode(encoding), mode=mode, synced=synced)


def write_bytes(path: Path, content: bytes, *, mode: int = 0o666, synced: bool = False) -> None:
    """Write bytes, whole or not at all.

    Raises:
        OSError: As `written_whole`.
    """
    with written_whole(path, mode=mode, synced=synced) as beside:
        beside.write_bytes(content)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
