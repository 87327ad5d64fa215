"""Limits for reading the JSON files in a run's folder, which may come from anybody.

The limits are far above what careeval writes. Limits for logs are in `limits`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from careeval.errors import ProtocolError
from careeval.files import open_file, size_of_file
from careeval.protocol.logs.limits import HEADER, SAMPLE, JsonLimits, check_values

MAX_DEPTH = 100
"""The most levels of lists and objects inside one another."""

MAX_LINE = SAMPLE.n_bytes
"""The most bytes of one line; a longer line is skipped, like a damaged one."""

MAX_LINES = 5_000_000
"""The most lines of one file."""

MAX_CALLS = 50_000_000_000
"""The most bytes of a `calls.jsonl`, which is read line by line."""

MAX_LEDGER = 1_000_000_000
"""The most bytes of a `spent.jsonl` or `reserved.jsonl`; 1,000,000 calls make 150 million."""

MAX_KEY = 2_500
"""The most characters of a call's key."""

CHUNK = 1_000_000
"""Bytes read at a time while a line that is too long is skipped."""


def parse_json(content: bytes, bounds: JsonLimits = SAMPLE) -> Any:
    """Parse a JSON value that is within its limits.

    Raises:
        ValueError: It is not JSON, or is beyond a limit.
    """
    if len(content) > bounds.n_bytes:
        raise ValueError(f"it is longer than {bounds.n_bytes:,} bytes")
    check_values(content, bounds, "it")
    try:
        value = json.loads(content)
        # with few brackets it cannot be nested deeply
        if content.count(b"[") + content.count(b"{") > MAX_DEPTH and _is_deep(value):
            raise RecursionError
    except RecursionError:
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep") from None
    return value


def _is_deep(value: Any) -> bool:
    level = _containers([value])
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in _containers(outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]


def read_json(path: Path, bounds: JsonLimits = HEADER) -> Any:
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
        OSError: The file does not exist, or is a pipe or the like.
        ProtocolError: It is longer than `most`.
    """
    length = size_of_file(path)
    if length > most:
        raise too_much(path, f"{length:,} bytes, at most {most:,}")
    return length


def too_much(path: Path, what: str) -> ProtocolError:
    """Return the error for a file that exceeds a limit, of bytes or of lines."""
    hint = "move the file away: no run of careeval writes so much; check where the folder came from"
    return ProtocolError(f"{path} has {what}", hint=hint)


def whole_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    r"""Yield the length and the content of each line that ends with \n.

    The content of a line longer than `MAX_LINE` is empty.
    """
    while line := file.readline(MAX_LINE):
        length = len(line)
        while not line.endswith(b"\n"):
            if not (more := file.readline(CHUNK)):
                return
            length, line = length + len(more), more
        yield length, line if length == len(line) else b""
