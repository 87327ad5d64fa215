"""The decks of the rater who asks, and the order in which they open."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from careeval.core.rating import Rater
from careeval.people.deck import (
    Deck,
)
from careeval.people.store import Work
from careeval.people.web.access import (
    RedirectError,
    RefusedError,
    Visitor,
    agreed_visitor,
)
from careeval.people.workbench import Workbench

PRACTISED = "practice"
"""The task that stores which practice pages a person has seen, by page."""


@dataclass(frozen=True)
class OpenSeat:
    """A visitor and the decks of their seat. Once a deck is handed in, the next one opens."""

    visitor: Visitor
    work: Work
    decks: tuple[Deck, ...]

    @property
    def owed(self) -> Deck | None:
        """The first deck to hand in before the last deck opens; None if all are handed in."""
        return next((deck for deck in self.decks[:-1] if not deck.locked), None)


def next_stop(workbench: Workbench, rater: Rater, work: Work) -> str:
    """Return the next page's address for a rater who has agreed and stated their experience."""
    *first, last = workbench.decks(rater, work) or (None,)
    for deck in first:
        if deck and not deck.locked:
            return deck.next_address(deck.states(work))
    seen = work.get(PRACTISED, {})
    for n in range(1, len(workbench.practice) + 1):
        if str(n) not in seen:
            return f"/practice/{n}"
    if last is None or last.waits:
        return "/overview"
    return last.end if last.locked else last.next_address(last.states(work))


def open_seat(request: Request, *, for_one: bool = False) -> OpenSeat:
    """Return the visitor of a request with their decks.

    Args:
        request: The request.
        for_one: Whether the page is about one card; then only the answers needed are read.

    Raises:
        RefusedError: There is no deck for them; or as `agreed_visitor`.
        RedirectError: As `agreed_visitor`.
    """
    visitor = agreed_visitor(request)
    store = visitor.workbench.store
    work = (store.work_by_task if for_one else store.work)(visitor.rater.id)
    decks = visitor.workbench.decks(visitor.rater, work)
    if not decks:
        raise RefusedError(
            404,
            "There is nothing for you in this round",
            "Thank you: what you rated before is kept. If that surprises you, ask: "
            + visitor.workbench.consent.contact,
        )
    return OpenSeat(visitor, work, decks)


def not_found() -> RefusedError:
    """Return the refusal for an address that does not exist, or is not this visitor's."""
    return RefusedError(404, "There is nothing here", "Go to the overview to see what is yours.")


def expect_decks_before(request: Request, seat: OpenSeat, deck: Deck | None = None) -> None:
    """Raise if another deck must be handed in before this one is opened.

    This is called before a page shows anything about a rubric.

    Raises:
        RedirectError: For a GET request, to the other deck.
        RefusedError: For a form.
    """
    if seat.owed is None or seat.owed is deck:
        return
    if request.method == "GET":
        raise RedirectError(seat.owed.next_address(seat.owed.states(seat.work)))
    raise RefusedError(
        403,
        "Your own answers come first",
        "Nothing was saved. Hand in your answers, or say that you would rather not; then this "
        "page opens.",
    )
