"""Errors and scores: over all, and by activity."""

from __future__ import annotations

from collections.abc import Sequence

from careeval.core.scenario import Adl
from careeval.report.charts.drawing import (
    HOLLOW,
    SMALL,
    WIDE,
    Box,
    Figure,
    KeyEntry,
    Line,
    Mark,
    Point,
    Words,
    epochs,
    names,
    place,
    rounded,
)
from careeval.report.charts.grid import Block, Column, beside, stacked
from careeval.report.words import in_full, score_name, value
from careeval.results.amounts import percent
from careeval.results.score.graded_rubric import Errors
from careeval.results.score.summary import Summary
from careeval.sheets.estimate_kinds import ERROR_SHARE
from careeval.sheets.kinds import Form
from careeval.stats import Estimate

_OVERALL = 1.8
"""How many times as wide as an activity's panel that of the whole is."""
_ROW, _ROW_OF_BARS = 30, 22
_KINDS = (("Severe errors", "harm", "severe"), ("Mild errors", "mild", "mild"))


def overview(summaries: Sequence[Summary]) -> Figure:
    """Shares of responses with an error; beneath, the score over all and by activity.

    A row an entry; of one entry, a row a part. An entry that may not be ranked is hollow, and so is
    an activity of fewer than five scenarios, which has no interval.
    """
    scores = beside(names(summaries), [_whole(summaries), *_by_activity(summaries)], _ROW)
    return stacked(_meanings(summaries), [_bars(summaries), scores], WIDE, _said(summaries))


def _whole(summaries: Sequence[Summary]) -> Column:
    cells = []
    for s in summaries:
        marks = _cell("Overall", s.score, bool(s.not_ranked))
        # the worst of one response is that response
        if s.n_epochs > 1 and (at := place(s.worst_at_n)) is not None:
            said = f"Overall, worst of {s.n_epochs}: {in_full(s.worst_at_n)}"
            hollow = bool(s.not_ranked)
            marks.append(Point(at.value, 0, "triangle-down", "harm", hollow, said=said))
        cells.append(marks)
    return Column("Overall", cells, _OVERALL)


def _by_activity(summaries: Sequence[Summary]) -> list[Column]:
    there = [adl for adl in Adl if any(adl in s.by_adl for s in summaries)]
    return [Column(adl.capitalize(), [_activity(s, adl) for s in summaries]) for adl in there]


def _activity(summary: Summary, adl: Adl) -> list[Mark]:
    cell = summary.by_adl.get(adl)
    if cell is None:
        return []
    return _cell(adl.capitalize(), cell.score, cell.small or bool(summary.not_ranked))


def _cell(part: str, score: Estimate, hollow: bool) -> list[Mark]:
    if (at := place(score)) is None:
        return []
    return [
        Line(at.low, 0, at.high, 0),
        Point(at.value, 0, hollow=hollow, said=f"{part}, score: {in_full(score)}"),
    ]


def _bars(summaries: Sequence[Summary]) -> Block:
    """A column a severity; of one entry, a row a severity."""
    columns = [
        Column(kind, [_bar(kind, colour, getattr(s, name), bool(s.not_ranked)) for s in summaries])
        for kind, colour, name in _KINDS
    ]
    shares = (getattr(s, name).share.value for s in summaries for *_, name in _KINDS)
    most = max((rounded(share) for share in shares if share is not None), default=0.0)
    if len(summaries) == 1:
        cells = [column.cells[0] for column in columns]
        heads = [column.title for column in columns]
        column = Column("Responses with an error", cells)
        return Block(heads, [column], _ROW_OF_BARS, most)
    return Block(names(summaries), columns, _ROW_OF_BARS, most)


def _bar(kind: str, colour: str, errors: Errors, hollow: bool) -> list[Mark]:
    if errors.share.value is None:
        return [Words(0, 0, "unknown", "muted", size=SMALL)]
    length = rounded(errors.share.value)
    said = f"{kind}: {in_full(errors.share)}; {ERROR_SHARE.text(errors, Form.of_many)} responses"
    number = f"\N{THIN SPACE}{percent(errors.share.value)}%"
    return [Box(0, -5, length, 5, colour, hollow, said), Words(length, 0, number, size=SMALL)]


def _meanings(summaries: Sequence[Summary]) -> list[KeyEntry]:
    meaning = f"{score_name(summaries).lower()}, % of the points, with 95% interval"
    entries = [
        KeyEntry("% of responses with an error", (Box(-8, -5, 8, 5, "harm"),)),
        KeyEntry(meaning, (Line(-10, 0, 10, 0), Point(0, 0))),
    ]
    if (n := epochs(summaries)) != "1":
        entries.append(KeyEntry(f"worst of {n}", (Point(0, 0, "triangle-down", "harm"),)))
    if any(s.not_ranked or any(c.small for c in s.by_adl.values()) for s in summaries):
        entries.append(HOLLOW)
    return entries


def _said(summaries: Sequence[Summary]) -> str:
    said = ["Responses with an error; beneath, the score over all and by activity."]
    for name, s in zip(names(summaries), summaries, strict=True):
        parts = [f"{kind.lower()} {value(getattr(s, field).share)}" for kind, _, field in _KINDS]
        parts.append(f"score {in_full(s.score)}")
        if s.n_epochs > 1:
            parts.append(f"worst of {s.n_epochs} {value(s.worst_at_n)}")
        parts += [f"{adl.value} {value(cell.score)}" for adl, cell in s.by_adl.items()]
        said.append(f"{name}: {'; '.join(parts)}.")
    return " ".join(said)
