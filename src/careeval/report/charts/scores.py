"""The figure of errors and scores, overall and by activity."""

from __future__ import annotations

from collections.abc import Sequence

from careeval.core.scenario import Adl
from careeval.core.text import percent
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
    display_names,
    n_epochs_text,
    plot_value,
)
from careeval.report.charts.grid import Block, Panel, panels_beside, stack_blocks
from careeval.report.words import in_full, percent_text, score_name
from careeval.results.graded_rubric import Errors
from careeval.results.summary import Summary
from careeval.sheets.kinds import ERROR_SHARE, Form
from careeval.stats.estimate import Estimate

COLUMN = 416
"""Width in pixels of `column`: at 8.5 cm, a pixel is 0.58 points, so 11 pixels are 6.4 points."""
NOT_RANKED = LegendEntry("not for ranking", (Point(0, 0, colour="muted", hollow=True),))
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


def column(summaries: Sequence[Summary], width: int = COLUMN) -> Figure:
    """Return a figure for a column of a paper: severe errors and scores, a row for each entry.

    At 8.5 cm wide, `COLUMN` pixels, its smallest text has 6.4 points.
    """
    names = display_names(summaries)
    severe = [_bar("Severe errors", "harm", s.severe, bool(s.not_ranked)) for s in summaries]
    shares = (plot_value(s.severe.share) for s in summaries)
    most = max((share.high for share in shares if share is not None), default=0.0)
    scores = [_cell("Overall", s.score, bool(s.not_ranked)) for s in summaries]
    blocks = [
        Block(names, [Panel("Responses with a severe error, %", severe)], _ROW_OF_BARS, most),
        Block(names, [Panel(f"{score_name(summaries)}, %", scores)], _ROW_OF_BARS),
    ]
    entries = [LegendEntry("95% interval", (Segment(-10, 0, 10, 0),))]
    if any(s.not_ranked for s in summaries):
        entries.append(NOT_RANKED)
    sentences = ["Responses with a severe error; beneath, the score."]
    sentences += [
        f"{name}: severe errors {in_full(s.severe.share)}; score {in_full(s.score)}."
        for name, s in zip(names, summaries, strict=True)
    ]
    return stack_blocks(entries, blocks, width, " ".join(sentences))


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
    shares = (plot_value(getattr(s, name).share) for s in summaries for *_, name in _KINDS)
    most = max((share.high for share in shares if share is not None), default=0.0)
    if len(summaries) == 1:
        cells = [panel.cells[0] for panel in panels]
        heads = [panel.title for panel in panels]
        panel = Panel("Responses with an error", cells)
        return Block(heads, [panel], _ROW_OF_BARS, most)
    return Block(display_names(summaries), panels, _ROW_OF_BARS, most)


def _bar(kind: str, colour: str, errors: Errors, hollow: bool) -> list[Mark]:
    if errors.share.value is None or (at := plot_value(errors.share)) is None:
        return [TextLine(0, 0, "unknown", "muted", size=SMALL)]
    length, low, high = at
    label = f"{kind}: {in_full(errors.share)}; {ERROR_SHARE.text(errors, Form.of_many)} responses"
    number = f"\N{THIN SPACE}{percent(errors.share.value)}%"
    marks: list[Mark] = [Box(0, -5, length, 5, colour, hollow, label)]
    if errors.share.ci95 is not None:
        marks.append(Segment(low, 0, high, 0, "ink", 1.2))
    return [*marks, TextLine(high, 0, number, size=SMALL)]


def _meanings(summaries: Sequence[Summary]) -> list[LegendEntry]:
    meaning = f"{score_name(summaries).lower()}, % of the points, with 95% interval"
    entries = [
        LegendEntry(
            "% of responses with an error, with 95% interval",
            (Box(-10, -5, 4, 5, "harm"), Segment(-2, 0, 10, 0, "ink", 1.2)),
        ),
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
        parts = [f"{kind.lower()} {in_full(getattr(s, field).share)}" for kind, _, field in _KINDS]
        parts.append(f"score {in_full(s.score)}")
        if s.n_epochs > 1:
            parts.append(f"worst of {s.n_epochs} {percent_text(s.worst_at_n)}")
        parts += [f"{adl.value} {percent_text(cell.score)}" for adl, cell in s.by_adl.items()]
        sentences.append(f"{name}: {'; '.join(parts)}.")
    return " ".join(sentences)
