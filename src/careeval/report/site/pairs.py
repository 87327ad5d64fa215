"""Two systems side by side: a page for each pair of a board, and the table that leads to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    number,
    p_value,
    score,
    signed_points,
    words,
)
from careeval.results.amounts import percent
from careeval.results.compare import Comparison, compare
from careeval.results.differences import Difference, Verdict
from careeval.results.flips import Flip
from careeval.sheets.names import DOMAINS
from careeval.stats import MIN_CLUSTERS, Estimate

MOST_SYSTEMS = 30
"""Ranked systems of a board up to which each pair has a page of its own."""

MOST_FLIPS = 12
"""Flips that a page shows with their sentences, each way."""

MOST_SENTENCES = 3
"""Of one flip."""

METRICS = {
    "severe": "Severe errors",
    "score": "Score",
    "worst_at_n": "Worst of {n}",
    "mild": "Mild errors",
}
"""How what two systems are compared by is called; n is the number of responses to a scenario."""

RANKED_BY = ("severe", "score")
"""What a board ranks by: a difference in it is held up against all pairs of the board."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two ranked entries of one board, and what sets them apart; differences are b − a.

    Attributes:
        ranked: Their differences by `RANKED_BY`, held up against all pairs of the board.
        n_pairs: How many those are.
    """

    a: Listed
    b: Listed
    comparison: Comparison
    ranked: Mapping[str, Difference]
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
        ranked = {name: _ranked(board, name, a, b) for name in RANKED_BY}
        yield Pair(a, b, compare(a.entry, b.entry), ranked, board.n_pairs)


def matrices(board: Board) -> list[Sheet]:
    """A table for each of `RANKED_BY` with B − A for each two systems, a row an A."""
    return [_matrix(board, name) for name in RANKED_BY]


def _matrix(board: Board, name: str) -> Sheet:
    few = len(board.ranked) <= MOST_SYSTEMS
    rows = []
    for a in board.ranked:
        cells = [words(a.name, href=a.page)]
        for b in board.ranked:
            cells.append(Cell("", (None,)) if a is b else _difference_cell(board, name, a, b, few))
        rows.append(tuple(cells))
    heads = tuple(
        Column(f"b{place}", b.name, upright=True) for place, b in enumerate(board.ranked, start=1)
    )
    return Sheet(
        "",
        f"{METRICS[name]}, {board.basis.rubric}: the column’s system less the row’s, in percentage "
        "points",
        (Column("a", "Column less row"), *heads),
        tuple(rows),
        sortable=False,
        classes="matrix",
    )


def all_pairs(board: Board) -> Sheet:
    """Each pair of a board with its differences by `RANKED_BY`; only a file."""
    family = f"p, Holm over {_counted(board.n_pairs, 'pairs')}"
    rows = [(a, b, name) for a, b in combinations(board.ranked, 2) for name in RANKED_BY]
    return Sheet(
        board.file("pairs"),
        f"Differences in severe errors and score, {board.title}",
        (
            Column("a", "A"),
            Column("b", "B"),
            Column("metric", "Metric"),
            *_columns(family),
            *_ASKED,
        ),
        tuple(
            (
                words(a.name),
                words(b.name),
                words(name),
                *_numbers(_ranked(board, name, a, b), None, family),
                *_asked(a, b),
            )
            for a, b, name in rows
        ),
        origins=tuple(_origin(a, b) for a, b, _ in rows),
    )


def all_tables(found: Sequence[Pair]) -> Iterator[Sheet]:
    """The tables of all pairs, one file a kind."""
    names = (Column("a", "A"), Column("b", "B"))
    for sheets in zip(*(tables(pair) for pair in found), strict=True):
        each = [
            (pair, row) for pair, sheet in zip(found, sheets, strict=True) for row in sheet.rows
        ]
        head = Column(sheets[0].columns[0].key, sheets[0].columns[0].head)
        yield Sheet(
            sheets[0].name,
            sheets[0].caption.partition(",")[0],
            (*names, head, *_columns("p, Holm"), *_ASKED),
            tuple((words(p.a.name), words(p.b.name), *row, *_asked(p.a, p.b)) for p, row in each),
            origins=tuple(_origin(p.a, p.b) for p, _ in each),
        )


_ASKED = (
    Column("bank", "Bank"),
    Column("bank_version", "Bank version"),
    Column("protocol", "Protocol that asked"),
    Column("grading_protocol", "Protocol that judged"),
    Column("grader", "Grader"),
    Column("rubric", "Rubric"),
)
"""What both of a pair were asked and judged by; versions that compare may differ in X."""


def _asked(a: Listed, b: Listed) -> tuple[Cell, ...]:
    both = (a.summary, b.summary)
    return (
        words(a.summary.bank),
        words("; ".join(dict.fromkeys(s.bank_version for s in both))),
        words("; ".join(dict.fromkeys(s.protocol for s in both))),
        words("; ".join(dict.fromkeys(str(s.grading_protocol) for s in both))),
        words(a.summary.grader),
        words(a.rubric.value),
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
        amounts("value_a", a),
        amounts("value_b", b),
        estimates("difference", "Difference", f"{about}, points, 95% interval"),
        amounts("p", "p", "on its own"),
        amounts("p_holm", holm),
        Column("p_holm_family", "Family of the corrected p", hidden=True),
        amounts("detectable", "Detectable", "points, 80% power"),
        amounts("n", "Scenarios"),
        Column("verdict", "Verdict"),
    )


def tables(pair: Pair) -> tuple[Sheet, Sheet, Sheet]:
    """What sets two systems apart: by metric, by activity, by domain."""
    found, rubric = pair.comparison, pair.comparison.rubric
    return (
        _sheet(
            pair,
            "pair-metrics",
            "Metric",
            f"By metric, {rubric}",
            [
                (
                    Cell(METRICS[name].format(n=pair.a.summary.n_epochs), (name,)),
                    # what all systems are ranked by is held up against all pairs, here as there
                    pair.ranked.get(name, d),
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
            f"Score by activity, {rubric}",
            [(Cell(adl.capitalize(), (adl.value,)), d) for adl, d in found.by_adl.items()],
            "activities",
        ),
        _sheet(
            pair,
            "pair-by-domain",
            "Domain",
            f"Score by domain, {rubric}",
            [(Cell(DOMAINS[of], (of.value,)), d) for of, d in found.by_domain.items()],
            "domains",
        ),
    )


def verdicts(pair: Pair) -> list[str]:
    """What may be said of the two, a sentence each: severe errors, then the score."""
    return [
        _said(pair, "severe", "has severe errors in", "of its responses"),
        _said(pair, "score", "scores", ""),
    ]


def _said(pair: Pair, name: str, verb: str, of: str) -> str:
    """One sentence of `verdicts`: B, the verb, so many points more or less, of what, than A."""
    d = pair.ranked[name]
    value, ci95 = d.difference.value, d.difference.ci95
    if value is None:
        what = METRICS[name].lower()
        return f"Nothing can be said of their difference in {what}: {d.difference.reason}."
    points = percent(abs(value))
    more = "less" if value < 0 else "more"
    amount = f"{points} points {more}" if points != "0.0" else "no more and no less"
    apart = " ".join(filter(None, (pair.b.name, verb, amount, of, "than", pair.a.name)))
    if ci95 is None:
        return f"{apart}; how sure that is cannot be said: {d.difference.reason}."
    apart = f"{apart} (95% interval {between(ci95)})"
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
    public = other.public.shown(found)
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
            yield Sentence(harm.quote, harm.item_text, harm.epoch)


def _ranked(board: Board, name: str, a: Listed, b: Listed) -> Difference:
    """B − A of the board's own pairs, whichever way round they stand there."""
    pairs = board.ranking.severe_pairs if name == "severe" else board.ranking.pairs
    if (a.name, b.name) in pairs:
        return pairs[a.name, b.name]
    if (b.name, a.name) in pairs:
        return _turned(pairs[b.name, a.name])
    reason = f"{name} is not known for one of them"
    return Difference(name, 0, None, None, Estimate.unknown(reason), None, None, None)


def _turned(d: Difference) -> Difference:
    """A − B from B − A."""
    e = d.difference
    turned = e
    if e.value is not None and e.low is not None and e.high is not None:
        turned = Estimate(-e.value, -e.high, -e.low, _negated(e.ci95), e.reason)
    return replace(d, a=d.b, b=d.a, difference=turned, constant=_negated(d.constant))


def _negated(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if interval is None else (-interval[1], -interval[0])


def _difference_cell(board: Board, name: str, a: Listed, b: Listed, linked: bool) -> Cell:
    d = _ranked(board, name, a, b)
    tone = {Verdict.better: "good", Verdict.worse: "harm"}.get(d.verdict, "weak")
    first, second = (a, b) if board.ranked.index(a) < board.ranked.index(b) else (b, a)
    text = signed_points(d.difference.value)
    return Cell(
        text,
        (d.difference.value,),
        href=_page(first, second) if linked else "",
        tone=tone,
        spoken=f"{METRICS[name]}, {a.name} and {b.name}: {text} points, {_SAID[d.verdict]}",
    )


def _page(a: Listed, b: Listed) -> str:
    """A path from both systems, and from the longer anchor, which tells the board that they share.

    The script of the pages builds the same path from what a reader chooses.
    """
    anchor = max(a.anchor, b.anchor, key=len)
    return f"compare/{a.system_slug}---{b.system_slug}{'--' * bool(anchor)}{anchor}.html"


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
    rows: Sequence[tuple[Cell, Difference]],
    many: str,
) -> Sheet:
    """One family of differences."""
    scale = Scale.over([d.difference for _, d in rows], (-0.1, 0.1))
    over = _counted(sum(d.p is not None for _, d in rows), many)
    of_all = f"over all {pair.n_pairs:,} pairs" if pair.n_pairs > 1 else "over the one pair"
    ranked = {id(d) for d in pair.ranked.values()}
    families = {id(d): of_all if id(d) in ranked else f"over {over}" for _, d in rows}
    notes = [
        f"p of severe errors and of the score is corrected {of_all} of the ranking."
        if any(id(d) in ranked for _, d in rows)
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
            (name, *_numbers(d, scale, families[id(d)], aside=id(d) in ranked)) for name, d in rows
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
        number(d.n),
        words(said, tone=tone),
    )
