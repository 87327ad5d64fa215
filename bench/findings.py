"""Results of a measure: single values of interleaved runs, and rows of their medians."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Aim:
    """A target for the ratio or the value of a row."""

    sign: Literal["<", "≤", "≥"]
    bound: float
    of: Literal["ratio", "value"] = "ratio"

    def met(self, number: float) -> bool:
        """Tell whether a number meets the target."""
        if self.sign == "≥":
            return number >= self.bound
        return number < self.bound if self.sign == "<" else number <= self.bound


def row(
    what: str,
    value: float,
    unit: str,
    peer: str = "",
    peer_value: float | None = None,
    aim: Aim | None = None,
) -> dict[str, Any]:
    """Return a row as `speed_table` reads it."""
    ratio = None if peer_value is None else value / peer_value
    met, words = None, ""
    if aim is not None:
        number = value if aim.of == "value" else ratio
        assert number is not None
        met = aim.met(number)
        words = f"{aim.sign} {aim.bound:g}" + (f" {unit}" if aim.of == "value" else "")
    return {
        "what": what,
        "value": value,
        "unit": unit,
        "peer": peer,
        "peer_value": peer_value,
        "ratio": ratio,
        "aim": words,
        "met": met,
    }


Numbers = dict[str, float]
"""Name → value of one run of one contestant."""

Singles = dict[str, dict[str, list[float]]]
"""Contestant → what → every single value, in the order of measuring."""


def interleaved(rounds: int, contestants: Mapping[str, Callable[[], Numbers]]) -> Singles:
    """Run the contestants in turn, round by round, so that a slow machine slows all of them."""
    singles: Singles = {name: {} for name in contestants}
    for number in range(1, rounds + 1):
        for name, run in contestants.items():
            numbers = run()
            words = ", ".join(f"{what} {value:.3g}" for what, value in numbers.items())
            sys.stderr.write(f"  {number}/{rounds} {name}: {words}\n")
            for what, value in numbers.items():
                singles[name].setdefault(what, []).append(value)
    return singles


def medians(singles: Singles) -> dict[str, Numbers]:
    """Return contestant → name → median."""
    return {
        name: {what: statistics.median(values) for what, values in by_name.items()}
        for name, by_name in singles.items()
    }


@dataclass(frozen=True)
class Measured:
    """The results of a measure: rows, and the single values behind them."""

    rows: list[dict[str, Any]]
    singles: Singles
