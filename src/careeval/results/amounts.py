"""Shares, amounts of money and tokens in words; loads nothing."""

from __future__ import annotations

from math import floor, isfinite, log10


def percent(fraction: float | None, digits: int = 1) -> str:
    """Return a fraction as a percentage, with one decimal; a dash where it is unknown."""
    if fraction is None:
        return "–"
    rounded = round(100 * fraction, digits) or 0.0  # never a minus before 0.0
    return f"{rounded:.{digits}f}".replace("-", "−")


def dollars(value: float | None) -> str:
    """An amount of money, `unknown` for `None`; what is more than nothing never reads as nothing.

    Cents from a dollar up, below it two significant digits, as prices of one call need.
    """
    if value is None or not isfinite(value):
        return "unknown"
    if value < 0:
        return f"−{dollars(-value)}"
    if 0 < value < LEAST_DOLLARS:
        return f"under ${LEAST_DOLLARS}"
    decimals = 2 if value == 0 else max(2, 1 - floor(log10(value)))
    return f"${value:,.{decimals}f}"


LEAST_DOLLARS = 0.0001
"""Amounts below it are not told apart."""


def thousands(n: int) -> str:
    """A number of tokens, in thousands or millions where it has as many."""
    if n < 1_000:
        return str(n)
    return f"{n / 1e3:.0f}k" if n < 999_500 else f"{n / 1e6:.1f}M"
