"""Scores and errors: over all, by activity, and both in one as in the paper's Figure 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from careeval.core.scenario import Adl, Rubric
from careeval.report.charts.drawing import (
    HOLLOW,
    NARROW,
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
from careeval.report.charts.grid import NUMBER, Block, Column, beside, stacked
from careeval.report.words import in_full, spread, value
from careeval.results.details import Detail
from careeval.results.summary import Errors, Summary
from careeval.stats import Estimate

_NOISE_BELOW = 8
"""Pixels from a score down to its run noise."""
_OVERALL = 1.8
"""How many times as wide as an activity's panel that of the whole is."""
_ROW, _ROW_BELOW_NAME, _ROW_OF_BARS = 30, 18, 22
NUMBER_WITH_N = 74
"""Pixels of a number of errors with that of the responses judged."""
_KINDS = (
    ("Severe errors, ladder", "harm", "severe"),
    ("Mild errors, ladder", "mild", "mild"),
    ("Severe errors, actions", "harm", "action_severe"),
    ("Mild errors, actions", "mild", "action_mild"),
)


def headline(summaries: Sequence[Summary], width: int = WIDE) -> Figure:
    """Score and worst of n on each rubric, a row an entry; hollow where it may not be ranked."""
    columns = [
        Column(
            title,
            [
                _cell(title, getattr(s, score), getattr(s, worst), s.n_epochs, bool(s.not_ranked))
                for s in summaries
            ],
        )
        for title, score, worst in (
            ("Ladder", "score", "worst_at_n"),
            ("Actions", "action_score", "action_worst_at_n"),
        )
    ]
    said = [
        f"{name}: ladder {in_full(s.score)}; actions {in_full(s.action_score)}."
        for name, s in zip(names(summaries), summaries, strict=True)
    ]
    description = " ".join(["Score and worst response on each rubric.", *said])
    block = beside(names(summaries), columns, _ROW)
    return stacked(_meanings(summaries, "score"), [block], width, description)


def activities(summaries: Sequence[Summary], width: int = WIDE) -> Figure:
    """Score and worst of n on the ladder by activity; hollow below five scenarios."""
    parts = _by_activity(summaries)
    said = [
        f"{name}: {_said_by_activity(s)}."
        for name, s in zip(names(summaries), summaries, strict=True)
    ]
    description = " ".join(["Score on the ladder by activity.", *said])
    height = _ROW_BELOW_NAME if width <= NARROW else _ROW
    block = beside(names(summaries), parts, height)
    return stacked(_meanings(summaries, "score on the ladder"), [block], width, description)


def errors(summaries: Sequence[Summary], width: int = WIDE) -> Figure:
    """Share of responses with at least one error, by severity and rubric."""
    columns = [
        Column(kind, [_share(kind, colour, getattr(s, name), s) for s in summaries])
        for kind, colour, name in _KINDS
        if any(getattr(s, name) for s in summaries)
    ]
    said = [
        f"{name}: "
        + "; ".join(
            f"{kind.lower()} {value(found.per_response)}"
            for kind, _, field in _KINDS
            if (found := getattr(s, field)) is not None
        )
        + "."
        for name, s in zip(names(summaries), summaries, strict=True)
    ]
    marks = (Line(-10, 0, 10, 0, "harm"), Point(0, 0, "square", "harm"))
    entries = [KeyEntry("% of the responses with an error, with 95% interval", marks)]
    description = " ".join(["Share of responses with at least one error.", *said])
    if any(s.not_ranked for s in summaries):
        entries.append(HOLLOW)
    height = _ROW_BELOW_NAME if width <= NARROW else _ROW
    block = beside(names(summaries), columns, height, (0, 10))
    return stacked(entries, [block], width, description)


def overview(summaries: Sequence[Summary], details: Sequence[Detail], width: int = WIDE) -> Figure:
    """Score and worst of n on the ladder, over all and by activity; severe and mild errors beneath.

    A row an entry; of one entry, a row a part. An entry that may not be ranked is hollow, and so is
    an activity of fewer than five scenarios, which has no interval.
    """
    rows, whole = names(summaries), _whole(summaries, details)
    parts = _by_activity(summaries)
    if len(summaries) == 1:
        blocks = [beside(rows, [whole, *parts], _ROW), *_error_rows(summaries[0])]
    elif width <= NARROW:
        bars = _error_columns(rows, summaries, details, _ROW_BELOW_NAME)
        blocks = [Block(rows, [whole], _ROW), Block(rows, parts, _ROW_BELOW_NAME), *bars]
    else:
        bars = _error_columns(rows, summaries, details, _ROW_OF_BARS)
        blocks = [Block(rows, [whole, *parts], _ROW), *bars]
    entries = _meanings(summaries, "score on the ladder")
    if any(block.number == NUMBER_WITH_N for block in blocks):
        entries.append(KeyEntry("n: responses judged", ()))
    if any(d.instruments[Rubric.ladder].sd_runs.value is not None for d in details):
        entries.append(KeyEntry("± SD over runs (run noise)", tuple(_whisker(-9, 9, 0))))
    return stacked(entries, blocks, width, _description(summaries))


def _whole(summaries: Sequence[Summary], details: Sequence[Detail]) -> Column:
    cells = [
        _cell("Overall", s.score, s.worst_at_n, s.n_epochs, bool(s.not_ranked))
        + _noise(s.score, d.instruments[Rubric.ladder].sd_runs)
        for s, d in zip(summaries, details, strict=True)
    ]
    return Column("Overall", cells, _OVERALL)


def _by_activity(summaries: Sequence[Summary]) -> list[Column]:
    found = [adl for adl in Adl if any(adl in s.by_adl for s in summaries)]
    return [Column(adl.capitalize(), [_activity(s, adl) for s in summaries]) for adl in found]


def _activity(summary: Summary, adl: Adl) -> list[Mark]:
    cell = summary.by_adl.get(adl)
    if cell is None:
        return []
    hollow = cell.small or bool(summary.not_ranked)
    return _cell(adl.capitalize(), cell.score, cell.worst_at_n, summary.n_epochs, hollow)


def _cell(part: str, score: Estimate, worst: Estimate, n_epochs: int, hollow: bool) -> list[Mark]:
    marks: list[Mark] = []
    if (at := place(score)) is not None:
        marks.append(Line(at.low, 0, at.high, 0))
        said = f"{part}, score: {in_full(score)}"
        marks.append(Point(at.value, 0, hollow=hollow, said=said))
    # the worst of one response is that response
    if n_epochs > 1 and (at := place(worst)) is not None:
        said = f"{part}, worst of {n_epochs}: {in_full(worst)}"
        marks.append(Point(at.value, 0, "triangle-down", "harm", hollow, said=said))
    return marks


def _noise(score: Estimate, sd_runs: Estimate) -> list[Mark]:
    """One standard deviation to either side, with ends as an interval has none."""
    if score.value is None or sd_runs.value is None:
        return []
    low, high = (rounded(score.value + sign * sd_runs.value) for sign in (-1, 1))
    return _whisker(low, high, _NOISE_BELOW)


def _whisker(low: float, high: float, y: float) -> list[Mark]:
    ends = [Line(x, y - 3, x, y + 3, "muted", 1) for x in (low, high)]
    return [Line(low, y, high, y, "muted", 1), *ends]


def _error_columns(
    rows: Sequence[str], summaries: Sequence[Summary], details: Sequence[Detail], height: int
) -> list[Block]:
    """A column a kind; beside a bar how many responses were judged, where entries differ in it."""
    judged = [{rubric: _judged(d, rubric) for rubric in Rubric} for d in details]
    differ = any(len({n[rubric] for n in judged} - {0}) > 1 for rubric in Rubric)
    columns = [
        Column(
            kind,
            [
                _bar(kind, colour, getattr(s, name), s, n[_rubric(name)] if differ else None)
                for s, n in zip(summaries, judged, strict=True)
            ],
        )
        for kind, colour, name in _KINDS
        if any(getattr(s, name) for s in summaries)
    ]
    number = NUMBER_WITH_N if differ else NUMBER
    return [Block(rows, columns, height, _most(summaries), number=number)] if columns else []


def _rubric(name: str) -> Rubric:
    return Rubric.actions if name.startswith("action") else Rubric.ladder


def _judged(detail: Detail, rubric: Rubric) -> int:
    """Responses that were judged on a rubric."""
    return sum(score is not None for s in detail.scenarios[rubric] for score in s.epochs)


def _error_rows(summary: Summary) -> list[Block]:
    found = [kind for kind in _KINDS if getattr(summary, kind[2]) is not None]
    if not found:
        return []
    cells = [_bar(kind, colour, getattr(summary, name), summary) for kind, colour, name in found]
    column = Column("Errors in its responses", cells)
    rows = [kind for kind, _, _ in found]
    return [Block(rows, [column], _ROW_OF_BARS, _most([summary]))]


def _bar(
    kind: str, colour: str, errors: Errors | None, summary: Summary, judged: int | None = None
) -> list[Mark]:
    if errors is None:
        return []
    n = "" if judged is None else f" (n {judged:,})"
    said = f"{kind}: {errors.count} in {summary.n_responses} responses"
    return [
        Box(0, -5, errors.count, 5, colour, bool(summary.not_ranked), said),
        Words(errors.count, 0, f"\N{THIN SPACE}{errors.count:,}{n}", size=SMALL),
    ]


def _most(summaries: Iterable[Summary]) -> int:
    found = [getattr(s, name) for s in summaries for _, _, name in _KINDS]
    return max((errors.count for errors in found if errors is not None), default=0)


def _share(kind: str, colour: str, found: Errors | None, summary: Summary) -> list[Mark]:
    if found is None or (at := place(found.per_response)) is None:
        return []
    said = f"{kind}: {in_full(found.per_response)}"
    hollow = bool(summary.not_ranked) or found.per_response.ci95 is None
    return [
        Line(at.low, 0, at.high, 0, colour),
        Point(at.value, 0, "square", colour, hollow, said=said),
    ]


def _meanings(summaries: Sequence[Summary], what: str) -> list[KeyEntry]:
    meaning = f"{what}, % of the points, with 95% interval"
    entries = [KeyEntry(meaning, (Line(-10, 0, 10, 0), Point(0, 0)))]
    if (n := epochs(summaries)) != "1":
        entries.append(KeyEntry(f"worst of {n}", (Point(0, 0, "triangle-down", "harm"),)))
    if any(s.not_ranked or any(c.small for c in s.by_adl.values()) for s in summaries):
        entries.append(HOLLOW)
    return entries


def _description(summaries: Sequence[Summary]) -> str:
    said = ["Score on the ladder, over all and by activity, with the errors beneath."]
    for name, s in zip(names(summaries), summaries, strict=True):
        parts = [f"{name}: score {in_full(s.score)}"]
        if s.n_epochs > 1:
            parts.append(f"worst of {s.n_epochs} {value(s.worst_at_n)}")
            parts.append(f"standard deviation over runs {spread(s.sd_runs)}")
        parts.append(_said_by_activity(s))
        parts += [
            f"{kind.lower()} {found.count:,}"
            for kind, _, field in _KINDS
            if (found := getattr(s, field)) is not None
        ]
        said.append("; ".join(parts) + ".")
    return " ".join(said)


def _said_by_activity(summary: Summary) -> str:
    return "; ".join(f"{adl.value} {value(cell.score)}" for adl, cell in summary.by_adl.items())
