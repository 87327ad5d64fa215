"""The last section: methods, records of the runs, costs and citation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from careeval.report.page_table import PageColumn, PageTable
from careeval.report.sections.section import Report, Section, distinct
from careeval.sheets.entries.entries_sheet import entries_sheet
from careeval.sheets.entries.run_records import records_sheet
from careeval.sheets.formats.latex import escaped


def _fill(report: Report) -> Mapping[str, Any]:
    text, bibtex = _citations(report)
    return {
        "graders": list(report.findings.cards),
        "records": records_sheet(report.findings.public.runs.responses, report.summaries),
        "costs": costs_table(report),
        "citation": text,
        "bibtex": bibtex,
    }


def costs_table(report: Report) -> PageTable:
    """Return a table of what asking and grading cost."""
    keys = ("name", "cost.asking", "cost.grading", "cost.response")
    sheet = entries_sheet(report.graded)
    return PageTable(sheet, tuple(map(PageColumn, keys)), "What it cost")


def _citations(report: Report) -> tuple[str, str]:
    """Return the citation of the page, as text and as BibTeX."""
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
    return (
        f"The careeval authors. careeval{version}.\n{source}.",
        "@software{careeval,\n"
        "  author  = {{The careeval authors}},\n"
        "  title   = {careeval: an open, independent implementation of the {CareEval} benchmark},\n"
        + (f"  version = {{{', '.join(software)}}},\n" if software else "")
        + (f"  year    = {{{year}}},\n" if year else "")
        + f"  note    = {{{escaped(source)}}}\n}}",
    )


METHODS = Section("methods", "Methods", "sections/methods.html", _fill, lambda _: True)
