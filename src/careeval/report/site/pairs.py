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
from careeval.results.compare import Comparison, compare
from careeval.results.differences import Difference, Verdict
from careeval.results.exports import percent
from careeval.results.flips import Flip
from careeval.stats import MIN_CLUSTERS, Estimate

MOST_SYSTEMS = 30
"""Ranked systems of a board up to which each pair has a page of its own."""

MOST_FLIPS = 12
"""Flips that a page shows with their sentences, each way."""

MOST_SENTENCES = 3
"""Of one flip."""

METRICS = {
    "score": "Score, ladder",
    "action_score": "Score, actions",
    "worst_at_n": "Worst of {n}, ladder",
    "action_worst_at_n": "Worst of {n}, actions",
    "severe": "Severe errors, ladder",
    "mild": "Mild errors, ladder",
    "action_severe": "Severe errors, actions",
    "action_mild": "Mild errors, actions",
}
"""How what two systems are compared by is called; n is the number of responses to a scenario."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two ranked entries of one board, and what sets them apart; differences are b − a.

    Attributes:
        ranked: Their difference in score, held up against all pairs of the board.
        n_pairs: How many those are.
    """

    a: Listed
    b: Listed
    comparison: Comparison
    ranked: Difference
    n_pairs: int

    @property
    def page(self) -> str:
        """Its page's path in the site."""
        return _page(self.a, self.b)


@dataclass(frozen=True)
class Sentence:
    """One harm's words.

    Attributes:
        item: The rubric's item that they were found for.
        rubric: `ladder` or `actions`.
    """

    quote: str
    item: str
    rubric: str
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
        yield Pair(a, b, compare(a.entry, b.entry), _ranked(board, a, b), board.n_pairs)


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
    couples = list(combinations(board.ranked, 2))
    family = f"p, Holm over {_counted(board.n_pairs, 'pairs')}"
    return Sheet(
        board.file("pairs"),
        f"Differences in score, {board.title}",
        (Column("a", "A"), Column("b", "B"), *_columns(family), *_ASKED),
        tuple(
            (
                words(a.name),
                words(b.name),
                *_numbers(_ranked(board, a, b), None, family),
                *_asked(a, b),
            )
            for a, b in couples
        ),
        origins=tuple(_origin(a, b) for a, b in couples),
    )


def all_tables(found: Sequence[Pair]) -> Iterator[Sheet]:
    """The tables of all pairs, one file a kind."""
    names = (Column("first", "First"), Column("second", "Second"))
    for sheets in zip(*(tables(pair) for pair in found), strict=True):
        each = [
            (pair, row) for pair, sheet in zip(found, sheets, strict=True) for row in sheet.rows
        ]
        head = Column(sheets[0].columns[0].key, sheets[0].columns[0].head)
        yield Sheet(
            sheets[0].name,
            sheets[0].caption,
            (*names, head, *_columns("p, Holm"), *_ASKED),
            tuple((words(p.a.name), words(p.b.name), *row, *_asked(p.a, p.b)) for p, row in each),
            origins=tuple(_origin(p.a, p.b) for p, _ in each),
        )


_ASKED = (
    Column("bank", "Bank"),
    Column("bank_version", "Bank version"),
    Column("protocol", "Protocol"),
    Column("grader", "Grader"),
)
"""What both of a pair were asked and judged by; versions that compare may differ in X."""


def _asked(a: Listed, b: Listed) -> tuple[Cell, ...]:
    both = (a.summary, b.summary)
    return (
        words(a.summary.bank),
        words("; ".join(dict.fromkeys(s.bank_version for s in both))),
        words("; ".join(dict.fromkeys(s.protocol for s in both))),
        words(a.summary.grader),
    )


def _origin(a: Listed, b: Listed) -> str:
    return " ".join(dict.fromkeys((a.provenance, b.provenance)))


def _columns(holm: str, a: str = "A", b: str = "B", about: str = "B − A") -> tuple[Column, ...]:
    """The columns of a table of differences.

    Args:
        holm: Head of the corrected p, with its family where all rows share one.
        a: The one.
        b: The other.
        about: Which way the difference goes.
    """
    return (
        amounts("n", "Scenarios"),
        amounts("value_a", a),
        amounts("value_b", b),
        estimates("difference", "Difference", f"{about}, points, 95% interval"),
        amounts("p", "p", "on its own"),
        amounts("p_holm", holm),
        Column("p_holm_family", "Family of the corrected p", hidden=True),
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
            [
                (
                    METRICS[name].format(n=pair.a.summary.n_epochs),
                    # what all systems are ranked by is held up against all pairs, here as there
                    pair.ranked if name == "score" else d,
                )
                for name, d in found.metrics.items()
                if _told(d)
            ],
            "metrics",
        ),
        _sheet(
            pair,
            "pair-by-adl",
            "Activity",
            "Score on the ladder, by activity",
            [(adl.capitalize(), d) for adl, d in found.by_adl.items()],
            "activities",
        ),
        _sheet(
            pair,
            "pair-by-domain",
            "Domain",
            "Score of the actions, by domain",
            [(DOMAINS.get(domain, domain), d) for domain, d in found.by_domain.items()],
            "domains",
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


def flips(found: Sequence[Flip], other: Listed, site: Contents) -> Flips:
    """Flips one way as a page shows them, without a word of a held-out scenario.

    Args:
        found: All of them.
        other: Who erred in them: whose words they have.
        site: What they are shown on.
    """
    public = [flip for flip in found if site.page_of(other, flip.scenario)]
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
        n_held_out=len(found) - len(public),
    )


def _sentences(flip: Flip) -> Iterator[Sentence]:
    """A few of its sentences, each once."""
    seen: set[str] = set()
    for harm in flip.harms:
        if harm.quote and harm.quote not in seen and len(seen) < MOST_SENTENCES:
            seen.add(harm.quote)
            yield Sentence(harm.quote, harm.item_text, harm.rubric.value, harm.epoch)


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
    text = signed_points(d.difference.value)
    return Cell(
        text,
        (d.difference.value,),
        href=_page(first, second) if linked else "",
        tone=tone,
        spoken=f"{a.name} and {b.name}: {text} points, {_SAID[found]}",
    )


def _page(a: Listed, b: Listed) -> str:
    return f"compare/{a.slug}---{b.slug}.html"


def _told(d: Difference) -> bool:
    return d.difference.value is not None or bool(d.n)


_SAID = {
    Verdict.better: "second is better",
    Verdict.worse: "first is better",
    Verdict.unclear: "no clear difference",
    Verdict.unknown: "unknown",
}


def _counted(n: int, many: str) -> str:
    one = {"activities": "activity"}.get(many, many.removesuffix("s"))
    return f"{n:,} {one if n == 1 else many}"


def _sheet(
    pair: Pair,
    name: str,
    head: str,
    caption: str,
    rows: Sequence[tuple[str, Difference]],
    many: str,
) -> Sheet:
    """One family of differences."""
    scale = Scale.over([d.difference for _, d in rows], (-0.1, 0.1))
    over = _counted(sum(d.p is not None for _, d in rows), many)
    of_all = f"over all {pair.n_pairs:,} pairs" if pair.n_pairs > 1 else "over the one pair"
    said_of = {id(d): of_all if d is pair.ranked else f"over {over}" for _, d in rows}
    notes = [
        f"p of the score on the ladder is corrected {of_all} of the ranking, as above."
        if any(d is pair.ranked for _, d in rows)
        else "",
        "Fewer than five scenarios: no interval, no test."
        if any(0 < d.n < MIN_CLUSTERS for _, d in rows)
        else "",
    ]
    return Sheet(
        name,
        caption,
        (
            Column(head.lower(), head),
            *_columns(f"p, Holm over {over}", pair.a.name, pair.b.name, "second less first"),
        ),
        tuple(
            (words(said), *_numbers(d, scale, said_of[id(d)], aside=d is pair.ranked))
            for said, d in rows
        ),
        note=" ".join(filter(None, notes)),
        part="of all pairs",
        sortable=False,
    )


def _numbers(
    d: Difference, scale: Scale | None, family: str, *, aside: bool = False
) -> tuple[Cell, ...]:
    said = _SAID[d.verdict]
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
        Cell(p_value(d.p_holm), (d.p_holm,), asides=(family,) if aside else ()),
        words(None if d.p_holm is None else family.removeprefix("p, Holm ")),
        score(d.detectable, unit="") if d.detectable is not None else Cell("–", (None,)),
        words(said, tone=tone),
    )
