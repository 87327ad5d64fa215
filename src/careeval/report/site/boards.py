"""The leaderboard: a table for each set of entries that compare, ranked ones first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from careeval.core.grader import Grader
from careeval.report.site.contents import Board, Contents, Listed, rubric_words
from careeval.report.site.sheets import (
    COST,
    PLAIN,
    Cell,
    Column,
    Scale,
    Sheet,
    amounts,
    cost,
    error_shares,
    errors,
    estimate,
    estimates,
    words,
)
from careeval.results.ranking import MAKER_MARK
from careeval.sheets.entries import NO_KIND
from careeval.sheets.kinds import RANKS
from careeval.sheets.words import KINDS

_SYSTEM = Column("system", "System", ("", "vendor"))
_RANK = Column("rank", "Rank", ("best", "worst"), "by score")
_SEVERE_RANK = Column("severe_rank", "Rank", ("best", "worst"), "by severe errors")
_RUN = (
    Column("date", "Run", PLAIN, "date, versions"),
    Column("grader", "Grader", ("", "card"), hidden=True),
    Column("rubric", "Rubric", hidden=True),
    Column("bank", "Bank", hidden=True),
    Column("bank_version", "Bank version", hidden=True),
    Column("bank_hash", "Hash of the scenarios asked", hidden=True),
    Column("protocol", "Protocol that asked", hidden=True),
    Column("grading_protocol", "Protocol that judged", hidden=True),
    Column("not_ranked", "Why it is not ranked; null if it is", hidden=True),
)

ABOUT_RANKS = (
    "A table is for one rubric, one grader, one bank and one protocol: numbers of two tables do "
    "not compare. Ranks are sets: 1–3 means that no more than two of the others can be shown to be "
    "better, by paired tests over the scenarios, corrected for the number of pairs (Holm, 5%). "
    "Systems whose sets overlap cannot be told apart here. Grey rows are not ranked, for the "
    "reason that stands in them. A bar is a number with its 95% interval, and its tick is 0."
)


def board_sheet(board: Board, site: Contents) -> Sheet:
    """The entries of one board: the ranked ones, best score first, then the others in grey."""
    return _sheet(
        board.file("leaderboard"),
        f"{board.title}, graded by {Grader.parse(board.basis.grader).model}",
        board.listed,
        site,
        rubric=board.basis.rubric.value,
        n_grey=len(board.left_out),
    )


def headings(site: Contents) -> list[str]:
    """What each board is called: by rubric and grader, and by more where several share these."""
    plain = [
        f"{rubric_words(board.basis.rubric)}, graded by {site.judge(board.basis.grader).text}"
        for board in site.boards
    ]
    return [
        f"{heading}: {board.title}" if plain.count(heading) > 1 else heading
        for heading, board in zip(plain, site.boards, strict=True)
    ]


def all_entries(site: Contents) -> Sheet:
    """Every entry of every board; only a file."""
    return _sheet("entries", "Every entry, which compare only within one board", site.listed, site)


def vendors(site: Contents) -> list[str]:
    """Vendors to filter by, in alphabetical order."""
    return sorted({listed.vendor for listed in site.listed if listed.vendor})


def worst_of(entries: Iterable[Listed]) -> str:
    """The worst case by its name, with its n where that is one."""
    n_epochs = {listed.summary.n_epochs for listed in entries}
    return f"Worst of {n_epochs.pop() if len(n_epochs) == 1 else 'n'}"


def _sheet(
    name: str,
    caption: str,
    entries: Sequence[Listed],
    site: Contents,
    *,
    rubric: str = "of its rubric",
    n_grey: int = 0,
) -> Sheet:
    scales = _scales(site.listed)
    return Sheet(
        name,
        caption,
        (
            _SYSTEM,
            error_shares("severe", "Severe errors", f"{rubric}, responses with any"),
            estimates("score", "Score", f"{rubric}, 95% interval"),
            _RANK,
            _SEVERE_RANK,
            replace(estimates("worst_at_n", worst_of(entries), rubric), wide=True),
            replace(error_shares("mild", "Mild errors", rubric), hidden=True),
            *(
                replace(error_shares(f"severe_{kind}", f"Severe errors {said}"), hidden=True)
                for kind, said in KINDS.items()
            ),
            amounts("n", "Scenarios × responses", parts=("scenarios", "epochs")),
            amounts("cost_usd", "Cost", "asking, a run", parts=COST),
            *_RUN,
        ),
        tuple((_system(e), *_numbers(e, scales), *_run(e, site)) for e in entries),
        classes="board quiet",
        ordered="rank",
        filters=tuple(map(_filters, entries)),
        origins=tuple(e.provenance for e in entries),
        n_grey=n_grey,
    )


def _scales(entries: Sequence[Listed]) -> tuple[Scale, Scale]:
    """Of scores and of shares of severe errors: one of each for all tables of the page."""
    summaries = [listed.summary for listed in entries]
    scores = [e for s in summaries for e in (s.score, s.worst_at_n)]
    return Scale.over(scores), Scale.over([s.severe.share for s in summaries], (0, 0.1))


def _filters(listed: Listed) -> dict[str, str]:
    known = listed.summary.cost.asking.value is not None
    return {"vendor": listed.vendor or "", "priced": "1" if known else ""}


def _rank(ranks: tuple[int, int] | None) -> Cell:
    if ranks is None:
        return Cell(RANKS.text(ranks), (None, None), tone="weak")
    return Cell(RANKS.text(ranks), ranks, ranks[0] + ranks[1] / 1000)


def _system(listed: Listed) -> Cell:
    why = f"not ranked: {listed.why_not}" if listed.why_not else ""
    made = (
        f"{MAKER_MARK} its vendor’s AI wrote the bank or answered its pilot"
        if listed.entry.bank_maker
        else ""
    )
    asides = tuple(filter(None, (listed.vendor, made, why)))
    return Cell(listed.name, (listed.name, listed.vendor), None, asides, listed.page)


def _numbers(listed: Listed, scales: tuple[Scale, Scale]) -> tuple[Cell, ...]:
    s = listed.summary
    worst = estimate(s.worst_at_n, scales[0])
    return (
        errors(s.severe, scales[1], tone="harm"),
        replace(estimate(s.score, scales[0]), narrow=(f"{worst_of([listed])}: {worst.text}",)),
        _rank(listed.ranks),
        _rank(listed.severe_ranks),
        worst,
        errors(s.mild),
        *(errors(s.severe_by_kind.get(kind, NO_KIND)) for kind in KINDS),
        scenarios_by_epochs(listed),
        cost(s.cost.asking),
    )


def scenarios_by_epochs(listed: Listed) -> Cell:
    """A cell with how much an entry was asked: scenarios × responses to each."""
    n, k = listed.summary.n_scenarios, listed.summary.n_epochs
    return Cell(f"{n} × {k}", (n, k), n * k)


def _run(listed: Listed, site: Contents) -> tuple[Cell, ...]:
    s = listed.summary
    grader = Grader.parse(s.grader)
    asked = f"protocol {s.protocol}"
    judged = f"judged by {s.grading_protocol}" if s.grading_protocol != s.protocol else ""
    card = f"evidence.html#{site.graders[s.grader]}"
    return (
        words(listed.date or "not recorded", asides=(f"bank {s.bank_version}", asked, judged)),
        Cell(grader.model, (s.grader, card), None, (grader.setting,), card),
        words(s.rubric.value),
        words(s.bank),
        words(s.bank_version),
        words(s.bank_hash),
        words(s.protocol),
        words(s.grading_protocol),
        words(listed.why_not),
    )
