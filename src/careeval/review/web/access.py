"""Where somebody stands who opens a page: what is served, who asks, and whether they may."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from careeval.core.rating import Rater
from careeval.review.changes import Form
from careeval.review.forms import read_form
from careeval.review.workbench import CONSENT, PREFERENCES, Desk


@dataclass(frozen=True, slots=True)
class Here:
    """Who asks."""

    desk: Desk
    rater: Rater
    secret: str

    @property
    def agreed(self) -> bool:
        """Whether they have agreed to the terms as they are now."""
        given = self.desk.store.answers(self.rater.id, CONSENT).get("given")
        return given is not None and given.value == self.desk.consent.digest

    @property
    def declined(self) -> bool:
        """Whether they have said that they do not agree to the terms as they are now."""
        given = self.desk.store.answers(self.rater.id, CONSENT).get("declined")
        return given is not None and given.value == self.desk.consent.digest

    @property
    def shortcuts(self) -> bool:
        """Whether the keyboard shortcuts are on: they are until somebody turns them off."""
        return "shortcuts-off" not in self.desk.store.answers(self.rater.id, PREFERENCES)

    @property
    def drawer(self) -> str:
        """Where this browser keeps what could not be sent: each rater's apart."""
        return hashlib.sha256(f"{self.desk.cookie}/{self.rater.id}".encode()).hexdigest()[:16]

    def note(self, task: str, **values: str | None) -> None:
        """Keep something that a page of one form says."""
        store = self.desk.store
        store.save(self.rater.id, task, values, Form.new(store.newest(self.rater.id, task)))


class RefusedError(Exception):
    """Why somebody does not get a page."""

    def __init__(
        self, status: int, title: str, words: str, *, retry: bool = False, withdraw: bool = False
    ) -> None:
        super().__init__(title)
        self.status, self.title, self.words, self.retry = status, title, words, retry
        self.withdraw = withdraw


class RedirectError(Exception):
    """Another page comes first."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def here(request: Request) -> Here:
    """Return who asks, while the work is open.

    Raises:
        RefusedError: As `signed_in`, or the work is closed.
    """
    found = signed_in(request)
    if found.desk.store.closed:
        request.state.here = None
        raise closed(found.desk)
    return found


def signed_in(request: Request) -> Here:
    """Return who asks, also once the work is closed: they may still withdraw.

    Raises:
        RefusedError: Nobody who may: the session is unknown or switched off.
    """
    desk: Desk = request.app.state.desk
    secret = request.cookies.get(desk.cookie, "")
    link = desk.store.session(secret) if secret else None
    if link is None:
        raise RefusedError(
            401,
            "Please open your personal link again",
            "This browser is not signed in, or its session has ended. Open the link that you were "
            "sent: everything that was saved is there. If you have just sent something, open the "
            "link in another window, press Start there, and then try again here.",
            retry=True,
        )
    if link.revoked:
        raise revoked(desk)
    request.state.here = found = Here(desk, link.rater, secret)
    return found


def agreed(request: Request) -> Here:
    """Who asks, having agreed.

    Raises:
        RefusedError: As `here`.
        RedirectError: They have not agreed yet.
    """
    found = here(request)
    if not found.agreed:
        raise RedirectError("/consent")
    return found


def revoked(desk: Desk) -> RefusedError:
    """For a link that opens nothing any more."""
    return RefusedError(
        403,
        "This link has been revoked",
        "Nothing more can be seen or saved with it. What was saved before is kept. For a new one, "
        f"ask: {desk.consent.contact}",
    )


def closed(desk: Desk) -> RefusedError:
    """For everything once the work is closed."""
    return RefusedError(
        403,
        "This is closed",
        "Nothing can be seen or changed here any more. What was saved is kept, unless you "
        f"withdraw. For questions: {desk.consent.contact}",
        withdraw=True,
    )


async def _form(request: Request) -> Mapping[str, str]:
    found = await read_form(request.headers.get("content-type", ""), request.stream())
    request.state.form = found
    return found


FORM = Depends(_form)
"""Reads the form that was sent, for a page that only wants it to be one."""

Posted = Annotated[Mapping[str, str], FORM]
"""The fields of the form that was sent."""
