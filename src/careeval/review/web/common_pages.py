"""The pages that every study and audit has: the way in, the way out, and help."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from careeval.review.store import Link
from careeval.review.web.access import (
    FORM,
    Here,
    Posted,
    RedirectError,
    RefusedError,
    agreed,
    here,
    revoked,
    signed_in,
)
from careeval.review.web.deck_pages import next_stop
from careeval.review.web.page_slots import Page
from careeval.review.web.pages import go_to, page
from careeval.review.workbench import ABOUT, CONSENT, PREFERENCES, Desk

router = APIRouter(route_class=Page)

NOT_SAID = "not said"
_MOST_YEARS = 80


@router.get("/")
def home(request: Request) -> Response:
    """Whoever is signed in goes on where they stopped."""
    who = here(request)
    if not who.agreed:
        raise RedirectError("/consent")
    work = who.desk.store.work(who.rater.id)
    if "years" not in work.get(ABOUT, {}):
        raise RedirectError("/about")
    raise RedirectError(next_stop(who.desk, who.rater, work))


@router.get("/i/{token}")
def landing(request: Request, token: str) -> Response:
    """Who asks, for how long, and what is kept. It changes nothing: mail scanners open links."""
    link = _link(request, token)
    desk: Desk = request.app.state.desk
    load = desk.load(link.rater, desk.store.work(link.rater.id))
    return page(request, "landing", desk.title, load=load)


@router.post("/i/{token}", dependencies=[FORM])
def start(request: Request, token: str) -> Response:
    """Open a session."""
    link = _link(request, token)
    desk: Desk = request.app.state.desk
    response = go_to("/")
    response.set_cookie(desk.cookie, desk.store.start_session(link.rater.id), **_flags(desk))
    return response


def _flags(desk: Desk) -> dict[str, Any]:
    """Of the session's cookie; a browser removes it only where they are the same again."""
    return {"path": "/", "httponly": True, "samesite": "strict", "secure": desk.settings.secure}


def _link(request: Request, token: str) -> Link:
    desk: Desk = request.app.state.desk
    link = desk.store.link(token)
    if link is None:
        raise RefusedError(
            404,
            "This link opens nothing",
            "It may have been cut off or replaced, or its ratings have been withdrawn. Copy it "
            "whole from the message that you got, or ask whoever sent it.",
        )
    if link.revoked:
        raise revoked(desk)
    return link


@router.get("/consent")
def terms(request: Request) -> Response:
    """Show what there is to agree to, also to those who have agreed."""
    who = here(request)
    values = {"given": who.agreed, "declined": who.declined}
    return page(request, "consent", "Before you begin", **values)


@router.post("/consent")
def agree(request: Request, form: Posted) -> Response:
    """Keep that they agree, or that they do not."""
    who = here(request)
    digest = who.desk.consent.digest
    if form.get("agree") == "yes":
        who.note(CONSENT, given=digest, declined=None)
    elif form.get("agree") == "no" and not who.agreed:
        who.note(CONSENT, declined=digest)
    return go_to("/")


@router.get("/about")
def about(request: Request) -> Response:
    """Years of experience, asked once."""
    return _about(request, agreed(request), "")


@router.post("/about")
def tell(request: Request, form: Posted) -> Response:
    """Keep the years."""
    who, typed = agreed(request), form.get("years", "").strip()
    if form.get("go") == "skip":
        typed = NOT_SAID
    elif not (typed.isascii() and typed.isdigit() and len(typed) < 4 and int(typed) <= _MOST_YEARS):
        words = f"Please give whole years as a number from 0 to {_MOST_YEARS}, or leave it out."
        return _about(request, who, words, typed)
    who.note(ABOUT, years=typed)
    return go_to("/")


def _about(request: Request, who: Here, error: str, typed: str = "") -> Response:
    given = who.desk.store.answers(who.rater.id, ABOUT).get("years")
    if not error and given and given.value != NOT_SAID:
        typed = given.value
    title, status = "About you", 422 if error else 200
    return page(request, "about", title, status, error=error, years=typed)


@router.get("/pause")
def pause(request: Request) -> Response:
    """What a pause means."""
    here(request)
    return page(request, "pause", "Take a pause")


@router.post("/pause", dependencies=[FORM])
def leave(request: Request) -> Response:
    """End the session in this browser."""
    who = here(request)
    who.desk.store.end_session(who.secret)
    request.state.here = None
    response = page(request, "paused", "You are signed out")
    response.delete_cookie(who.desk.cookie, **_flags(who.desk))
    return response


@router.get("/withdraw")
def withdraw(request: Request) -> Response:
    """Say what withdrawing means."""
    signed_in(request)
    return page(request, "withdraw", "Withdraw and delete")


@router.post("/withdraw")
def delete(request: Request, form: Posted) -> Response:
    """Delete everything of somebody, also once the work is closed."""
    who = signed_in(request)
    if form.get("delete") != "everything":
        return go_to("/withdraw")
    erased = who.desk.store.withdraw(who.rater.id)
    request.state.here = None
    response = page(request, "withdrawn", "Your answers are deleted", erased=erased)
    response.delete_cookie(who.desk.cookie, **_flags(who.desk))
    return response


@router.get("/help")
def help_page(request: Request) -> Response:
    """How the pages work; open to everybody."""
    return page(request, "help", "Help", who=_maybe(request))


@router.post("/help")
def prefer(request: Request, form: Posted) -> Response:
    """Turn the shortcuts on or off."""
    here(request).note(PREFERENCES, **{"shortcuts-off": None if "shortcuts" in form else "yes"})
    return go_to("/help#shortcuts")


@router.get("/accessibility")
def accessibility(request: Request) -> Response:
    """The accessibility statement; open to everybody."""
    _maybe(request)
    return page(request, "accessibility", "Accessibility")


def _maybe(request: Request) -> Here | None:
    """Who asks, where it is somebody."""
    try:
        return here(request)
    except RefusedError:
        return None
