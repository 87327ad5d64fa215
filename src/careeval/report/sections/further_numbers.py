"""The section of further numbers: worst of k, scenarios, epochs, care directions and twins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from careeval.core.scenario import Adl
from careeval.report import charts
from careeval.report.documents import draw_figure
from careeval.report.page_table import BarScale, PageColumn, PageTable, Strip, shade
from careeval.report.sections.section import Report, Section
from careeval.results.metrics import IN_DETAIL
from careeval.sheets.entries.care_directions import directions_sheet
from careeval.sheets.entries.entries_sheet import at_k_sheet, entries_sheet
from careeval.sheets.entries.further_tables import further_tables
from careeval.sheets.entries.side_by_side import ScenarioScoreKind, pivot
from careeval.sheets.estimate_kinds import ESTIMATE
from careeval.sheets.kinds import COUNT, DECIMAL
from careeval.sheets.scenarios import scenarios_sheet
from careeval.sheets.sheet import Row


def _fill(report: Report) -> Mapping[str, Any]:
    folded = (_directions(report), *_of_rubrics(report))
    return {
        "curves": draw_figure(
            "worst_at_k",
            "The lowest of k responses",
            lambda width: charts.worst_at_k(report.graded, width),
        ),
        "at_k": [
            _at_k(report, "worst_at_k", "The lowest of k responses, score"),
            _at_k(report, "severe_of_k", "Scenarios with a severe error in any of k responses"),
        ],
        "spread": None
        if report.has_one_entry
        else draw_figure(
            "distribution",
            "Scores of the scenarios",
            lambda width: charts.distributions(report.graded, width),
        ),
        "scenarios": _scenarios(report),
        "folded_tables": [epochs_table(report), *(table for table in folded if table.rows)],
    }


def _at_k(report: Report, key: str, caption: str) -> PageTable:
    """Return a table of one number of each entry, with a column per number of responses k."""
    sheet = at_k_sheet(report.graded)
    wide, keys = pivot(sheet, "name", "k", replace(ESTIMATE, if_missing=""), key)
    unknown = {row["name"]: row[key].reason for row in sheet.rows if row[key].value is None}

    def reason(row: Row) -> Iterable[str]:
        return (unknown.get(row["name"], ""),)

    columns = (PageColumn(k, f"k = {n}") for n, k in enumerate(keys, start=1))
    note = "Beneath a number: its 95% interval."
    omitted_lines = tuple(filter(None, unknown.values()))
    return PageTable(
        wide, (PageColumn("name", beneath=reason), *columns), caption, note, omitted_lines, "many"
    )


def _scenarios(report: Report) -> PageTable:
    """Return a table of scores by scenario: a column per entry, or one entry's responses."""
    order = {adl.value: place for place, adl in enumerate(Adl)}
    sheet = scenarios_sheet(report.graded)
    rows = sorted(sheet.rows, key=lambda r: (order.get(r["adl"], len(order)), r["scenario"]))
    sheet, caption = replace(sheet, rows=rows), "Every scenario in numbers"
    if report.has_one_entry:
        scale = BarScale.of_numbers(score for row in rows for score in row["epochs"]).wide
        columns = (
            PageColumn("scenario"),
            PageColumn(
                "score",
                report.score_name,
                beneath=lambda row: (row["reason"],),
                strip=lambda row: Strip.of_values(row["epochs"], scale),
            ),
            PageColumn("worst", "Lowest response"),
            PageColumn("n_severe", "With a severe error"),
        )
        note = "Mean score of its responses. A mark is a response, and a tick is 0."
        return PageTable(sheet, columns, caption, note, look="profile close")
    wide, keys = pivot(sheet, "scenario", "name", ScenarioScoreKind())
    note = (
        "Mean score of its responses in %; beneath it the lowest of them, and how many have a "
        "severe error."
    )
    shaded = (PageColumn(key, look=partial(_shade, key)) for key in keys)
    return PageTable(wide, (PageColumn("scenario"), *shaded), caption, note)


def _shade(key: str, row: Row) -> str:
    return shade(row[key]["score"]) if key in row else ""


def epochs_table(report: Report) -> PageTable:
    """Return a table: how much the epochs of each entry differ, and how long its responses are."""
    columns = (
        PageColumn("name"),
        *(PageColumn(metric.key) for metric in IN_DETAIL),
        PageColumn("reliability_of_mean", beneath=_reliability),
        PageColumn("words"),
        PageColumn("per_100_words"),
    )
    return PageTable(
        entries_sheet(report.graded, in_detail=True),
        columns,
        "Epochs and length of responses",
        "Beneath a number: its 95% interval.",
    )


def _reliability(row: Row) -> Iterable[str]:
    if row["reliability_of_mean"] is None:
        return (row["reliability_reason"],)
    one, n = DECIMAL.text(row["reliability_icc"]), COUNT.text(row["reliability_n_scenarios"])
    return f"one response {one}", f"over {n} scenarios"


def _directions(report: Report) -> PageTable:
    """Return the table of `directions_sheet`, with graders' errors on the probes of twins."""
    cards = report.findings.cards.items()
    probes = {grader: card.probes for grader, card in cards if card.probes}
    columns = (
        PageColumn("name"),
        PageColumn("number", beneath=lambda row: (row["meaning"],)),
        PageColumn("n"),
        PageColumn("share"),
    )
    note = "Too little and too much care are never netted: that would reward risk."
    return PageTable(directions_sheet(report.summaries, probes), columns, note=note)


def _of_rubrics(report: Report) -> Iterator[PageTable]:
    """Yield the tables of numbers that only entries on some rubrics have."""
    for table in further_tables(report.summaries):
        columns = map(PageColumn, ("name", *table.shown))
        yield PageTable(table.sheet, tuple(columns), sortable=False)


FURTHER_NUMBERS = Section("more", "More", "sections/more.html", _fill)
