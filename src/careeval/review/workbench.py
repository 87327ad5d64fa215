"""A study or an audit as it is served: its decks, its terms and how much it asks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from careeval.core.rating import Rater
from careeval.review.addresses import Settings
from careeval.review.consent import Consent
from careeval.review.deck import Deck, PracticeCard
from careeval.review.store import Store, Work

CONSENT, ABOUT, FINISHED, PREFERENCES = "consent", "about", "finish", "preferences"
"""Tasks that every study and audit has: what is answered there is about the rater."""


@dataclass(frozen=True, slots=True)
class Load:
    """How much somebody is asked for, in words: "20 scenarios", "about 2 hours"."""

    amount: str
    time: str


@dataclass(frozen=True)
class Desk:
    """What is served: a study or an audit.

    Attributes:
        asks: What somebody does here, in a sentence.
        help: The template that says how its pages work.
        keys: Which keys choose an answer, in words.
        load: How much a rater is asked for; None where it is nothing.
        decks: The decks of a rater's seat, given their work: each opens the next.
        practice: The made-up cards that come before the last of them.
    """

    store: Store
    settings: Settings
    title: str
    consent: Consent
    asks: str
    help: str
    keys: str
    load: Callable[[Rater, Work], Load | None]
    decks: Callable[[Rater, Work], tuple[Deck, ...]]
    practice: tuple[PracticeCard, ...]

    @property
    def cookie(self) -> str:
        """Of the session; another for each store, since ports do not part cookies."""
        name = hashlib.sha256(str(self.store.path.resolve()).encode()).hexdigest()[:8]
        return f"__Host-careeval-{name}" if self.settings.secure else f"careeval-{name}"
