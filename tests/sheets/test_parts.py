"""Tests of sheets with entries or parts side by side."""

from __future__ import annotations

from careeval.sheets.kinds import COUNT, DASH, Form
from careeval.sheets.parts import part_score_kind, pivot
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.stats.estimate import Estimate

KNOWN = Estimate(0.5, 0.5, 0.5, (0.25, 0.75))


def part(system: str, adl: str, n: int, score: Estimate = KNOWN) -> Row:
    """A system's score in an activity."""
    return {"system": system, "adl": adl, "n": n, "score": score}


ROWS = [part("a", "eating", 6), part("a", "bathing", 2), part("b", "bathing", 7)]
SHEET = Sheet(
    "by_adl",
    "a system and an activity",
    (Field("system", "its name"), Field("adl", "activity"), Field("n", "scenarios", COUNT)),
    ROWS,
)


def test_each_row_stands_in_one_cell() -> None:
    """Spread out by either field, each row is in one cell, and a lacking one in none."""
    for down, along, heads in (
        ("system", "adl", ["eating", "bathing"]),
        ("adl", "system", ["a", "b"]),
    ):
        wide, keys = pivot(SHEET, down, along, part_score_kind())
        assert [wide.by_key[key].heading for key in keys] == heads
        cells = [row[key] for row in wide.rows for key in keys if key in row]
        assert sorted(map(str, cells)) == sorted(map(str, ROWS))
        assert all(row[key][down] == row[down] for row in wide.rows for key in keys if key in row)


def test_the_score_of_a_part_says_how_many_scenarios_it_is_over() -> None:
    """Fewer than five have an asterisk, at the score or at their number; none is a dash."""
    many, few, _ = ROWS
    assert part_score_kind().text(few, Form.short) == "50.0 (n 2*)"
    assert [part_score_kind().page_text(row) for row in (many, few, None)] == [
        "50.0",
        "50.0*",
        DASH,
    ]
    assert part_score_kind(n=True).page_text(few) == "50.0"
    assert part_score_kind(n=True).lines(few) == ("25.0 to 75.0", "n 2*")
    assert part_score_kind(interval=False, n=True).lines(many) == ("n 6",)


def test_a_cell_may_hold_one_field_alone() -> None:
    """If a field is named, the cells have its values instead of whole rows."""
    wide, keys = pivot(SHEET, "system", "adl", COUNT, "n")
    assert [[row.get(key) for key in keys] for row in wide.rows] == [[6, 2], [None, 7]]
