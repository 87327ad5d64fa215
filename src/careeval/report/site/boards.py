"""The leaderboard: a ranked table for each set of entries that compare, and what is not ranked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from careeval.results.estimates import Errors
from careeval.results.summary import Summary
from careeval.stats import Estimate

UNKNOWN_ERRORS = Estimate.unknown("not judged on this rubric")

_RANK = Column("rank", "Rank", ("low", "high"))
_SYSTEM = Column("system", "System", ("", "vendor"))
_GRADER = Column("grader", "Grader", ("", "card"), hidden=True)
_VERSIONS = (
    Column("bank", "Bank", hidden=True),
    Column("bank_version", "Bank version", hidden=True),
    Column("protocol", "Protocol", hidden=True),
)
_RUN = (Column("date", "Run", PLAIN, "date, versions"), _GRADER, *_VERSIONS)
_WHY = Column("why", "Why it is not ranked", hidden=True)

RANKS = (
    "Ranks are sets: 1–3 means that no more than two of the others can be shown to be better, by "
    "paired tests over the scenarios, corrected for the number of pairs (Holm, 5%). Systems whose "
    "sets overlap need not be equal: they cannot be told apart here. A bar is a number with its "
    "95% interval, and its tick is 0; bars of one kind are on one scale in all tables of this page."
)


def ranked(board: Board, site: Contents) -> Sheet:
    """The ranked entries of one board, best first."""
    scales = _scales(site.listed)
    return Sheet(
        board.file("leaderboard"),
        f"Ranked: {board.title}, graded by {short(board.ranking.grader)}",
        (_RANK, _SYSTEM, *_numbers_of(board.ranked), *_RUN),
        tuple(
            (_rank(listed), _system(listed), *_numbers(listed, scales), *_run(listed, site))
            for listed in board.ranked
        ),
        classes="board quiet",
        ordered="rank",
        filters=tuple(map(_filters, board.ranked)),
        origins=tuple(listed.provenance for listed in board.ranked),
    )


def headings(site: Contents) -> list[str]:
    """What each board is called: by its grader, and by its bank where one grader has several."""
    judges = [site.judge(board.ranking.grader).text for board in site.boards]
    return [
        f"Graded by {judge}" + (f": {board.title}" if judges.count(judge) > 1 else "")
        for judge, board in zip(judges, site.boards, strict=True)
    ]


def left_out(site: Contents) -> Sheet:
    """Every entry that may not be ranked, of all boards, with the reason."""
    entries = [listed for board in site.boards for listed in board.left_out]
    scales = _scales(site.listed)
    return Sheet(
        "not-ranked",
        "Not ranked",
        (replace(_RANK, parts=()), _SYSTEM, _WHY, *_numbers_of(entries), *_RUN),
        tuple(
            (
                Cell("–", ()),
                _system(e, f"graded by {site.judge(e.summary.grader).text}", e.why_not),
                words(e.why_not),
                *_numbers(e, scales),
                *_run(e, site),
            )
            for e in entries
        ),
        classes="board quiet unranked",
        filters=tuple(map(_filters, entries)),
        origins=tuple(e.provenance for e in entries),
    )


def versions(site: Contents) -> Sheet:
    """Of every entry, what it ran under; only a file."""
    return Sheet(
        "entries",
        "Every entry",
        (_SYSTEM, *_RUN, _WHY),
        tuple(
            (_system(e), *_run(e, site), Cell(e.why_not, (e.why_not or None,))) for e in site.listed
        ),
        origins=tuple(e.provenance for e in site.listed),
    )


def rank_words(ranks: tuple[int, int]) -> str:
    """A rank set as it is read."""
    low, high = ranks
    return str(low) if low == high else f"{low}–{high}"


def vendors(site: Contents) -> list[str]:
    """Vendors to filter by, in alphabetical order."""
    return sorted({listed.vendor for listed in site.listed if listed.vendor})


def worst_of(entries: Iterable[Listed]) -> str:
    """The worst case by its name, with its n where that is one."""
    n_epochs = {listed.summary.n_epochs for listed in entries}
    return f"Worst of {n_epochs.pop() if len(n_epochs) == 1 else 'n'}"


def _numbers_of(entries: Sequence[Listed]) -> tuple[Column, ...]:
    return (
        estimates("score", "Score", "ladder, 95% interval"),
        replace(estimates("worst_at_n", worst_of(entries), "ladder"), wide=True),
        replace(
            estimates("severe_per_response", "Severe errors", "responses with any"),
            wide=True,
            said="Severe errors, ladder, responses with any",
        ),
        replace(
            estimates("action_severe_per_response", "Severe errors, actions", "responses with any"),
            hidden=True,
        ),
        estimates("action_score", "Score", "actions"),
        amounts("n", "Scenarios × responses", parts=("scenarios", "epochs")),
        amounts("cost_usd", "Cost", "asking, a run", parts=COST),
    )


def _scales(entries: Sequence[Listed]) -> tuple[Scale, Scale]:
    """Of scores and of shares of severe errors: one of each for all tables of the page."""
    summaries = [listed.summary for listed in entries]
    scores = [e for s in summaries for e in (s.score, s.worst_at_n, s.action_score)]
    severe = [e for s in summaries for e in (severe_share(s.severe), severe_share(s.action_severe))]
    return Scale.over(scores), Scale.over(severe, (0, 0.1))


def _filters(listed: Listed) -> dict[str, str]:
    known = listed.summary.cost.asking.value is not None
    return {"vendor": listed.vendor or "", "priced": "1" if known else ""}


def _rank(listed: Listed) -> Cell:
    ranks = listed.ranks or (0, 0)
    return Cell(rank_words(ranks), ranks, ranks[0] + ranks[1] / 1000)


def _system(listed: Listed, *more: str) -> Cell:
    asides = tuple(filter(None, (listed.vendor, *more)))
    return Cell(listed.name, (listed.name, listed.vendor), None, asides, listed.page)


def _numbers(listed: Listed, scales: tuple[Scale, Scale]) -> tuple[Cell, ...]:
    s = listed.summary
    n = f"{s.n_scenarios} × {s.n_epochs}"
    worst = estimate(s.worst_at_n, scales[0])
    severe = severe_cell(s, scales[1])
    narrow = (
        f"{worst_of([listed])}: {worst.text}",
        f"Severe errors, ladder: {severe.text}",
        f"Severe errors, actions: {severe.more[0].text}",
    )
    return (
        replace(estimate(s.score, scales[0]), narrow=narrow),
        worst,
        severe,
        severe.more[0],
        estimate(s.action_score, scales[0]),
        Cell(n, (s.n_scenarios, s.n_epochs), s.n_scenarios * s.n_epochs),
        cost(s.cost.asking),
    )


def severe_share(errors: Errors | None) -> Estimate:
    """Of the responses, those with any."""
    return errors.per_response if errors else UNKNOWN_ERRORS


def severe_cell(s: Summary, scale: Scale) -> Cell:
    """Responses with a severe error: on the ladder, and below it among the actions."""
    ladder, actions = (
        estimate(severe_share(errors), scale, tone="harm") for errors in (s.severe, s.action_severe)
    )
    return replace(ladder, label="ladder", more=(replace(actions, label="actions"),))


def _run(listed: Listed, site: Contents) -> tuple[Cell, ...]:
    s = listed.summary
    versions = (f"bank {s.bank_version}", f"protocol {s.protocol}")
    card = f"evidence.html#{site.graders[s.grader]}"
    return (
        words(listed.date or "not recorded", asides=versions),
        Cell(short(s.grader), (s.grader, card), None, (mode(s.grader),), card),
        words(s.bank),
        words(s.bank_version),
        words(s.protocol),
    )
