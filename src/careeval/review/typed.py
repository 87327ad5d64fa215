"""Ratings that somebody types for a rater: from paper, or from the telephone.

A CSV file with the columns `rater`, `scenario`, `scale`, `item`, `value` and `comment`. `scale` is
realism, validity, relevance or points; with an item and no scale, relevance is meant. It is taken
whole or not at all, and never replaces what is there unless asked to.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from careeval.core.rating import Scale
from careeval.core.scenario import Scenario
from careeval.errors import ReviewError
from careeval.review.questions import AGREE, Question, questions
from careeval.review.store import Form, Store
from careeval.review.study import Seat, StudyPlan

NEEDED = ("rater", "scenario")
COLUMNS = (*NEEDED, "scale", "item", "value", "comment")

MOST_PROBLEMS = 20
"""Of a file, that are told at once."""

_POINTS = "points"


@dataclass
class Sheet:
    """What one rater said of one scenario.

    Attributes:
        place: Of the scenario in the rater's order, from 1.
        values: Answer by field.
    """

    rater: str
    task: str
    place: int
    values: dict[str, str] = field(default_factory=dict)


def read_sheets(
    path: Path,
    plan: StudyPlan,
    scenarios: Mapping[str, Scenario],
    store: Store,
    *,
    replace: bool = False,
) -> tuple[Sheet, ...]:
    """What a file says, checked against the plan and against what is there already.

    Args:
        path: The file, separated by commas or semicolons.
        plan: The newest round.
        scenarios: Its scenarios, as they are shown.
        store: The study's.
        replace: Whether a different answer that is there may be replaced.

    Raises:
        ReviewError: With the line of each problem.
    """
    reader = _Reader(plan, scenarios, store, replace)
    problems = []
    try:
        for line, row in _rows(path):
            try:
                reader.take(line, row)
            except ValueError as error:
                problems.append(f"{path}:{line}: {error}")
    except UnicodeDecodeError as error:
        raise ReviewError(f"{path}: not UTF-8", hint="save it as CSV UTF-8") from error
    if problems:
        more = len(problems) - MOST_PROBLEMS
        told = [*problems[:MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
        raise ReviewError("\n".join(told), hint="nothing of the file was taken")
    return tuple(reader.sheets.values())


def save_sheets(store: Store, sheets: tuple[Sheet, ...], typed_by: str) -> int:
    """Keep them, under the name or role of who typed; how many answers are new or changed.

    Raises:
        ReviewError: The work is closed or a link is switched off, and nothing is saved; or the file
            cannot be written, and the same again goes on where it stopped.
    """
    for rater, task in {sheet.rater: sheet.task for sheet in sheets}.items():
        # to save nothing is refused where saving is, before the first is saved
        store.save(rater, task, {}, Form.new(store.newest(rater, task)))
    n = 0
    for sheet in sheets:
        form = Form.new(store.newest(sheet.rater, sheet.task))
        saved = store.save(
            sheet.rater, sheet.task, sheet.values, form, place=sheet.place, typed_by=typed_by
        )
        n += len(saved.changed)
    return n


class _Reader:
    def __init__(
        self, plan: StudyPlan, scenarios: Mapping[str, Scenario], store: Store, replace: bool
    ) -> None:
        self.plan, self.scenarios, self.store, self.replace = plan, scenarios, store, replace
        self.present = {rater.id for rater in store.raters()}
        self.sheets: dict[tuple[str, str], Sheet] = {}
        self._lines: dict[tuple[str, str, str], int] = {}

    def take(self, line: int, row: Mapping[str, str]) -> None:
        """Note what a row says.

        Raises:
            ValueError: It is no answer to a question of this study, or it is given twice.
        """
        seat = self._seat(row["rater"])
        name = row["scenario"]
        if name not in seat.scenarios:
            raise ValueError(f"{name!r} is not among the scenarios of {seat.id}")
        asked = questions(self.plan, self.scenarios[name], seat.id)
        place = seat.scenarios.index(name) + 1
        task = self.plan.task(name)
        said = [(_question(asked, row), row["value"])] if row["value"] else []
        if row["comment"]:
            said.append((_comment(asked, row), row["comment"]))
        if not said:
            raise ValueError("neither a value nor a comment")
        standing = self.store.answers(seat.id, task)
        for question, text in said:
            text = _tidy(question, text)
            if question.choices and text not in question.choices:
                expected = ", ".join(question.choices)
                raise ValueError(f"{question.field} is {text!r}; expected {expected}")
            answer = question.read(text)
            if answer is None:
                continue
            where = (seat.id, task, question.field)
            if where in self._lines:
                raise ValueError(f"{question.field} is in line {self._lines[where]} too")
            there = standing.get(question.field)
            if there is not None and there.value != answer and not self.replace:
                raise ValueError(f"{seat.id} has answered {question.field} already: {there.value}")
            self._lines[where] = line
            sheet = self.sheets.setdefault((seat.id, task), Sheet(seat.id, task, place))
            sheet.values[question.field] = answer

    def _seat(self, rater: str) -> Seat:
        seat = self.plan.seat(rater) if rater in self.present else None
        if seat is None:
            raise ValueError(f"there is no rater {rater!r} in round {self.plan.round}")
        return seat


def _question(asked: tuple[Question, ...], row: Mapping[str, str]) -> Question:
    kind = row["scale"].lower() or (Scale.relevance.value if row["item"] else "")
    kinds = (*(scale.value for scale in Scale), _POINTS)
    if kind not in kinds:
        raise ValueError(f"scale {row['scale']!r}; expected {', '.join(kinds)}")
    fitting = [q for q in asked if q.kind == kind and _is_about(q, row["item"])]
    if len(fitting) != 1:
        raise ValueError(_not_asked(kind, row["item"], len(fitting)))
    return fitting[0]


def _comment(asked: tuple[Question, ...], row: Mapping[str, str]) -> Question:
    fitting = [q for q in asked if q.kind == "comment" and _is_about(q, row["item"])]
    if len(fitting) != 1:
        raise ValueError(_not_asked("a comment", row["item"], len(fitting)))
    return fitting[0]


def _is_about(question: Question, item: str) -> bool:
    if question.about is None:
        return not item
    name = question.about.item.id
    return item in (name, f"{question.about.rubric}/{name}")


def _not_asked(kind: str, item: str, n: int) -> str:
    of = f"item {item!r}" if item else "the scenario itself"
    if n:
        return f"{item!r} is in both rubrics: write ladder/{item} or actions/{item}"
    return f"{kind} is not asked of {of}"


def _tidy(question: Question, text: str) -> str:
    """An answer as it is chosen: what a spreadsheet makes of +1, or of a minus, is still that."""
    if question.kind == "comment":
        return text
    text = text.lower().replace("−", "-").removeprefix("+").removesuffix(".0")
    if question.kind == _POINTS and question.about and text == str(question.about.item.points):
        return AGREE
    return text


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Each row with the number of its last line; every column there, empty where it is not."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        head = file.readline()
        file.seek(0)
        reader = csv.reader(file, delimiter=";" if head.count(";") > head.count(",") else ",")
        try:
            names = [name.strip().lower() for name in next(reader, [])]
            if missing := [name for name in NEEDED if name not in names]:
                raise ReviewError(
                    f"{path}:1: no column {', '.join(missing)}; there are "
                    f"{', '.join(names) or 'none'}",
                    hint=",".join(COLUMNS),
                )
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    found = dict(zip(names, (cell.strip() for cell in cells), strict=False))
                    yield reader.line_num, {name: found.get(name, "") for name in COLUMNS}
        except csv.Error as error:
            raise ReviewError(f"{path}:{reader.line_num}: {error}") from error
