"""Text as people read it: without control characters, counted, with signs."""

from __future__ import annotations


def plain(message: str) -> str:
    """Return a message without the control characters that a terminal would obey."""
    return "".join(c for c in message if c.isprintable() or c in "\n\t")


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number of things in words: "1 file", "1,090 files".

    Args:
        n: How many.
        one: What one of them is called, and what it does.
        many: The same of several; `one` with an s where not given.
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def signed(points: int) -> str:
    """Return points with their sign: "+2", "0", and "−2" with a true minus."""
    return f"{points:+d}".replace("-", "−") if points else "0"
