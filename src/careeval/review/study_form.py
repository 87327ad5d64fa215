"""A study's questions as they stand on a page, and what is typed there, read back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from careeval.core.rating import Scale
from careeval.review.forms import ANSWER
from careeval.review.pages import signed
from careeval.review.questions import AGREE, UNSURE, Question
from careeval.review.store import Answer, Form, Saved

ENDS: Mapping[Scale, tuple[str, str]] = {
    Scale.realism: ("could not happen like this", "happens just like this"),
    Scale.validity: ("tests nothing that matters", "tests just what matters"),
    Scale.relevance: ("does not belong here", "belongs here without doubt"),
}
"""What the lowest and the highest number of a scale mean; those between have no words."""

_ASKED: Mapping[Scale, str] = {
    Scale.realism: "How realistic is this situation?",
    Scale.validity: "How well does it test whether a carer decides well?",
    Scale.relevance: "Should an answer be judged by this?",
}


@dataclass(frozen=True, slots=True)
class Field:
    """A question as it stands on a page.

    Attributes:
        name: Of its inputs.
        id: Of its first input, where links to it lead.
        kind: `scale`, `points` or `comment`.
        asked: The question in words.
        item: What the page calls the item, "Item 3"; empty where the scenario is meant.
        options: Values with their words; empty for a comment.
        value: What is chosen or typed.
        error: Why it is not saved; empty where it is.
    """

    name: str
    id: str
    kind: str
    asked: str
    item: str
    options: tuple[tuple[str, str], ...]
    value: str
    error: str


@dataclass(frozen=True, slots=True)
class ItemCard:
    """An item with its questions as they stand on a page."""

    item: str
    text: str
    points: int
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Typed:
    """What a form says of a scenario.

    Attributes:
        values: By field, what can be kept.
        errors: By field, why something cannot.
        raw: By field, as it was typed.
    """

    values: Mapping[str, str | None] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, str] = field(default_factory=dict)


def read_typed(form: Mapping[str, str], asked: Sequence[Question]) -> Typed | None:
    """What a form says; None where it answers what is not asked."""
    raw = {
        name.removeprefix(ANSWER): text for name, text in form.items() if name.startswith(ANSWER)
    }
    if raw.keys() - {question.field for question in asked}:
        return None
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
    """Which form it is; None where it does not say."""
    page_id, number, seen = (form.get(name, "") for name in ("page", "number", "seen"))
    numbers = [text for text in (number, seen) if text.isascii() and text.isdigit()]
    if not 0 < len(page_id) <= 64 or len(numbers) < 2 or max(map(len, numbers)) > 15:
        return None
    return Form(page_id, int(number), int(seen))


def fields(
    asked: Iterable[Question], answers: Mapping[str, Answer], typed: Typed
) -> tuple[list[Field], list[ItemCard]]:
    """The questions about the scenario, and a card for each item, in their order.

    A field shows what is stored, or, where that could not be kept, what was typed.
    """
    own: list[Field] = []
    cards: dict[tuple[str, str], ItemCard] = {}
    for k, question in enumerate(asked, 1):
        error = typed.errors.get(question.field, "")
        value = answers[question.field].value if question.field in answers else ""
        shown = as_field(question, k, typed.raw[question.field] if error else value, error)
        about = question.about
        if about is None:
            own.append(shown)
            continue
        first = ItemCard(f"Item {len(cards) + 1}", about.item.text, about.item.points, ())
        card = cards.setdefault((about.rubric, about.item.id), first)
        more = (*card.fields, replace(shown, item=card.item))
        cards[about.rubric, about.item.id] = replace(card, fields=more)
    return own, list(cards.values())


def as_field(question: Question, k: int, value: str, error: str = "") -> Field:
    """The k-th question of a page, from 1."""
    about = question.about
    if isinstance(question.kind, Scale):
        asked = _ASKED[question.kind]
    elif question.kind == "points":
        asked = f"Are {signed(about.item.points) if about else ''} points right?"
    else:
        asked = "Comment on this item" if about else "Comment on this scenario"
    return Field(
        name=ANSWER + question.field,
        id=f"q{k}",
        kind="scale" if isinstance(question.kind, Scale) else question.kind,
        asked=asked,
        item="",
        options=_options(question),
        value=value,
        error=error,
    )


def _options(question: Question) -> tuple[tuple[str, str], ...]:
    if isinstance(question.kind, Scale):
        low, high = ENDS[question.kind]
        first, *middle, last = question.choices
        ends = (first, f"{first}: {low}"), (last, f"{last}: {high}")
        return (ends[0], *((number, number) for number in middle), ends[1])
    if question.about is None:
        return ()
    words = {AGREE: f"{signed(question.about.item.points)} is right", UNSURE: "I am unsure"}
    return tuple(
        (choice, words[choice] if choice in words else f"It should be {signed(int(choice))}")
        for choice in question.choices
    )


def notices(saved: Saved, asked: Iterable[Question]) -> list[str]:
    """What a rater is told whose other window has changed the same scenario."""
    if saved.replayed:
        return ["This had been saved already; nothing was changed."]
    by_field = {question.field: question for question in asked}
    found = []
    for others, ends in (
        (saved.overwritten, "What you gave here has replaced it."),
        (saved.kept, "That stands."),
    ):
        for name, value in others.items():
            if name in by_field:
                what, given = _called(by_field[name]), _said(by_field[name], value)
                found.append(f"In another window you changed {what} to {given}. {ends}")
    return found


def _called(question: Question) -> str:
    if question.about is None:
        return f"the {question.kind}" if question.kind == "comment" else question.kind
    return f"the {question.kind} of “{question.about.item.text}”"


def _said(question: Question, value: str | None) -> str:
    if value is None:
        return "nothing"
    return f"“{value}”" if question.kind == "comment" else f"“{dict(_options(question))[value]}”"
