"""The table of a report's numbers in parts of the scenarios."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from careeval.report.page_table import PageColumn, PageTable, shade
from careeval.report.sections.section import Report
from careeval.results.parts import By
from careeval.sheets.across import PartScore, across
from careeval.sheets.entries import parts_sheet
from careeval.sheets.sheet import Row
from careeval.sheets.words import SMALL

PART = PartScore()

FEW = ("fewer than five scenarios",)
"""Why a small part has no interval; an asterisk at its number of scenarios says so."""


def parts_table(by: By, report: Report) -> PageTable:
    """Return severe errors and score by one way to part the scenarios.

    Of one entry a number has a column; of several an entry has.
    """
    sheet = parts_sheet(by, report.summaries, report.details)
    caption = f"By {sheet.by_key[by.value].heading.lower()}"
    columns: tuple[PageColumn, ...]
    mark = f" {SMALL}" if any(map(PART.is_small, sheet.rows)) else ""
    if report.is_of_one:
        columns = (
            PageColumn(by.value),
            PageColumn("n"),
            PageColumn("severe", look=_severe_look),
            PageColumn("score", report.score_name, look=_small_look),
        )
        note = f"Beneath a number: its 95% interval.{mark}"
        return PageTable(sheet, columns, caption, note, FEW)
    wide, keys = across(sheet, by.value, "name", PART)
    columns = (
        PageColumn(by.value, beneath=lambda row: (_sizes(row[key] for key in keys if key in row),)),
        *(PageColumn(key, look=partial(part_look, key)) for key in keys),
    )
    note = (
        f"{report.score_name}, in %; beneath it its 95% interval, and the share of responses with "
        f"a severe error.{mark}"
    )
    return PageTable(wide, columns, caption, note, FEW, "heat many")


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


def _severe_look(row: Row) -> str:
    return _small_look(row) or shade(row["severe"].share.value, harm=True)


def _small_look(row: Row) -> str:
    return "small" if PART.is_small(row) else ""
