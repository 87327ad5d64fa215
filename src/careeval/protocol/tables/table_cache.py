"""The tables of a run, cached beside its logs for as long as no log changes."""

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
"""Goes up when logs are read otherwise than before, so that tables read then are made anew."""


def cached_tables(folder: Path, key: str) -> Runs | None:
    """Return the cached tables of a run that stand for a key; `None` where none can be used."""
    cache = folder / CACHE
    try:
        known = read_json(cache / "key.json")
        for path, most in zip(files_in(cache), (MAX_RESPONSES, MAX_JUDGMENTS), strict=True):
            check_parquet(path, most)
        if known["key"] == key and known["sum"] == _checksum(cache, key, known["notes"]):
            return Runs.read(cache, known["notes"])
    except (OSError, ValueError, KeyError, TypeError, CareEvalError):
        pass  # the logs are the truth
    return None


def cache_tables(folder: Path, key: str, runs: Runs) -> None:
    """Write the tables of a run beside its logs, where that replaces nothing but a cache."""
    cache = folder / CACHE
    if not _may_write(cache):
        return
    try:
        runs.write(cache)
        content = {"key": key, "notes": runs.notes, "sum": _checksum(cache, key, runs.notes)}
        write_text(cache / "key.json", json.dumps(content))
    except OSError:
        pass  # a folder that cannot be written can still be read


def table_key(folder: Path, logs: Iterable[Path], name: str | None) -> str:
    """Return what tables stand for: logs' names, sizes and times, columns, name, how it is read."""
    stats = [
        (str(path.relative_to(folder)), path.stat().st_size, path.stat().st_mtime_ns)
        for path in logs
    ]
    columns = {name: str(kind) for name, kind in (schema(RESPONSES) | schema(JUDGMENTS)).items()}
    return hashlib.sha256(json.dumps([stats, columns, name, READ_AS]).encode()).hexdigest()


def _checksum(cache: Path, key: str, notes: Sequence[str]) -> str:
    """Return a checksum of cached tables: a flipped bit may read as another number."""
    whole = hashlib.sha256(json.dumps([key, list(notes)]).encode())
    for path in files_in(cache):
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def _may_write(cache: Path) -> bool:
    """Whether writing a cache replaces a cache alone: a link may lead anywhere, a pipe waits."""
    files = [*files_in(cache), cache / "key.json"]
    return not any(path.is_symlink() for path in (cache, *files)) and all(
        path.is_file() or not path.exists() for path in files
    )
