"""The section on the grader: audits, repeated gradings, other graders and odd items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from careeval.report.page_table import PageColumn, PageTable
from careeval.report.sections.section import Report, Section
from careeval.results.findings import Findings
from careeval.results.graders import GraderCard
from careeval.results.item_statistics import ItemStatistic
from careeval.sheets.entries.corrected_scores import as_graded, corrected_sheet
from careeval.sheets.kinds import COUNT
from careeval.sheets.sheet import Field, Row
from careeval.sheets.trust.audit import against_people_sheet
from careeval.sheets.trust.graders import (
    grader_agreement_sheet,
    grader_pairs_sheet,
    grading_noise_sheet,
    items_sheet,
)

MOST_ITEMS = 100
"""Items that a report lists at most; the data file has all."""

HIDDEN = "An item of a scenario that is not public"


def _fill(report: Report) -> Mapping[str, Any]:
    findings = report.findings
    return {
        "corrected": corrected_table(findings),
        "audits": [
            table for card in findings.cards.values() for table in people_tables(card, findings)
        ],
        "noise": noise_table(findings),
        "pairs": pairs_table(findings),
        "odd_items": odd_items_table(findings),
    }


def _is_shown(report: Report) -> bool:
    findings = report.findings
    corrected = any(each.corrected for each in findings.graded)
    is_regraded = any(card.noise for card in findings.cards.values())
    odd = any(map(_why_odd, findings.items))
    return corrected or is_regraded or bool(findings.grader_pairs) or odd


# Audited by people


def _not_graded(row: Row) -> tuple[str, ...]:
    return ("no response was judged whole",) if row["graded"] is None else ()


_GRADED = PageColumn("graded", beneath=_not_graded)

CORRECTED = (
    PageColumn("rubric"),
    _GRADED,
    PageColumn("corrected", about="95% interval"),
    PageColumn("n_responses"),
    PageColumn("n_judgments"),
    PageColumn("meaning"),
)


def corrected_table(findings: Findings) -> PageTable:
    """Return a table of all scores that an audit corrected; without an audit it has no row."""
    return PageTable(
        corrected_sheet(findings.graded),
        (PageColumn("name"), *CORRECTED),
        note=as_graded(findings.graded),
        look="telling",
    )


def corrected_by(grader: str, findings: Findings) -> PageTable:
    """Return a table, in three columns, of the scores by one grader that an audit corrected."""
    return PageTable(
        corrected_sheet(findings.graded).where(grader=grader),
        (
            PageColumn("system", beneath=lambda row: (row["rubric"],)),
            _GRADED,
            PageColumn("corrected", "Corrected"),
        ),
        f"Scores by {grader}, corrected by people",
    )


def people_tables(card: GraderCard, findings: Findings) -> Iterator[PageTable]:
    """Yield tables on how far the grader agrees with people, and people with each other.

    Without an audit there are none.
    """
    if card.human is None:
        return
    name = card.grader.model
    sheet = against_people_sheet(card.human)
    yield PageTable(
        sheet,
        (
            PageColumn("items"),
            PageColumn("n"),
            PageColumn("n_present"),
            PageColumn("sensitivity", "Finds", about="of what is there"),
            PageColumn("specificity", "Clears", about="of what is not"),
            PageColumn("ppv", "Right", about="of what it finds"),
        ),
        f"{name} against people",
        sortable=False,
    )
    yield PageTable(
        sheet,
        (
            PageColumn("items"),
            PageColumn("people.n", about="labelled by two or more"),
            PageColumn("people.same"),
        ),
        "People against each other: the most that can be asked of a grader",
        sortable=False,
    )
    agreement = grader_agreement_sheet(findings).where(grader=card.grader)
    for pair, between in ((f"{name} and people", "people"), ("People and people", "raters")):
        yield PageTable(
            agreement.where(between=between),
            AGREEMENT,
            f"{pair}, by points of the item",
            sortable=False,
        )


AGREEMENT = (
    PageColumn("rubric"),
    PageColumn("points"),
    PageColumn("n", about="that both made"),
    PageColumn("n_both", about="call it present"),
    PageColumn("n_either", about="calls it present"),
    PageColumn("positive_agreement", about="95% interval"),
    PageColumn("ac1", about="95% interval"),
)
"""Columns on how far readers (graders, people, labels) agree on the items of a point class."""


# Repeated gradings, and several graders


def _gradings(row: Row) -> tuple[str, ...]:
    return (f"up to {COUNT.text(row['n_gradings'])} gradings",)


def noise_table(findings: Findings) -> PageTable:
    """Return a table of grading noise, from responses that a grader graded several times.

    Each system, grader and rubric with such responses has a row.
    """
    shares = (
        PageColumn(f"{part}_share", about="of the variance", beneath=lambda row: (row["reason"],))
        for part in ("scenario", "response", "grading")
    )
    return PageTable(
        grading_noise_sheet(findings),
        (
            PageColumn("system"),
            PageColumn("grader"),
            PageColumn("rubric"),
            PageColumn("n_regraded", about="responses", beneath=_gradings),
            PageColumn("flipped"),
            *shares,
            PageColumn("worst_at_n"),
            PageColumn("corrected_worst_at_n", about="without the grader’s noise"),
        ),
    )


def pairs_table(findings: Findings) -> PageTable:
    """Return a table of the agreement of each pair of graders on the same responses, by points."""
    return PageTable(
        grader_pairs_sheet(findings),
        (PageColumn("a"), PageColumn("b"), PageColumn("systems"), *AGREEMENT),
        sortable=False,
    )


# Items

_WHY = Field("why", "why experts should read it", in_files=False)


def odd_items_table(findings: Findings) -> PageTable:
    """Return a table of the items that experts should read, without the texts of held-out ones."""
    odd = [item for item in findings.items if _why_odd(item)]
    hidden = findings.public.hidden
    sheet = items_sheet(odd[:MOST_ITEMS])
    more = (
        {"why": _why_odd(item)} | ({"text": HIDDEN} if item.scenario in hidden else {})
        for item in odd[:MOST_ITEMS]
    )
    n = COUNT.text(len(odd))
    return PageTable(
        sheet.with_fields(_WHY, rows=more),
        (
            PageColumn("text", beneath=lambda row: (f"{row['scenario']}, {row['rubric']}",)),
            PageColumn("points"),
            PageColumn("why"),
            PageColumn(
                "presence", lines=False, beneath=lambda row: (f"of {COUNT.text(row['n'])}",)
            ),
            PageColumn("rest", about="correlation over systems", lines=False),
        ),
        f"{n} of {COUNT.text(len(findings.items))} items",
        f"The first {MOST_ITEMS} of {n}." if len(odd) > MOST_ITEMS else "",
    )


def _why_odd(item: ItemStatistic) -> str:
    """Return the reason why experts should read an item; empty if there is none."""
    if item.always:
        return "always present"
    if item.never:
        return "never present"
    return "goes against the rest" if (item.rest.value or 0) < 0 else ""


GRADER = Section("grader", "Grader", "sections/grader.html", _fill, _is_shown)
