"""A study on paper: forms to print, sheets to type into, and the ratings typed from them.

Form and sheet number the questions alike, in the rater's order. The sheet has a row for each
question, with all that `read_typed_ratings` needs but the value: only that column is filled in.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from careeval.core.rating import Scale
from careeval.core.scenario import Scenario
from careeval.errors import UsageError
from careeval.people.deck import ItemRef, Question
from careeval.people.store import Store, Work
from careeval.people.study.plan import Seat, StudyPlan
from careeval.people.study.questions import AGREE, HANDED_IN, ScenarioQuestions, item_of
from careeval.people.typed_forms import TypedPage, TypedPages, read_rows
from careeval.people.web.pages import environment

_COLUMNS = ("number", "rater", "scenario", "scale", "item", "value")


@dataclass(frozen=True, slots=True)
class NumberedQuestion:
    """One question on paper, with its number."""

    number: int
    """Its number among the rater's questions, from 1; form and sheet have the same number."""
    scenario: str  # The id of its scenario
    question: Question  # The question
    before: str = ""  # The rater's answer of an earlier round, as text; empty if there is none

    @property
    def scale(self) -> str:
        """The word for the kind of answer in the sheet's `scale` column."""
        kind = self.question.kind
        return kind.value if isinstance(kind, Scale) else kind

    @property
    def item(self) -> str:
        """The item as `careeval study import` reads it; empty if the question is about no item.

        The rubric before the id keeps spreadsheets from taking the id for a number.
        """
        return item_of(self.question)

    def beside(self, value: str, words: str) -> str:
        """Return the text beside a box to tick; only the number if the form explains it above."""
        return value if self.question.about and value in self.question.keys else words


@dataclass(frozen=True, slots=True)
class ItemSheet:
    """A rubric item with the questions about it, as the form prints them."""

    about: ItemRef
    asked: tuple[NumberedQuestion, ...]


@dataclass(frozen=True, slots=True)
class ScenarioSheet:
    """A scenario with its questions, as the form prints them."""

    scenario: Scenario
    own: tuple[NumberedQuestion, ...]  # The questions about the scenario itself
    items: tuple[ItemSheet, ...]  # The items with their questions that are not late
    late: tuple[ItemSheet, ...]  # The items with their late questions
    changes: Mapping[str, object]  # As of `ScenarioQuestions.revision_shown`

    @property
    def scales(self) -> Mapping[str, tuple[str, ...]]:
        """Text of a question about items → what its numbers mean, printed once for all items."""
        asked = (each.question for item in self.items for each in item.asked)
        return {q.text: tuple(w for v, w in q.options if v in q.keys) for q in asked if q.keys}


def numbered_questions(
    plan: StudyPlan, scenarios: Mapping[str, Scenario], seat: Seat, work: Work
) -> tuple[NumberedQuestion, ...]:
    """Return all questions on a rater's scenarios that the app would ask, numbered in order."""
    asked: list[NumberedQuestion] = []
    for name in seat.scenarios:
        questions = ScenarioQuestions(plan, scenarios[name], seat.id, work)
        for question in questions.asked:
            earlier = questions.earlier_words.get(question.field, "")
            asked.append(NumberedQuestion(len(asked) + 1, name, question, earlier))
    return tuple(asked)


def render_form(
    plan: StudyPlan,
    scenarios: Mapping[str, Scenario],
    seat: Seat,
    work: Work,
    *,
    large: bool = False,
) -> str:
    """Return the form: one HTML file with all that it needs, and no script.

    The form has no item ids, since a ladder item's id tells its points; the sheet has them.

    Args:
        plan: The newest round.
        scenarios: Its scenarios, as they are shown.
        seat: The rater's seat.
        work: All answers of the rater, in earlier rounds too.
        large: Whether to print in 18 points, large print; else in 12, the least that is clear.
    """
    everything = numbered_questions(plan, scenarios, seat, work)
    sheets = []
    for name in seat.scenarios:
        changes = ScenarioQuestions(plan, scenarios[name], seat.id, work).revision_shown
        asked = [each for each in everything if each.scenario == name]
        sheets.append(_sheet(scenarios[name], asked, changes))
    return (
        environment()
        .get_template("paper.html")
        .render(plan=plan, seat=seat, sheets=sheets, size="18pt" if large else "12pt")
    )


def sheet_csv(plan: StudyPlan, scenarios: Mapping[str, Scenario], seat: Seat, work: Work) -> str:
    """Return the sheet as CSV: a row for each question, its value empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for asked in numbered_questions(plan, scenarios, seat, work):
        writer.writerow((asked.number, seat.id, asked.scenario, asked.scale, asked.item, ""))
    return out.getvalue()


def seats_to_print(plan: StudyPlan, store: Store, wanted: Sequence[str]) -> list[Seat]:
    """Return the seats of these raters, or of everybody in a round, for whom to print forms.

    Raises:
        UsageError: Somebody is not in the round, nobody is left, or a rater has still to hand in
            own answers: forms show the rubric.
    """
    present = {rater.id for rater in store.raters()}
    seats = {seat.id: seat for seat in plan.seats if seat.id in present}
    for rater in wanted:
        if rater not in seats:
            raise UsageError(
                f"round {plan.round} has no rater {rater!r}, or they have withdrawn",
                hint=f"choose from {', '.join(seats) or 'none'}",
            )
    chosen = [seats[rater] for rater in dict.fromkeys(wanted)] or list(seats.values())
    if not chosen:
        raise UsageError(
            f"all raters of round {plan.round} have withdrawn, so there is no form to print",
            hint="invite raters: careeval study invite",
        )
    not_handed_in = [
        seat.id for seat in chosen if seat.answers and not store.answers(seat.id, HANDED_IN)
    ]
    if not_handed_in:
        raise UsageError(
            "forms show the rubric, but these raters have not handed in their own answers yet: "
            f"{', '.join(not_handed_in)}",
            hint="let them hand in through the app, then print; or name other raters",
        )
    return chosen


def paper_files(
    plan: StudyPlan,
    scenarios: Mapping[str, Scenario],
    seats: Iterable[Seat],
    works: Mapping[str, Work],
    *,
    large: bool,
    sheets: bool,
) -> dict[str, str]:
    """Return file name → text of each rater's form and, if asked for, of its sheet."""
    texts = {}
    for seat in seats:
        work = works.get(seat.id, {})
        texts[f"{seat.id}.html"] = render_form(plan, scenarios, seat, work, large=large)
        if sheets:
            # with a byte order mark, without which spreadsheets may not read UTF-8
            texts[f"{seat.id}.csv"] = f"\ufeff{sheet_csv(plan, scenarios, seat, work)}"
    return texts


def _sheet(
    scenario: Scenario, asked: Iterable[NumberedQuestion], changes: Mapping[str, object]
) -> ScenarioSheet:
    every = list(asked)
    return ScenarioSheet(
        scenario,
        tuple(each for each in every if not each.question.about),
        _by_item(each for each in every if not each.question.late),
        _by_item(each for each in every if each.question.late),
        changes,
    )


def _by_item(asked: Iterable[NumberedQuestion]) -> tuple[ItemSheet, ...]:
    of_items = ((each.question.about, each) for each in asked if each.question.about)
    groups = groupby(of_items, key=lambda pair: pair[0])
    return tuple(ItemSheet(about, tuple(each for _, each in pairs)) for about, pairs in groups)


_KINDS = (*map(str, Scale), "points", "information", "comment", "missing", "country")
"""The words for kinds of questions in the sheet's `scale` column."""


def read_typed_ratings(
    path: Path,
    plan: StudyPlan,
    scenarios: Mapping[str, Scenario],
    store: Store,
    *,
    replace: bool = False,
) -> tuple[TypedPage, ...]:
    """Return the ratings of a file, checked against the plan and against earlier answers.

    The columns are `rater`, `scenario`, `scale`, `item`, `value` and `comment`. An empty `scale` is
    relevance where an item is named. A row with neither value nor comment is skipped.

    Args:
        path: The file, separated by commas or semicolons.
        plan: The newest round.
        scenarios: Its scenarios, as they are shown.
        store: The study's.
        replace: Whether earlier answers may be replaced by different ones.

    Raises:
        ReviewError: A row cannot be used; the message names the line of each problem.
    """
    pages = TypedPages(store, replace=replace)
    owing = {
        seat.id for seat in plan.seats if seat.answers and not store.answers(seat.id, HANDED_IN)
    }

    def take(line: int, row: Mapping[str, str]) -> None:
        seat = plan.seat(row["rater"]) if pages.has(row["rater"]) else None
        if seat is None:
            raise ValueError(
                f"{row['rater']!r} is not a rater in round {plan.round}, or has withdrawn"
            )
        if seat.id in owing:
            raise ValueError(
                f"{seat.id} has not handed in their own answers yet, so their ratings cannot be "
                "imported: let them answer or decline in the app, then import again"
            )
        name = row["scenario"]
        if name not in seat.scenarios:
            raise ValueError(f"{name!r} is not a scenario that {seat.id} rates")
        asked = ScenarioQuestions(plan, scenarios[name], seat.id).answerable
        answers = [(_question(asked, row), row["value"])] if row["value"] else []
        if row["comment"]:
            answers.append((_of_kind("comment", "a comment", asked, row["item"]), row["comment"]))
        if not answers:
            return  # the printed sheet has a row for every question
        page = pages.page(seat.id, plan.task(name), seat.scenarios.index(name) + 1)
        for question, text in answers:
            tidy = _tidy(question, text)
            if question.choices and tidy not in question.choices:
                expected = ", ".join(question.choices)
                raise ValueError(f"{question.field} must be one of {expected}, not {tidy!r}")
            pages.note(page, question, tidy, line)

    needed = ("rater", "scenario")
    read_rows(path, needed, (*needed, "scale", "item", "value", "comment"), take)
    return pages.filled()


def _question(asked: tuple[Question, ...], row: Mapping[str, str]) -> Question:
    kind = row["scale"].lower() or (Scale.relevance.value if row["item"] else "")
    if kind not in _KINDS:
        raise ValueError(f"scale must be one of {', '.join(_KINDS)}, not {row['scale']!r}")
    return _of_kind(kind, kind, asked, row["item"])


def _of_kind(kind: str, called: str, asked: tuple[Question, ...], item: str) -> Question:
    """Return the question of this kind about an item, or about the scenario itself."""
    fitting = [q for q in asked if q.kind == kind and _is_about(q, item)]
    if len(fitting) > 1:
        raise ValueError(f"{item!r} is in both rubrics: write ladder/{item} or actions/{item}")
    if not fitting:
        subject = f"item {item!r}, or has no such item" if item else "the scenario itself"
        raise ValueError(f"this study does not ask for {called} on {subject}")
    return fitting[0]


def _is_about(question: Question, item: str) -> bool:
    if question.about is None:
        return not item
    name = question.about.item.id
    return item in (name, f"{question.about.rubric}/{name}")


def _tidy(question: Question, text: str) -> str:
    """Return the option that an answer means, although a spreadsheet may have changed +1 to 1.0."""
    if not question.options:
        return text
    text = text.lower().replace("−", "-").removeprefix("+").removesuffix(".0")
    if question.kind == "points" and question.about and text == str(question.about.item.points):
        return AGREE
    return text
