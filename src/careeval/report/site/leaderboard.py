"""The leaderboard: a table for each set of entries that compare, ranked ones first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from careeval.core.grader import Grader
from careeval.report.page_table import PageColumn, PageTable, Scale, strip_of
from careeval.report.sections.parts import severe_column
from careeval.report.site.contents import Board, Contents, Listed, rubric_words
from careeval.results.score.metrics import COMPARED
from careeval.results.versus.ranking import MAKER_MARK
from careeval.sheets.estimate_kinds import ERROR_SHARE, MEASURE
from careeval.sheets.kinds import Form
from careeval.sheets.sheet import Row, Sheet
from careeval.sheets.versus.leaderboard import board_sheet

ABOUT_RANKS = (
    "A table is for one rubric, one grader, one bank and one protocol: numbers of two tables do "
    "not compare. Ranks are sets: 1–3 means that no more than two of the others can be shown to be "
    "better, by paired tests over the scenarios, corrected for the number of pairs (Holm, 5%). "
    "Systems whose sets overlap cannot be told apart here. Grey rows are not ranked, for the "
    "reason that stands in them. A dot is a number, its bar the 95% interval, and the line is 0."
)


def listing(name: str, listed: Sequence[Listed], site: Contents, caption: str) -> Sheet:
    """Return entries with where each stands and the address of its page, under `page`."""
    standings = (
        {
            "system_vendor": each.vendor,
            "rank": each.ranked and each.ranked.ranks,
            "severe_rank": each.ranked and each.ranked.severe_ranks,
            "not_ranked": each.why_not or None,
            "date": each.date or None,
            "grader_card": site.card(each),
            "page": each.page,
            "bank_maker": each.graded.entry.bank_maker,
        }
        for each in listed
    )
    return board_sheet(name, [each.graded for each in listed], standings, caption)


def all_entries(site: Contents) -> Sheet:
    """Return every entry of every board; only a file."""
    caption = "Every entry, which compare only within one board"
    return listing("entries", site.listed, site, caption)


def board_table(board: Board, site: Contents) -> PageTable:
    """Return the entries of one board: the ranked ones, best score first, then others in grey."""
    rubric = board.basis.rubric.value
    summaries = [listed.summary for listed in site.listed]
    # one of each for all tables of the page, so that dots can be held against each other
    scale = Scale.over(s.score for s in summaries)
    shares = Scale.over((s.severe.share for s in summaries), (0, 0.1))
    caption = f"{board.title}, graded by {Grader.parse(board.basis.grader).model}"
    sheet = listing("leaderboard", board.listed, site, caption)
    not_ranked = _of_all([row["not_ranked"] for row in sheet.rows])
    unpriced = _of_all([row["cost_usd"].reason for row in sheet.rows])
    notes = {"Not ranked": not_ranked, "The cost is unknown": unpriced}
    return PageTable(
        sheet,
        (
            PageColumn(
                "system",
                link=page_of_row,
                beneath=lambda row: _about_system(row, "" if not_ranked else row["not_ranked"]),
            ),
            replace(severe_column(rubric, shares), axis=shares, lines=False, beneath=_severe_lines),
            PageColumn(
                "score",
                about=f"{rubric}, 95% interval",
                strip=strip_of("score", scale),
                axis=scale,
                narrow=_worst,
            ),
            PageColumn("rank", about="by score"),
            PageColumn("severe_rank", head="Rank", about="by severe errors"),
            PageColumn("worst_at_n", about=rubric, wide=True),
            PageColumn("n"),
            PageColumn("cost_usd", about="asking, a run"),
            PageColumn("date", about="date, versions", beneath=_versions),
        ),
        note=" ".join(f"{what}: {reason}." for what, reason in notes.items() if reason),
        noted=(unpriced,) if unpriced else (),
        look="board quiet",
        ordered="rank",
        is_grey=lambda row: bool(row["not_ranked"]),
        filters=_filters,
        file=board.file("leaderboard"),
    )


def page_of_row(row: Row) -> str:
    """Return the address of the page of a row's entry."""
    return str(row["page"])


def _of_all(reasons: Sequence[str | None]) -> str:
    """Return the reason that several rows share; empty where there is no such one."""
    return reasons[0] or "" if len(reasons) > 1 and len(set(reasons)) == 1 else ""


def _about_system(row: Row, why_not: str | None) -> Iterator[str]:
    if row["system_vendor"]:
        yield row["system_vendor"]
    if row["bank_maker"]:
        yield f"{MAKER_MARK} its vendor’s AI wrote the bank or answered its pilot"
    if row["not_ranked"]:
        yield f"not ranked: {why_not}" if why_not else "not ranked"


def _worst(row: Row) -> Iterator[str]:
    head = COMPARED["worst_at_n"].head.format(n=row["n_epochs"])
    yield f"{head}: {MEASURE.on_page(row['worst_at_n'])}"


def _severe_lines(row: Row) -> Iterator[str]:
    """Yield the interval and the counts on one line, to keep the row low."""
    value = row["severe"]
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
    known = row["cost_usd"].value is not None
    return {"vendor": row["system_vendor"] or "", "priced": "1" if known else ""}


def headings(site: Contents) -> list[str]:
    """Return what each board is called: by rubric and grader, and more where others share these."""
    plain = [
        f"{rubric_words(board.basis.rubric)}, graded by {site.judges[board.basis.grader]}"
        for board in site.boards
    ]
    return [
        f"{heading}: {board.title}" if plain.count(heading) > 1 else heading
        for heading, board in zip(plain, site.boards, strict=True)
    ]


def vendors(site: Contents) -> list[str]:
    """Return the vendors to filter by, in alphabetical order."""
    return sorted({listed.vendor for listed in site.listed if listed.vendor})
