"""The first section: each entry's severe errors and score, and the limits of these numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from careeval.core.scenario import HarmKind
from careeval.report import charts
from careeval.report.documents import FigureMarkup, draw_figure
from careeval.report.page_table import PageColumn, PageTable
from careeval.report.sections.grader_trust import as_sentence, grader_summaries
from careeval.report.sections.leaderboard import boards
from careeval.report.sections.section import Report, Section
from careeval.results.metrics import HEADLINE
from careeval.sheets.entries.entries_sheet import entries_sheet
from careeval.sheets.kinds import COUNT
from careeval.sheets.sheet import Row
from careeval.sheets.words import remarks

SIMULATED = "SIMULATED"
"""Prefix of the provenance of a bank with simulated systems."""

_OF_THE_BANK = "Of the bank itself: "
"""Start of the part of a provenance that is on the bank itself; the banner leaves this part out."""

_NO_WORDS = "This page was written without responses, quotes and reasons."


def _fill(report: Report) -> Mapping[str, Any]:
    return {
        "boards": list(boards(report)),
        "grader_summaries": list(grader_summaries(report)),
        "limits": list(_limits(report)),
        "numbers": numbers_table(report),
        "picture": _picture(report),
    }


def _picture(report: Report) -> FigureMarkup | None:
    """Return the figure of all severe errors and scores; `None` without an entry."""
    if not report.summaries:
        return None
    title = "Severe errors and scores, with intervals"
    return draw_figure("first", title, lambda width: charts.column(report.summaries, width))


def numbers_table(report: Report) -> PageTable:
    """Return a table of the headline numbers of all entries, with intervals."""
    sheet = entries_sheet(report.graded, report.findings.rankings)
    columns = [PageColumn("name", beneath=lambda row: row["not_ranked"])]
    for metric in HEADLINE:
        head = report.score_name if metric.key == "score" else ""
        columns.append(PageColumn(metric.key, head))
        if metric.key == "score" and any(row["ranks"] for row in sheet.rows):
            columns.append(PageColumn("ranks"))
    if any(s.severe_by_kind for s in report.summaries):
        columns += [PageColumn(f"severe_{kind}") for kind in HarmKind]
    columns += [
        PageColumn("n", beneath=_missing),
        PageColumn("n_unresolved", beneath=_of_judgments),
    ]
    note = "Errors: responses with at least one. Beneath a number: its 95% interval."
    return PageTable(sheet, tuple(columns), "The numbers in full", note, look="many")


def _missing(row: Row) -> tuple[str, ...]:
    return (f"{COUNT.text(row['n_missing'])} missing",) if row["n_missing"] else ()


def _of_judgments(row: Row) -> tuple[str, ...]:
    return (f"of {COUNT.text(row['n_judgments'])} judgments",)


def _limits(report: Report) -> Iterator[str]:
    """Yield the warnings about the numbers, except the footnotes, which tables have."""
    for remark in remarks(report.summaries, shares=False):
        if not remark.startswith("*"):
            yield re.sub(rf"{SIMULATED}: .*{_OF_THE_BANK}", "", remark)
    yield from report.findings.public.runs.notes
    if not report.words_shown:
        yield _NO_WORDS


def simulated(report: Report) -> str:
    """Return the bank's statement that its systems are simulated; empty if they are not."""
    for s in report.summaries:
        if s.bank_provenance.startswith(SIMULATED):
            words = s.bank_provenance.removeprefix(SIMULATED).lstrip(": ")
            return as_sentence(words.partition(_OF_THE_BANK)[0].strip())
    return ""


ANSWER = Section("answer", "Answer", "sections/answer.html", _fill, lambda _: True)
