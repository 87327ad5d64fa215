"""An audit's questions as they stand on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from careeval.core.label import Reading
from careeval.review import answering
from careeval.review.answering import OPTIONAL, Field, Typed
from careeval.review.changes import Saved
from careeval.review.forms import ANSWER
from careeval.review.labels import LabelQuestion
from careeval.review.store import Answer

_OPTIONS = tuple((reading.value, reading.capitalize()) for reading in Reading)
_KEYS = {reading.value: reading[0] for reading in Reading}

_ASKED = {
    "says": "Is this in the response?",
    "evidence": "The words that show it",
    "note": "Note",
    "reason": "Why? In a sentence or two",
}
_HINTS = {
    "evidence": "If you like. Copied from the response, one passage a line.",
    "reason": "It is kept beside what the others said. Please name nobody.",
}
_CALLED = {"says": "your answer", "evidence": "the words that show it"}


def audit_fields(
    asked: Sequence[LabelQuestion], answers: Mapping[str, Answer], typed: Typed
) -> list[Field]:
    """The questions about a judgment: with what is stored, or was typed and could not be kept."""
    found = []
    for k, question in enumerate(asked, 1):
        error = typed.errors.get(question.field, "")
        value = answers[question.field].value if question.field in answers else ""
        shown = typed.raw[question.field] if error else value
        found.append(as_label_field(question, k, shown, error))
    return found


def as_label_field(question: LabelQuestion, k: int, value: str, error: str = "") -> Field:
    """The k-th question of a page, from 1."""
    says = question.field == "says"
    return Field(
        name=ANSWER + question.field,
        id=f"q{k}",
        kind="reading" if says else "comment",
        asked=_ASKED[question.field],
        item="",
        options=_OPTIONS if says else (),
        value=value,
        error=error,
        hint=_HINTS.get(question.field, OPTIONAL),
        keys=_KEYS if says else {},
    )


def notices(saved: Saved, asked: Iterable[LabelQuestion]) -> list[str]:
    """What somebody is told whose other window has changed the same judgment."""

    def words(name: str, value: str | None) -> tuple[str, str]:
        what = _CALLED.get(name, f"the {name}")
        return what, "nothing" if value is None else f"“{dict(_OPTIONS).get(value, value)}”"

    return answering.notices(saved, (question.field for question in asked), words)
