"""A deck: the cards of a seat, the fields of a card, and the gate that says what is complete.

To rate scenarios, to write answers of one's own, to label judgments and to settle disputes are four
decks; `careeval.review.web.deck_pages` serves them all. No I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from careeval.review.changes import Form, Saved
from careeval.review.forms import ANSWER
from careeval.review.question import Progress, Question, first_open, missing, progress
from careeval.review.store import Answer, Work

Answers = Mapping[str, Answer]
"""What stands on a card, by field."""

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Card:
    """One page of a seat.

    Attributes:
        task: What the store calls its answers.
        called: What lists call it.
        questions: What it asks, in order.
        shows: What its template shows besides the questions, given the answers.
        minutes: How long it may take.
        group: Of the cards that lists show together, from 1; 0 where they show all in one.
        before: What somebody answered to its questions in earlier rounds, in words by field.
    """

    task: str
    called: str
    questions: tuple[Question, ...]
    shows: Callable[[Answers], Mapping[str, Any]]
    minutes: float
    group: int = 0
    before: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PracticeCard:
    """A made-up card to try the questions on. What is answered to it is kept nowhere.

    Attributes:
        template: Its page.
        notes: What there is to notice, a note a question.
        shows: What its template shows besides the questions.
    """

    template: str
    questions: tuple[Question, ...]
    notes: tuple[str, ...]
    shows: Mapping[str, Any]


@dataclass(frozen=True)
class Gap:
    """A card that is not complete.

    Attributes:
        n: Its place in the deck, from 1.
        count: Questions that want an answer.
        whole: Whether these are all that it asks for.
        first: The address of the first of them.
    """

    n: int
    called: str
    count: int
    whole: bool
    first: str


@dataclass(frozen=True)
class Deck:
    """The cards of a seat that are worked through one after the other, and then finished.

    Attributes:
        path: The address of its cards, less their number.
        unit: What a card is called: "scenario".
        title: What a card's page is called, less its number.
        template: Of a card's page.
        cards: In the order of the seat.
        note: The task and the field by which the store knows that the deck is finished.
        finished: Whether somebody has said to have finished.
        end: The address of the page that finishes it.
        end_template: Its template.
        end_titles: What that page is called before, and after.
        final: Whether nothing can be changed once it is finished.
        stands_template: Of a card's page from then on; empty where cards are shown no more.
        declines: Whether to skip a card says that one would rather not.
        waits: Whether it cannot be begun yet.
    """

    path: str
    unit: str
    title: str
    template: str
    cards: tuple[Card, ...]
    note: tuple[str, str]
    finished: bool
    end: str = "/finish"
    end_template: str = "finish"
    end_titles: tuple[str, str] = ("Finish", "Thank you")
    final: bool = False
    stands_template: str = ""
    declines: bool = False
    waits: bool = False

    @property
    def stands(self) -> bool:
        """Whether nothing of it can be changed any more."""
        return self.final and self.finished

    def states(self, work: Work) -> tuple[Progress, ...]:
        """Return how far somebody is with each card."""
        return tuple(
            progress(card.questions, work.get(card.task, {}), declines=self.declines)
            for card in self.cards
        )

    def first_open(self, states: Sequence[Progress]) -> int | None:
        """Return the card, from 1, where somebody goes on; None where none is left."""
        if not self.declines:
            return first_open(states)
        return next((n for n, s in enumerate(states, 1) if s is Progress.untouched), None)

    def goes_on(self, states: Sequence[Progress]) -> str:
        """Return the address where somebody goes on."""
        n = self.first_open(states)
        return f"{self.path}/{n}" if n else self.end

    def gaps(self, work: Work) -> list[Gap]:
        """Return the cards that are not complete."""
        gaps = []
        for n, card in enumerate(self.cards, 1):
            asked = card.questions
            if wanted := missing(asked, work.get(card.task, {})):
                first = f"{self.path}/{n}?missing=1#q{asked.index(wanted[0]) + 1}"
                whole = len(wanted) == sum(question.required for question in asked)
                gaps.append(Gap(n, card.called, len(wanted), whole, first))
        return gaps

    def minutes(self, work: Work) -> float:
        """Return how long the cards that want work may take, each counted whole."""
        done = (Progress.done, Progress.skipped) if self.declines else (Progress.done,)
        states = zip(self.cards, self.states(work), strict=True)
        return 0.0 if self.stands else sum(c.minutes for c, state in states if state not in done)


@dataclass(frozen=True)
class Typed:
    """What a form says of a card's questions.

    Attributes:
        values: By field, what can be kept.
        errors: By field, why something cannot.
        raw: By field, as it was typed.
    """

    values: Mapping[str, str | None] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """A question as it stands on a page.

    Attributes:
        id: Of its first input, where links to it lead.
        value: What is chosen or typed.
        error: Why it is not saved; empty where it is.
        before: What was answered in an earlier round, in words; empty where nothing was.
    """

    question: Question
    id: str
    value: str
    error: str = ""
    before: str = ""

    @property
    def name(self) -> str:
        """What its inputs are called."""
        return ANSWER + self.question.name

    @property
    def called(self) -> str:
        """The question as links to it say it, with its item."""
        about = self.question.about
        return f"Item {about.place}: {self.question.asked}" if about else self.question.asked


def fields(
    asked: Sequence[Question],
    answers: Mapping[str, str],
    typed: Typed,
    before: Mapping[str, str] = NOTHING,
) -> list[Field]:
    """Return questions with what is stored, or with what was typed and could not be kept."""
    shown = []
    for k, question in enumerate(asked, 1):
        error = typed.errors.get(question.field, "")
        value = typed.raw[question.field] if error else answers.get(question.field, "")
        shown.append(Field(question, f"q{k}", value, error, before.get(question.field, "")))
    return shown


def by_item(shown: Iterable[Field]) -> list[tuple[Field, ...]]:
    """Return the fields about items, each item's together."""
    items: dict[int, list[Field]] = {}
    for each in shown:
        if about := each.question.about:
            items.setdefault(about.place, []).append(each)
    return [tuple(items[place]) for place in sorted(items)]


def read_typed(form: Mapping[str, str], asked: Sequence[Question]) -> Typed | None:
    """Return what a form says; None where it answers what is not asked."""
    raw = {
        name.removeprefix(ANSWER): text for name, text in form.items() if name.startswith(ANSWER)
    }
    if raw.keys() - {question.name for question in asked}:
        return None
    raw = {question.field: raw[question.name] for question in asked if question.name in raw}
    values: dict[str, str | None] = {}
    errors: dict[str, str] = {}
    for question in asked:
        if question.field in raw:
            try:
                values[question.field] = question.read(raw[question.field])
            except ValueError as error:
                errors[question.field] = str(error)
    return Typed(values, errors, raw)


def read_form_id(form: Mapping[str, str]) -> Form | None:
    """Return which form it is; None where it does not say.

    Older pages call it `seen`, and some of them count there the events of everybody: of such a
    page nothing is taken to be known, so that it replaces nothing without a word.
    """
    page_id, number = form.get("page", ""), form.get("number", "")
    seen = form.get("known", "0" if "seen" in form else "")
    numbers = [text for text in (number, seen) if text.isascii() and text.isdigit()]
    if not 0 < len(page_id) <= 64 or len(numbers) < 2 or max(map(len, numbers)) > 15:
        return None
    return Form(page_id, int(number), int(seen))


def notices(saved: Saved, asked: Iterable[Question]) -> list[str]:
    """Return what a rater is told whose other window has changed the same card."""
    if saved.replayed:
        return ["This had been saved already; nothing was changed."]
    known = {question.field: question for question in asked}
    words = []
    for others, ends in (
        (saved.overwritten, "What you gave here has replaced it."),
        (saved.kept, "That stands."),
    ):
        for name, value in others.items():
            if question := known.get(name):
                given = question.in_words(value)
                words.append(f"In another window you changed {question.called} to {given}. {ends}")
    return words
