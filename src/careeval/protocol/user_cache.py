"""The user's cache folder, which holds what can be made again from a run's logs or a bank.

It is `$XDG_CACHE_HOME/careeval`, or `~/.cache/careeval`. Nothing that comes from elsewhere, such as
a run's folder that somebody sent, can put anything there. No held-out text is kept in it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

MAX_BYTES = 2_000_000_000
"""Most bytes that the entries of one kind take; those that were not used for longest go first."""


def cache_entry(kind: str, key: str) -> Path | None:
    """Return the folder of an entry, which need not exist; `None` if the user has no cache folder.

    Args:
        kind: Name of what is kept.
        key: Name of the entry, a hash of all that its content depends on.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        # a relative path is to be ignored: https://specifications.freedesktop.org/basedir-spec
        root = given if given.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "careeval" / kind / key


def make_entry(entry: Path) -> None:
    """Make the folder of an entry, which nobody else may read.

    Raises:
        OSError: It cannot be made.
    """
    entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    entry.mkdir(mode=0o700, exist_ok=True)


def mark_used(entry: Path) -> None:
    """Note that an entry was used just now."""
    with suppress(OSError):
        os.utime(entry)


def prune(entry: Path, max_bytes: int = MAX_BYTES) -> None:
    """Remove entries of the kind of this one, the longest unused first, until they fit.

    This entry itself stays.
    """
    others = sorted(
        ((_used(each), each) for each in entry.parent.iterdir() if each != entry), reverse=True
    )
    n_bytes = _size(entry)
    for _, each in others:
        n_bytes += _size(each)
        if n_bytes > max_bytes:
            shutil.rmtree(each, ignore_errors=True)


def _used(entry: Path) -> int:
    # another process may have just removed it
    with suppress(OSError):
        return entry.stat().st_mtime_ns
    return 0


def _size(entry: Path) -> int:
    with suppress(OSError):
        return sum(file.stat().st_size for file in entry.iterdir())
    return 0
