"""The evidence page: cards on how far graders can be trusted, and tables of graders and items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from careeval.report.page_table import PageColumn, PageTable
from careeval.report.panels.graders import (
    AGREEMENT,
    CORRECTED,
    noise_table,
    pairs_table,
    people_tables,
)
from careeval.report.site.contents import Contents, with_pages
from careeval.report.site.leaderboard import page_of_row
from careeval.results.graders import NOT_AUDITED, NOT_TRIED, GraderCard
from careeval.results.item_statistics import ItemStatistic
from careeval.sheets.entries.corrected_scores import as_graded, corrected_sheet
from careeval.sheets.kinds import SHARE
from careeval.sheets.sheet import Field, Row, Sheet
from careeval.sheets.trust.graders import items_sheet
from careeval.sheets.trust.single_grader import (
    contradictions_sheet,
    probes_by_points_sheet,
    probes_by_trap_sheet,
)

MOST_ITEMS = 40
"""Items that the page lists at most; the data file has all."""

LOW_REST = 0.0
"""Correlation with the rest of the rubric below which experts should look at an item."""

ALL_GRADERS = "of all graders"


# The cards


@dataclass(frozen=True, eq=False)
class EvidenceCard:
    """A grader's card on the evidence page."""

    card: GraderCard
    anchor: str  # Anchor of the card on the page

    @property
    def name(self) -> str:
        """Name of the grader's model."""
        return self.card.grader.model

    @property
    def mode(self) -> str:
        """Mode of the grader, with the hash of its prompt."""
        return self.card.grader.setting

    @property
    def probe_sentence(self) -> str:
        """Sentence on the grader's result on the probes, or that it was not tried on them."""
        return self.card.probes.sentence() if self.card.probes else f"{_capital(NOT_TRIED)}."

    @property
    def audit_sentence(self) -> str:
        """Sentence on the audit of the grader by people, or that nobody audited it."""
        return self.card.human.sentence() if self.card.human else f"{_capital(NOT_AUDITED)}."

    @property
    def own_vendor(self) -> str:
        """Names of the graded systems from the grader's own vendor; empty if there are none."""
        return ", ".join(self.card.own_vendor)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Facts on the grader: name and text."""
        n, n_open = self.card.n_judgments, self.card.n_unresolved
        return [
            ("Vendor", self.card.vendor or "its name does not say"),
            ("Judged", ", ".join(self.card.systems)),
            ("Unresolved judgments", _of_many(n_open, n, "") if n else "none made"),
            ("Contradictions", self._contradictions),
        ]

    @property
    def _contradictions(self) -> str:
        counts = self.card.contradictions.values()
        known_counts = [(c.count, c.opportunities) for c in counts if c.count is not None]
        n, n_opportunities = (sum(each[part] or 0 for each in known_counts) for part in (0, 1))
        if n_opportunities:
            return _of_many(n, n_opportunities, " opportunities")
        reasons = dict.fromkeys(c.reason for c in counts if c.reason)
        return f"unknown: {'; '.join(reasons)}" if reasons else "none could occur"


def _of_many(n: int, total: int, unit: str) -> str:
    return f"{n:,} of {total:,}{unit} ({SHARE.page_text(n / total)})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def cards(site: Contents) -> dict[str, EvidenceCard]:
    """Return grader → its card on how far it can be trusted, in order of name."""
    return {
        grader: EvidenceCard(card, site.graders[grader])
        for grader, card in site.findings.cards.items()
    }


def card_tables(card: GraderCard, site: Contents) -> list[PageTable]:
    """Return the tables of a grader's card, except empty tables."""
    tables = (_corrected(card, site), *people_tables(card, site.findings), *_probes(card, site))
    return [table for table in tables if table.rows]


def corrected(site: Contents, grader: str | None = None) -> Sheet:
    """Return a sheet of scores that audits corrected, by one grader or all; it may have no row."""
    audited = [
        each
        for each in site.entries
        if each.graded.corrected and grader in {None, each.summary.grader}
    ]
    return with_pages(corrected_sheet([each.graded for each in audited]), audited)


def _corrected(card: GraderCard, site: Contents) -> PageTable:
    entries = (each.graded for each in site.entries if each.summary.grader == card.grader)
    return PageTable(
        corrected(site, card.grader),
        (PageColumn("system", link=page_of_row), *CORRECTED),
        f"Scores by {card.grader.model}, corrected by people",
        as_graded(entries),
        look="telling",
        file="corrected-scores",
        part=ALL_GRADERS,
    )


_PROBE_COLUMNS = (
    PageColumn("present"),
    PageColumn("found"),
    PageColumn("sensitivity", about="of what is there"),
    PageColumn("absent"),
    PageColumn("cleared"),
    PageColumn("specificity", about="of what is not"),
    PageColumn("unresolved"),
)


def _probes(card: GraderCard, site: Contents) -> Iterator[PageTable]:
    """Yield tables of a grader's results on the probes, by points and by trap; may have no rows."""
    name = card.grader.model
    yield PageTable(
        probes_by_points_sheet(site.findings).where(grader=card.grader),
        (*AGREEMENT[:2], *_PROBE_COLUMNS, *AGREEMENT[-2:]),
        f"{name} on the probes, by points of the item",
        sortable=False,
        file="probes-by-points",
        part=ALL_GRADERS,
    )
    yield PageTable(
        probes_by_trap_sheet(site.findings).where(grader=card.grader),
        (PageColumn("trap"), *_PROBE_COLUMNS),
        f"{name} on the probes, by trap",
        file="probes-by-trap",
        part=ALL_GRADERS,
    )


# Over all graders


def contradictions(site: Contents) -> PageTable:
    """Return a table: how often each grader's judgments contradict each other."""
    return PageTable(
        contradictions_sheet(site.findings),
        (
            PageColumn("grader"),
            PageColumn("kind", beneath=_reason),
            PageColumn("count"),
            PageColumn("opportunities"),
            PageColumn("share"),
        ),
        sortable=False,
        file="contradictions",
    )


def noise(site: Contents) -> PageTable:
    """Return the table of grading noise (`noise_table`), with the name of its data files."""
    return replace(noise_table(site.findings), file="grading-noise")


def _reason(row: Row) -> tuple[str, ...]:
    return (row["reason"],)


def grader_pairs(site: Contents) -> PageTable:
    """Return the table of pairs of graders (`pairs_table`), with the name of its data files."""
    return replace(pairs_table(site.findings), file="grader-pairs")


# Items


def items(site: Contents) -> Sheet:
    """Return a sheet of every public item: its statistics, and the reason if it is suspect."""
    shown = [item for item in site.findings.items if _page(item, site)]
    rows = ({"why": _why(item), "page": _page(item, site)} for item in shown)
    return items_sheet(shown).with_fields(_WHY, rows=rows)


_WHY = Field("why", "why experts should look at it first", in_files=False)


def suspects(site: Contents) -> PageTable:
    """Return the items that experts should look at first, with reasons."""
    sheet = items(site)
    odd = sorted((row for row in sheet.rows if row["why"]), key=_lowest_first)
    return PageTable(
        replace(sheet, rows=odd[:MOST_ITEMS]),
        (
            PageColumn("scenario", link=page_of_row),
            PageColumn("text"),
            PageColumn("rubric"),
            PageColumn("points"),
            PageColumn("n_systems"),
            PageColumn("presence", about="of responses", lines=False),
            PageColumn("rest", about="correlation over systems"),
            PageColumn("why"),
        ),
        "Items to send to experts",
        f"{len(odd):,} of {len(sheet.rows):,} items; none is dropped for it."
        + (f" The first {MOST_ITEMS} are shown." if len(odd) > MOST_ITEMS else ""),
        file="item-statistics",
        part="of all public items",
    )


def _lowest_first(row: Row) -> tuple[float, str, str]:
    rest = row["rest"].value
    return 2 if rest is None else rest, row["scenario"], row["item"]


def _page(item: ItemStatistic, site: Contents) -> str:
    """Return the page of an item's scenario; empty if any log of any edition or bank hides it."""
    if item.scenario in site.findings.public.hidden:
        return ""
    editions = dict.fromkeys(
        each.graded.edition for each in site.entries if each.summary.bank == item.bank
    )
    pages = [site.scenario_page(edition, item.scenario) for edition in editions]
    return next(filter(None, pages), "") if all(pages) else ""


def _why(item: ItemStatistic) -> str:
    reasons = []
    if item.always:
        reasons.append("always present")
    if item.never and item.points > 0:
        reasons.append("never present")
    if item.rest.value is not None and item.rest.value < LOW_REST:
        reasons.append("goes against the rest")
    return ", ".join(reasons)
