"""Limits of the JSON files in a run's folder, which may come from anybody.

They are far above what careeval writes. The logs have their own: `limits`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from careeval.errors import ProtocolError
from careeval.files import open_file
from careeval.protocol.logs.limits import HEADER, SAMPLE, Bounds, check_values

MAX_DEPTH = 100
"""Lists and objects inside one another."""

MAX_LINE = SAMPLE.n_bytes
"""Bytes of one line; a longer one is skipped as a damaged one is."""

MAX_LINES = 5_000_000
"""Lines of one file."""

MAX_CALLS = 50_000_000_000
"""Bytes of a `calls.jsonl`, which is read line by line."""

MAX_LEDGER = 1_000_000_000
"""Bytes of a `spent.jsonl` or a `reserved.jsonl`; one of 1,000,000 calls has 150 million."""

MAX_KEY = 2_500
"""Characters of the name of a call."""


def parse_json(content: bytes, bounds: Bounds = SAMPLE) -> Any:
    """Parse a JSON value that is within its limits.

    Raises:
        ValueError: It is not JSON, or is beyond a limit.
    """
    if len(content) > bounds.n_bytes:
        raise ValueError(f"it is longer than {bounds.n_bytes:,} bytes")
    check_values(content, bounds, "it")
    try:
        value = json.loads(content)
        # few brackets cannot nest deeply
        if content.count(b"[") + content.count(b"{") > MAX_DEPTH and _is_deep(value):
            raise RecursionError
    except RecursionError:
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep") from None
    return value


def _is_deep(value: Any) -> bool:
    level = _nested([value])
    for _ in range(MAX_DEPTH):
        level = [
            below
            for each in level
            for below in _nested(each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)


def _nested(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]


def read_json(path: Path, bounds: Bounds = HEADER) -> Any:
    """Read a JSON file that is within its limits.

    Raises:
        OSError: It cannot be read.
        ValueError: As `parse_json`.
    """
    with open_file(path) as file:
        return parse_json(file.read(bounds.n_bytes + 1), bounds)


def check_length(path: Path, most: int) -> int:
    """Return the length of a file in bytes.

    Raises:
        OSError: There is none.
        ProtocolError: It is longer than `most`.
    """
    length = path.stat().st_size
    if length > most:
        raise too_much(path, f"{length:,} bytes, at most {most:,}")
    return length


def too_much(path: Path, what: str) -> ProtocolError:
    """Return the error of a file that has too much of something."""
    hint = (
        "no run of careeval writes as much: look where the folder came from, and move the file away"
    )
    return ProtocolError(f"{path} has {what}", hint=hint)


def whole_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the length and the content of each line that has an end.

    The content of a line longer than `MAX_LINE` is empty.
    """
    while line := file.readline(MAX_LINE):
        length = len(line)
        while not line.endswith(b"\n"):
            if not (more := file.readline(CHUNK)):
                return
            length, line = length + len(more), more
        yield length, line if length == len(line) else b""


CHUNK = 1_000_000
"""Bytes of a long line that are skipped at once."""
