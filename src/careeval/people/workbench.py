"""A study or an audit as it is served: its decks, its terms and the amount of work."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from careeval.core.rating import Rater
from careeval.people.deck import Deck, PracticeCard
from careeval.people.plan import Addresses, Consent
from careeval.people.store import Store, Work

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
    load: Callable[[Rater, Work], Workload | None]
    """Returns the amount of work that a rater is asked to do; None if there is none."""
    decks: Callable[[Rater, Work], tuple[Deck, ...]]
    """Returns the decks of a rater's seat, given their work; to hand one in opens the next."""
    practice: tuple[PracticeCard, ...]  # The made-up cards to practise on before the last deck

    @property
    def cookie(self) -> str:
        """The name of the session's cookie; each store has its own, since cookies ignore ports."""
        name = hashlib.sha256(str(self.store.path.resolve()).encode()).hexdigest()[:8]
        return f"__Host-careeval-{name}" if self.addresses.secure else f"careeval-{name}"
