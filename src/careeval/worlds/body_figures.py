"""The figures that a body's text tells its planner."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

UNITS: Mapping[str, str] = {
    "payload_kg": "kg",
    "reach_cm": "cm",
    "max_speed_cm_s": "cm/s",
    "max_force_n": "N",
}
"""Field of a body → the unit of its figure."""

_NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
_AFTER_REACH = re.compile(rf"\breach(?:es)?(?: [a-z]+){{0,3}} {_NUMBER} ?cm(?![\w/])")
_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4}

_HOLDERS = ("arm", "gripper", "hand", "sling")
"""Words for the parts of a body that hold. The first that a text counts gives the arms."""


def told_figures(text: str) -> Mapping[str, Sequence[float]]:
    """Return the figures of a body's text by field, in their order.

    Lengths after the word "reach" are the reach, since a text may tell a height as well; if there
    are none, all lengths are.
    """
    text = " ".join(text.split())
    told = {field: _numbers(rf"{_NUMBER} ?{unit}(?![\w/])", text) for field, unit in UNITS.items()}
    reach = _numbers(_AFTER_REACH, text) or told["reach_cm"]
    return {"arms": _holders(text), **told, "reach_cm": reach}


def _numbers(pattern: str | re.Pattern[str], text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(pattern, text)]


def _holders(text: str) -> Sequence[float]:
    for holder in _HOLDERS:
        found = re.findall(rf"\b({'|'.join(_COUNTS)}|[1-9])(?: [a-z]+)? {holder}s?\b", text, re.I)
        if found:
            return [float(_COUNTS.get(each.lower(), 0) or each) for each in found]
    return ()
