"""The page of one system, with a section for each entry: one grader on one rubric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from careeval.core.text import dollars
from careeval.report.page_table import PageColumn, PageTable
from careeval.report.panels.entries import EntryCard, entry_card, rubric_tables, run_facts
from careeval.report.panels.errors import ScenarioErrors, by_scenario
from careeval.report.panels.parts import entry_parts
from careeval.report.site.contents import Contents, SiteEntry, SystemEntries, rubric_words
from careeval.results.harms import harms
from careeval.results.parts import Breakdown
from careeval.sheets.parts import scenario_scores_sheet

MAX_QUOTED = 24
"""Severe errors that a page quotes at most, one for each scenario."""

MAX_LOWEST = 10
"""Scenarios in the list of the lowest scores at most."""


@dataclass(frozen=True)
class SevereErrors:
    """The severe errors of an entry."""

    shown: tuple[ScenarioErrors, ...]
    """The public scenarios with the most severe responses, up to `MAX_QUOTED`; each with one
    passage, with a quote if there is any."""
    n_severe: Mapping[str, int]  # Public scenario → number of responses with a severe error
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


def card(entry: SiteEntry) -> EntryCard:
    """Return the card of an entry; a single ranked one has no ranks."""
    ranked = entry.ranked if entry.n_ranked > 1 else None
    return entry_card(entry.entry, ranked, entry.not_ranked_reason)


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


def severe_errors(entry: SiteEntry) -> SevereErrors:
    """Return the severe errors of an entry, one passage from each of the worst public scenarios."""
    all_harms = list(harms(entry.entry))
    public = list(entry.entry.shown(all_harms))
    epochs = {(h.scenario, h.epoch) for h in public}
    n_severe = Counter(scenario for scenario, _ in epochs)
    worst_first = sorted(by_scenario(public), key=lambda e: (-n_severe[e.scenario], e.scenario))
    shown = (
        replace(each, passages=(next((p for p in each.passages if p[0].quote), each.passages[0]),))
        for each in worst_first[:MAX_QUOTED]
    )
    n_held_out = len({harm.scenario for harm in all_harms}) - len(n_severe)
    return SevereErrors(tuple(shown), n_severe, n_held_out)


def lowest_scenarios(entry: SiteEntry, site: Contents) -> PageTable:
    """Return a table of the public scenarios on which an entry scored lowest."""
    rubric, graded = entry.rubric.value, entry.entry
    n = str(entry.entry.n_epochs)
    public = [(graded.edition, name) for name in graded.public_scores]
    sheet = scenario_scores_sheet([graded], public, n)
    scored = [row for row in sheet.rows if row["score"] is not None]
    scored.sort(key=lambda row: (row["score"], row["scenario"]))
    return PageTable(
        replace(sheet, rows=scored[:MAX_LOWEST]),
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
