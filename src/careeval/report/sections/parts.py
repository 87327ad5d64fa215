"""Tables of numbers by parts of the scenarios, such as the scenarios of one activity."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from careeval.report.page_table import BarScale, PageColumn, PageTable, Strip, shade, strip_of
from careeval.report.sections.section import Report
from careeval.results.details import Breakdown
from careeval.results.findings import EntryFindings
from careeval.sheets.entries.entries_sheet import parts_sheet
from careeval.sheets.entries.side_by_side import PartScoreKind, pivot
from careeval.sheets.sheet import Row, Sheet
from careeval.sheets.words import SMALL

PART = PartScoreKind()

FEW = ("fewer than five scenarios",)
"""Reason why a small part has no interval; omitted, since an asterisk marks the part."""


def parts_table(by: Breakdown, report: Report) -> PageTable:
    """Return a table of severe errors and score by part, with a column for each entry.

    A single entry has a column for each number; by activity, its first row is the total.
    """
    if report.has_one_entry:
        (entry,) = report.graded
        table, s = entry_parts(by, entry), entry.summary
        if by is not Breakdown.adl:
            return table
        whole = {"adl": "overall", "n": s.n_scenarios, "score": s.score, "severe": s.severe}
        return replace(table, sheet=replace(table.sheet, rows=[whole, *table.rows]))
    sheet = parts_sheet(by, report.graded)
    wide, keys = pivot(sheet, by.value, "name", PART)
    columns = (
        PageColumn(by.value, beneath=lambda row: (_sizes(row[key] for key in keys if key in row),)),
        *(PageColumn(key, look=partial(part_look, key)) for key in keys),
    )
    note = (
        f"{report.score_name}, in %; beneath it its 95% interval, and the share of responses with "
        "a severe error. The shade is of the score alone."
    )
    return PageTable(wide, columns, _caption(sheet, by), _with_small(note, sheet), FEW, "heat many")


def entry_parts(by: Breakdown, entry: EntryFindings) -> PageTable:
    """Return a table of the numbers of one entry by part; errors and scores have a `Strip`.

    Args:
        by: The kind of part; by domain, the table has no errors.
        entry: The entry.
    """
    s, sheet = entry.summary, parts_sheet(by, [entry])
    rubric, is_domain = s.rubric.value, by is Breakdown.domain
    scores = BarScale.of_estimates([s.score, *(row["score"] for row in sheet.rows)])
    shares = [s.severe.share, *(row["severe"].share for row in sheet.rows if not is_domain)]
    about = f"{rubric}, weighted by domain" if is_domain else f"{rubric}, 95% interval"
    return PageTable(
        sheet,
        (
            PageColumn(by.value),
            PageColumn("n"),
            *(
                ()
                if is_domain
                else (severe_column(rubric, BarScale.of_estimates(shares, (0, 0.1)).wide),)
            ),
            PageColumn("score", about=about, strip=strip_of("score", scores.wide)),
        ),
        _caption(sheet, by),
        _with_small("", sheet),
        FEW,
        "profile",
    )


def severe_column(rubric: str, scale: BarScale) -> PageColumn:
    """Return the table column of severe errors, each with a `Strip`; shares above 0 are red."""
    return PageColumn(
        "severe",
        about=f"{rubric}, responses with any",
        look=lambda row: "harm" if row["severe"].share.value else "",
        strip=strip_of("severe", scale),
    )


def _caption(sheet: Sheet, by: Breakdown) -> str:
    return f"By {sheet.by_key[by.value].heading.lower()}"


def _with_small(note: str, sheet: Sheet) -> str:
    """Return the note with that of the sheet, and the meaning of the asterisk if there is one."""
    small = SMALL if any(map(PART.is_small, sheet.rows)) else ""
    return " ".join(filter(None, (note, sheet.note, small)))


def part_strip(key: str, scale: BarScale) -> Callable[[Row], Strip | None]:
    """Return a function for `PageColumn.strip` that draws the score of a part."""
    return lambda row: Strip.of_estimate(row[key]["score"], scale) if key in row else None


def part_look(key: str, row: Row) -> str:
    """Return the CSS classes of a cell with the score of a part."""
    part = row.get(key)
    if part is None or part["score"].value is None:
        return "none"
    shaded = shade(part["score"].value, part["score"].ci95)
    return f"{shaded} few" if PART.is_small(part) else shaded


def _sizes(parts: Iterable[Row]) -> str:
    """Return the fewest and the most scenarios of a part, as text."""
    sizes = sorted({part["n"] for part in parts})
    return f"n {'–'.join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))}"
