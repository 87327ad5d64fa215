"""A study's questions as they stand on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from careeval.core.rating import ENDS, Scale
from careeval.core.scenario import Rubric
from careeval.core.text import signed
from careeval.review import answering
from careeval.review.answering import Field, Typed
from careeval.review.changes import Saved
from careeval.review.forms import ANSWER
from careeval.review.questions import AGREE, UNSURE, Question
from careeval.review.store import Answer

_ASKED: Mapping[Scale, str] = {
    Scale.realism: "How realistic is this situation?",
    Scale.validity: "How well does it test whether a carer decides well?",
    Scale.relevance: "Is this worth looking for in an answer, whether it is good or bad?",
}


@dataclass(frozen=True, slots=True)
class ItemCard:
    """An item with its questions as they stand on a page."""

    item: str
    rubric: Rubric
    text: str
    points: int
    fields: tuple[Field, ...]


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
        called = f"Item {len(cards) + 1}"
        first = ItemCard(called, about.rubric, about.item.text, about.item.points, ())
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
        keys={n: n for n in question.choices} if isinstance(question.kind, Scale) else {},
    )


def _options(question: Question) -> tuple[tuple[str, str], ...]:
    if isinstance(question.kind, Scale):
        low, high = ENDS[question.kind]
        first, *middle, last = question.choices
        ends = (first, f"{first}, {low}"), (last, f"{last}, {high}")
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
    by_field = {question.field: question for question in asked}

    def words(name: str, value: str | None) -> tuple[str, str]:
        return _called(by_field[name]), _said(by_field[name], value)

    return answering.notices(saved, by_field, words)


def _called(question: Question) -> str:
    if question.about is None:
        return f"the {question.kind}" if question.kind == "comment" else question.kind
    return f"the {question.kind} of “{question.about.item.text}”"


def _said(question: Question, value: str | None) -> str:
    if value is None:
        return "nothing"
    return f"“{value}”" if question.kind == "comment" else f"“{dict(_options(question))[value]}”"
