"""Tables of the site's pages, apart from those of scenarios.

They are on all systems (leaderboard, differences of pairs), on one entry, and on graders and items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from careeval.core.text import dollars
from careeval.report.page_table import BarScale, PageColumn, PageTable, strip_of
from careeval.report.panels.entries import EntryCard, entry_card, rubric_tables, run_facts
from careeval.report.panels.errors import ScenarioErrors, by_scenario
from careeval.report.panels.graders import GraderPanel, over_graders
from careeval.report.panels.parts import entry_parts, severe_column
from careeval.report.site.contents import Board, Contents, SiteEntry
from careeval.results.compare import MAKER_MARK, RANKED_BY
from careeval.results.differences import Verdict
from careeval.results.harms import harms
from careeval.results.item_statistics import ItemStatistic
from careeval.results.metrics import COMPARED, SCORE, SEVERE, WORST_AT_N
from careeval.results.parts import Breakdown
from careeval.sheets.comparisons import VERDICTS, board_sheet, matrix_sheet, ranked_pairs_sheet
from careeval.sheets.kinds import DIFFERENCE, ERROR_SHARE, ESTIMATE, Form
from careeval.sheets.parts import scenario_scores_sheet
from careeval.sheets.sheet import Row, Sheet

# All systems: a table for each board, and the differences of each two systems

ABOUT_RANKS = (
    "A table is for one rubric, one grader, one bank and one protocol: numbers of two tables do "
    "not compare. Ranks are sets: 1–3 means that no more than two of the others can be shown to be "
    "better, by paired tests over the scenarios, corrected for the number of pairs (Holm, 5%). "
    "Systems whose sets overlap cannot be told apart here. Grey rows are not ranked, for the "
    "reason given in them. A dot is a number, its bar the 95% interval, and the line is 0."
)


def listing(name: str, entries: Sequence[SiteEntry], site: Contents, caption: str) -> Sheet:
    """Return a sheet of entries with ranks; the field `page` has the address of an entry's page."""
    rank_rows = (
        {
            "system_vendor": each.vendor,
            "rank": each.ranked and each.ranked.ranks,
            "severe_rank": each.ranked and each.ranked.severe_ranks,
            "not_ranked": each.not_ranked_reason or None,
            "date": each.date,
            "grader_card": site.grader_card(each),
            "page": each.page,
            "bank_maker": each.entry.bank_maker,
        }
        for each in entries
    )
    return board_sheet(name, [each.entry for each in entries], rank_rows, caption)


def all_entries(site: Contents) -> Sheet:
    """Return a sheet of all entries of all boards, for a data file."""
    caption = "Every entry, which compare only within one board"
    return listing("entries", site.entries, site, caption)


def board_table(board: Board, site: Contents) -> PageTable:
    """Return the table of one board: ranked entries, best score first, then others in grey."""
    rubric = board.basis.rubric.value
    entries = [entry.entry for entry in site.entries]
    # all tables of the page share the scales, so that dots can be compared
    scale = BarScale.of_estimates(s.score for s in entries)
    shares = BarScale.of_estimates((s.severe.share for s in entries), (0, 0.1))
    caption = f"{board.title}, graded by {board.basis.grader.model}"
    sheet = listing("leaderboard", board.entries, site, caption)
    not_ranked = _shared_reason([row["not_ranked"] for row in sheet.rows], min_rows=2)
    unpriced = _shared_reason([row["cost_usd"].reason for row in sheet.rows])
    notes = {"Not ranked": not_ranked, "The cost is unknown": unpriced}
    return PageTable(
        sheet,
        (
            PageColumn(
                "system_name",
                link=page_of_row,
                beneath=lambda row: _about_system(row, "" if not_ranked else row["not_ranked"]),
            ),
            replace(severe_column(rubric, shares), axis=shares, lines=False, beneath=_severe_lines),
            PageColumn(
                SCORE.key,
                about=f"{rubric}, 95% interval",
                strip=strip_of(SCORE.key, scale),
                axis=scale,
                narrow=_worst,
            ),
            PageColumn("rank", about="by score"),
            PageColumn("severe_rank", head="Rank", about="by severe errors"),
            PageColumn(WORST_AT_N.key, about=rubric, wide=True),
            PageColumn("n"),
            PageColumn(
                "cost_usd",
                about="asking, a run",
                omitted=lambda row: unpriced and row["cost_usd"].reason,
            ),
            PageColumn("date", about="date, versions", beneath=_versions),
        ),
        note=" ".join(f"{head}: {reason}." for head, reason in notes.items() if reason),
        look="board quiet",
        ordered="rank",
        is_grey=lambda row: bool(row["not_ranked"]),
        filters=_filters,
        file=board.file("leaderboard"),
    )


def page_of_row(row: Row) -> str:
    """Return the address of the page of the entry in a row."""
    return str(row["page"])


def _shared_reason(reasons: Sequence[str | None], min_rows: int = 1) -> str:
    """Return the reason if at least `min_rows` rows all share it; else empty."""
    return reasons[0] or "" if len(reasons) >= min_rows and len(set(reasons)) == 1 else ""


def _about_system(row: Row, not_ranked_reason: str | None) -> Iterator[str]:
    if row["system_vendor"]:
        yield row["system_vendor"]
    if row["bank_maker"]:
        yield f"{MAKER_MARK} its vendor’s AI wrote the bank or answered its pilot"
    if row["not_ranked"]:
        yield f"not ranked: {not_ranked_reason}" if not_ranked_reason else "not ranked"


def _worst(row: Row) -> Iterator[str]:
    head = WORST_AT_N.head.format(n=row["n_epochs"])
    yield f"{head}: {ESTIMATE.page_text(row[WORST_AT_N.key])}"


def _severe_lines(row: Row) -> Iterator[str]:
    """Yield the small lines of a cell of severe errors: interval and counts share a line."""
    value = row[SEVERE.key]
    first, *others = ERROR_SHARE.lines(value)
    if value.share.value is None:
        yield from (first, *others)
        return
    yield f"{first} · {ERROR_SHARE.text(value, Form.of_many)}"
    yield from others[:-1]


def _versions(row: Row) -> Iterator[str]:
    yield f"bank {row['bank_version']}, protocol {row['protocol']}"
    if row["grading_protocol"] != row["protocol"]:
        yield f"judged by {row['grading_protocol']}"


def _filters(row: Row) -> Mapping[str, str]:
    is_priced = row["cost_usd"].value is not None
    return {"vendor": row["system_vendor"] or "", "priced": "1" if is_priced else ""}


def vendors(site: Contents) -> list[str]:
    """Return the vendors that a reader can filter the table by, in alphabetical order."""
    return sorted({entry.vendor for entry in site.entries if entry.vendor})


def matrices(board: Board) -> list[PageTable]:
    """Return a table for each metric in `RANKED_BY`: differences A − B, A in rows, B in columns."""
    return [_matrix(board, key) for key in RANKED_BY]


def _matrix(board: Board, key: str) -> PageTable:
    names = [each.entry.system for each in board.ranked]
    pages = {each.entry.system: each.page for each in board.ranked}
    return PageTable(
        matrix_sheet(board.ranking, key, names),
        (
            PageColumn("a", link=lambda row: pages[row["a"]]),
            *(_matrix_column(board, key, place) for place in range(1, len(board.ranked))),
        ),
        f"{COMPARED[key].head}, {board.basis.rubric}: the row’s system minus the column’s, in "
        "percentage points",
        look="matrix",
        sortable=False,
    )


def _matrix_column(board: Board, key: str, place: int) -> PageColumn:
    b, field = board.ranked[place].entry.system, f"b{place + 1}"

    def verdict(row: Row) -> Verdict:
        return board.ranking.difference(key, b, row["a"]).verdict

    def spoken(row: Row) -> str:
        if field not in row:
            return ""
        better = {Verdict.better: row["a"], Verdict.worse: b}.get(verdict(row))
        both = f"{COMPARED[key].head}, {row['a']} minus {b}"
        words = f"{better} is better" if better else VERDICTS[verdict(row)]
        return f"{both}: {DIFFERENCE.page_text(row[field])} points, {words}"

    return PageColumn(
        field,
        lines=False,
        look=lambda row: _LOOKS.get(verdict(row), "weak") if field in row else "",
        spoken=spoken,
        upright=True,
    )


_LOOKS = {Verdict.better: "good", Verdict.worse: "harm"}


def all_pairs(board: Board) -> Sheet:
    """Return a sheet of all pairs on a board: differences by `RANKED_BY`, for a data file."""
    caption = f"Differences in severe errors and score, {board.title}"
    return ranked_pairs_sheet([each.entry for each in board.ranked], board.ranking, caption)


# One system: a section for each entry

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


# Graders and items


def card_tables(panel: GraderPanel, site: Contents) -> list[PageTable]:
    """Return the tables of a grader's card, with links to pages and data files."""
    pages = {
        (each.name, each.rubric.value): each.page
        for each in site.entries
        if each.entry.grader == panel.card.grader
    }

    def page(row: Row) -> str:
        return pages[row["system_name"], row["rubric"]]

    return [
        table.linked("system_name", page).with_files("of all graders")
        if table.sheet.name not in _WITHOUT_FILES
        else table
        for table in panel.tables
    ]


_WITHOUT_FILES = ("against_people", "grader_agreement")
"""Names of the sheets of a grader that the site has no data files of."""


def evidence(site: Contents) -> list[tuple[str, str, PageTable]]:
    """Return the tables over all graders and public items, with links to pages and data files."""
    items = public_items(site)
    # two banks can have a scenario of one name, with other items
    pages = {(item.scenario, item.item, item.text): _page(item, site) for item in items}

    def filed(table: PageTable) -> PageTable:
        if table.sheet.name != "items":
            return table.with_files()
        linked = table.linked("scenario", lambda r: pages[r["scenario"], r["item"], r["text"]])
        return linked.with_files("of all public items", "item-statistics")

    found = over_graders(site.findings, items, ())
    return [(heading, lead, filed(table)) for heading, lead, table in found]


def public_items(site: Contents) -> list[ItemStatistic]:
    """Return the items whose scenarios have pages."""
    return [item for item in site.findings.items if _page(item, site)]


def _page(item: ItemStatistic, site: Contents) -> str:
    """Return the page of an item's scenario; empty if any log of any edition or bank hides it."""
    if item.scenario in site.findings.public.hidden:
        return ""
    editions = dict.fromkeys(
        each.entry.edition for each in site.entries if each.entry.bank == item.bank
    )
    pages = [site.scenario_page(edition, item.scenario) for edition in editions]
    return next(filter(None, pages), "") if all(pages) else ""
