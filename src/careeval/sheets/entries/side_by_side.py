"""Sheets with entries, or parts of the scenarios, side by side in columns.

On a page these cells are many and small, so they have no units; a note names the unit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from careeval.results.metrics import SEVERE
from careeval.sheets.kinds import DASH, ERROR_SHARE, ESTIMATE, SHARE, SMALL_COUNT, Form, Kind
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


def is_small(row: Row) -> bool:
    """Tell whether a part has scenarios, but too few for an interval."""
    n: int = row["n"]
    return 0 < n < MIN_CLUSTERS


def part_score_kind(*, interval: bool = True, n: bool = False) -> Kind:
    """Return the kind of the score in a part, from a row with `score`, `n`, and `severe` if known.

    Args:
        interval: Whether a page shows the interval.
        n: Whether a page shows the number of scenarios. If not, an asterisk marks scores over too
            few scenarios for an interval.
    """

    def write(row: Row, _: Form) -> str:
        return f"{ESTIMATE.text(row['score'], Form.bare)} (n {SMALL_COUNT.text(row['n'])})"

    def on_page(row: Row, _: Form) -> str:
        mark = "*" if is_small(row) and not n else ""
        return f"{ESTIMATE.text(row['score'], Form.bare)}{mark}"

    def lines(row: Row) -> tuple[str, ...]:
        """Return the interval and the number of scenarios, if shown, and the severe errors."""
        number = (f"n {SMALL_COUNT.text(row['n'])}",) if n else ()
        errors = row.get(SEVERE.key)
        severe = (f"{SEVERE.brief} {ERROR_SHARE.page_text(errors)}",) if errors else ()
        return (*(ESTIMATE.lines(row["score"]) if interval else ()), *number, *severe)

    return Kind(
        write=write,
        order=lambda row: ESTIMATE.sort_key(row["score"]),
        write_on_page=on_page,
        lines=lines,
        if_missing=DASH,
    )


def _scenario_lines(row: Row) -> tuple[str, ...]:
    """Return the lowest score and number of responses with a severe error, or why unknown."""
    if row["score"] is None:
        return (row["reason"],)
    lowest = [] if row["worst"] is None else [f"lowest {SHARE.text(row['worst'])}"]
    severe = [f"severe in {row['n_severe']}"] if row["n_severe"] else []
    return (*lowest, *severe)


SCENARIO_SCORE = Kind(
    write=lambda row, _: SHARE.text(row["score"]),
    order=lambda row: SHARE.sort_key(row["score"]),
    lines=_scenario_lines,
    if_missing=DASH,
)
"""The score on a scenario, from a row of `careeval.sheets.scenarios.scenarios_sheet`."""
