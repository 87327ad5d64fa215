"""Every response beside its rubric: what the page shows of the two tables, scenario by scenario.

Only what is public is taken. A held-out response, and one whose split is not known, is counted and
nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.scenario import Adl, Rubric, Split
from careeval.report.quotes import Segment, segments
from careeval.report.words import points, signed
from careeval.results.tables import Runs

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """One rubric item as a grader judged it.

    Attributes:
        label: Its place in the rubric: A, B … on the ladder, 1, 2 … among the actions.
        quoted: Whether words of the response are marked for it.
    """

    label: str
    points: int
    text: str
    present: bool | None
    reason: str
    quoted: bool

    @property
    def severity(self) -> str:
        """What the item is if it is present: `severe`, `mild` or, where it is no error, empty."""
        return {scoring.SEVERE: "severe", scoring.MILD: "mild"}.get(self.points, "")

    @property
    def signed(self) -> str:
        """Its points, with their sign."""
        return signed(self.points)

    @property
    def is_severe_error(self) -> bool:
        """Whether it is one and is present; an unresolved one is not counted."""
        return self.present is True and self.severity == "severe"


@dataclass(frozen=True)
class Graded:
    """One rubric of one response, its lines in the order in which they are read.

    Present items first, and the harms first of those; then unresolved, then absent ones.
    """

    rubric: Rubric
    lines: tuple[Line, ...]
    earned: str
    maximum: int


@dataclass(frozen=True)
class Grading:
    """One response as one grader judged it, its text cut where the grader quotes it."""

    grader: str
    rubrics: tuple[Graded, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Answer:
    """One system's response in one epoch; without gradings where nobody has graded it."""

    system: str
    epoch: int
    state: str
    text: str
    cut: bool
    note: str
    gradings: tuple[Grading, ...]

    @property
    def severe(self) -> bool:
        """Whether any grader found a severe error, on either rubric."""
        return any(
            line.is_severe_error for g in self.gradings for r in g.rubrics for line in r.lines
        )


@dataclass(frozen=True)
class Asked:
    """A scenario and all the responses to it."""

    id: str
    adl: str | None
    condition: str | None
    assistance: str | None
    situation: tuple[str, ...]
    actor: str | None
    text: str
    answers: tuple[Answer, ...]

    @property
    def n_severe(self) -> int:
        """Responses in which a severe error was found."""
        return sum(answer.severe for answer in self.answers)


@dataclass(frozen=True)
class Shown:
    """The public responses, by activity in the paper's order.

    Attributes:
        by_adl: Activity, or `None` where unknown → its scenarios in the order of their ids.
        n_shown: Responses in it.
        n_held_out: Responses left out because they are held out.
        n_unknown: Responses left out because their split is not known: their scenario never began.
    """

    by_adl: Mapping[str | None, tuple[Asked, ...]]
    n_shown: int
    n_held_out: int
    n_unknown: int


def shown(runs: Runs) -> Shown:
    """The responses that may be shown, each beside the first grading by each grader."""
    public = runs.responses.filter(pl.col("split") == Split.public.value)
    judged: dict[tuple[Any, ...], list[Row]] = {}
    first = runs.judgments.filter(pl.col("grading") == 1)
    for row in first.iter_rows(named=True):
        judged.setdefault((row["system"], row["scenario"], row["epoch"]), []).append(row)
    scenarios: dict[str, list[Row]] = {}
    for row in public.sort("scenario", "system", "epoch").iter_rows(named=True):
        scenarios.setdefault(row["scenario"], []).append(row)
    asked = [_asked(rows, judged) for rows in scenarios.values()]
    order = [*(adl.value for adl in Adl), *sorted({a.adl for a in asked if a.adl} - set(Adl)), None]
    by_adl = {adl: tuple(a for a in asked if a.adl == adl) for adl in order}
    return Shown(
        by_adl={adl: found for adl, found in by_adl.items() if found},
        n_shown=public.height,
        n_held_out=runs.responses.filter(pl.col("split") == Split.held_out.value).height,
        n_unknown=runs.responses["split"].null_count(),
    )


def _asked(rows: Sequence[Row], judged: Mapping[tuple[Any, ...], list[Row]]) -> Asked:
    first = rows[0]
    return Asked(
        id=first["scenario"],
        adl=first["adl"],
        condition=first["condition"],
        assistance=first["assistance"],
        situation=tuple(first["situation"] or ()),
        actor=first["actor"],
        text=first["scenario_text"] or "",
        answers=tuple(
            _answer(row, judged.get((row["system"], row["scenario"], row["epoch"]), []))
            for row in rows
        ),
    )


def _answer(row: Row, judgments: Sequence[Row]) -> Answer:
    by_grader: dict[str, list[Row]] = {}
    for judgment in judgments:
        by_grader.setdefault(judgment["grader"], []).append(judgment)
    text = row["text"] or ""
    return Answer(
        system=row["system"],
        epoch=row["epoch"],
        state=row["state"],
        text=text,
        cut=bool(row["cut"]),
        note=row["note"] or "",
        gradings=tuple(_grading(grader, text, found) for grader, found in by_grader.items()),
    )


def _grading(grader: str, text: str, judgments: Sequence[Row]) -> Grading:
    quotes = {_label(row): row["quote"] for row in judgments}
    cut = segments(text, quotes)
    quoted = {item for segment in cut for item in segment.items}
    rubrics = (
        _graded(rubric, [row for row in judgments if row["rubric"] == rubric.value], quoted)
        for rubric in Rubric
    )
    return Grading(grader, tuple(r for r in rubrics if r.lines), tuple(cut))


def _graded(rubric: Rubric, judgments: Sequence[Row], quoted: set[str]) -> Graded:
    lines = [
        Line(
            _label(row), row["points"], row["item_text"] or "", row["present"], row["reason"] or "",
            _label(row) in quoted,
        )
        for row in judgments
    ]  # fmt: skip
    worth = np.array([line.points for line in lines], dtype=np.int64)
    present = np.array([[np.nan if line.present is None else line.present for line in lines]])
    (low,), (high,) = scoring.scenario_points(worth, present)
    earned = points(low) if low == high else f"{points(low)} to {points(high)}"
    return Graded(rubric, tuple(sorted(lines, key=_reading_order)), earned, scoring.maximum(worth))


def _reading_order(line: Line) -> tuple[int, bool, int]:
    """Lines of equal rank keep the rubric's order."""
    state = {True: 0, None: 1, False: 2}[line.present]
    return (state, line.points >= 0, -abs(line.points)) if state == 0 else (state, False, 0)


def _label(judgment: Row) -> str:
    position = int(judgment["position"])
    if judgment["rubric"] == Rubric.actions.value:
        return str(position + 1)
    return chr(ord("A") + position) if position < 26 else f"L{position + 1}"
