"""Access to pages: the visitor of a request, their session and their consent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from careeval.core.rating import Rater
from careeval.people.form_conflicts import FormId
from careeval.people.form_parsing import read_form
from careeval.people.workbench import CONSENT, PREFERENCES, Workbench


@dataclass(frozen=True, slots=True)
class Visitor:
    """The person who sent a request, as their session identifies them."""

    workbench: Workbench
    rater: Rater
    secret: str

    @property
    def agreed(self) -> bool:
        """True if they have agreed to the present terms."""
        consent = self.workbench.store.answers(self.rater.id, CONSENT).get("given")
        return consent is not None and consent.value == self.workbench.consent.digest

    @property
    def declined(self) -> bool:
        """True if they have declined the present terms."""
        refusal = self.workbench.store.answers(self.rater.id, CONSENT).get("declined")
        return refusal is not None and refusal.value == self.workbench.consent.digest

    @property
    def shortcuts(self) -> bool:
        """True until the rater turns the keyboard shortcuts off."""
        return "shortcuts-off" not in self.workbench.store.answers(self.rater.id, PREFERENCES)

    @property
    def storage_key(self) -> str:
        """The browser's local-storage key for what could not be sent; each rater has their own."""
        return hashlib.sha256(f"{self.workbench.cookie}/{self.rater.id}".encode()).hexdigest()[:16]

    def note(self, task: str, **values: str | None) -> None:
        """Save values from a page that has a single form."""
        store = self.workbench.store
        store.save(self.rater.id, task, values, FormId.new(store.newest(self.rater.id, task)))


class RefusedError(Exception):
    """The visitor does not get the page; `words` tells them why."""

    def __init__(
        self, status: int, title: str, words: str, *, retry: bool = False, withdraw: bool = False
    ) -> None:
        super().__init__(title)
        self.status, self.title, self.words, self.retry = status, title, words, retry
        self.withdraw = withdraw


class RedirectError(Exception):
    """The visitor is redirected to another page, which comes first."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def current_visitor(request: Request) -> Visitor:
    """Return the visitor of a request, while the work is open.

    Raises:
        RefusedError: See `signed_in_visitor`; or the work is closed.
    """
    visitor = signed_in_visitor(request)
    if visitor.workbench.store.closed:
        request.state.visitor = None
        raise closed_refusal(visitor.workbench)
    return visitor


def signed_in_visitor(request: Request) -> Visitor:
    """Return the visitor of a request, also once the work is closed: they may still withdraw.

    Raises:
        RefusedError: The session is unknown, or the link is switched off.
    """
    workbench: Workbench = request.app.state.workbench
    secret = request.cookies.get(workbench.cookie, "")
    link = workbench.store.session(secret) if secret else None
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
        raise revoked_refusal(workbench)
    request.state.visitor = visitor = Visitor(workbench, link.rater, secret)
    return visitor


def agreed_visitor(request: Request) -> Visitor:
    """Return the visitor of a request, who has agreed to the terms.

    Raises:
        RefusedError: See `current_visitor`.
        RedirectError: They have not agreed yet.
    """
    visitor = current_visitor(request)
    if not visitor.agreed:
        raise RedirectError("/consent")
    return visitor


def revoked_refusal(workbench: Workbench) -> RefusedError:
    """Return the refusal for a link that is switched off."""
    return RefusedError(
        403,
        "This link has been revoked",
        "Nothing more can be seen or saved with it. What was saved before is kept. For a new one, "
        f"ask: {workbench.consent.contact}",
    )


def closed_refusal(workbench: Workbench) -> RefusedError:
    """Return the refusal once the work is closed; a visitor may still withdraw."""
    return RefusedError(
        403,
        "This is closed",
        "Nothing can be seen or changed here any more. What was saved is kept, unless you "
        f"withdraw. For questions: {workbench.consent.contact}",
        withdraw=True,
    )


async def _form(request: Request) -> Mapping[str, str]:
    form = await read_form(request.headers.get("content-type", ""), request.stream())
    request.state.form = form
    return form


FORM = Depends(_form)
"""Reads the form that was sent, for a page that needs none of its fields."""

PostedForm = Annotated[Mapping[str, str], FORM]
"""The fields of the form that was sent."""
