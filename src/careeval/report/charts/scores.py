"""The figure of errors and scores, overall and by activity."""

from __future__ import annotations

from collections.abc import Sequence

from careeval.core.scenario import Adl
from careeval.report.charts.drawing import (
    HOLLOW,
    SMALL,
    WIDE,
    Box,
    Figure,
    LegendEntry,
    Mark,
    Point,
    Segment,
    TextLine,
    as_percent,
    display_names,
    n_epochs_text,
    plot_value,
)
from careeval.report.charts.grid import Block, Panel, panels_beside, stack_blocks
from careeval.report.words import in_full, percent_text, score_name
from careeval.results.amounts import percent
from careeval.results.score.graded_rubric import Errors
from careeval.results.score.summary import Summary
from careeval.sheets.estimate_kinds import ERROR_SHARE
from careeval.sheets.kinds import Form
from careeval.stats import Estimate

_OVERALL = 1.8
"""Width of the overall panel relative to an activity's."""
_ROW, _ROW_OF_BARS = 30, 22
_KINDS = (("Severe errors", "harm", "severe"), ("Mild errors", "mild", "mild"))


def overview(summaries: Sequence[Summary]) -> Figure:
    """Return a figure of the shares of responses with an error, and of the scores.

    The scores are overall and by activity. Each entry has a row; if there is a single entry, each
    severity, the overall score and each activity have one. A mark is hollow if the entry may not be
    ranked, or if the activity has fewer than five scenarios and so no interval.
    """
    scores = panels_beside(
        display_names(summaries), [_whole(summaries), *_by_activity(summaries)], _ROW
    )
    return stack_blocks(
        _meanings(summaries), [_bars(summaries), scores], WIDE, _description(summaries)
    )


def _whole(summaries: Sequence[Summary]) -> Panel:
    cells = []
    for s in summaries:
        marks = _cell("Overall", s.score, bool(s.not_ranked))
        # the worst of one response is that response
        if s.n_epochs > 1 and (at := plot_value(s.worst_at_n)) is not None:
            label = f"Overall, worst of {s.n_epochs}: {in_full(s.worst_at_n)}"
            hollow = bool(s.not_ranked)
            marks.append(Point(at.value, 0, "triangle-down", "harm", hollow, label=label))
        cells.append(marks)
    return Panel("Overall", cells, _OVERALL)


def _by_activity(summaries: Sequence[Summary]) -> list[Panel]:
    activities = [adl for adl in Adl if any(adl in s.by_adl for s in summaries)]
    return [Panel(adl.capitalize(), [_activity(s, adl) for s in summaries]) for adl in activities]


def _activity(summary: Summary, adl: Adl) -> list[Mark]:
    cell = summary.by_adl.get(adl)
    if cell is None:
        return []
    return _cell(adl.capitalize(), cell.score, cell.small or bool(summary.not_ranked))


def _cell(part: str, score: Estimate, hollow: bool) -> list[Mark]:
    if (at := plot_value(score)) is None:
        return []
    return [
        Segment(at.low, 0, at.high, 0),
        Point(at.value, 0, hollow=hollow, label=f"{part}, score: {in_full(score)}"),
    ]


def _bars(summaries: Sequence[Summary]) -> Block:
    """Return the bars of errors: a panel per severity; for a single entry, a row per severity."""
    panels = [
        Panel(kind, [_bar(kind, colour, getattr(s, name), bool(s.not_ranked)) for s in summaries])
        for kind, colour, name in _KINDS
    ]
    shares = (getattr(s, name).share.value for s in summaries for *_, name in _KINDS)
    most = max((as_percent(share) for share in shares if share is not None), default=0.0)
    if len(summaries) == 1:
        cells = [panel.cells[0] for panel in panels]
        heads = [panel.title for panel in panels]
        panel = Panel("Responses with an error", cells)
        return Block(heads, [panel], _ROW_OF_BARS, most)
    return Block(display_names(summaries), panels, _ROW_OF_BARS, most)


def _bar(kind: str, colour: str, errors: Errors, hollow: bool) -> list[Mark]:
    if errors.share.value is None:
        return [TextLine(0, 0, "unknown", "muted", size=SMALL)]
    length = as_percent(errors.share.value)
    label = f"{kind}: {in_full(errors.share)}; {ERROR_SHARE.text(errors, Form.of_many)} responses"
    number = f"\N{THIN SPACE}{percent(errors.share.value)}%"
    return [Box(0, -5, length, 5, colour, hollow, label), TextLine(length, 0, number, size=SMALL)]


def _meanings(summaries: Sequence[Summary]) -> list[LegendEntry]:
    meaning = f"{score_name(summaries).lower()}, % of the points, with 95% interval"
    entries = [
        LegendEntry("% of responses with an error", (Box(-8, -5, 8, 5, "harm"),)),
        LegendEntry(meaning, (Segment(-10, 0, 10, 0), Point(0, 0))),
    ]
    if (n := n_epochs_text(summaries)) != "1":
        entries.append(LegendEntry(f"worst of {n}", (Point(0, 0, "triangle-down", "harm"),)))
    if any(s.not_ranked or any(c.small for c in s.by_adl.values()) for s in summaries):
        entries.append(HOLLOW)
    return entries


def _description(summaries: Sequence[Summary]) -> str:
    sentences = ["Responses with an error; beneath, the score over all and by activity."]
    for name, s in zip(display_names(summaries), summaries, strict=True):
        parts = [
            f"{kind.lower()} {percent_text(getattr(s, field).share)}" for kind, _, field in _KINDS
        ]
        parts.append(f"score {in_full(s.score)}")
        if s.n_epochs > 1:
            parts.append(f"worst of {s.n_epochs} {percent_text(s.worst_at_n)}")
        parts += [f"{adl.value} {percent_text(cell.score)}" for adl, cell in s.by_adl.items()]
        sentences.append(f"{name}: {'; '.join(parts)}.")
    return " ".join(sentences)
