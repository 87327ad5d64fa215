"""A rater's share of a study on paper: a form to print, and the sheet that it is typed into.

Both number the questions alike, in the rater's order. The sheet has a row for each of them, with
all that `careeval.review.paper.typed_ratings` reads but the value: to type a form is to fill in
one column.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from careeval.core.rating import Scale
from careeval.core.scenario import Scenario
from careeval.review.question import ItemRef, Question
from careeval.review.store import Work
from careeval.review.study.plan import Seat, StudyPlan
from careeval.review.study.questions import earlier_words, questions, revision_shown
from careeval.review.study.revision import earlier_answers
from careeval.review.web.pages import environment

COLUMNS = ("number", "rater", "scenario", "scale", "item", "value")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question on paper.

    Attributes:
        number: Of the rater's questions, from 1; the same on the form and in the sheet.
        scenario: Its id.
        question: What is asked.
        before: What the rater answered in an earlier round, in words; empty where nothing.
    """

    number: int
    scenario: str
    question: Question
    before: str = ""

    @property
    def scale(self) -> str:
        """What kind of answer it is, as `study import` names it."""
        kind = self.question.kind
        return kind.value if isinstance(kind, Scale) else kind

    @property
    def item(self) -> str:
        """As `study import` takes it, with its rubric, which no spreadsheet reads as a number."""
        about = self.question.about
        return f"{about.rubric}/{about.item.id}" if about else ""

    def beside(self, value: str, words: str) -> str:
        """Return what stands beside a box: of an item's number, whose words stand above, that."""
        return value if self.question.about and value in self.question.keys else words


@dataclass(frozen=True, slots=True)
class ItemSheet:
    """An item with its questions."""

    about: ItemRef
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class ScenarioSheet:
    """A scenario with its questions: about itself, about each item, and late ones about each."""

    scenario: Scenario
    own: tuple[Asked, ...]
    items: tuple[ItemSheet, ...]
    late: tuple[ItemSheet, ...]
    changes: Mapping[str, object]

    @property
    def scales(self) -> Mapping[str, tuple[str, ...]]:
        """What is asked of items on a scale → what its numbers mean, said once for all items."""
        asked = (each.question for item in self.items for each in item.asked)
        return {q.asked: tuple(w for v, w in q.options if v in q.keys) for q in asked if q.keys}


def numbered(
    plan: StudyPlan, scenarios: Mapping[str, Scenario], seat: Seat, work: Work
) -> tuple[Asked, ...]:
    """Return every question that the app asks a rater, in the rater's order."""
    asked: list[Asked] = []
    for name in seat.scenarios:
        before = earlier_answers(plan.rated(name), work)
        words = earlier_words(plan, scenarios[name], seat.id, before)
        for question in questions(plan, scenarios[name], seat.id, before):
            given = words.get(question.field, "")
            asked.append(Asked(len(asked) + 1, name, question, given))
    return tuple(asked)


def form(
    plan: StudyPlan,
    scenarios: Mapping[str, Scenario],
    seat: Seat,
    work: Work,
    *,
    large: bool = False,
) -> str:
    """Return the form: one HTML file with all that it needs, and no script.

    No item's id stands there, since a ladder's tells its points: the sheet has them.

    Args:
        plan: The newest round.
        scenarios: Its scenarios, as they are shown.
        seat: Whose.
        work: All that the rater answered, in earlier rounds too.
        large: Whether its print is large, 18 points; else 12, the least that is clear print.
    """
    everything = numbered(plan, scenarios, seat, work)
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
    for asked in numbered(plan, scenarios, seat, work):
        writer.writerow((asked.number, seat.id, asked.scenario, asked.scale, asked.item, ""))
    return out.getvalue()


def _sheet(
    scenario: Scenario, asked: Iterable[Asked], changes: Mapping[str, object]
) -> ScenarioSheet:
    every = list(asked)
    return ScenarioSheet(
        scenario,
        tuple(each for each in every if not each.question.about),
        _by_item(each for each in every if not each.question.late),
        _by_item(each for each in every if each.question.late),
        changes,
    )


def _by_item(asked: Iterable[Asked]) -> tuple[ItemSheet, ...]:
    items: dict[int, ItemSheet] = {}
    for each in asked:
        if about := each.question.about:
            before = items[about.place].asked if about.place in items else ()
            items[about.place] = ItemSheet(about, (*before, each))
    return tuple(items.values())
