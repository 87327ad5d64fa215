"""Tests of tables on a terminal, which leave out the columns that do not fit."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from careeval.sheets.terminal import PIPE_WIDTH, console, fit_columns, new_table, print_table

HEADS = ("severe", "score [95% CI]", "rank set", "mild errors", "n")
NUMBERS = ("2.9 [1.5, 5.1]", "74.0 [68.1, 80.2]", "1–3", "12 of 800", "80 × 10")


def table() -> Table:
    """A table of two systems, one of them with a long name."""
    made = new_table("Results", ("system", "grader"), HEADS)
    for name in ("planner", "a-provider/a-model-with-quite-a-long-name-2026-01-01"):
        made.add_row(Text(name), Text("openai/gpt-4o-2024-08-06"), *NUMBERS)
    return made


def printed(width: int, first: tuple[str, ...] = ()) -> str:
    """The table as it is printed so many columns wide."""
    file = io.StringIO()
    print_table(Console(file=file, width=width, highlight=False), table(), first)
    return file.getvalue()


@pytest.mark.parametrize("width", range(40, 200, 7))
def test_no_number_is_cut(width: int) -> None:
    """At any width a number stands whole in one line, or its column is named as not shown."""
    text = printed(width)
    (_, title, *_), rest = text.splitlines(), " ".join(text.split())
    assert max(map(len, text.splitlines())) <= width
    shown, left_out = fit_columns(Console(width=width), table())
    assert [str(column.header) for column in shown.columns[2:]] == [
        head for head in HEADS if head not in left_out
    ]
    for head, number in zip(HEADS, NUMBERS, strict=True):
        assert text.count(number) == (0 if head in left_out else 2), title
    if left_out:
        assert f"Not shown in {width} columns: {', '.join(left_out)}." in rest
    else:
        assert "Not shown" not in text


def test_more_is_shown_where_there_is_more_room() -> None:
    """A wider table has every column of a narrower one, and a wide one has all."""
    seen: set[str] = set()
    for width in range(40, 200):
        _, left_out = fit_columns(Console(width=width), table())
        assert seen <= {*HEADS} - {*left_out}
        seen = {*HEADS} - {*left_out}
    assert seen == {*HEADS}


def test_the_important_columns_stay() -> None:
    """The most important columns are left out last, and keep their usual order."""
    _, usual = fit_columns(Console(width=70), table())
    assert "n" in usual
    shown, left_out = fit_columns(Console(width=70), table(), ("n", "severe"))
    assert [str(column.header) for column in shown.columns[2:]][:1] == ["severe"]
    assert "n" not in left_out
    assert "score [95% CI]" in left_out


def test_a_section_stays_one() -> None:
    """A line that ends a section ends it in a narrow table too."""
    made = new_table("", ("a",), ("b", "c"))
    made.add_row("x", "1" * 20, "2" * 30, end_section=True)
    made.add_row("y", "3", "4")
    shown, left_out = fit_columns(Console(width=40), made)
    assert left_out == ["c"]
    assert [row.end_section for row in shown.rows] == [True, False]


@pytest.mark.parametrize(
    ("columns", "width"), [(None, PIPE_WIDTH), ("80", 80), ("0", PIPE_WIDTH), ("x", PIPE_WIDTH)]
)
def test_columns_is_obeyed_in_a_pipe(
    columns: str | None, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a terminal the variable COLUMNS says how wide a table may be."""
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert console().width == width
