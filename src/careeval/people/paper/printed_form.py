"""A rater's part of a study on paper: a form to print, and a sheet to type the answers into.

Form and sheet number the questions alike, in the rater's order. The sheet has a row for each
question, with all that `careeval.people.paper.typed_ratings` needs but the value: only that column
is filled in.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from careeval.core.rating import Scale
from careeval.core.scenario import Scenario
from careeval.people.deck import ItemRef, Question
from careeval.people.store import Work
from careeval.people.study.plan import Seat, StudyPlan
from careeval.people.study.questions import earlier_words, questions, revision_shown
from careeval.people.study.revision import earlier_answers
from careeval.people.web.pages import environment

COLUMNS = ("number", "rater", "scenario", "scale", "item", "value")


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
        about = self.question.about
        return f"{about.rubric}/{about.item.id}" if about else ""

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
    changes: Mapping[str, object]  # As of `revision_shown`

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
        before = earlier_answers(plan.rated(name), work)
        words = earlier_words(plan, scenarios[name], seat.id, before)
        for question in questions(plan, scenarios[name], seat.id, before):
            earlier = words.get(question.field, "")
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
        changes = revision_shown(plan, scenarios[name], seat.id, work)
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
    writer.writerow(COLUMNS)
    for asked in numbered_questions(plan, scenarios, seat, work):
        writer.writerow((asked.number, seat.id, asked.scenario, asked.scale, asked.item, ""))
    return out.getvalue()


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
    items: dict[int, ItemSheet] = {}
    for each in asked:
        if about := each.question.about:
            before = items[about.place].asked if about.place in items else ()
            items[about.place] = ItemSheet(about, (*before, each))
    return tuple(items.values())
