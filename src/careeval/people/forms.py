"""Forms that come in: their fields, what they change, and why one is refused."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from careeval.errors import ReviewError

ANSWER = "q."
"""The prefix of fields that hold answers to questions, and of no others."""

# C0 and C1 controls except tab and newline, and marks that change the direction of text
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Return a text with uniform newlines and a visible mark in place of control characters."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))


class RevokedError(ReviewError):
    """The rater's link is switched off or they have withdrawn; nothing was saved."""


class ClosedError(ReviewError):
    """The study or audit is closed; nothing was saved."""


@dataclass(frozen=True, slots=True)
class FormId:
    """The identity of a form: the page that sent it, its number there, and what the page showed."""

    page: str  # A random name for one showing of a page
    number: int  # The number of the form among those that this page sends
    seen: int
    """The number of the newest event (`Store.newest`) when the page was shown. It stays the same,
    whatever the page sends."""

    @classmethod
    def new(cls, seen: int = 0) -> FormId:
        """Return the identity of the first form that a page shown now will send."""
        return cls(secrets.token_urlsafe(12), 0, seen)


@dataclass(frozen=True, slots=True)
class FormChange:
    """The fields that one form sends for one task of a rater: see `Store.save`."""

    rater: str
    task: str
    values: Mapping[str, str | None]
    form: FormId
    place: int | None = None
    typed_by: str | None = None


@dataclass(frozen=True, slots=True)
class SaveResult:
    """The changes that a saved form made, and the answers that it conflicted with."""

    seen: int  # The number of the task's newest event now (`Store.newest`)
    changed: tuple[str, ...] = ()  # Fields with another value than the page had before
    replayed: bool = False
    """True if this form, or a later one of its page, was saved before, so that nothing is changed
    now."""
    overwritten: Mapping[str, str | None] = field(default_factory=dict)
    """By field, values that another page saved after this page was shown, and that this form
    replaced."""
    kept: Mapping[str, str | None] = field(default_factory=dict)
    """By field, values that another page saved after this page was shown, and that this form
    leaves."""
