"""Sheets with entries, or parts of the scenarios, side by side in columns.

On a page these cells are many and small, so they have no units; a note names the unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from careeval.sheets.estimate_kinds import ERROR_SHARE, ESTIMATE
from careeval.sheets.kinds import DASH, SHARE, SMALL_COUNT, Form, Kind
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.stats.intervals import MIN_CLUSTERS


def pivot(
    sheet: Sheet, down: str, along: str, kind: Kind, value: str = ""
) -> tuple[Sheet, tuple[str, ...]]:
    """Return a sheet with a row per value of one field, and a field per value of another field.

    Args:
        sheet: The sheet; no two rows may have the same pair of values.
        down: Key of the field whose values become rows.
        along: Key of the field whose values become fields.
        kind: Kind of the added fields.
        value: Key of the field whose value a cell has; if empty, a cell has the whole row.

    Returns:
        The sheet, and the keys of the added fields.
    """
    names = list(dict.fromkeys(row[along] for row in sheet.rows))
    keys = {name: f"{along}-{place}" for place, name in enumerate(names)}
    rows: dict[Any, Row] = {}
    for row in sheet.rows:
        rows.setdefault(row[down], dict(row))[keys[row[along]]] = row[value] if value else row
    say = sheet.by_key[along].kind.text
    added = (Field(keys[name], f"of {say(name)}", kind, say(name)) for name in names)
    fields = (*sheet.fields, *added)
    wide = replace(sheet, name=f"across_{along}", fields=fields, rows=[*rows.values()])
    return wide, tuple(keys.values())


@dataclass(frozen=True)
class PartScoreKind(Kind):
    """The score in a part of the scenarios, from a row with `score`, `n`, and `severe` if known."""

    if_missing: str = DASH
    interval: bool = True  # True if a page shows the interval
    n: bool = False
    """True if a page shows the number of scenarios. If not, an asterisk marks scores over too few
    scenarios for an interval."""

    def text(self, value: Row, form: Form = Form.short) -> str:  # noqa: ARG002
        """Return the score with the number of scenarios in brackets."""
        return f"{ESTIMATE.text(value['score'], Form.bare)} (n {SMALL_COUNT.text(value['n'])})"

    def sort_key(self, value: Row) -> float | None:
        """Return the score."""
        return ESTIMATE.sort_key(value["score"])

    def page_text(self, value: Row | None, form: Form = Form.bare) -> str:  # noqa: ARG002
        """Return the score, with an asterisk as `n` says; a dash for `None`."""
        if value is None:
            return self.if_missing
        mark = "*" if self.is_small(value) and not self.n else ""
        return f"{ESTIMATE.text(value['score'], Form.bare)}{mark}"

    def page_lines(self, value: Row) -> tuple[str, ...]:
        """Return the interval and the number of scenarios, if shown, and the severe errors."""
        n = (f"n {SMALL_COUNT.text(value['n'])}",) if self.n else ()
        severe = (f"severe {ERROR_SHARE.page_text(value['severe'])}",) if "severe" in value else ()
        return (*(ESTIMATE.page_lines(value["score"]) if self.interval else ()), *n, *severe)

    def is_small(self, value: Row) -> bool:
        """Tell whether there are scenarios, but too few for an interval."""
        n: int = value["n"]
        return 0 < n < MIN_CLUSTERS


@dataclass(frozen=True)
class ScenarioScoreKind(Kind):
    """The score on a scenario, from a row of `careeval.sheets.scenarios.scenarios_sheet`."""

    if_missing: str = DASH

    def text(self, value: Row, form: Form = Form.short) -> str:  # noqa: ARG002
        """Return the score."""
        return SHARE.text(value["score"])

    def sort_key(self, value: Row) -> float | None:
        """Return the score."""
        return SHARE.sort_key(value["score"])

    def page_text(self, value: Row | None, form: Form = Form.bare) -> str:  # noqa: ARG002
        """Return the score; a dash if there is none."""
        return self.if_missing if value is None else SHARE.text(value["score"])

    def page_lines(self, value: Row) -> tuple[str, ...]:
        """Return the lowest score and number of responses with a severe error, or why unknown."""
        if value["score"] is None:
            return (value["reason"],)
        lowest = [] if value["worst"] is None else [f"lowest {SHARE.text(value['worst'])}"]
        severe = [f"severe in {value['n_severe']}"] if value["n_severe"] else []
        return (*lowest, *severe)
