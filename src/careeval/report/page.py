"""The report: one HTML file that works offline.

The results come first, with the evidence for the grader beside them. The responses come last, as
compressed data, with a script that shows them and needs no network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from careeval.files import write_text
from careeval.report.documents import render_document, render_part
from careeval.report.payload import payload
from careeval.report.sections import SECTIONS
from careeval.report.sections.answer import simulated
from careeval.report.sections.section import Report, distinct, sections_of
from careeval.results.findings import Findings

MOST_CHARACTERS = 24_000_000
"""Characters of a page at most: browsers open a larger one slowly, and mail rejects it."""

LEAST_ROOM = 2_000_000
"""Characters of packed responses that a page may always have, however large the rest is."""


def write_page(
    findings: Findings, path: Path, *, title: str | None = None, responses: bool = True
) -> None:
    """Write the report to a file; its folder is created if missing.

    Raises:
        OSError: The file cannot be written.
    """
    page = render_page(findings, title=title, responses=responses)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, page)


def render_page(findings: Findings, *, title: str | None = None, responses: bool = True) -> str:
    """Return the report as HTML. The same arguments give the same text.

    Args:
        findings: The results to show; may be empty.
        title: The title; by default a question that names the systems.
        responses: Whether the report includes the texts of responses, quotes and reasons.
    """
    title = title or _question([s.system for s in findings.summaries])
    room = MOST_CHARACTERS
    while True:
        packed = payload(findings.public, findings.entries, responses=responses, most=room)
        page = _page(Report(findings, responses, packed), title)
        # the rest of the page grows with the systems; if it alone is too large, a few remain
        if len(page) <= MOST_CHARACTERS or room == LEAST_ROOM:
            return page
        room = max(LEAST_ROOM, MOST_CHARACTERS - (len(page) - len(packed.packed())))


def _page(report: Report, title: str) -> str:
    sections = list(sections_of(report, SECTIONS))
    values = {
        "title": title,
        "simulated": simulated(report),
        "nav": sections,
        "sections": [
            render_part(s.template, {"report": report, **s.fill(report)}) for s in sections
        ],
        "data": Markup(report.payload.packed()) if report.payload.n_shown else "",
    }
    return render_document("page.html", values)


def _question(systems: Sequence[str]) -> str:
    different = distinct(systems)
    if not different:
        return "Nothing has been graded yet"
    if len(different) == 1:
        return f"Does {different[0]} decide like an expert caregiver?"
    return f"Do these {len(different)} systems decide like an expert caregiver?"
