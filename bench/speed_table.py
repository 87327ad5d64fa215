"""The table of the results of `speed.py`. It is quick to import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HEAD = ("measure", "value", "against", "ratio", "aim", "met")


def table(results: Mapping[str, Any]) -> str:
    """A Markdown table of the content of `results/speed.json`, a row a finding, with its newline.

    A ratio is value ÷ against. An aim with a unit is the value's, the others are the ratio's.
    """
    rows = [_row(row) for measure in results.values() for row in measure["rows"]]
    lines = [HEAD, ("---", *("---:",) * 3, "---", "---"), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    against = "–"
    if row["peer"]:
        against = f"{row['peer']}: {quantity(row['peer_value'], row['unit'])}"
    return (
        row["what"],
        quantity(row["value"], row["unit"]),
        against,
        "–" if row["ratio"] is None else f"{row['ratio']:.2f}",
        row["aim"] or "–",
        {True: "yes", False: "**no**", None: "–"}[row["met"]],
    )


def quantity(value: float, unit: str) -> str:
    """A number to three digits or so, with its unit."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}"
