"""The rubric items as they behave over systems, and those that experts should look at first."""

from __future__ import annotations

from careeval.report.site.contents import Contents
from careeval.report.site.sheets import (
    WITH_INTERVAL,
    Cell,
    Column,
    Sheet,
    amounts,
    correlation,
    decimal,
    number,
    share,
    words,
)
from careeval.report.words import signed
from careeval.results.items import ItemStatistic

MOST_ITEMS = 40
"""Items that the page lists; its file has all."""

LOW_REST = 0.0
"""Correlation with the rest below which an item is sent to experts."""

_ITEM = (
    Column("rubric", "Rubric"),
    amounts("points", "Points"),
    amounts("n_systems", "Systems"),
    amounts("presence", "Present", "of responses"),
    amounts("rest", "With the rest", "correlation over systems", parts=WITH_INTERVAL),
)


def suspects(site: Contents) -> Sheet:
    """Public items that experts should look at first."""
    public = [item for item in site.found.items if _page(item, site)]
    odd = [item for item in public if _why(item)]
    odd.sort(key=lambda i: (i.rest.value if i.rest.value is not None else 2, i.scenario, i.item))
    return Sheet(
        "item-statistics",
        "Items to send to experts",
        (Column("scenario", "Scenario"), Column("item", "Item"), *_ITEM, Column("why", "Why")),
        tuple(
            (
                words(i.scenario, href=_page(i, site)),
                words(i.text),
                *_item(i),
                words(_why(i)),
            )
            for i in odd[:MOST_ITEMS]
        ),
        note=f"{len(odd):,} of {len(public):,} items; none is dropped for it."
        + (f" The first {MOST_ITEMS} are shown." if len(odd) > MOST_ITEMS else ""),
        part="of all public items",
    )


def items(site: Contents) -> Sheet:
    """Every public item as it behaves over systems; only a file."""
    return Sheet(
        "item-statistics",
        "Items over systems",
        (
            Column("scenario", "Scenario"),
            Column("item", "Item"),
            Column("text", "Text"),
            Column("grader", "Grader"),
            *_ITEM,
            Column("always", "Always"),
            Column("never", "Never"),
        ),
        tuple(
            (
                words(i.scenario),
                words(i.item),
                words(i.text),
                words(i.grader),
                *_item(i),
                Cell("", (i.always,)),
                Cell("", (i.never,)),
            )
            for i in site.found.items
            if _page(i, site)
        ),
    )


def _page(item: ItemStatistic, site: Contents) -> str:
    """Its scenario's page; empty where any log holds that out, of whichever edition or bank."""
    if item.scenario in site.found.public.hidden:
        return ""
    editions = dict.fromkeys(e.edition for e in site.listed if e.summary.bank == item.bank)
    pages = [site.scenario_page(of, item.scenario) for of in editions]
    return next(filter(None, pages), "") if all(pages) else ""


def _item(i: ItemStatistic) -> tuple[Cell, ...]:
    return (
        words(i.rubric.value),
        decimal(i.points, signed(i.points)),
        number(i.n_systems),
        share(i.presence.value),
        correlation(i.rest.value, i.rest.ci95),
    )


def _why(item: ItemStatistic) -> str:
    reasons: list[str] = []
    if item.always:
        reasons.append("always present")
    if item.never and item.points > 0:
        reasons.append("never present")
    if item.rest.value is not None and item.rest.value < LOW_REST:
        reasons.append("goes another way than the rest")
    return ", ".join(reasons)
