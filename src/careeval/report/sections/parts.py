"""The tables of a report's numbers in parts of the scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from careeval.report.page_table import PageColumn, PageTable, Scale, Strip, shade, strip_of
from careeval.report.sections.section import Report
from careeval.results.findings import Graded
from careeval.results.parts import By
from careeval.sheets.entries.numbers import parts_sheet
from careeval.sheets.entries.side_by_side import PartScore, across
from careeval.sheets.sheet import Row, Sheet
from careeval.sheets.words import SMALL

PART = PartScore()

FEW = ("fewer than five scenarios",)
"""Why a small part has no interval; an asterisk at its number of scenarios says so."""


def parts_table(by: By, report: Report) -> PageTable:
    """Return severe errors and score by one way to part the scenarios, a column an entry.

    Of one entry a number has a column, and its activities stand beneath the whole.
    """
    if report.is_of_one:
        (entry,) = report.graded
        table, s = entry_parts(by, entry), entry.summary
        if by is not By.adl:
            return table
        whole = {"adl": "overall", "n": s.n_scenarios, "score": s.score, "severe": s.severe}
        return replace(table, sheet=replace(table.sheet, rows=[whole, *table.rows]))
    sheet = parts_sheet(by, report.graded)
    wide, keys = across(sheet, by.value, "name", PART)
    columns = (
        PageColumn(by.value, beneath=lambda row: (_sizes(row[key] for key in keys if key in row),)),
        *(PageColumn(key, look=partial(part_look, key)) for key in keys),
    )
    note = (
        f"{report.score_name}, in %; beneath it its 95% interval, and the share of responses with "
        "a severe error. The shade is of the score alone."
    )
    return PageTable(wide, columns, _caption(sheet, by), _with_small(note, sheet), FEW, "heat many")


def entry_parts(by: By, entry: Graded) -> PageTable:
    """Return the numbers of one entry's parts, drawn in their cells.

    Args:
        by: What the scenarios are broken down by; there are no errors by domain.
        entry: Whose parts.
    """
    s, sheet = entry.summary, parts_sheet(by, [entry])
    rubric, is_domain = s.rubric.value, by is By.domain
    scores = Scale.over([s.score, *(row["score"] for row in sheet.rows)])
    shares = [s.severe.share, *(row["severe"].share for row in sheet.rows if not is_domain)]
    about = f"{rubric}, weighted by domain" if is_domain else f"{rubric}, 95% interval"
    return PageTable(
        sheet,
        (
            PageColumn(by.value),
            PageColumn("n"),
            *(() if is_domain else (severe_column(rubric, Scale.over(shares, (0, 0.1)).wide),)),
            PageColumn("score", about=about, strip=strip_of("score", scores.wide)),
        ),
        _caption(sheet, by),
        _with_small("", sheet),
        FEW,
        "profile",
    )


def severe_column(rubric: str, scale: Scale) -> PageColumn:
    """Return the column of severe errors, drawn on a scale; its cells are red above 0."""
    return PageColumn(
        "severe",
        about=f"{rubric}, responses with any",
        look=lambda row: "harm" if row["severe"].share.value else "",
        strip=strip_of("severe", scale),
    )


def _caption(sheet: Sheet, by: By) -> str:
    return f"By {sheet.by_key[by.value].heading.lower()}"


def _with_small(note: str, sheet: Sheet) -> str:
    """Return a note, and what an asterisk means where there is one."""
    return " ".join([note] * bool(note) + [SMALL] * any(map(PART.is_small, sheet.rows)))


def part_strip(key: str, scale: Scale) -> Callable[[Row], Strip | None]:
    """Return what draws the score of a part that stands in a row: for `PageColumn.strip`."""
    return lambda row: Strip.of_estimate(row[key]["score"], scale) if key in row else None


def part_look(key: str, row: Row) -> str:
    """Return the classes of a cell with the score of a part."""
    part = row.get(key)
    if part is None or part["score"].value is None:
        return "none"
    return f"{shade(part['score'].value)}{' few' if PART.is_small(part) else ''}"


def _sizes(parts: Iterable[Row]) -> str:
    """Return how many scenarios parts of entries are over."""
    sizes = sorted({part["n"] for part in parts})
    return f"n {'–'.join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))}"
