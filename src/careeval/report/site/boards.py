"""The leaderboard: a ranked table for each set of entries that compare, and what is not ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from careeval.report.site.contents import Board, Contents, Listed, mode, short
from careeval.report.site.sheets import (
    COST,
    PLAIN,
    Cell,
    Column,
    Scale,
    Sheet,
    amounts,
    cost,
    estimate,
    estimates,
    words,
)
from careeval.stats import Estimate

UNKNOWN_ERRORS = Estimate.unknown("not judged on this rubric")

_RANK = Column("rank", "Rank", ("low", "high"))
_SYSTEM = Column("system", "System", ("", "vendor"))
_NUMBERS = (
    estimates("score", "Score", "ladder, 95% interval"),
    estimates("worst_at_n", "Worst of n", "mean of each lowest"),
    estimates("severe_per_response", "Severe", "of responses"),
    estimates("action_score", "Actions", "second instrument"),
    amounts("n", "n", "scenarios × responses", parts=("scenarios", "epochs")),
    amounts("cost_usd", "Cost", "asking, a run", parts=COST),
)
_RUN = (
    Column("date", "Run", PLAIN, "date, versions"),
    Column("grader", "Grader", ("", "card"), "leads to its card"),
)
_FEWER = tuple(replace(c, hidden=True) if c.key == "action_score" else c for c in _NUMBERS)
_VERSIONS = (
    Column("bank", "Bank"),
    Column("bank_version", "Bank version"),
    Column("protocol", "Protocol"),
)

RANKS = (
    "Ranks are sets: 1–3 means that no more than two of the others can be shown to be better, by "
    "paired tests over the scenarios, corrected for the number of pairs (Holm, 5%). Systems whose "
    "sets overlap need not be equal: they cannot be told apart here. A bar is a number with its "
    "95% interval, and its tick is 0."
)


def ranked(board: Board, site: Contents) -> Sheet:
    """The ranked entries of one board, best first."""
    scales = _scales(board.ranked)
    return Sheet(
        board.file("leaderboard"),
        f"Ranked: {board.title}, graded by {short(board.ranking.grader)}",
        (_RANK, _SYSTEM, *_NUMBERS, _RUN[0], replace(_RUN[1], hidden=True)),
        tuple(
            (_rank(listed), _system(listed), *_numbers(listed, scales), *_run(listed, site))
            for listed in board.ranked
        ),
        classes="board quiet",
        filters=tuple(map(_filters, board.ranked)),
    )


def left_out(site: Contents) -> Sheet:
    """Every entry that may not be ranked, of all boards, with the reason."""
    entries = [listed for board in site.boards for listed in board.left_out]
    scales = _scales(entries)
    return Sheet(
        "not-ranked",
        "Not ranked",
        (_SYSTEM, Column("why", "Why it is not ranked"), *_FEWER, *_RUN),
        tuple(
            (_system(e), words(e.why_not), *_numbers(e, scales), *_run(e, site)) for e in entries
        ),
        classes="board quiet unranked",
        filters=tuple(map(_filters, entries)),
    )


def versions(site: Contents) -> Sheet:
    """Of every entry, what it ran under; only a file."""
    return Sheet(
        "entries",
        "Every entry",
        (_SYSTEM, *_VERSIONS, *_RUN, Column("why", "Why it is not ranked")),
        tuple(
            (
                _system(e),
                words(e.summary.bank),
                words(e.summary.bank_version),
                words(e.summary.protocol),
                *_run(e, site),
                Cell(e.why_not, (e.why_not or None,)),
            )
            for e in site.listed
        ),
    )


def rank_words(ranks: tuple[int, int]) -> str:
    """A rank set as it is read."""
    low, high = ranks
    return str(low) if low == high else f"{low}–{high}"


def vendors(site: Contents) -> list[str]:
    """Vendors to filter by, in alphabetical order."""
    return sorted({listed.vendor for listed in site.listed if listed.vendor})


def _scales(entries: Sequence[Listed]) -> tuple[Scale, Scale]:
    scores = [e for x in entries for e in (x.summary.score, x.summary.action_score)]
    severe = [_severe(listed) for listed in entries]
    return Scale.over(scores), Scale.over(severe, (0, 0.1))


def _filters(listed: Listed) -> dict[str, str]:
    known = listed.summary.cost.asking.value is not None
    return {"vendor": listed.vendor or "", "priced": "1" if known else ""}


def _rank(listed: Listed) -> Cell:
    ranks = listed.ranks or (0, 0)
    return Cell(rank_words(ranks), ranks, ranks[0] + ranks[1] / 1000)


def _system(listed: Listed) -> Cell:
    asides = (listed.vendor,) if listed.vendor else ()
    return Cell(listed.name, (listed.name, listed.vendor), None, asides, listed.page)


def _numbers(listed: Listed, scales: tuple[Scale, Scale]) -> tuple[Cell, ...]:
    s = listed.summary
    n = f"{s.n_scenarios} × {s.n_epochs}"
    return (
        estimate(s.score, scales[0]),
        estimate(s.worst_at_n),
        estimate(_severe(listed), scales[1], tone="harm"),
        estimate(s.action_score),
        Cell(n, (s.n_scenarios, s.n_epochs), s.n_scenarios * s.n_epochs),
        cost(s.cost.asking),
    )


def _severe(listed: Listed) -> Estimate:
    severe = listed.summary.severe
    return severe.per_response if severe else UNKNOWN_ERRORS


def _run(listed: Listed, site: Contents) -> tuple[Cell, Cell]:
    s = listed.summary
    versions = (f"bank {s.bank_version}", f"protocol {s.protocol}")
    card = f"evidence.html#{site.graders[s.grader]}"
    return (
        words(listed.date or "not recorded", asides=versions),
        Cell(short(s.grader), (s.grader, card), None, (mode(s.grader),), card),
    )
