"""Caching the tables of a run beside its logs, for as long as no log changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from careeval.errors import CareEvalError
from careeval.files import write_text
from careeval.protocol.logs.json_limits import read_json
from careeval.protocol.logs.limits import MAX_JUDGMENTS, MAX_RESPONSES
from careeval.results.parquet_limits import check_parquet
from careeval.results.tables import JUDGMENTS, RESPONSES, Runs, files_in, schema

CACHE = ".tables"
READ_AS = 2
"""Version of the way in which logs are read; raising it makes older caches invalid."""


def cached_tables(folder: Path, key: str) -> Runs | None:
    """Return a run's cached tables if they have this key; `None` if they cannot be used."""
    cache = folder / CACHE
    try:
        stored = read_json(cache / "key.json")
        for path, most in zip(files_in(cache), (MAX_RESPONSES, MAX_JUDGMENTS), strict=True):
            check_parquet(path, most)
        if stored["key"] == key and stored["sum"] == _checksum(cache, key, stored["notes"]):
            return Runs.read(cache, stored["notes"])
    except (OSError, ValueError, KeyError, TypeError, CareEvalError):
        pass  # read the logs instead
    return None


def cache_tables(folder: Path, key: str, runs: Runs) -> None:
    """Write the tables of a run beside its logs; do nothing if they cannot be written safely."""
    cache = folder / CACHE
    if not _may_write(cache):
        return
    try:
        runs.write(cache)
        content = {"key": key, "notes": runs.notes, "sum": _checksum(cache, key, runs.notes)}
        write_text(cache / "key.json", json.dumps(content))
    except OSError:
        pass  # in a folder that cannot be written, the logs are read each time


def table_key(folder: Path, logs: Iterable[Path], name: str | None) -> str:
    """Return the key of a run's tables, which changes when they have to be read anew.

    It is a hash of the logs' names, sizes and times, the tables' columns, the system's name, and
    the version of reading.
    """
    stats = [
        (str(path.relative_to(folder)), path.stat().st_size, path.stat().st_mtime_ns)
        for path in logs
    ]
    columns = {name: str(kind) for name, kind in (schema(RESPONSES) | schema(JUDGMENTS)).items()}
    return hashlib.sha256(json.dumps([stats, columns, name, READ_AS]).encode()).hexdigest()


def _checksum(cache: Path, key: str, notes: Sequence[str]) -> str:
    """Return a checksum of cached tables, since a flipped bit may read as another number."""
    whole = hashlib.sha256(json.dumps([key, list(notes)]).encode())
    for path in files_in(cache):
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def _may_write(cache: Path) -> bool:
    """Tell whether a cache can be written safely: none of its files is a link, pipe or folder."""
    files = [*files_in(cache), cache / "key.json"]
    return not any(path.is_symlink() for path in (cache, *files)) and all(
        path.is_file() or not path.exists() for path in files
    )
