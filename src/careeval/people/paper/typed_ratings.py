"""Ratings that somebody types for a rater, from paper or from the telephone.

The ratings are in a CSV file with the columns `rater`, `scenario`, `scale`, `item`, `value` and
`comment`. `scale` is realism, validity, relevance, points, information, comment, missing or
country; if it is empty and an item is named, relevance. A row with neither value nor comment is
skipped. The file is saved whole or not at all, and never replaces earlier answers unless asked to.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from careeval.core.rating import Scale
from careeval.core.scenario import Scenario
from careeval.people.deck import Question
from careeval.people.filled_forms import read_rows
from careeval.people.forms import FormChange, FormId, clean
from careeval.people.store import Store
from careeval.people.study.own_answers import HANDED_IN, has_handed_in
from careeval.people.study.plan import Seat, StudyPlan
from careeval.people.study.questions import AGREE, answerable_questions

NEEDED = ("rater", "scenario")
COLUMNS = (*NEEDED, "scale", "item", "value", "comment")

_POINTS = "points"
WORDS = ("comment", "missing", "country")
"""Kinds of questions whose answers are free text."""


@dataclass
class TypedPage:
    """The answers typed for one rater that belong on one page of the app."""

    rater: str
    task: str
    place: int | None  # The place of the page in the rater's order, from 1; None if it has none
    seen: int  # The number of the task's newest event (`Store.newest`) when the file was read
    values: dict[str, str] = field(default_factory=dict)  # Answer by field


class TypedPages:
    """The answers in the rows of a file, page by page, checked against each other and the store.

    Args:
        store: The study's or the audit's.
        replace: Whether earlier answers may be replaced by different ones.
    """

    def __init__(self, store: Store, *, replace: bool = False) -> None:
        self._store, self._replace = store, replace
        self._present = {rater.id for rater in store.raters()}
        self._revoked = store.revoked_ids()
        self._pages: dict[tuple[str, str], TypedPage] = {}
        self._lines: dict[tuple[str, str, str], int] = {}

    def has(self, rater: str) -> bool:
        """Tell whether this id is that of a rater who has not withdrawn.

        Raises:
            ValueError: Their link is switched off, so that nothing could be saved for them.
        """
        if rater in self._revoked:
            raise ValueError(
                f"the link of {rater} is switched off, so nothing can be saved for them"
            )
        return rater in self._present

    def page(self, rater: str, task: str, place: int | None) -> TypedPage:
        """Return the answers typed for a rater's page; a new, empty one if none has been noted."""
        key = (rater, task)
        if key not in self._pages:
            self._pages[key] = TypedPage(rater, task, place, self._store.newest(rater, task))
        return self._pages[key]

    def note(
        self, page: TypedPage, question: Question, text: str, line: int, column: str = ""
    ) -> None:
        """Note an answer from a line of the file.

        Args:
            page: The page that the question is on.
            question: The question.
            text: The answer as typed; without an answer, nothing is noted.
            line: The number of the line.
            column: The column of the answer, to name it in messages; its field if not given.

        Raises:
            ValueError: The text is not a valid answer, or the question is answered already: in
                another line, or differently in the store while `replace` is false.
        """
        answer = question.read(clean(text))
        if answer is None:
            return
        name, called = question.field, column or question.field
        key = (page.rater, page.task, name)
        if key in self._lines:
            raise ValueError(
                f"{page.rater} answers {called} twice, here and on line {self._lines[key]}: keep "
                "one of the two answers"
            )
        stored = self._store.answers(page.rater, page.task).get(name)
        if stored is not None and stored.value != answer and not self._replace:
            raise ValueError(
                f"{page.rater} has answered {called} already, with {stored.value!r}; --replace "
                "replaces it"
            )
        self._lines[key] = line
        page.values[name] = answer

    def filled(self) -> tuple[TypedPage, ...]:
        """Return the pages for which answers were typed."""
        return tuple(page for page in self._pages.values() if page.values)


def read_typed_ratings(
    path: Path,
    plan: StudyPlan,
    scenarios: Mapping[str, Scenario],
    store: Store,
    *,
    replace: bool = False,
) -> tuple[TypedPage, ...]:
    """Return the ratings of a file, checked against the plan and against earlier answers.

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
        seat.id
        for seat in plan.seats
        if seat.answers and not has_handed_in(store.answers(seat.id, HANDED_IN))
    }
    reader = _RatingReader(plan, scenarios, pages, owing)
    read_rows(path, NEEDED, COLUMNS, reader.take)
    return pages.filled()


def save_typed_pages(store: Store, pages: Sequence[TypedPage], typed_by: str) -> int:
    """Save typed pages, and return how many answers are new or changed.

    Args:
        store: The study's or the audit's.
        pages: The typed pages.
        typed_by: The name or role of who typed them.

    Raises:
        ReviewError: The work is closed, a link is switched off, somebody has answered the same
            since the file was read, or the store cannot be written: nothing is saved.
    """
    changes = [
        FormChange(each.rater, each.task, each.values, FormId.new(each.seen), each.place, typed_by)
        for each in pages
    ]
    return sum(len(saved.changed) for saved in store.save_all(changes, overwrite=False))


class _RatingReader:
    def __init__(
        self,
        plan: StudyPlan,
        scenarios: Mapping[str, Scenario],
        pages: TypedPages,
        owing: Collection[str],
    ) -> None:
        self.plan, self.scenarios, self.pages, self.owing = plan, scenarios, pages, owing

    def take(self, line: int, row: Mapping[str, str]) -> None:
        """Note the answers of a row.

        Raises:
            ValueError: A value does not answer a question of this study, or is a duplicate.
        """
        seat = self._seat(row["rater"])
        name = row["scenario"]
        if name not in seat.scenarios:
            raise ValueError(f"{name!r} is not a scenario that {seat.id} rates")
        asked = answerable_questions(self.plan, self.scenarios[name], seat.id)
        answers = [(_question(asked, row), row["value"])] if row["value"] else []
        if row["comment"]:
            answers.append((_comment(asked, row), row["comment"]))
        if not answers:
            return  # the printed sheet has a row for every question
        place = seat.scenarios.index(name) + 1
        page = self.pages.page(seat.id, self.plan.task(name), place)
        for question, text in answers:
            tidy = _tidy(question, text)
            if question.choices and tidy not in question.choices:
                expected = ", ".join(question.choices)
                raise ValueError(f"{question.field} must be one of {expected}, not {tidy!r}")
            self.pages.note(page, question, tidy, line)

    def _seat(self, rater: str) -> Seat:
        seat = self.plan.seat(rater) if self.pages.has(rater) else None
        if seat is None:
            raise ValueError(
                f"{rater!r} is not a rater in round {self.plan.round}, or has withdrawn"
            )
        if rater in self.owing:
            raise ValueError(
                f"{rater} has not handed in their own answers yet, so their ratings cannot be "
                "imported: let them answer or decline in the app, then import again"
            )
        return seat


def _question(asked: tuple[Question, ...], row: Mapping[str, str]) -> Question:
    kind = row["scale"].lower() or (Scale.relevance.value if row["item"] else "")
    kinds = (*(scale.value for scale in Scale), _POINTS, "information", *WORDS)
    if kind not in kinds:
        raise ValueError(f"scale must be one of {', '.join(kinds)}, not {row['scale']!r}")
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
    subject = f"item {item!r}, or has no such item" if item else "the scenario itself"
    if n:
        return f"{item!r} is in both rubrics: write ladder/{item} or actions/{item}"
    return f"this study does not ask for {kind} on {subject}"


def _tidy(question: Question, text: str) -> str:
    """Return the option that an answer means, although a spreadsheet may have changed +1 to 1.0."""
    if not question.options:
        return text
    text = text.lower().replace("−", "-").removeprefix("+").removesuffix(".0")
    if question.kind == _POINTS and question.about and text == str(question.about.item.points):
        return AGREE
    return text
