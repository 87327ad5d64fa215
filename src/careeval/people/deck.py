"""Questions to people, and the decks of cards that hold them.

A seat is one person's part in a study or an audit. There are four kinds of decks: to rate
scenarios, to write answers of one's own, to label judgments and to settle disagreements.
`careeval.people.web.deck_pages` serves them all, from a `Workbench`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import field as dataclass_field
from enum import StrEnum
from math import ceil
from typing import Any, Literal

from careeval.core.rating import Rater, Scale
from careeval.core.scenario import Rubric, RubricItem
from careeval.people.forms import ANSWER, FormId, SaveResult
from careeval.people.plan import Addresses, Consent
from careeval.people.store import Answer, Store, Work

COMMENT_LIMIT = 10_000
"""The largest number of characters of a comment."""

SKIPPED = "skipped"
"""The field in which the store keeps that somebody has skipped a card."""

WORDS_A_MINUTE = 180
"""The speed of a careful reader: a guess, from which expected times are computed."""


@dataclass(frozen=True, slots=True)
class ItemRef:
    """A rubric item, and its place among the items on a card."""

    rubric: Rubric
    item: RubricItem
    place: int  # The place of the item on its card, from 1


@dataclass(frozen=True, slots=True)
class Question:
    """One question on a card."""

    field: str  # The name of the answer in the store
    kind: Scale | Literal["points", "reading", "comment", "information", "missing", "country"]
    """The kind of answer: a number on a scale, a view of points, a reading, or free text."""
    text: str  # The question as people read it
    answer_name: str  # The name of the answer in messages
    options: tuple[tuple[str, str], ...] = ()
    """Values and words of the options; empty if the answer is typed."""
    keys: Mapping[str, str] = dataclass_field(default_factory=dict)
    """By option, the key that chooses it while the question has the focus."""
    hint: str = "If you like. Please name nobody."  # A note beside a question whose answer is typed
    required: bool = True  # True if the card is done only with an answer to it
    late: bool = False
    """True if it is shown only once all required questions that are not late are answered."""
    closing: bool = False  # True if it stands at the end of the card, after the items
    about: ItemRef | None = None  # The item that it is about; None if it is about the whole card

    @property
    def name(self) -> str:
        """The name of the answer's field in HTML forms.

        The name has the item's place instead of its id, since an id can tell the item's points.
        """
        return f"{self.about.place}/{self.kind}" if self.about else self.field

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of the options in the order shown; empty if the answer is typed."""
        return tuple(value for value, _ in self.options)

    def read(self, text: str) -> str | None:
        """Return the answer as the store keeps it; None if nothing was typed or chosen.

        Raises:
            ValueError: The text is not a valid answer; the message tells the rater why.
        """
        text = text.strip()
        if not self.options:
            if len(text) > COMMENT_LIMIT:
                name = f"{self.answer_name[:1].upper()}{self.answer_name[1:]}"
                raise ValueError(
                    f"{name} has {len(text):,} characters; at most {COMMENT_LIMIT:,} can be "
                    "kept. Please shorten it: it is not saved yet."
                )
        elif text and text not in self.choices:
            raise ValueError("This is not one of the answers to choose from.")
        return text or None

    def in_words(self, value: str | None) -> str:
        """Return, for a message, the words of the option or the typed text; "nothing" for None."""
        return "nothing" if value is None else f"“{dict(self.options).get(value, value)}”"


class Progress(StrEnum):
    """The progress of a person with one card."""

    done = "done"
    skipped = "skipped"
    started = "started"
    untouched = "not started"


def missing_questions(
    asked: Sequence[Question], answers: Mapping[str, Answer]
) -> tuple[Question, ...]:
    """Return the required questions without an answer, in order."""
    return tuple(q for q in asked if q.required and q.field not in answers)


def shows_late_questions(asked: Sequence[Question], answers: Mapping[str, Answer]) -> bool:
    """Tell whether a card shows its late questions: a late one, or all early ones, are answered.

    Of the early questions, only those that are required must be answered.
    """
    early = [question for question in asked if not question.late]
    late = {question.field for question in asked if question.late}
    return not missing_questions(early, answers) or not late.isdisjoint(answers)


def progress(
    asked: Sequence[Question], answers: Mapping[str, Answer], *, declines: bool = False
) -> Progress:
    """Return the progress with the questions of a card.

    Args:
        asked: The questions of the card.
        answers: Its answers, by field.
        declines: Whether somebody who skips the card declines to answer it: then no answer counts.
    """
    if declines and SKIPPED in answers:
        return Progress.skipped
    if not missing_questions(asked, answers):
        return Progress.done
    if SKIPPED in answers:
        return Progress.skipped
    return Progress.started if answers else Progress.untouched


def duration_in_words(minutes: float) -> str:
    """Return a time as text, rounded up to 5 minutes or, above 55, to half hours: about 2 hours."""
    if minutes <= 55:
        return f"about {max(5, 5 * ceil(minutes / 5))} minutes"
    hours = ceil(minutes / 30) / 2
    return f"about {hours:g} hours" if hours != 1 else "about an hour"


Answers = Mapping[str, Answer]
"""The answers on a card, by field."""

NO_WORDS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Card:
    """One page to fill in: a scenario to rate or answer, or a judgment to label or settle."""

    task: str  # The name of its answers in the store
    name: str  # The name of the card in lists
    questions: tuple[Question, ...]  # Its questions, in order
    shows: Callable[[Answers], Mapping[str, Any]]
    """Returns the values of its template, given the answers so far."""
    minutes: float  # Expected minutes
    group: int = 0  # The number of its group in lists, from 1; 0 if lists have no groups
    before: Mapping[str, str] = field(default_factory=dict)
    """Field → the answer of an earlier round, as text."""


@dataclass(frozen=True)
class PracticeCard:
    """A made-up card to try the questions on. Its answers are not kept."""

    template: str  # The template of its page
    questions: tuple[Question, ...]
    notes: tuple[str, ...]  # One note on each question, about what there is to notice
    shows: Mapping[str, Any]  # The other values of its template


@dataclass(frozen=True)
class Gap:
    """A card with required questions that have no answer yet."""

    n: int  # Its place in the deck, from 1
    name: str
    count: int  # Number of required questions without an answer
    whole: bool  # True if none of the card's required questions has an answer
    first: str  # The address of the first question without an answer


@dataclass(frozen=True)
class Deck:
    """One person's cards of one kind, which are filled in one after the other and handed in."""

    path: str  # The address of its cards, without their number
    unit: str  # The word for a card: "scenario"
    title: str  # The title of a card's page, without its number
    template: str  # The template of a card's page
    cards: tuple[Card, ...]  # The cards in the order of the seat
    note: tuple[str, str]
    """The task and the field in which the store keeps that the deck is finished."""
    finished: bool  # True if the person has said that they have finished
    end: str = "/finish"  # The address of the page that finishes it
    end_template: str = "finish"  # The template of that page
    end_titles: tuple[str, str] = ("Finish", "Thank you")
    """The title of that page while cards have gaps or are not handed in, and after."""
    final: bool = False  # True if nothing can be changed once it is finished
    locked_template: str = ""
    """The template of a card's page once the deck is finished and final; empty if cards are no
    longer shown."""
    declines: bool = False  # True if somebody who skips a card declines to answer it
    waits: bool = False  # True if the deck cannot be begun yet

    @property
    def locked(self) -> bool:
        """True if the deck is finished and can no longer be changed."""
        return self.final and self.finished

    def states(self, work: Work) -> tuple[Progress, ...]:
        """Return how far the person is with each card, in the order of the deck."""
        return tuple(
            progress(card.questions, work.get(card.task, {}), declines=self.declines)
            for card in self.cards
        )

    def first_open(self, states: Sequence[Progress]) -> int | None:
        """Return the number, from 1, of the card to go on with; None if no card is left.

        Skipped cards come last, or not at all if the deck `declines`.
        """
        first = (Progress.untouched,) if self.declines else (Progress.started, Progress.untouched)
        for wanted in first, () if self.declines else (Progress.skipped,):
            for n, state in enumerate(states, 1):
                if state in wanted:
                    return n
        return None

    def next_address(self, states: Sequence[Progress]) -> str:
        """Return the address of the next page of this deck: a card, or the end."""
        n = self.first_open(states)
        return f"{self.path}/{n}" if n else self.end

    def gaps(self, work: Work) -> list[Gap]:
        """Return the cards with required questions that have no answer, with their numbers."""
        gaps = []
        for n, card in enumerate(self.cards, 1):
            asked = card.questions
            if wanted := missing_questions(asked, work.get(card.task, {})):
                first = f"{self.path}/{n}?missing=1#q{asked.index(wanted[0]) + 1}"
                whole = len(wanted) == sum(question.required for question in asked)
                gaps.append(Gap(n, card.name, len(wanted), whole, first))
        return gaps

    def minutes(self, work: Work) -> float:
        """Return the expected minutes for the cards left to do; a card half done counts in full.

        Skipped cards are left to do unless the deck `declines`. Once it is locked, none is.
        """
        done = (Progress.done, Progress.skipped) if self.declines else (Progress.done,)
        states = zip(self.cards, self.states(work), strict=True)
        return 0.0 if self.locked else sum(c.minutes for c, state in states if state not in done)


@dataclass(frozen=True)
class TypedAnswers:
    """Answers to a card's questions as a form sent them: those to keep, and those refused."""

    values: Mapping[str, str | None] = field(default_factory=dict)
    """By field, answers that can be kept."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """By field, the reason why an answer cannot be kept."""
    raw: Mapping[str, str] = field(default_factory=dict)  # By field, the text as it was typed


@dataclass(frozen=True)
class CardField:
    """A question with its answer or its error, as a page shows it."""

    question: Question
    id: str  # The id of its first input, to which links lead
    value: str  # The option or text of the answer
    error: str = ""  # The reason why the answer is not saved; empty if it is saved
    before: str = ""  # The answer of an earlier round, as text; empty if there is none

    @property
    def name(self) -> str:
        """The name of its HTML inputs."""
        return ANSWER + self.question.name

    @property
    def link_text(self) -> str:
        """The text of links to the question; about an item, with the item's place."""
        about = self.question.about
        return f"Item {about.place}: {self.question.text}" if about else self.question.text


def card_fields(
    asked: Sequence[Question],
    answers: Mapping[str, str],
    typed: TypedAnswers,
    before: Mapping[str, str] = NO_WORDS,
) -> list[CardField]:
    """Return questions with their stored answers, or with typed ones that could not be kept."""
    shown = []
    for k, question in enumerate(asked, 1):
        error = typed.errors.get(question.field, "")
        value = typed.raw[question.field] if error else answers.get(question.field, "")
        shown.append(CardField(question, f"q{k}", value, error, before.get(question.field, "")))
    return shown


def fields_by_item(shown: Iterable[CardField]) -> list[tuple[CardField, ...]]:
    """Return the fields about items, grouped by item."""
    items: dict[int, list[CardField]] = {}
    for each in shown:
        if about := each.question.about:
            items.setdefault(about.place, []).append(each)
    return [tuple(items[place]) for place in sorted(items)]


def read_answers(form: Mapping[str, str], asked: Sequence[Question]) -> TypedAnswers | None:
    """Return a form's answers, kept and refused; None if it answers a question not in `asked`."""
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
    return TypedAnswers(values, errors, raw)


def read_form_id(form: Mapping[str, str]) -> FormId | None:
    """Return the identity that a form states of itself; None if it states no valid one."""
    page_id, number, seen = (form.get(name, "") for name in ("page", "number", "known"))
    numbers = [text for text in (number, seen) if text.isascii() and text.isdigit()]
    if not 0 < len(page_id) <= 64 or len(numbers) < 2 or max(map(len, numbers)) > 15:
        return None
    return FormId(page_id, int(number), int(seen))


def notices(saved: SaveResult, asked: Iterable[Question]) -> list[str]:
    """Return notices for a rater: what another window changed, or that the form came before."""
    if saved.replayed:
        return ["This had been saved already; nothing was changed."]
    by_field = {question.field: question for question in asked}
    messages = []
    for others, ends in (
        (saved.overwritten, "What you gave here has replaced it."),
        (saved.kept, "That stands."),
    ):
        for name, value in others.items():
            if question := by_field.get(name):
                answer = question.in_words(value)
                messages.append(
                    f"In another window you changed {question.answer_name} to {answer}. {ends}"
                )
    return messages


CONSENT, ABOUT, FINISHED, PREFERENCES = "consent", "about", "finish", "preferences"
"""Tasks of every study and audit that are about the rater, and not about a card."""


@dataclass(frozen=True, slots=True)
class Workload:
    """The amount of work that a person is asked for, as text: "20 scenarios", "about 2 hours"."""

    amount: str
    time: str


@dataclass(frozen=True)
class Workbench:
    """A study or an audit as it is served."""

    store: Store
    addresses: Addresses
    title: str
    consent: Consent
    asks: str  # A sentence that tells people what they will do
    help: str  # The template that explains its pages
    keys: str  # The keys that choose an answer, as text
    workload: Callable[[Rater, Work], Workload | None]
    """Returns the amount of work that a rater is asked to do; None if there is none."""
    decks: Callable[[Rater, Work], tuple[Deck, ...]]
    """Returns the decks of a rater's seat, given their work; to hand one in opens the next."""
    practice: tuple[PracticeCard, ...]  # The made-up cards to practise on before the last deck

    @property
    def cookie(self) -> str:
        """The name of the session's cookie; each store has its own, since cookies ignore ports."""
        name = hashlib.sha256(str(self.store.path.resolve()).encode()).hexdigest()[:8]
        return f"__Host-careeval-{name}" if self.addresses.secure else f"careeval-{name}"
