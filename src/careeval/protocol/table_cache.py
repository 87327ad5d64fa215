"""Keeping the tables of a run in the user's cache folder, by a hash of its logs.

The hash is of the logs' content, so that tables are of these logs, whoever sent the folder and
whatever else lies in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from careeval.core.scenario import Split
from careeval.errors import CareEvalError
from careeval.files import open_file, write_text
from careeval.protocol.json_lines import read_json
from careeval.results.tables import JUDGMENTS, RESPONSES, Runs, files_in, schema

KIND = "tables"
READ_AS = 2
"""Version of the way in which logs are read; raising it makes older entries invalid."""

MAX_HASHED = 10_000_000_000
"""The most bytes of a run's logs that are hashed; the logs of a larger run are read each time."""


def cached_tables(folder: Path, key: str | None) -> Runs | None:
    """Return the kept tables of a run; `None` if there are none, or they cannot be used."""
    if key is None or (entry := cache_entry(KIND, key)) is None:
        return None
    with suppress(OSError, ValueError, KeyError, TypeError, CareEvalError):
        kept = read_json(entry / "notes.json")
        notes, place = kept["notes"], kept["place"]
        if place in (None, str(folder)) and kept["sum"] == _checksum(entry, notes, place):
            mark_used(entry)
            return Runs.read(entry, notes)
    return None


def cache_tables(folder: Path, key: str | None, runs: Runs) -> None:
    """Keep the tables of a run; do nothing if they hold held-out text or cannot be written."""
    if key is None or (entry := cache_entry(KIND, key)) is None:
        return
    if (runs.responses["split"] == Split.held_out.value).any():
        return
    place = str(folder) if any(str(folder) in note for note in runs.notes) else None
    # if they cannot be written, the logs are read each time
    with suppress(OSError):
        make_entry(entry)
        runs.write(entry)
        checksum = _checksum(entry, runs.notes, place)
        content = {"notes": runs.notes, "place": place, "sum": checksum}
        write_text(entry / "notes.json", json.dumps(content))
        prune(entry)


def table_key(folder: Path, logs: Iterable[Path], name: str | None) -> str | None:
    """Return the key of a run's tables, which changes when they have to be made anew.

    `None` if the logs have more than `MAX_HASHED` bytes together.

    The key is a hash of all that the tables are made of: the names of the logs in the order in
    which they were written, their content, the system's name, the tables' columns, and the version
    of reading.
    """
    logs = list(logs)
    if sum(path.stat().st_size for path in logs) > MAX_HASHED:
        return None
    in_order = sorted(logs, key=lambda path: (path.stat().st_mtime_ns, path))
    contents = [(str(path.relative_to(folder)), _hash(path)) for path in in_order]
    columns = {name: str(kind) for name, kind in (schema(RESPONSES) | schema(JUDGMENTS)).items()}
    return hashlib.sha256(json.dumps([contents, columns, name, READ_AS]).encode()).hexdigest()


def _checksum(entry: Path, notes: Sequence[str], place: str | None) -> str:
    """Return a checksum of kept tables, since a flipped bit may read as another number."""
    hashes = [_hash(path) for path in files_in(entry)]
    return hashlib.sha256(json.dumps([list(notes), place, hashes]).encode()).hexdigest()


def _hash(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# The user's cache folder

MAX_BYTES = 2_000_000_000
"""The most bytes that the entries of one kind take; the longest unused go first."""


def cache_entry(kind: str, key: str) -> Path | None:
    """Return the folder of an entry, which need not exist; `None` if the user has no cache folder.

    The key is a hash of all that the entry's content depends on.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        # a relative path is to be ignored: https://specifications.freedesktop.org/basedir-spec
        root = given if given.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "careeval" / kind / key


def make_entry(entry: Path) -> None:
    """Make the folder of an entry, which nobody else may read."""
    entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    entry.mkdir(mode=0o700, exist_ok=True)


def mark_used(entry: Path) -> None:
    """Record that an entry was used just now."""
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
