"""The evidence page: cards on how far graders can be trusted, and tables of graders and items."""

from __future__ import annotations

from careeval.report.page_table import PageTable
from careeval.report.panels.graders import (
    GraderPanel,
    contradictions_table,
    noise_table,
    odd_items_table,
    pairs_table,
    people_tables,
    probe_tables,
)
from careeval.report.site.contents import Contents
from careeval.results.item_statistics import ItemStatistic

ALL_GRADERS = "of all graders"


def card_tables(panel: GraderPanel, site: Contents) -> list[PageTable]:
    """Return the tables of a grader's card, except empty tables."""
    pages = {
        (each.name, each.rubric.value): each.page
        for each in site.entries
        if each.summary.grader == panel.card.grader
    }
    corrected = panel.corrected.linked("system", lambda row: pages[row["system"], row["rubric"]])
    tables = [
        corrected.with_files(ALL_GRADERS),
        *people_tables(panel.card, site.findings),
        *(each.with_files(ALL_GRADERS) for each in probe_tables(panel.card, site.findings)),
    ]
    return [table for table in tables if table.rows]


def grader_tables(site: Contents) -> dict[str, PageTable]:
    """Return the tables over all graders, by name."""
    return {
        "contradictions": contradictions_table(site.findings).with_files(),
        "pairs": pairs_table(site.findings).with_files(name="grader-pairs"),
        "noise": noise_table(site.findings).with_files(name="grading-noise"),
    }


def public_items(site: Contents) -> list[ItemStatistic]:
    """Return the items whose scenarios have pages."""
    return [item for item in site.findings.items if _page(item, site)]


def odd_items(site: Contents) -> PageTable:
    """Return the public items that experts should look at first, with reasons."""
    items = public_items(site)
    # two banks can have a scenario of one name, with other items
    pages = {(item.scenario, item.item, item.text): _page(item, site) for item in items}
    table = odd_items_table(items, ())
    linked = table.linked("scenario", lambda r: pages[r["scenario"], r["item"], r["text"]])
    return linked.with_files("of all public items", "item-statistics")


def _page(item: ItemStatistic, site: Contents) -> str:
    """Return the page of an item's scenario; empty if any log of any edition or bank hides it."""
    if item.scenario in site.findings.public.hidden:
        return ""
    editions = dict.fromkeys(
        each.graded.edition for each in site.entries if each.summary.bank == item.bank
    )
    pages = [site.scenario_page(edition, item.scenario) for edition in editions]
    return next(filter(None, pages), "") if all(pages) else ""
