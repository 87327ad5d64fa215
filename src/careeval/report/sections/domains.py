"""The section of scores by domain, and by activity and domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

from careeval.core.scenario import Domain
from careeval.report.page_table import BarScale, PageColumn, PageTable
from careeval.report.sections.parts import FEW, PART, entry_parts, part_look, part_strip
from careeval.report.sections.section import Report, Section
from careeval.results.details import Breakdown
from careeval.results.findings import EntryFindings
from careeval.results.summary import Summary
from careeval.sheets.entries.entries_sheet import adl_and_domain_sheet, parts_sheet
from careeval.sheets.entries.side_by_side import PartScoreKind, pivot
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
"""Short names of domains, for small tables side by side."""

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
    """Return a table of scores by domain: domains are rows for one entry, columns for several."""
    if report.has_one_entry:
        return entry_parts(Breakdown.domain, report.graded[0])
    sheet = parts_sheet(Breakdown.domain, report.graded)
    scale = BarScale.of_estimates(row["score"] for row in sheet.rows)
    wide, keys = pivot(sheet, "name", "domain", PartScoreKind(n=True))
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
    """Yield a table of activity by domain for each entry that has a score."""
    names = entry_names(report.summaries)
    for name, each in zip(names, report.graded, strict=True):
        if each.summary.score.value is not None:
            yield _map(name, each, in_full=report.has_one_entry)


def _map(name: str, entry: EntryFindings, *, in_full: bool) -> PageTable:
    """Return a table of one entry's scores: a row per activity and a column per domain.

    Args:
        name: Name of the entry.
        entry: The entry.
        in_full: Whether cells show intervals.
    """
    sheet = adl_and_domain_sheet([entry])
    rows = list(_with_totals(sheet, entry.summary))
    wide, keys = pivot(
        replace(sheet, rows=rows), "adl", "domain", PartScoreKind(interval=in_full, n=True)
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
    return PageTable(wide, columns, name, omitted_lines=FEW, look="heat", sortable=in_full)


def _with_totals(sheet: Sheet, s: Summary) -> Iterator[Row]:
    """Yield the rows of a sheet of activity by domain, with totals by activity and by domain."""
    for adl, rows in groupby(sheet.rows, lambda row: row["adl"]):
        yield from rows
        cell = s.by_adl[adl]
        yield {"adl": adl, "domain": _ALL, "n": cell.n, "score": cell.score}
    for domain, part in s.by_domain.items():
        yield {"adl": _ALL, "domain": domain.value, "n": part.n, "score": part.score}
    yield {"adl": _ALL, "domain": _ALL, "n": s.n_scenarios, "score": s.score}


def _look(key: str, row: Row) -> str:
    """Return the CSS classes of a cell; totals have no shade, so that they stand out."""
    return "whole" if _ALL in (row["adl"], row[key]["domain"]) else part_look(key, row)


DOMAINS_SECTION = Section("domains", "Domains", "sections/domains.html", _fill)
