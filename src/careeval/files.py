"""Reading of regular files only, and atomic writes.

Opening a named pipe blocks until somebody writes into it, and a device may never end, so both are
refused before anything is read. A write goes to a temporary file, which then replaces the target.
If the write fails, or its process is killed, the old file stays.
"""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from careeval.errors import CareEvalError

KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}
"""Type of a path that is neither a file nor a folder → its name in messages."""


def open_file(path: Path) -> BufferedReader:
    """Open a file for reading.

    Raises:
        OSError: The file cannot be opened, or is not a regular file; `strerror` says what it is.
    """
    _require_regular(path, path.stat())
    # does not block if the path has become a pipe meanwhile
    descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    try:
        _require_regular(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def open_in_place(path: Path, flags: int) -> int:
    """Open a file that is read or written in place, never through a link; return its descriptor.

    A new file can be read and written by its owner alone.

    Args:
        path: The file.
        flags: Flags of `os.open`.

    Raises:
        OSError: The file cannot be opened, is a link, or is not a regular file; `strerror` says
            what it is.
    """
    with suppress(FileNotFoundError):
        _require_regular(path, path.lstat())
    # neither blocks nor follows if the path has changed meanwhile
    descriptor = os.open(path, flags | _FLAGS | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        _require_regular(path, os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def size_of_file(path: Path) -> int:
    """Return the size of a file in bytes.

    Raises:
        OSError: The file does not exist, or is not a regular file; `strerror` says what it is.
    """
    status = path.stat()
    _require_regular(path, status)
    return status.st_size


def read_bytes(path: Path, max_bytes: int | None = None) -> bytes:
    """Read a whole file.

    Args:
        path: The file.
        max_bytes: `None` for no limit.

    Raises:
        OSError: As for `open_file`, or the file has more than `max_bytes`.
    """
    with open_file(path) as file:
        content = file.read(-1 if max_bytes is None else max_bytes + 1)
    if max_bytes is not None and len(content) > max_bytes:
        raise OSError(
            errno.EOVERFLOW, f"it is too large: at most {max_bytes:,} bytes are read", str(path)
        )
    return content


def read_text(path: Path, encoding: str = "utf-8", max_bytes: int | None = None) -> str:
    """Read a whole text file, with every line ending turned into a line feed.

    Raises:
        OSError: As for `read_bytes`.
        UnicodeDecodeError: The file is not text in that encoding.
    """
    text = read_bytes(path, max_bytes).decode(encoding)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_given_text(
    path: Path,
    error_class: type[CareEvalError],
    *,
    encoding: str = "utf-8",
    max_bytes: int | None = None,
) -> str:
    """Read a text file from a user; raise `error_class` if it cannot be read or is not UTF-8."""
    try:
        return read_text(path, encoding, max_bytes)
    except UnicodeDecodeError as error:
        raise error_class(f"{path}: is not UTF-8 text", hint="save it as UTF-8") from error
    except OSError as error:
        raise error_class(f"{path}: cannot be read: {error.strerror}") from error


MAX_TOML_BYTES = 1_000_000
"""The most bytes of a TOML file: settings, prices, a sweep."""


def read_toml(path: Path, error_class: type[CareEvalError], *, hint: str) -> dict[str, Any]:
    """Return the content of a TOML file from a user; raise `error_class` if it cannot be read."""
    text = read_given_text(path, error_class, encoding="utf-8-sig", max_bytes=MAX_TOML_BYTES)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise error_class(f"{path}: is not TOML: {error}", hint=hint) from error


_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def _require_regular(path: Path, status: os.stat_result) -> None:
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file", str(path))
    if kind in KINDS:
        raise OSError(errno.EINVAL, f"it is {KINDS[kind]}, not a file", str(path))


SYSTEM = ("/dev", "/proc")
"""Folders in which files are written in place: /dev/stdout links to a file that is already open."""


@contextmanager
def atomic_write(path: Path, *, mode: int = 0o666, synced: bool = False) -> Iterator[Path]:
    """Yield a temporary path to write to; the file there replaces `path` if the block succeeds.

    A link is followed, and an existing file keeps its permissions. If `path` is not a regular file,
    such as a pipe, or is in a folder of `SYSTEM`, `path` itself is yielded and written in place.

    Args:
        path: The file to write, in a folder that exists.
        mode: Permissions of a new file, less the umask.
        synced: Whether to sync to disk, so that the file survives a power cut after the block.

    Raises:
        OSError: The file cannot be written; the error names `path`.
    """
    if (path.exists() and not path.is_file()) or str(path.parent).startswith(SYSTEM):
        yield path
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name[:40]}.{os.getpid()}.new")
    try:
        with suppress(FileNotFoundError):
            temporary.unlink()  # left by a killed process that had the same process id
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        with suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        yield temporary
        if synced:
            _sync(temporary)
        temporary.replace(target)
        if synced:
            _sync(target.parent)
    except OSError as error:
        if error.filename not in (None, str(temporary)) or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_text(
    path: Path, text: str, *, encoding: str = "utf-8", mode: int = 0o666, synced: bool = False
) -> None:
    """Write a text file completely or not at all; line endings are kept.

    A pipe, or a path in a folder of `SYSTEM`, is written in place.

    Raises:
        OSError: As for `atomic_write`.
    """
    write_bytes(path, text.encode(encoding), mode=mode, synced=synced)


def write_bytes(path: Path, content: bytes, *, mode: int = 0o666, synced: bool = False) -> None:
    """Write a file of bytes completely or not at all.

    A pipe, or a path in a folder of `SYSTEM`, is written in place.

    Raises:
        OSError: As for `atomic_write`.
    """
    with atomic_write(path, mode=mode, synced=synced) as temporary:
        temporary.write_bytes(content)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
