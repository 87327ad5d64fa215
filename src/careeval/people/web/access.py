"""Who may see a page, how many at a time, and what headers it has.

Pages that read and pages that save have slots of their own: while saves wait for another program
that holds the file, pages that read are still made. Large forms have slots too, since anybody can
send them. There are few slots, since Python threads that all compute slow each other down. Static
files have the other threads to themselves.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from careeval.core.rating import Rater
from careeval.errors import ReviewError
from careeval.people import database
from careeval.people.deck import CONSENT, PREFERENCES, Workbench
from careeval.people.forms import FormId, clean
from careeval.people.plan import Addresses
from careeval.people.store import Link

T = TypeVar("T")

_READING, _SAVING, _PARSING = 2, 2, 2

_LARGE_FORM = 16 * 1024
"""Bytes from which a form is parsed in a thread: parsing the largest takes a second."""

MAX_BODY = 4 * 2**20
"""The most bytes of a form: more than is kept, so that too long a text can be shown again."""

MAX_STRANGERS_BODY = 64 * 1024
"""The most bytes of a form that are taken from somebody without a session or a link."""

_MAX_FIELDS = 500


class PageSlots:
    """Slots for what is done at the same time: a few pages that read, that save, large forms."""

    def __init__(self) -> None:
        self.reading = asyncio.Semaphore(_READING)
        self.saving = asyncio.Semaphore(_SAVING)
        self.parsing = asyncio.Semaphore(_PARSING)


async def _in_thread(slots: asyncio.Semaphore, work: Callable[..., T], *args: Any, **kw: Any) -> T:
    """Run a function in a thread once a slot is free.

    Raises:
        ReviewError: No slot gets free within BUSY_SECONDS.
    """
    try:
        await asyncio.wait_for(slots.acquire(), database.BUSY_SECONDS)
    except TimeoutError as error:
        raise ReviewError(
            f"too many requests at once: this one was not served within {database.BUSY_SECONDS} s"
        ) from error
    try:
        return await run_in_threadpool(work, *args, **kw)
    finally:
        slots.release()


class PageRoute(APIRoute):
    """A route whose page is made in a worker thread, in a slot, after its form has been read."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        in_slot = endpoint if asyncio.iscoroutinefunction(endpoint) else _in_slot(endpoint)
        super().__init__(path, in_slot, **options)


def _in_slot(make: Callable[..., Response]) -> Callable[..., Awaitable[Response]]:
    def over_one_connection(request: Request, **given: Any) -> Response:
        workbench: Workbench = request.app.state.workbench
        with workbench.store.reading():
            return make(request, **given)

    @wraps(make)
    async def made(request: Request, **given: Any) -> Response:
        slots: PageSlots = request.app.state.page_slots
        kind = slots.reading if request.method in ("GET", "HEAD") else slots.saving
        return await _in_thread(kind, over_one_connection, request, **given)

    return made


HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # "no-referrer" would make browsers send "Origin: null" with our own forms
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """An ASGI app that refuses requests to foreign hosts and changes requested by foreign sites."""

    def __init__(self, app: ASGIApp, addresses: Addresses) -> None:
        self._app = app
        self._addresses = addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond or pass the request on; every response gets the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        app = self._app if refusal is None else refusal
        await app(scope, receive, guarded)

    def _refusal(self, method: str, headers: Headers) -> PlainTextResponse | None:
        if headers.getlist("host") not in [[host] for host in self._addresses.hosts]:
            return PlainTextResponse("This is not the address of this study or audit.", 421)
        # every browser states the origin of a form, once
        ours = [[origin] for origin in self._addresses.origins]
        if method not in ("GET", "HEAD") and headers.getlist("origin") not in ours:
            return PlainTextResponse(
                "This was sent from another page than ours, and changed nothing.", 403
            )
        return None


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


def opened_link(request: Request) -> Link:
    """Return the link whose token is in the address of a request.

    Raises:
        RefusedError: There is no such link, or it is switched off.
    """
    workbench: Workbench = request.app.state.workbench
    link = workbench.store.link(request.path_params["token"])
    if link is None:
        raise RefusedError(
            404,
            "This link opens nothing",
            "It may have been cut off or replaced, or its ratings have been withdrawn. Copy it "
            "whole from the message that you got, or ask whoever sent it.",
        )
    if link.revoked:
        raise revoked_refusal(workbench)
    return link


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


class FormError(Exception):
    """A form that cannot be read, so that nothing of it is kept.

    Attributes:
        status: The HTTP status of the refusal.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def _read_body(request: Request) -> bytes:
    """Return the bytes of a form; of a stranger's, only so many that they take little memory.

    A rater whose session has ended can still send a form of usual size, which is shown again.

    Raises:
        FormError: The body is too large, or not a form.
        RefusedError: The body is too large for somebody without a session or a link.
    """
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise FormError(
            415,
            "What was sent did not come from a form of this page; nothing was saved. Go back "
            "and try again.",
        )
    body, known = bytearray(), False
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise FormError(
                413,
                "That was too much text at once; nothing was saved. Shorten it and send it again.",
            )
        if len(body) > MAX_STRANGERS_BODY and not known:
            slots: PageSlots = request.app.state.page_slots
            find = opened_link if "token" in request.path_params else signed_in_visitor
            await _in_thread(slots.parsing, find, request)
            known = True
    return bytes(body)


def parse_form(body: bytes) -> Mapping[str, str]:
    """Return the fields of a form.

    Raises:
        FormError: The form is not UTF-8, has too many fields, or names a field twice.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_FIELDS,
        )
    except ValueError as error:
        raise FormError(
            400, "The form could not be read; nothing was saved. Go back and try again."
        ) from error
    if len({name for name, _ in pairs}) < len(pairs):
        raise FormError(
            400, "The form answers a question twice; nothing was saved. Go back and try again."
        )
    return {name: clean(value) for name, value in pairs}


async def _form(request: Request) -> Mapping[str, str]:
    body = await _read_body(request)
    slots: PageSlots = request.app.state.page_slots
    small = len(body) < _LARGE_FORM
    form = parse_form(body) if small else await _in_thread(slots.parsing, parse_form, body)
    request.state.form = form
    return form


FORM = Depends(_form)
"""Reads the form that was sent, for a page that needs none of its fields."""

PostedForm = Annotated[Mapping[str, str], FORM]
"""The fields of the form that was sent."""
