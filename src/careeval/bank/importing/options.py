"""Reading of the graded options of an imported record, each a rung of a ladder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from careeval.bank.importing.records import as_object, cell_text
from careeval.core.scenario import Domain, Rung


def options_in(row: Mapping[str, Any], columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the graded options of a record as rungs.

    Raises:
        ValueError: The record has no list of options, or an option is not valid.
    """
    if "options" not in columns:
        return [_option(row, columns)]
    options = row.get(columns["options"])
    if not isinstance(options, list) or not options:
        raise ValueError(f"{columns['options']!r} is no list of options")
    return [
        _option(as_object(option, f"option {i}"), columns, f"option {i}: ")
        for i, option in enumerate(options, 1)
    ]


def _option(
    values: Mapping[str, Any], columns: Mapping[str, str], where: str = ""
) -> dict[str, Any]:
    """Return one option as a rung; `where` begins the message of an error."""
    flat = {**values}
    for value in values.values():
        if isinstance(value, dict):
            flat |= value
    text = cell_text(flat.get(columns["option"]))
    if not text:
        raise ValueError(f"{where}{columns['option']!r} is missing or empty")
    points = _whole(flat.get(columns["points"]), f"{where}{columns['points']}", -2, 2)
    if points is None:
        raise ValueError(f"{where}{columns['points']!r} is missing or empty")
    rated = {
        domain.value: _whole(flat.get(columns[domain]), f"{where}{columns[domain]}", 0, 2)
        for domain in Domain
        if domain in columns
    }
    domains = {domain: level for domain, level in rated.items() if level is not None}
    rung = {"points": points, "text": text, "domains": domains}
    Rung.model_validate(rung)
    return rung


def _whole(value: Any, name: str, least: int, most: int) -> int | None:
    """Return a whole number within bounds; `None` for an empty cell.

    Raises:
        ValueError: The value is anything else.
    """
    text = cell_text(value).replace("−", "-")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not number.is_integer() or not least <= number <= most:
        raise ValueError(f"{name} is {text[:60]!r}, expected a whole number {least} to {most}")
    return int(number)
