"""Words and numbers that do not change from day to day, machine to machine, or run to run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

LONGEST = 160
"""Characters of a text that is kept whole; of a longer one its beginning and a hash."""

BEGINNING = 48
"""Characters of a long text that are kept."""

MOST_ROWS, FIRST_ROWS, ROWS_A_HASH = 16, 8, 10
"""A longer list is kept as its first rows, and a hash for each few of the others."""

_MASKS = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d([:-]\d\d)?(\.\d+)?(Z|[+-]\d\d[:-]?\d\d)?", "DATE"),
    (r"\b20\d\d-\d\d-\d\d\b", "DATE"),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID"),
    (r"\b\d+(\.\d+)? MB\b", "SIZE"),
    (r"\b\d+\.\d s\b", "SECONDS"),
    (r"\b0\.1\.0\b", "VERSION"),
    (r"/i/[\w-]{16,}", "/i/LINK"),
)

_LONG_NUMBER = re.compile(r"-?\d+\.\d{8,}(e[+-]?\d+)?|-?\d+(\.\d+)?e-\d+")


def steady(text: str, places: Sequence[tuple[Path, str]] = ()) -> str:
    """Replace what differs between two runs of the same code: dates, paths, versions, sizes.

    Args:
        text: What was printed or written.
        places: Folders, each with the word that stands for it.
    """
    for folder, word in places:
        text = text.replace(str(folder), word)
    for pattern, word in _MASKS:
        text = re.sub(pattern, word, text)
    # the last digits are the machine's
    return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.7g}", text)


def digest(text: str) -> str:
    """Return a short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def short(text: str, longest: int = LONGEST) -> str:
    """Return a text in one line: whole, or its beginning, its length and a hash."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    return f"{line[: min(BEGINNING, longest)]}… ({len(line)} characters, #{digest(line)})"


def some(lines: Iterable[str]) -> list[str]:
    """Return lines; of many the first, and a hash for each few of the others."""
    lines = list(lines)
    if len(lines) <= MOST_ROWS:
        return lines
    rest = range(FIRST_ROWS, len(lines), ROWS_A_HASH)
    hashes = [
        f"… {min(start + ROWS_A_HASH, len(lines)) - start} more, "
        f"#{digest(chr(10).join(lines[start : start + ROWS_A_HASH]))}"
        for start in rest
    ]
    return [*lines[:FIRST_ROWS], *hashes]
