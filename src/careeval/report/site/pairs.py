"""Two systems side by side: a page for each pair of a board, and the table that leads to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from careeval.report.page_table import PageColumn, PageTable, Scale, strip_of
from careeval.report.site.contents import Board, Contents, Listed
from careeval.results.score.metrics import COMPARED
from careeval.results.versus.compare import Comparison, compare
from careeval.results.versus.differences import Verdict
from careeval.results.versus.flips import Flip
from careeval.results.versus.ranking import RANKED_BY, Ranking
from careeval.sheets.page_kinds import DIFFERENCE
from careeval.sheets.sheet import Row, Sheet
from careeval.sheets.versus.pairs import (
    VERDICTS,
    difference_sentence,
    matrix_sheet,
    pair_sheets,
    ranked_pairs_sheet,
)

MOST_SYSTEMS = 30
"""Ranked systems of a board up to which each pair has a page of its own."""

MOST_FLIPS = 12
"""Flips that a page shows with their sentences, each way."""

MOST_SENTENCES = 3
"""Of one flip."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two ranked entries of one board, and what sets them apart; differences are b − a.

    Attributes:
        ranking: Of the board: differences by `RANKED_BY` are held up against all its pairs.
    """

    a: Listed
    b: Listed
    comparison: Comparison
    ranking: Ranking

    @property
    def n_pairs(self) -> int:
        """How many pairs the ranking has."""
        return len(self.ranking.pairs)

    @property
    def page(self) -> str:
        """Its page's path in the site."""
        return _page(self.a, self.b)


@dataclass(frozen=True)
class Sentence:
    """One harm's words.

    Attributes:
        item: The rubric's item that they were found for.
    """

    quote: str
    item: str
    epoch: int


@dataclass(frozen=True)
class ShownFlip:
    """A public scenario in which one never erred severely and the other did."""

    scenario: str
    page: str
    n_severe: int
    n_responses: int
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Flips:
    """All flips one way.

    Attributes:
        shown: Public ones, those with the most errors first.
        n_more: Public ones that the page has no room for.
        n_held_out: Those that count and are not shown.
    """

    shown: tuple[ShownFlip, ...]
    n_more: int
    n_held_out: int


def pairs(board: Board) -> Iterator[Pair]:
    """Yield each pair of a board's ranked entries, better first; none where they are too many."""
    if len(board.ranked) > MOST_SYSTEMS:
        return
    for a, b in combinations(board.ranked, 2):
        yield Pair(a, b, compare(a.graded.entry, b.graded.entry), board.ranking)


def _page(a: Listed, b: Listed) -> str:
    """Return a path from both systems, and from the longer anchor, which tells their board.

    The script of the pages builds the same path from what a reader chooses.
    """
    anchor = max(a.anchor, b.anchor, key=len)
    return f"compare/{a.system_slug}---{b.system_slug}{'--' * bool(anchor)}{anchor}.html"


# Each system of a board against each other


def matrices(board: Board) -> list[PageTable]:
    """Return a table for each of `RANKED_BY` with A − B for each two systems, a row an A."""
    return [_matrix(board, key) for key in RANKED_BY]


def _matrix(board: Board, key: str) -> PageTable:
    names = [each.name for each in board.ranked]
    pages = {each.name: each.page for each in board.ranked}
    return PageTable(
        matrix_sheet(board.ranking, key, names),
        (
            PageColumn("a", link=lambda row: pages[row["a"]]),
            *(_against(board, key, place) for place in range(1, len(board.ranked))),
        ),
        f"{COMPARED[key].head}, {board.basis.rubric}: the row’s system minus the column’s, in "
        "percentage points",
        look="matrix",
        sortable=False,
    )


def _against(board: Board, key: str, place: int) -> PageColumn:
    """Return the column of one system, whose cells lead to the pages of pairs."""
    b, few = board.ranked[place], len(board.ranked) <= MOST_SYSTEMS
    systems = {each.name: each for each in board.ranked}
    field = f"b{place + 1}"

    def verdict(row: Row) -> Verdict:
        return board.ranking.difference(key, b.name, row["a"]).verdict

    def link(row: Row) -> str:
        return _page(systems[row["a"]], b) if few and field in row else ""

    def spoken(row: Row) -> str:
        if field not in row:
            return ""
        better = {Verdict.better: row["a"], Verdict.worse: b.name}.get(verdict(row))
        both = f"{COMPARED[key].head}, {row['a']} minus {b.name}"
        words = f"{better} is better" if better else VERDICTS[verdict(row)]
        return f"{both}: {DIFFERENCE.on_page(row[field])} points, {words}"

    return PageColumn(
        field,
        lines=False,
        link=link,
        look=lambda row: _LOOKS.get(verdict(row), "weak") if field in row else "",
        spoken=spoken,
        upright=True,
    )


_LOOKS = {Verdict.better: "good", Verdict.worse: "harm"}


def all_pairs(board: Board) -> Sheet:
    """Return each pair of a board with its differences by `RANKED_BY`; only a file."""
    caption = f"Differences in severe errors and score, {board.title}"
    return ranked_pairs_sheet([each.summary for each in board.ranked], board.ranking, caption)


# One pair


def tables(pair: Pair) -> list[PageTable]:
    """Return what sets two systems apart: by metric, by activity, by domain."""
    return [_family(pair, sheet) for sheet in _sheets(pair)]


def _sheets(pair: Pair) -> tuple[Sheet, ...]:
    return pair_sheets(pair.a.summary, pair.b.summary, pair.comparison, pair.ranking)


def all_tables(couples: Sequence[Pair]) -> Iterator[Sheet]:
    """Yield the rows of the tables of all pairs, a sheet a kind; only files."""
    for alike in zip(*map(_sheets, couples), strict=True):
        yield replace(alike[0], rows=[row for sheet in alike for row in sheet.rows])


def _family(pair: Pair, sheet: Sheet) -> PageTable:
    scale = Scale.over((row["difference"] for row in sheet.rows), (-0.1, 0.1))
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
                beneath=lambda row: [row["p_holm_family"]] if row[compared] in RANKED_BY else [],
            ),
            PageColumn("detectable", about="80% power"),
            PageColumn("n"),
            PageColumn("verdict", look=lambda row: "" if row["verdict"] in clear else "weak"),
        ),
        f"{sheet.caption}, {pair.comparison.rubric}",
        noted=("fewer than five scenarios",),
        sortable=False,
        file=sheet.name.replace("_", "-"),
        part="of all pairs",
    )


def verdicts(pair: Pair) -> list[str]:
    """Return what may be said of the two, a sentence each: severe errors, then the score."""
    a, b = pair.a.name, pair.b.name
    return [difference_sentence(a, b, key, pair.ranking.difference(key, a, b)) for key in RANKED_BY]


def flips(all_flips: Sequence[Flip], other: Listed, site: Contents) -> Flips:
    """Return flips one way as a page shows them, without a word of a held-out scenario.

    Args:
        all_flips: All of them.
        other: Who erred in them: whose words they have.
        site: What they are shown on.
    """
    public = other.graded.public.shown(all_flips)
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
    """Yield a few of its sentences, each once."""
    seen: set[str] = set()
    for harm in flip.harms:
        if harm.quote and harm.quote not in seen and len(seen) < MOST_SENTENCES:
            seen.add(harm.quote)
            yield Sentence(harm.quote, harm.item_text, harm.epoch)
