"""Comparison of two systems: a page for each pair on a board, and tables that link to the pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from careeval.report.page_table import BarScale, PageColumn, PageTable, strip_of
from careeval.report.plan_rows import quoted_words
from careeval.report.site.contents import Contents, SiteBoard, SiteEntry
from careeval.report.site.data import name_of
from careeval.results.compare import Comparison, Flip, compare_entries
from careeval.results.differences import Verdict
from careeval.results.metrics import COMPARED
from careeval.results.ranking import RANKED_BY, Ranking
from careeval.sheets.kinds import P_VALUE, Kind
from careeval.sheets.page_kinds import DIFFERENCE, PERCENT_POINTS
from careeval.sheets.sheet import Row, Sheet
from careeval.sheets.versus.pairs import (
    VERDICTS,
    difference_sentence,
    matrix_sheet,
    pair_sheets,
    ranked_pairs_sheet,
)

MOST_SYSTEMS = 30
"""Ranked systems on a board, at most, for each pair to have its own page."""

MOST_FLIPS = 12
"""Flips in one direction that a page shows at most."""

MOST_SENTENCES = 3
"""Sentences that a page shows for one flip at most."""


@dataclass(frozen=True, eq=False)
class SystemPair:
    """Two ranked entries of one board with their comparison; differences are b − a."""

    a: SiteEntry
    b: SiteEntry
    comparison: Comparison
    ranking: Ranking
    """Ranking of the board; p of metrics in `RANKED_BY` is corrected for all its pairs."""

    @property
    def n_pairs(self) -> int:
        """Number of pairs in the ranking."""
        return len(self.ranking.pairs)

    @property
    def page(self) -> str:
        """Path of its page in the site."""
        return _page(self.a, self.b)


@dataclass(frozen=True)
class Sentence:
    """One severe error, as the quote that shows it."""

    quote: str
    item: str  # Text of the rubric item
    epoch: int


@dataclass(frozen=True)
class ShownFlip:
    """A public scenario where one system has a severe error and the other never has."""

    scenario: str
    page: str
    n_severe: int
    n_responses: int
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Flips:
    """All flips in one direction: scenarios where only one of two systems has a severe error."""

    shown: tuple[ShownFlip, ...]  # Flips in public scenarios, those with the most errors first
    n_more: int  # Number of further flips in public scenarios, not shown to save room
    n_held_out: int  # Number of flips in scenarios that are not public


def pairs(board: SiteBoard) -> Iterator[SystemPair]:
    """Yield each pair of a board's ranked entries, the better first.

    There is no pair if more than `MOST_SYSTEMS` are ranked.
    """
    if len(board.ranked) > MOST_SYSTEMS:
        return
    for a, b in combinations(board.ranked, 2):
        yield SystemPair(a, b, compare_entries(a.graded.entry, b.graded.entry), board.ranking)


def _page(a: SiteEntry, b: SiteEntry) -> str:
    """Return the path of a pair's page: both systems, and the longer anchor to tell the board.

    `site.js` builds the same path from the reader's choice.
    """
    anchor = max(a.anchor, b.anchor, key=len)
    return f"compare/{a.system_slug}---{b.system_slug}{'--' * bool(anchor)}{anchor}.html"


# All pairs of a board


def matrices(board: SiteBoard) -> list[PageTable]:
    """Return a table for each metric in `RANKED_BY`: differences A − B, A in rows, B in columns."""
    return [_matrix(board, key) for key in RANKED_BY]


def _matrix(board: SiteBoard, key: str) -> PageTable:
    names = [each.name for each in board.ranked]
    pages = {each.name: each.page for each in board.ranked}
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


def _matrix_column(board: SiteBoard, key: str, place: int) -> PageColumn:
    """Return the column of one system in a matrix; its cells link to the pairs' pages."""
    b, has_pages = board.ranked[place], len(board.ranked) <= MOST_SYSTEMS
    systems = {each.name: each for each in board.ranked}
    field = f"b{place + 1}"

    def verdict(row: Row) -> Verdict:
        return board.ranking.difference(key, b.name, row["a"]).verdict

    def link(row: Row) -> str:
        return _page(systems[row["a"]], b) if has_pages and field in row else ""

    def spoken(row: Row) -> str:
        if field not in row:
            return ""
        better = {Verdict.better: row["a"], Verdict.worse: b.name}.get(verdict(row))
        both = f"{COMPARED[key].head}, {row['a']} minus {b.name}"
        words = f"{better} is better" if better else VERDICTS[verdict(row)]
        return f"{both}: {DIFFERENCE.page_text(row[field])} points, {words}"

    return PageColumn(
        field,
        lines=False,
        link=link,
        look=lambda row: _LOOKS.get(verdict(row), "weak") if field in row else "",
        spoken=spoken,
        upright=True,
    )


_LOOKS = {Verdict.better: "good", Verdict.worse: "harm"}


def all_pairs(board: SiteBoard) -> Sheet:
    """Return a sheet of all pairs on a board: differences by `RANKED_BY`, for a data file."""
    caption = f"Differences in severe errors and score, {board.title}"
    return ranked_pairs_sheet([each.summary for each in board.ranked], board.ranking, caption)


# One pair


def tables(pair: SystemPair) -> list[PageTable]:
    """Return tables of the differences between two systems: by metric, by activity, by domain."""
    return [_difference_table(pair, sheet) for sheet in _sheets(pair)]


def _sheets(pair: SystemPair) -> tuple[Sheet, ...]:
    return pair_sheets(pair.a.summary, pair.b.summary, pair.comparison, pair.ranking)


def all_tables(system_pairs: Sequence[SystemPair]) -> Iterator[Sheet]:
    """Yield a sheet for each kind of table, with the rows of all pairs, for data files."""
    for sheets in zip(*map(_sheets, system_pairs), strict=True):
        yield replace(sheets[0], rows=[row for sheet in sheets for row in sheet.rows])


def _difference_table(pair: SystemPair, sheet: Sheet) -> PageTable:
    scale = BarScale.of_estimates((row["difference"] for row in sheet.rows), (-0.1, 0.1))
    compared = sheet.fields[2].key
    clear = {VERDICTS[Verdict.better], VERDICTS[Verdict.worse]}
    return PageTable(
        sheet,
        (
            PageColumn(compared),
            PageColumn("value_a", head=pair.a.name),
            PageColumn("value_b", head=pair.b.name),
            PageColumn(
                "difference",
                about="second less first, points, 95% interval",
                strip=strip_of("difference", scale),
                look=lambda row: "" if row["verdict"] in clear else "weak",
            ),
            PageColumn("p", about="on its own"),
            PageColumn(
                "p_holm",
                beneath=lambda row: _as_compared(row, "p_holm", P_VALUE, row["p_holm_family"]),
            ),
            PageColumn(
                "detectable",
                about="80% power",
                beneath=lambda row: _as_compared(row, "detectable", PERCENT_POINTS),
            ),
            PageColumn("n"),
            PageColumn("verdict", look=lambda row: "" if row["verdict"] in clear else "weak"),
        ),
        f"{sheet.caption}, {pair.comparison.rubric}",
        omitted_lines=("fewer than five scenarios",),
        sortable=False,
        file=name_of(sheet),
        part="of all pairs",
    )


def _as_compared(row: Row, key: str, kind: Kind, family: str | None = None) -> list[str]:
    """Return the family of a ranked metric, and its number as a comparison of two prints it."""
    if row.get("metric") not in RANKED_BY or row[key] is None:
        return []
    alone = kind.page_text(row[f"{key}_alone"])
    return [*filter(None, [family]), f"alone: {alone}"]


def verdicts(pair: SystemPair) -> list[str]:
    """Return two sentences on a pair: its difference in severe errors and in score."""
    a, b = pair.a.name, pair.b.name
    return [difference_sentence(a, b, key, pair.ranking.difference(key, a, b)) for key in RANKED_BY]


def flips(all_flips: Sequence[Flip], other: SiteEntry, site: Contents) -> Flips:
    """Return the flips in one direction, without words of held-out scenarios.

    Args:
        all_flips: The flips: scenarios where only one of the two systems has a severe error.
        other: The entry that has the severe errors, with the words to quote.
        site: The contents of the site.
    """
    public = other.graded.shown(all_flips)
    return Flips(
        shown=tuple(
            ShownFlip(
                scenario=flip.scenario,
                page=site.page_of(other, flip.scenario),
                n_severe=flip.n_severe,
                n_responses=flip.n_responses,
                sentences=tuple(_sentences(flip)),
            )
            for flip in public[:MOST_FLIPS]
        ),
        n_more=max(0, len(public) - MOST_FLIPS),
        n_held_out=len(all_flips) - len(public),
    )


def _sentences(flip: Flip) -> Iterator[Sentence]:
    """Yield a few quotes of the severe errors in a scenario, without repeats."""
    seen: set[str] = set()
    for harm in flip.harms:
        if harm.quote and harm.quote not in seen and len(seen) < MOST_SENTENCES:
            seen.add(harm.quote)
            yield Sentence(quoted_words(harm), harm.item_text, harm.epoch)
