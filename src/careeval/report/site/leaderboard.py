"""The leaderboard page: a table for each board, ranked entries first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from careeval.report.page_table import BarScale, PageColumn, PageTable, strip_of
from careeval.report.panels.parts import severe_column
from careeval.report.site.contents import Contents, SiteBoard, SiteEntry, rubric_words
from careeval.results.metrics import COMPARED
from careeval.results.ranking import MAKER_MARK
from careeval.sheets.kinds import ERROR_SHARE, ESTIMATE, Form
from careeval.sheets.sheet import Row, Sheet
from careeval.sheets.versus.comparisons import board_sheet

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
            "date": each.date or None,
            "grader_card": site.grader_card(each),
            "page": each.page,
            "bank_maker": each.graded.entry.bank_maker,
        }
        for each in entries
    )
    return board_sheet(name, [each.graded for each in entries], rank_rows, caption)


def all_entries(site: Contents) -> Sheet:
    """Return a sheet of all entries of all boards, for a data file."""
    caption = "Every entry, which compare only within one board"
    return listing("entries", site.entries, site, caption)


def board_table(board: SiteBoard, site: Contents) -> PageTable:
    """Return the table of one board: ranked entries, best score first, then others in grey."""
    rubric = board.basis.rubric.value
    summaries = [entry.summary for entry in site.entries]
    # all tables of the page share the scales, so that dots can be compared
    scale = BarScale.of_estimates(s.score for s in summaries)
    shares = BarScale.of_estimates((s.severe.share for s in summaries), (0, 0.1))
    caption = f"{board.title}, graded by {board.basis.grader.model}"
    sheet = listing("leaderboard", board.entries, site, caption)
    not_ranked = _shared_reason([row["not_ranked"] for row in sheet.rows])
    unpriced = _shared_reason([row["cost_usd"].reason for row in sheet.rows])
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


def _shared_reason(reasons: Sequence[str | None]) -> str:
    """Return the reason if there are several rows and all share it; else empty."""
    return reasons[0] or "" if len(reasons) > 1 and len(set(reasons)) == 1 else ""


def _about_system(row: Row, not_ranked_reason: str | None) -> Iterator[str]:
    if row["system_vendor"]:
        yield row["system_vendor"]
    if row["bank_maker"]:
        yield f"{MAKER_MARK} its vendor’s AI wrote the bank or answered its pilot"
    if row["not_ranked"]:
        yield f"not ranked: {not_ranked_reason}" if not_ranked_reason else "not ranked"


def _worst(row: Row) -> Iterator[str]:
    head = COMPARED["worst_at_n"].head.format(n=row["n_epochs"])
    yield f"{head}: {ESTIMATE.page_text(row['worst_at_n'])}"


def _severe_lines(row: Row) -> Iterator[str]:
    """Yield the small lines of a cell of severe errors: interval and counts share a line."""
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
    is_priced = row["cost_usd"].value is not None
    return {"vendor": row["system_vendor"] or "", "priced": "1" if is_priced else ""}


def headings(site: Contents) -> list[str]:
    """Return each board's heading: rubric and grader, plus the title if two boards share both."""
    plain = [
        f"{rubric_words(basis.rubric)}, graded by {site.short_grader_names[basis.grader]}"
        for basis in (board.basis for board in site.boards)
    ]
    return [
        f"{heading}: {board.title}" if plain.count(heading) > 1 else heading
        for heading, board in zip(plain, site.boards, strict=True)
    ]


def vendors(site: Contents) -> list[str]:
    """Return the vendors that a reader can filter the table by, in alphabetical order."""
    return sorted({entry.vendor for entry in site.entries if entry.vendor})
