"""Two systems side by side: a page for each pair of a board, and the table that leads to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from careeval.report.site.contents import Board, Contents, Listed
from careeval.report.site.sheets import (
    Cell,
    Column,
    Scale,
    Sheet,
    amounts,
    between,
    estimate,
    estimates,
    p_value,
    score,
    signed_points,
    words,
)
from careeval.report.words import DOMAINS
from careeval.results.compare import Comparison, Difference, Flip, Verdict, compare
from careeval.results.exports import percent
from careeval.stats import Estimate

MOST_SYSTEMS = 30
"""Ranked systems of a board up to which each pair has a page of its own."""

MOST_FLIPS = 12
"""Flips that a page shows with their sentences, each way."""

MOST_SENTENCES = 3
"""Of one flip."""

METRICS = {
    "score": "Score, ladder",
    "action_score": "Score, actions",
    "worst_at_n": "Worst of n, ladder",
    "action_worst_at_n": "Worst of n, actions",
    "severe": "Severe errors, ladder",
    "mild": "Mild errors, ladder",
    "action_severe": "Severe errors, actions",
    "action_mild": "Mild errors, actions",
}
"""How what two systems are compared by is called."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two ranked entries of one board, and what sets them apart; differences are b − a.

    Attributes:
        ranked: Their difference in score, held up against all pairs of the board.
    """

    a: Listed
    b: Listed
    comparison: Comparison
    ranked: Difference

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
    """Each pair of a board's ranked entries, the better one first; none where they are too many."""
    if len(board.ranked) > MOST_SYSTEMS:
        return
    for a, b in combinations(board.ranked, 2):
        yield Pair(a, b, compare(a.entry, b.entry), _ranked(board, a, b))


def matrix(board: Board) -> Sheet:
    """B − A in score for each two systems, a row an A: it leads to the pair's page."""
    few = len(board.ranked) <= MOST_SYSTEMS
    rows = []
    for a in board.ranked:
        cells = [words(a.name, href=a.page)]
        for b in board.ranked:
            cells.append(Cell("", (None,)) if a is b else _difference_cell(board, a, b, few))
        rows.append(tuple(cells))
    heads = tuple(
        Column(f"b{place}", b.name, upright=True) for place, b in enumerate(board.ranked, start=1)
    )
    return Sheet(
        "",
        "Score of the column’s system less that of the row’s, in percentage points",
        (Column("a", "Column less row"), *heads),
        tuple(rows),
        sortable=False,
        classes="matrix quiet",
    )


def all_pairs(board: Board) -> Sheet:
    """Each pair of a board with its difference in score; only a file."""
    rows = []
    for a, b in combinations(board.ranked, 2):
        rows.append((words(a.name), words(b.name), *_numbers(_ranked(board, a, b), None)))
    return Sheet(
        board.file("pairs"),
        f"Differences in score, {board.title}",
        (Column("a", "A"), Column("b", "B"), *_COLUMNS),
        tuple(rows),
    )


def all_tables(found: Sequence[Pair]) -> Iterator[Sheet]:
    """The tables of all pairs, one file a kind."""
    names = (Column("first", "First"), Column("second", "Second"), Column("grader", "Grader"))
    for sheets in zip(*(tables(pair) for pair in found), strict=True):
        rows = tuple(
            (words(pair.a.name), words(pair.b.name), words(pair.a.summary.grader), *row)
            for pair, sheet in zip(found, sheets, strict=True)
            for row in sheet.rows
        )
        head = Column(sheets[0].columns[0].key, sheets[0].columns[0].head)
        yield Sheet(sheets[0].name, sheets[0].caption, (*names, head, *_COLUMNS), rows)


_COLUMNS = (
    amounts("n", "n"),
    amounts("value_a", "A"),
    amounts("value_b", "B"),
    estimates("difference", "B − A", "points, 95% interval"),
    amounts("p", "p"),
    amounts("p_holm", "p, Holm"),
    amounts("detectable", "Detectable", "points, 4 times in 5"),
    Column("verdict", "Verdict"),
)


def tables(pair: Pair) -> tuple[Sheet, Sheet, Sheet]:
    """What sets two systems apart: by metric, by activity, by domain."""
    found = pair.comparison
    return (
        _sheet(
            pair,
            "pair-metrics",
            "Metric",
            "By metric",
            [(METRICS[name], d) for name, d in found.metrics.items() if _told(d)],
        ),
        _sheet(
            pair,
            "pair-by-adl",
            "Activity",
            "Score on the ladder, by activity",
            [(adl.capitalize(), d) for adl, d in found.by_adl.items()],
        ),
        _sheet(
            pair,
            "pair-by-domain",
            "Domain",
            "Score of the actions, by domain",
            [(DOMAINS.get(domain, domain), d) for domain, d in found.by_domain.items()],
        ),
    )


def verdict(pair: Pair) -> str:
    """What may be said of the two, in a sentence."""
    d = pair.ranked
    value, ci95 = d.difference.value, d.difference.ci95
    if value is None or ci95 is None:
        return f"Nothing can be said of their difference: {d.difference.reason}."
    apart = (
        f"{pair.b.name} scores {percent(abs(value))} points {'less' if value < 0 else 'more'} than "
        f"{pair.a.name} (95% interval {between(ci95)})"
    )
    if d.verdict in {Verdict.better, Verdict.worse}:
        return f"{apart}: a clear difference."
    missed = f", and one below {percent(d.detectable)} could be missed" if d.detectable else ""
    return f"{apart}: no clear difference{missed}."


def flips(found: Sequence[Flip], of: str, site: Contents) -> Flips:
    """Flips one way as a page shows them, without a word of a held-out scenario.

    Args:
        found: All of them.
        of: Edition of the bank.
        site: What they are shown on.
    """
    public = [flip for flip in found if site.scenario_page(of, flip.scenario)]
    return Flips(
        shown=tuple(
            ShownFlip(
                scenario=flip.scenario,
                page=site.scenario_page(of, flip.scenario),
                n_severe=flip.n_severe,
                n_responses=flip.n_responses,
                sentences=tuple(_sentences(flip)),
            )
            for flip in public[:MOST_FLIPS]
        ),
        n_more=max(0, len(public) - MOST_FLIPS),
        n_held_out=len(found) - len(public),
    )


def _sentences(flip: Flip) -> Iterator[Sentence]:
    """A few of its sentences, each once."""
    seen: set[str] = set()
    for harm in flip.harms:
        if harm.quote and harm.quote not in seen and len(seen) < MOST_SENTENCES:
            seen.add(harm.quote)
            yield Sentence(harm.quote, harm.item_text, harm.epoch)


def _ranked(board: Board, a: Listed, b: Listed) -> Difference:
    """B − A of the board's own pairs, whichever way round they stand there."""
    found = board.ranking.pairs.get((a.name, b.name))
    return found if found is not None else _turned(board.ranking.pairs[b.name, a.name])


def _turned(d: Difference) -> Difference:
    """A − B from B − A."""
    e = d.difference
    turned = e
    if e.value is not None and e.low is not None and e.high is not None:
        ci95 = (-e.ci95[1], -e.ci95[0]) if e.ci95 else None
        turned = Estimate(-e.value, -e.high, -e.low, ci95, e.reason)
    return Difference(d.name, d.n, d.b, d.a, turned, d.p, d.p_holm, d.detectable, d.fewer_is_better)


def _difference_cell(board: Board, a: Listed, b: Listed, linked: bool) -> Cell:
    d = _ranked(board, a, b)
    found = d.verdict
    tone = {Verdict.better: "good", Verdict.worse: "harm"}.get(found, "weak")
    first, second = (a, b) if board.ranked.index(a) < board.ranked.index(b) else (b, a)
    return Cell(
        signed_points(d.difference.value),
        (d.difference.value,),
        href=_page(first, second) if linked else "",
        tone=tone,
    )


def _page(a: Listed, b: Listed) -> str:
    return f"compare/{a.slug}---{b.slug}.html"


def _told(d: Difference) -> bool:
    return d.difference.value is not None or bool(d.n)


def _sheet(
    pair: Pair, name: str, head: str, caption: str, rows: Sequence[tuple[str, Difference]]
) -> Sheet:
    scale = Scale.over([d.difference for _, d in rows], (-0.1, 0.1))
    columns = list(_COLUMNS)
    columns[1:3] = [amounts("value_a", pair.a.name), amounts("value_b", pair.b.name)]
    columns[3] = estimates("difference", "Difference", "second less first, points, 95% interval")
    return Sheet(
        name,
        caption,
        (Column(head.lower(), head), *columns),
        tuple((words(said), *_numbers(d, scale)) for said, d in rows),
        part="of all pairs",
        sortable=False,
    )


def _numbers(d: Difference, scale: Scale | None) -> tuple[Cell, ...]:
    said = {
        Verdict.better: "second is better",
        Verdict.worse: "first is better",
        Verdict.unclear: "no clear difference",
        Verdict.unknown: "not known",
    }[d.verdict]
    tone = "" if d.verdict in {Verdict.better, Verdict.worse} else "weak"
    told = estimate(d.difference, scale, unit="", brief=d.n > 0)
    return (
        Cell(f"{d.n}", (d.n,)),
        score(d.a),
        score(d.b),
        Cell(
            signed_points(d.difference.value),
            told.data,
            told.sort,
            told.asides,
            bar=told.bar,
            tone=told.tone,
        ),
        Cell(p_value(d.p), (d.p,)),
        Cell(p_value(d.p_holm), (d.p_holm,)),
        score(d.detectable, unit="") if d.detectable is not None else Cell("–", (None,)),
        words(said, tone=tone),
    )
