"""The report: its sections as one offline HTML file.

It draws what is found and computes no result. What is measured comes first, how far it can be
trusted beside it, and every response last: packed, with a reader that needs no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from careeval.files import write_text
from careeval.report.documents import document, part
from careeval.report.payload import payload
from careeval.report.sections import SECTIONS
from careeval.report.sections.answer import simulated
from careeval.report.sections.section import Report, distinct, sections_of
from careeval.results.findings import Findings

MOST_CHARACTERS = 24_000_000
"""Of the page: beyond that browsers open it slowly, and mail does not carry it."""

LEAST_ROOM = 2_000_000
"""Characters of packed responses that a page has, however large the rest of it is."""


def write_page(
    findings: Findings, path: Path, *, title: str | None = None, responses: bool = True
) -> None:
    """Write `render_page` to a file, whose folder is made where it is not there.

    Raises:
        OSError: The file cannot be written.
    """
    page = render_page(findings, title=title, responses=responses)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, page)


def render_page(findings: Findings, *, title: str | None = None, responses: bool = True) -> str:
    """Return the page as HTML: the same for the same arguments.

    Args:
        findings: All that is found; may be of nothing.
        title: The page's title; a question after the systems where not given.
        responses: Whether the words of responses, quotes and reasons are in it.
    """
    title = title or _question([s.system for s in findings.summaries])
    room = MOST_CHARACTERS
    while True:
        read = payload(findings.public, findings.entries, responses=responses, most=room)
        page = _page(Report(findings, responses, read), title)
        # what is beside the data grows with the systems; where it alone is too much, a few remain
        if len(page) <= MOST_CHARACTERS or room == LEAST_ROOM:
            return page
        room = max(LEAST_ROOM, MOST_CHARACTERS - (len(page) - len(read.packed())))


def _page(report: Report, title: str) -> str:
    sections = list(sections_of(report, SECTIONS))
    values = {
        "title": title,
        "simulated": simulated(report),
        "nav": sections,
        "sections": [part(s.template, {"report": report, **s.fill(report)}) for s in sections],
        "data": Markup(report.read.packed()) if report.read.n_shown else "",
    }
    return document("page.html", values)


def _question(systems: Sequence[str]) -> str:
    different = distinct(systems)
    if not different:
        return "Nothing has been graded yet"
    if len(different) == 1:
        return f"Does {different[0]} decide like an expert caregiver?"
    return f"Do these {len(different)} systems decide like an expert caregiver?"
