"""Pages made from templates, and those of every study and audit: from the personal link to help.

All values are escaped, and values are never used as templates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from fastapi import APIRouter, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from careeval.core.rating import MEANING, NEVER_NEGATIVE, Rater, Scale
from careeval.core.text import signed
from careeval.people.deck import (
    ABOUT,
    CONSENT,
    PREFERENCES,
    Deck,
    Workbench,
    fields_by_item,
)
from careeval.people.forms import ANSWER
from careeval.people.store import Work
from careeval.people.web.access import (
    FORM,
    PageRoute,
    PostedForm,
    RedirectError,
    RefusedError,
    Visitor,
    agreed_visitor,
    current_visitor,
    opened_link,
    signed_in_visitor,
)


def page(
    request: Request, template: str, title: str, status: int = 200, **values: Any
) -> HTMLResponse:
    """Return a page of the app, filled in from a template.

    Args:
        request: The request; a visitor who is signed in gets the links for signed-in visitors.
        template: The name of the template without `.html`.
        title: The title of the window, and its heading.
        status: The HTTP status.
        values: The values of the template.
    """
    workbench: Workbench = request.app.state.workbench
    visitor: Visitor | None = getattr(request.state, "visitor", None)
    frame = {"workbench": workbench, "visitor": visitor, "title": title, "path": request.url.path}
    html = environment().get_template(f"{template}.html").render(frame | values)
    return HTMLResponse(html, status)


def go_to(path: str) -> Response:
    """Redirect a browser to another page of the app."""
    return RedirectResponse(path, 303)


def wants_json(request: Request) -> bool:
    """Tell whether our script sent the request, rather than a browser that opens a page."""
    return "application/json" in request.headers.get("accept", "")


def refusal(
    request: Request,
    status: int,
    title: str,
    words: str,
    *,
    retry: bool = True,
    withdraw: bool = False,
) -> Response:
    """Return a page that says why a request is refused; for our script, the same words as JSON.

    The page shows what was typed, to be copied or, if `retry`, sent again.
    """
    if wants_json(request):
        return JSONResponse({"error": f"{title}. {words}"}, status)
    typed: Mapping[str, str] = getattr(request.state, "form", {})
    written = [
        (name.removeprefix(ANSWER), text)
        for name, text in typed.items()
        if text and name.startswith(ANSWER)
    ]
    again = typed if retry else {}
    return page(
        request,
        "refusal",
        title,
        status,
        words=words,
        again=again,
        written=written,
        withdraw=withdraw,
    )


@cache
def environment() -> Environment:
    """Return the Jinja environment that loads and fills in the templates."""
    environment = Environment(
        loader=PackageLoader("careeval.people.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["paragraphs"] = lambda text: text.strip().split("\n\n")
    environment.filters["clock"] = _clock
    environment.filters["points"] = signed
    environment.filters["by_item"] = fields_by_item
    environment.filters["shape"] = lambda kind: "scale" if isinstance(kind, Scale) else kind
    environment.globals |= {
        "POINTS_MEAN": MEANING,
        "NEVER_NEGATIVE": NEVER_NEGATIVE,
    }
    return environment


def _clock(at: str) -> str:
    return datetime.fromisoformat(at).strftime("%H:%M UTC")


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


router = APIRouter(route_class=PageRoute)

NOT_SAID = "not said"
_MAX_YEARS = 80


@router.get("/")
def home(request: Request) -> Response:
    """Redirect a visitor to the page that they need next."""
    visitor = current_visitor(request)
    if not visitor.agreed:
        raise RedirectError("/consent")
    work = visitor.workbench.store.work(visitor.rater.id)
    if "years" not in work.get(ABOUT, {}):
        raise RedirectError("/about")
    raise RedirectError(next_stop(visitor.workbench, visitor.rater, work))


@router.get("/i/{token}")
def landing(request: Request) -> Response:
    """Show what is asked, for how long, and what is kept.

    Nothing is changed, since mail scanners open links.
    """
    link = opened_link(request)
    workbench: Workbench = request.app.state.workbench
    load = workbench.workload(link.rater, workbench.store.work(link.rater.id))
    return page(request, "landing", workbench.title, load=load)


@router.post("/i/{token}", dependencies=[FORM])
def start(request: Request) -> Response:
    """Start a session for the rater whose link was opened, and go to their next page."""
    link = opened_link(request)
    workbench: Workbench = request.app.state.workbench
    response = go_to("/")
    response.set_cookie(
        workbench.cookie, workbench.store.start_session(link.rater.id), **_flags(workbench)
    )
    return response


def _flags(workbench: Workbench) -> dict[str, Any]:
    """Return the flags of the session's cookie, which setting and removing it both need."""
    return {
        "path": "/",
        "httponly": True,
        "samesite": "strict",
        "secure": workbench.addresses.secure,
    }


@router.get("/consent")
def show_terms(request: Request) -> Response:
    """Show the terms, also to those who have agreed."""
    visitor = current_visitor(request)
    values = {"given": visitor.agreed, "declined": visitor.declined}
    return page(request, "consent", "Before you begin", **values)


@router.post("/consent")
def save_consent(request: Request, form: PostedForm) -> Response:
    """Save whether the rater agrees to the terms."""
    visitor = current_visitor(request)
    digest = visitor.workbench.consent.digest
    if form.get("agree") == "yes":
        visitor.note(CONSENT, given=digest, declined=None)
    elif form.get("agree") == "no" and not visitor.agreed:
        visitor.note(CONSENT, declined=digest)
    return go_to("/")


@router.get("/about")
def show_about(request: Request) -> Response:
    """Show the question about years of experience."""
    return _about(request, agreed_visitor(request), "")


@router.post("/about")
def save_years(request: Request, form: PostedForm) -> Response:
    """Save the years of experience."""
    visitor, typed = agreed_visitor(request), form.get("years", "").strip()
    if form.get("go") == "skip":
        typed = NOT_SAID
    elif not (typed.isascii() and typed.isdigit() and len(typed) < 4 and int(typed) <= _MAX_YEARS):
        words = f"Please give whole years as a number from 0 to {_MAX_YEARS}, or leave it out."
        return _about(request, visitor, words, typed)
    visitor.note(ABOUT, years=typed)
    return go_to("/")


def _about(request: Request, visitor: Visitor, error: str, typed: str = "") -> Response:
    stored = visitor.workbench.store.answers(visitor.rater.id, ABOUT).get("years")
    if not error and stored and stored.value != NOT_SAID:
        typed = stored.value
    title, status = "About you", 422 if error else 200
    return page(request, "about", title, status, error=error, years=typed)


@router.get("/pause")
def pause(request: Request) -> Response:
    """Show what happens to answers and session during a pause."""
    current_visitor(request)
    return page(request, "pause", "Take a pause")


@router.post("/pause", dependencies=[FORM])
def end_session(request: Request) -> Response:
    """End the session in this browser."""
    visitor = current_visitor(request)
    visitor.workbench.store.end_session(visitor.secret)
    request.state.visitor = None
    response = page(request, "paused", "You are signed out")
    response.delete_cookie(visitor.workbench.cookie, **_flags(visitor.workbench))
    return response


@router.get("/withdraw")
def withdraw(request: Request) -> Response:
    """Show what withdrawing deletes, and ask for confirmation."""
    signed_in_visitor(request)
    return page(request, "withdraw", "Withdraw and delete")


@router.post("/withdraw")
def delete_answers(request: Request, form: PostedForm) -> Response:
    """Delete a rater and all their answers, also once the work is closed."""
    visitor = signed_in_visitor(request)
    if form.get("delete") != "everything":
        return go_to("/withdraw")
    erased = visitor.workbench.store.withdraw(visitor.rater.id)
    request.state.visitor = None
    response = page(request, "withdrawn", "Your answers are deleted", erased=erased)
    response.delete_cookie(visitor.workbench.cookie, **_flags(visitor.workbench))
    return response


@router.get("/help")
def help_page(request: Request) -> Response:
    """Show how the pages work; open to everybody."""
    _visitor_or_none(request)
    return page(request, "help", "Help")


@router.post("/help")
def save_shortcuts(request: Request, form: PostedForm) -> Response:
    """Turn the keyboard shortcuts on or off."""
    current_visitor(request).note(
        PREFERENCES, **{"shortcuts-off": None if "shortcuts" in form else "yes"}
    )
    return go_to("/help#shortcuts")


@router.get("/accessibility")
def accessibility(request: Request) -> Response:
    """Show the accessibility statement; open to everybody."""
    _visitor_or_none(request)
    return page(request, "accessibility", "Accessibility")


def _visitor_or_none(request: Request) -> Visitor | None:
    """Return the visitor of a request; None if nobody is signed in, or the work is closed."""
    try:
        return current_visitor(request)
    except RefusedError:
        return None
