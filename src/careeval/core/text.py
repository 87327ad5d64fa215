"""Text that people may read safely."""

from __future__ import annotations


def plain(message: str) -> str:
    """Return a message without the control characters that a terminal would obey."""
    return "".join(c for c in message if c.isprintable() or c in "\n\t")
