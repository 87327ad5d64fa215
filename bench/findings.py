"""What a measure finds: single values of interleaved runs, and rows made of their medians."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Aim:
    """What is to hold of a row's ratio, or of its value."""

    sign: Literal["<", "≤", "≥"]
    bound: float
    of: Literal["ratio", "value"] = "ratio"

    def met(self, number: float) -> bool:
        """Whether it holds."""
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
    """One finding, as `speed_table` reads it."""
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
"""What one run of one contestant gave."""

Singles = dict[str, dict[str, list[float]]]
"""Contestant → what → every single value, in the order of measuring."""


def interleaved(rounds: int, contestants: Mapping[str, Callable[[], Numbers]]) -> Singles:
    """Each contestant once, then each again: what slows the machine down slows all of them."""
    singles: Singles = {name: {} for name in contestants}
    for number in range(1, rounds + 1):
        for name, run in contestants.items():
            found = run()
            words = ", ".join(f"{what} {value:.3g}" for what, value in found.items())
            sys.stderr.write(f"  {number}/{rounds} {name}: {words}\n")
            for what, value in found.items():
                singles[name].setdefault(what, []).append(value)
    return singles


def medians(singles: Singles) -> dict[str, Numbers]:
    """Contestant → what → its median."""
    return {
        name: {what: statistics.median(values) for what, values in found.items()}
        for name, found in singles.items()
    }


@dataclass(frozen=True)
class Measured:
    """What a measure found: its rows, and all that they were made of."""

    rows: list[dict[str, Any]]
    singles: Singles
