"""The section of scores by domain of competence, and by activity and domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

from careeval.core.scenario import Domain
from careeval.report.page_table import PageColumn, PageTable, Scale
from careeval.report.sections.parts import FEW, PART, entry_parts, part_look, part_strip
from careeval.report.sections.section import Report, Section
from careeval.results.findings import Graded
from careeval.results.parts import By
from careeval.results.score.summary import Summary
from careeval.sheets.entries.numbers import adl_and_domain_sheet, parts_sheet
from careeval.sheets.entries.side_by_side import PartScore, across
from careeval.sheets.names import DOMAINS
from careeval.sheets.sheet import Row, Sheet
from careeval.sheets.words import SMALL, entry_names
from careeval.stats import MIN_CLUSTERS

_SHORT = {
    Domain.user_function: "Function",
    Domain.user_agency: "Agency",
    Domain.communication_intent: "Intent",
    Domain.functional_safety: "Safety",
}
"""Domains where many tables stand beside each other."""

_ALL = "all"


def _fill(report: Report) -> Mapping[str, Any]:
    sizes = [
        cell.n
        for each in report.graded
        for by_domain in each.detail.by_adl_and_domain.values()
        for cell in by_domain.values()
        if cell.n
    ]
    return {
        "by_domain": by_domain_table(report),
        "maps": list(maps(report)),
        "map_sizes": " to ".join(map(str, dict.fromkeys((min(sizes), max(sizes)))))
        if sizes
        else "0",
        "any_few": min(sizes, default=0) < MIN_CLUSTERS,
    }


def by_domain_table(report: Report) -> PageTable:
    """Return the score in the four domains: of one entry a row each, of several a column each."""
    if report.is_of_one:
        return entry_parts(By.domain, report.graded[0])
    sheet = parts_sheet(By.domain, report.graded)
    scale = Scale.over(row["score"] for row in sheet.rows)
    wide, keys = across(sheet, "name", "domain", PartScore(n=True))
    small = f" {SMALL}" if any(map(PART.is_small, sheet.rows)) else ""
    return PageTable(
        wide,
        (PageColumn("name"), *(PageColumn(key, strip=part_strip(key, scale)) for key in keys)),
        "By domain",
        f"{report.score_name}, in %. Beneath a number: its 95% interval. Grey: not for ranking."
        f"{small}",
        FEW,
        is_grey=lambda row: row["name"] in report.unranked,
    )


def maps(report: Report) -> Iterator[PageTable]:
    """Yield a table of activities and domains for each entry that has a score."""
    names = entry_names(report.summaries)
    for name, each in zip(names, report.graded, strict=True):
        if each.summary.score.value is not None:
            yield _map(name, each, in_full=report.is_of_one)


def _map(name: str, entry: Graded, *, in_full: bool) -> PageTable:
    """Return activities down and domains across.

    Args:
        name: Of the entry.
        entry: Whose parts.
        in_full: Whether a cell has its interval.
    """
    sheet = adl_and_domain_sheet([entry])
    rows = list(_with_margins(sheet, entry.summary))
    wide, keys = across(
        replace(sheet, rows=rows), "adl", "domain", PartScore(interval=in_full, n=True)
    )
    short = [*(_SHORT[domain] for domain in Domain), "All"]
    heads = [*DOMAINS.values(), "All domains"] if in_full else short
    columns = (
        PageColumn("adl"),
        *(
            PageColumn(key, head, look=partial(_look, key))
            for key, head in zip(keys, heads, strict=True)
        ),
    )
    return PageTable(wide, columns, name, noted=FEW, look="heat", sortable=in_full)


def _with_margins(sheet: Sheet, s: Summary) -> Iterator[Row]:
    """Yield the rows of a sheet of activities and domains, with each over all of the other."""
    for adl, rows in groupby(sheet.rows, lambda row: row["adl"]):
        yield from rows
        cell = s.by_adl[adl]
        yield {"adl": adl, "domain": _ALL, "n": cell.n, "score": cell.score}
    for domain, part in s.by_domain.items():
        yield {"adl": _ALL, "domain": domain.value, "n": part.n, "score": part.score}
    yield {"adl": _ALL, "domain": _ALL, "n": s.n_scenarios, "score": s.score}


def _look(key: str, row: Row) -> str:
    """Return no shade for a margin, so that it is not taken for one of the cells."""
    return "whole" if _ALL in (row["adl"], row[key]["domain"]) else part_look(key, row)


DOMAINS_SECTION = Section("domains", "Domains", "sections/domains.html", _fill)
