"""The differences between the ranked systems of a board, as tables of all pairs."""

from __future__ import annotations

from careeval.report.page_table import PageColumn, PageTable
from careeval.report.site.contents import SiteBoard
from careeval.results.differences import Verdict
from careeval.results.metrics import COMPARED
from careeval.results.ranking import RANKED_BY
from careeval.sheets.kinds import DIFFERENCE
from careeval.sheets.sheet import Row, Sheet
from careeval.sheets.versus.pairs import (
    VERDICTS,
    matrix_sheet,
    ranked_pairs_sheet,
)


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
    b, field = board.ranked[place], f"b{place + 1}"

    def verdict(row: Row) -> Verdict:
        return board.ranking.difference(key, b.name, row["a"]).verdict

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
        look=lambda row: _LOOKS.get(verdict(row), "weak") if field in row else "",
        spoken=spoken,
        upright=True,
    )


_LOOKS = {Verdict.better: "good", Verdict.worse: "harm"}


def all_pairs(board: SiteBoard) -> Sheet:
    """Return a sheet of all pairs on a board: differences by `RANKED_BY`, for a data file."""
    caption = f"Differences in severe errors and score, {board.title}"
    return ranked_pairs_sheet([each.summary for each in board.ranked], board.ranking, caption)
