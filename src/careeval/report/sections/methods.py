"""The last section: what each number is, what was run, what it cost, how to cite it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from careeval.report.page_table import PageColumn, PageTable
from careeval.report.sections.section import Report, Section, distinct
from careeval.sheets.across import turned
from careeval.sheets.entries import entries_sheet
from careeval.sheets.records import records_sheet
from careeval.sheets.sheet import Sheet

_MOST_SIDE_BY_SIDE = 3
"""Systems whose records have a column each; of more, a record is a row."""


def _fill(report: Report) -> Mapping[str, Any]:
    return {
        "graders": list(report.findings.cards),
        "records": records_table(report),
        "costs": costs_table(report),
        "cite": _cite(report),
    }


def records_table(report: Report) -> PageTable:
    """Return what was run; of many systems a row a system, and once what is the same for all."""
    sheet = records_sheet(report.findings.public.runs.responses, report.summaries)
    keys = [field.key for field in sheet.fields]
    if len(sheet.rows) <= _MOST_SIDE_BY_SIDE:
        wide = turned(sheet, keys[1:], "Of the run")
        columns = tuple(PageColumn(field.key) for field in wide.fields)
        return PageTable(wide, columns, look="records", sortable=False)
    same = [key for key in keys[1:] if len({row[key] for row in sheet.rows}) == 1]
    columns = tuple(PageColumn(key) for key in keys if key not in same)
    note = f"The same for all: {_shared(sheet, same)}." if same else ""
    return PageTable(sheet, columns, note=note, look="records")


def _shared(sheet: Sheet, keys: list[str]) -> str:
    row = sheet.rows[0]
    return "; ".join(f"{sheet.by_key[key].heading.lower()} {row[key]}" for key in keys)


def costs_table(report: Report) -> PageTable:
    """Return what asking and grading cost."""
    keys = ("name", "cost.asking", "cost.grading", "cost.response")
    sheet = entries_sheet(report.summaries)
    return PageTable(sheet, tuple(map(PageColumn, keys)), "What it cost")


@dataclass(frozen=True)
class Citation:
    """How the page is cited: for readers, and for programs."""

    text: str
    bibtex: str


def _cite(report: Report) -> Citation:
    software = sorted(report.findings.public.runs.responses["software"].drop_nulls().unique())
    version = f", version {', '.join(software)}" if software else ""
    graders = distinct(f"{s.grader} ({s.rubric.value})" for s in report.summaries)
    dates = report.dates
    run = f"; run on {' to '.join(distinct((dates[0], dates[-1])))}" if dates else ""
    year = dates[-1][:4] if dates else ""
    source = (
        f"Bank {', '.join(report.banks)}; protocol {', '.join(report.protocols)}; "
        f"graded by {', '.join(graders)}{run}"
    )
    return Citation(
        f"The careeval authors. careeval{version}.\n{source}.",
        "@software{careeval,\n"
        "  author  = {{The careeval authors}},\n"
        "  title   = {careeval: an open, independent implementation of the {CareEval} benchmark},\n"
        + (f"  version = {{{', '.join(software)}}},\n" if software else "")
        + (f"  year    = {{{year}}},\n" if year else "")
        + f"  note    = {{{_tex(source)}}}\n}}",
    )


def _tex(words: str) -> str:
    """Return words without what BibTeX would read as its own."""
    for character in "\\{}":
        words = words.replace(character, "")
    for character in "&%$#_":
        words = words.replace(character, f"\\{character}")
    return words


METHODS = Section("methods", "Methods", "sections/methods.html", _fill, lambda _: True)
