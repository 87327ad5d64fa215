"""Formatting of messages, counts and points for people to read."""

from __future__ import annotations


def plain(message: str) -> str:
    """Return a message without control characters, which a terminal would obey."""
    return "".join(c for c in message if c.isprintable() or c in "\n\t")


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun, "1 file" or "1,090 files"; the plural is `one` and an s."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def signed(points: int) -> str:
    """Return points with their sign: "+2", "0", and "−2" with a true minus."""
    return f"{points:+d}".replace("-", "−") if points else "0"
