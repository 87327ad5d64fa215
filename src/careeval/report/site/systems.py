"""The page of one system, with a section for each entry: one grader on one rubric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from careeval.core.text import dollars
from careeval.report.page_table import BarScale, PageColumn, PageTable, strip_of
from careeval.report.panels.entries import rubric_tables, run_facts
from careeval.report.panels.parts import entry_parts, severe_column
from careeval.report.site.contents import Contents, SiteEntry, SystemEntries, rubric_words
from careeval.report.site.overall import listing
from careeval.results.entry import Breakdown, Harm, harms
from careeval.results.graded_rubric import Errors
from careeval.results.metrics import HEADLINE, SEVERE, WORST_AT_N, Metric, Number
from careeval.sheets.kinds import RANKS
from careeval.sheets.parts import scenario_scores_sheet
from careeval.stats.estimate import Estimate

MOST_QUOTES = 24
"""Severe errors that a page quotes at most, one for each scenario."""

LOWEST = 10
"""Scenarios in the list of the lowest scores."""


@dataclass(frozen=True)
class QuotedHarm:
    """A severe error with its quote."""

    harm: Harm
    n_severe: int  # Number of responses to the same scenario with a severe error
    n_responses: int  # Number of responses to that scenario
    page: str  # Path of the page of the scenario


@dataclass(frozen=True)
class Harms:
    """The severe errors of an entry."""

    quoted: tuple[QuotedHarm, ...]
    """One quoted error for each of up to `MOST_QUOTES` public scenarios; scenarios with the most
    severe responses come first."""
    n_public: int  # Number of public scenarios with a severe error
    n_held_out: int  # Number of held-out scenarios with a severe error, which are not shown


def headings(system: SystemEntries, site: Contents) -> list[str]:
    """Return each entry's heading: rubric and grader, plus the protocol if two share both."""
    plain = [
        f"{rubric_words(e.rubric)}, graded by {site.short_grader_names[e.entry.grader]}"
        for e in system.entries
    ]
    return [
        f"{heading}, protocol {e.entry.grading_protocol}" if plain.count(heading) > 1 else heading
        for heading, e in zip(plain, system.entries, strict=True)
    ]


def rank_sentence(entry: SiteEntry) -> str:
    """Return a sentence on the ranks of an entry; empty if the entry is not ranked."""
    ranked = entry.ranked
    if ranked is None:
        return ""
    by_severe = (
        f", {RANKS.text(ranked.severe_ranks)} by severe errors" if ranked.severe_ranks else ""
    )
    return f"Rank {RANKS.text(ranked.ranks)} by score{by_severe}, of {entry.n_ranked}."


def headline_table(entry: SiteEntry, site: Contents) -> PageTable:
    """Return a table, of one row, with the headline metrics of an entry."""
    s, rubric, corrected = entry.entry, entry.rubric.value, entry.entry.corrected
    numbers = s.numbers.values()
    shares = BarScale.of_estimates([n.share for n in numbers if isinstance(n, Errors)], (0, 0.1))
    scores = [number for number in numbers if isinstance(number, Estimate)]
    scale = BarScale.of_estimates([*scores, *([corrected.corrected] if corrected else [])])
    columns = [_headline_column(metric, rubric, shares, scale) for metric in HEADLINE]
    if corrected:
        by_people = PageColumn(
            "corrected", about=f"{rubric}, by people", strip=strip_of("corrected", scale)
        )
        columns.insert(2, by_people)
    asked = PageColumn("n", about="asked"), PageColumn("cost_usd", about="asking, a run")
    return PageTable(listing("entry", [entry], site, ""), (*columns, *asked))


def _headline_column(
    metric: Metric[Any, Number], rubric: str, shares: BarScale, scale: BarScale
) -> PageColumn:
    if metric is SEVERE:
        return severe_column(rubric, shares)
    if metric.counts_errors:
        about = f"{rubric}, responses with any"
        return PageColumn(metric.key, about=about, strip=strip_of(metric.key, shares))
    about = f"{rubric}, {_ABOUT.get(metric.key, '95% interval')}"
    return PageColumn(metric.key, about=about, strip=strip_of(metric.key, scale))


_ABOUT = {WORST_AT_N.key: "each scenario’s lowest response"}


ALL_SYSTEMS = "of all systems"

BY_DOMAIN = (
    "Points of the items, weighted by how far each is about the domain: an item that serves it "
    "fully counts in full, one that serves it in part counts half, and an error costs more the "
    "worse it treats the domain."
)
"""Meaning of a number by domain."""

OTHER_PARTS = (Breakdown.condition, Breakdown.situation, Breakdown.assistance, Breakdown.actor)
"""Kinds of parts whose tables are folded."""


def part_table(by: Breakdown, entry: SiteEntry) -> PageTable:
    """Return a table of an entry's numbers by part; no rows if scenarios lack the attribute."""
    table = entry_parts(by, entry.entry)
    notes = ([BY_DOMAIN] if by is Breakdown.domain else []) + ([table.note] if table.note else [])
    return replace(
        table,
        caption=f"{table.title}, {entry.rubric.value}",
        note=" ".join(notes),
    ).with_files(ALL_SYSTEMS, f"by-{by}")


def harm_list(entry: SiteEntry, site: Contents) -> Harms:
    """Return the severe errors of an entry by scenario, with quotes from public scenarios only."""
    all_harms = list(harms(entry.entry))
    by_scenario: dict[str, list[Harm]] = {}
    for harm in entry.entry.shown(all_harms):
        by_scenario.setdefault(harm.scenario, []).append(harm)
    counts = {name: len({h.epoch for h in errors}) for name, errors in by_scenario.items()}
    most_first = sorted(by_scenario, key=lambda name: (-counts[name], name))
    with_quote = [name for name in most_first if any(h.quote for h in by_scenario[name])]
    return Harms(
        quoted=tuple(
            QuotedHarm(
                next(h for h in by_scenario[name] if h.quote),
                counts[name],
                entry.entry.n_epochs,
                site.page_of(entry, name),
            )
            for name in with_quote[:MOST_QUOTES]
        ),
        n_public=len(by_scenario),
        n_held_out=len({harm.scenario for harm in all_harms}) - len(by_scenario),
    )


def lowest_scenarios(entry: SiteEntry, site: Contents) -> PageTable:
    """Return a table of the public scenarios on which an entry scored lowest."""
    rubric, graded = entry.rubric.value, entry.entry
    n = str(entry.entry.n_epochs)
    public = [(graded.edition, name) for name in graded.public_scores]
    sheet = scenario_scores_sheet([graded], public, n)
    scored = [row for row in sheet.rows if row["score"] is not None]
    scored.sort(key=lambda row: (row["score"], row["scenario"]))
    return PageTable(
        replace(sheet, rows=scored[:LOWEST]),
        (
            PageColumn("scenario", link=lambda row: site.page_of(entry, row["scenario"])),
            PageColumn("about"),
            severe_count(rubric),
            PageColumn("score", about=f"{rubric}, mean of responses"),
            PageColumn("worst", about=rubric),
        ),
        f"Where it scored least, {rubric}",
        ordered="score",
    ).with_files("of all scenarios and systems")


def severe_count(rubric: str) -> PageColumn:
    """Return the table column of responses with a severe error; cells above 0 are red."""
    return PageColumn(
        "n_severe",
        about=f"{rubric}, responses with any",
        look=lambda row: "harm" if row["n_severe"] else "",
    )


def own_tables(entry: SiteEntry) -> list[tuple[PageTable, str]]:
    """Return the tables of numbers that only the entry's rubric has, each with its lead."""
    tables = rubric_tables([entry.entry])
    return [(table.with_files(ALL_SYSTEMS), lead) for table, lead in tables]


def facts(entry: SiteEntry) -> list[tuple[str, str]]:
    """Return the facts on what was run and what it cost, each as name and text."""
    cost = entry.entry.cost
    costs = (("Cost of asking", cost.asking), ("Cost of grading", cost.grading))
    return [
        *run_facts([entry.entry]),
        ("Bank’s provenance", entry.entry.bank_provenance),
        *(
            (name, f"unknown: {each.reason}" if each.value is None else dollars(each.value))
            for name, each in costs
        ),
    ]
