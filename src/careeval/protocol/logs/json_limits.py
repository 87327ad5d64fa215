"""Reading of the JSON files in a run's folder, which may come from anybody, within limits.

The limits are far above what careeval writes. Limits for logs are in `limits`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from careeval.errors import ProtocolError
from careeval.files import open_file, size_of_file
from careeval.protocol.logs.limits import MAX_JSON

MAX_CALLS = 50_000_000_000
"""The most bytes of a `calls.jsonl`, which is read line by line."""

MAX_LEDGER = 1_000_000_000
"""The most bytes of a `spent.jsonl` or `reserved.jsonl`; 1,000,000 calls make 150 million."""

MAX_KEY = 2_500
"""The most characters of a call's key."""

CHUNK = 1_000_000
"""Bytes read at a time while a line that is too long is skipped."""


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


def check_length(path: Path, most: int) -> int:
    """Return the length of a file in bytes.

    Raises:
        OSError: The file does not exist, or is a pipe or the like.
        ProtocolError: It is longer than `most`.
    """
    length = size_of_file(path)
    if length > most:
        raise ProtocolError(
            f"{path} has {length:,} bytes, at most {most:,}",
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
