"""Tables of numbers by parts of the scenarios, such as the scenarios of one activity or domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

from careeval.core.scenario import Domain
from careeval.report.page_table import BarScale, PageColumn, PageTable, Strip, shade, strip_of
from careeval.report.panels.entries import LOOKS, Report
from careeval.results.entry import Entry
from careeval.results.graded_rubric import Errors
from careeval.results.metrics import HEADLINE, SCORE, SEVERE, Metric
from careeval.results.parts import Breakdown
from careeval.sheets.entries import entries_sheet
from careeval.sheets.parts import (
    adl_and_domain_sheet,
    is_small,
    part_score_kind,
    parts_sheet,
    pivot,
)
from careeval.sheets.sheet import Row, Sheet
from careeval.sheets.words import DOMAINS, SMALL, entry_names

PART = part_score_kind()


def _small_reason(part: Row, key: str = SCORE.key) -> str:
    """Return why a number of a small part has no interval; an asterisk says the same."""
    number = part[key].share if isinstance(part[key], Errors) else part[key]
    return number.reason if is_small(part) and number.value is not None else ""


def _part_column(key: str, head: str = "", **looks: Any) -> PageColumn:
    """Return a column of parts' scores, without the reasons of small parts."""
    return PageColumn(
        key, head, omitted=lambda row: _small_reason(row[key]) if key in row else "", **looks
    )


def parts_table(by: Breakdown, report: Report) -> PageTable:
    """Return a table of severe errors and score by part, with a column for each entry.

    A single entry has a column for each number; by activity, its first row is the total.
    """
    if report.has_one_entry:
        (entry,) = report.entries
        table, s = entry_parts(by, entry), entry
        if by is not Breakdown.adl:
            return table
        whole = {"adl": "overall", "n": s.n_scenarios, SCORE.key: s.score, SEVERE.key: s.severe}
        return replace(table, sheet=replace(table.sheet, rows=[whole, *table.rows]))
    sheet = parts_sheet(by, report.entries)
    wide, keys = pivot(sheet, by.value, "name", PART)
    columns = (
        PageColumn(by.value, beneath=lambda row: (_sizes(row[key] for key in keys if key in row),)),
        *(_part_column(key, look=partial(part_look, key)) for key in keys),
    )
    note = (
        f"{report.score_name}, in %; beneath it its 95% interval, and the share of responses with "
        "a severe error. The shade is of the score alone."
    )
    return PageTable(wide, columns, _caption(sheet, by), _with_small(note, sheet), "heat many")


def entry_parts(by: Breakdown, entry: Entry) -> PageTable:
    """Return a table of the numbers of one entry by part; errors and scores have a `Strip`.

    Args:
        by: The kind of part; by domain, the table has no errors.
        entry: The entry.
    """
    s, sheet = entry, parts_sheet(by, [entry])
    rubric, is_domain = s.rubric.value, by is Breakdown.domain
    scores = BarScale.of_estimates([s.score, *(row[SCORE.key] for row in sheet.rows)])
    shares = [s.severe.share, *(row[SEVERE.key].share for row in sheet.rows if not is_domain)]
    about = f"{rubric}, weighted by domain" if is_domain else f"{rubric}, 95% interval"
    return PageTable(
        sheet,
        (
            PageColumn(by.value),
            PageColumn("n"),
            *(
                ()
                if is_domain
                else (
                    replace(
                        severe_column(rubric, BarScale.of_estimates(shares, (0, 0.1)).wide),
                        omitted=partial(_small_reason, key=SEVERE.key),
                    ),
                )
            ),
            PageColumn(
                SCORE.key,
                about=about,
                strip=strip_of(SCORE.key, scores.wide),
                omitted=_small_reason,
            ),
        ),
        _caption(sheet, by),
        _with_small("", sheet),
        "profile",
    )


def severe_column(rubric: str, scale: BarScale) -> PageColumn:
    """Return the table column of severe errors, each with a `Strip`; shares above 0 are red."""
    return PageColumn(
        SEVERE.key,
        about=f"{rubric}, responses with any",
        look=partial(_error_look, SEVERE),
        strip=strip_of(SEVERE.key, scale),
    )


def _caption(sheet: Sheet, by: Breakdown) -> str:
    return f"By {sheet.by_key[by.value].heading.lower()}"


def _with_small(note: str, sheet: Sheet) -> str:
    """Return the note with that of the sheet, and the meaning of the asterisk if there is one."""
    small = SMALL if any(map(is_small, sheet.rows)) else ""
    return " ".join(filter(None, (note, sheet.note, small)))


def part_strip(key: str, scale: BarScale) -> Callable[[Row], Strip | None]:
    """Return a function for `PageColumn.strip` that draws the score of a part."""
    return lambda row: Strip.of_estimate(row[key][SCORE.key], scale) if key in row else None


def part_look(key: str, row: Row) -> str:
    """Return the CSS classes of a cell with the score of a part."""
    part = row.get(key)
    if part is None or part[SCORE.key].value is None:
        return "none"
    shaded = shade(part[SCORE.key].value, part[SCORE.key].ci95)
    return f"{shaded} few" if is_small(part) else shaded


def _sizes(parts: Iterable[Row]) -> str:
    """Return the fewest and the most scenarios of a part, as text."""
    sizes = sorted({part["n"] for part in parts})
    return f"n {'–'.join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))}"


def overview_table(report: Report) -> PageTable:
    """Return a table of entries' main numbers and scores by activity, each with a `Strip`."""
    parts = parts_sheet(Breakdown.adl, report.entries)
    wide, keys = pivot(parts, "name", Breakdown.adl.value, PART)
    by_name = {row["name"]: {key: row[key] for key in keys if key in row} for row in wide.rows}
    entries = entries_sheet(report.entries)
    sheet = entries.with_fields(
        *(wide.by_key[key] for key in keys), rows=(by_name.get(r["name"], {}) for r in entries.rows)
    )
    error_keys = [metric.key for metric in HEADLINE if metric.counts_errors]
    score_keys = [metric.key for metric in HEADLINE if not metric.counts_errors]
    shares = BarScale.of_estimates(
        (row[key].share for row in sheet.rows for key in error_keys), (0, 0.1)
    )
    scores = BarScale.of_estimates(
        [
            *(row[key] for row in sheet.rows for key in score_keys),
            *(row[SCORE.key] for row in parts.rows),
        ]
    )
    metrics = (
        PageColumn(
            metric.key,
            report.score_name if metric is SCORE else "",
            lines=False,
            strip=strip_of(metric.key, shares if metric.counts_errors else scores),
            look=partial(_error_look, metric),
        )
        for metric in HEADLINE
    )
    activities = (
        PageColumn(
            key,
            wide.by_key[key].heading.capitalize(),
            lines=False,
            strip=part_strip(key, scores),
        )
        for key in keys
    )
    return PageTable(
        sheet,
        (PageColumn("name"), *metrics, *activities),
        "Overall and by activity",
        _OVERVIEW_NOTE,
        look="strips",
        is_grey=lambda row: row["name"] in report.unranked,
    )


_OVERVIEW_NOTE = (
    "A line is a 95% interval, a hollow mark has none, and the tick marks 0. By activity: the "
    "score, in %; * fewer than five scenarios, not for comparing. Grey: not for ranking."
)


def _error_look(metric: Metric[Any, Any], row: Row) -> str:
    """Return the CSS class of a share of errors above 0; empty for any other number."""
    return LOOKS[metric.key] if metric.counts_errors and row[metric.key].share.value else ""


_SHORT = {
    Domain.user_function: "Function",
    Domain.user_agency: "Agency",
    Domain.communication_intent: "Intent",
    Domain.functional_safety: "Safety",
}
"""Short names of domains, for small tables side by side."""


_ALL = "all"


def by_domain_table(report: Report) -> PageTable:
    """Return a table of scores by domain: domains are rows for one entry, columns for several."""
    if report.has_one_entry:
        return entry_parts(Breakdown.domain, report.entries[0])
    sheet = parts_sheet(Breakdown.domain, report.entries)
    scale = BarScale.of_estimates(row[SCORE.key] for row in sheet.rows)
    wide, keys = pivot(sheet, "name", "domain", part_score_kind(n=True))
    small = f" {SMALL}" if any(map(is_small, sheet.rows)) else ""
    return PageTable(
        wide,
        (PageColumn("name"), *(_part_column(key, strip=part_strip(key, scale)) for key in keys)),
        "By domain",
        f"{report.score_name}, in %. Beneath a number: its 95% interval. Grey: not for ranking."
        f"{small}",
        is_grey=lambda row: row["name"] in report.unranked,
    )


def maps(report: Report) -> Iterator[PageTable]:
    """Yield a table of activity by domain for each entry that has a score."""
    names = entry_names(report.entries)
    for name, each in zip(names, report.entries, strict=True):
        if each.score.value is not None:
            yield _map(name, each, in_full=report.has_one_entry)


def _map(name: str, entry: Entry, *, in_full: bool) -> PageTable:
    """Return a table of one entry's scores: a row per activity and a column per domain.

    Args:
        name: Name of the entry.
        entry: The entry.
        in_full: Whether cells show intervals.
    """
    sheet = adl_and_domain_sheet([entry])
    rows = list(_with_totals(sheet, entry))
    wide, keys = pivot(
        replace(sheet, rows=rows), "adl", "domain", part_score_kind(interval=in_full, n=True)
    )
    short = [*(_SHORT[domain] for domain in Domain), "All"]
    heads = [*DOMAINS.values(), "All domains"] if in_full else short
    columns = (
        PageColumn("adl"),
        *(
            _part_column(key, head, look=partial(_map_look, key))
            for key, head in zip(keys, heads, strict=True)
        ),
    )
    return PageTable(wide, columns, name, look="heat", sortable=in_full)


def _with_totals(sheet: Sheet, s: Entry) -> Iterator[Row]:
    """Yield the rows of a sheet of activity by domain, with totals by activity and by domain."""
    for adl, rows in groupby(sheet.rows, lambda row: row["adl"]):
        yield from rows
        cell = s.by_adl[adl]
        yield {"adl": adl, "domain": _ALL, "n": cell.n, SCORE.key: cell.score}
    for domain, part in s.by_domain.items():
        yield {"adl": _ALL, "domain": domain.value, "n": part.n, SCORE.key: part.score}
    yield {"adl": _ALL, "domain": _ALL, "n": s.n_scenarios, SCORE.key: s.score}


def _map_look(key: str, row: Row) -> str:
    """Return the CSS classes of a cell; totals have no shade, so that they stand out."""
    return "whole" if _ALL in (row["adl"], row[key]["domain"]) else part_look(key, row)
