"""The tables of a report's numbers in parts of the scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from careeval.report.page_table import PageColumn, PageTable, Scale, Strip, shade, strip_of
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

    Of one entry a number has a column, and its activities stand beneath the whole; of several an
    entry has.
    """
    sheet = parts_sheet(by, report.summaries, report.details)
    caption = f"By {sheet.by_key[by.value].heading.lower()}"
    small = f" {SMALL}" if any(map(PART.is_small, sheet.rows)) else ""
    if report.is_of_one:
        (s,) = report.summaries
        whole = {"n": s.n_scenarios, "score": s.score, "severe": s.severe}
        above = [{by.value: "overall", **whole}] if by is By.adl else []
        rows = [*above, *sheet.rows]
        columns: tuple[PageColumn, ...] = (
            PageColumn(by.value),
            PageColumn("n"),
            PageColumn("severe", strip=strip_of("severe", _shares(rows)), look=_red),
            PageColumn("score", report.score_name, strip=strip_of("score", score_scale(rows).wide)),
        )
        note = f"Beneath a number: its 95% interval.{small}"
        return PageTable(replace(sheet, rows=rows), columns, caption, note, FEW, "profile")
    wide, keys = across(sheet, by.value, "name", PART)
    columns = (
        PageColumn(by.value, beneath=lambda row: (_sizes(row[key] for key in keys if key in row),)),
        *(PageColumn(key, look=partial(part_look, key)) for key in keys),
    )
    note = (
        f"{report.score_name}, in %; beneath it its 95% interval, and the share of responses with "
        f"a severe error.{small}"
    )
    return PageTable(wide, columns, caption, note, FEW, "heat many")


def score_scale(rows: Iterable[Row]) -> Scale:
    """Return a scale for the scores of parts."""
    return Scale.over(row["score"] for row in rows)


def _shares(rows: Iterable[Row]) -> Scale:
    return Scale.over((row["severe"].share for row in rows), (0, 0.1)).wide


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


def _red(_: Row) -> str:
    return "harm"
