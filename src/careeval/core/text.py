"""Formatting of messages, counts, points, shares and amounts for people to read."""

from __future__ import annotations

from math import floor, isfinite, log10


def plain(message: str) -> str:
    """Return a message without control characters, which a terminal would obey."""
    return "".join(c for c in message if c.isprintable() or c in "\n\t")


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun, "1 file" or "1,090 files"; the plural is `one` and an s."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def signed(points: int) -> str:
    """Return points with their sign: "+2", "0", and "−2" with a true minus."""
    return f"{points:+d}".replace("-", "−") if points else "0"


def percent(fraction: float | None, digits: int = 1) -> str:
    """Return a fraction in percent, without the sign %, rounded to `digits`; a dash for `None`."""
    if fraction is None:
        return "–"
    return f"{100 * fraction:z.{digits}f}".replace("-", "−")


def dollars(value: float | None) -> str:
    """Return an amount of money; `unknown` for `None`. A positive amount never reads as zero.

    From a dollar up, cents are shown; below, two significant digits, since a call costs little.
    """
    if value is None or not isfinite(value):
        return "unknown"
    if value < 0:
        return f"−{dollars(-value)}"
    if 0 < value < MIN_DOLLARS:
        return f"under ${MIN_DOLLARS}"
    decimals = 2 if value == 0 else max(2, 1 - floor(log10(value)))
    return f"${value:,.{decimals}f}"


MIN_DOLLARS = 0.0001
"""Smaller amounts are shown as "under" this one."""


def thousands(n: int) -> str:
    """Return a number of tokens as text: 950, 12k or 3.4M."""
    if n < 1_000:
        return str(n)
    return f"{n / 1e3:.0f}k" if n < 999_500 else f"{n / 1e6:.1f}M"
