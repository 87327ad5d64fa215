"""The web app of a study or an audit, and the server that runs it."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from careeval.bank import Bank
from careeval.errors import ReviewError
from careeval.people.audit import decks as audit_decks
from careeval.people.forms import ClosedError, RevokedError
from careeval.people.plan import PORTS, Addresses, is_loopback
from careeval.people.store import Store
from careeval.people.study import decks as study_decks
from careeval.people.web import deck_pages, pages
from careeval.people.web.access import (
    FormError,
    Guard,
    PageSlots,
    RedirectError,
    RefusedError,
    closed_refusal,
    revoked_refusal,
)
from careeval.people.web.connection import BACKLOG, Limits, ReviewServer, connection_class

_STATIC = Path(__file__).with_name("static")


def create_app(bank: Bank | None, store: Store, addresses: Addresses | None = None) -> ASGIApp:
    """Return the app for an audit, or for a study's newest round.

    Args:
        bank: The bank with the scenarios of a study; an audit needs none.
        store: The file of the study or the audit.
        addresses: The addresses of the app; this machine's if not given.

    Raises:
        BankError: The bank lacks a scenario of the study's plan.
        ReviewError: A study is given no bank, or a scenario has changed since it was planned.
    """
    addresses = addresses or Addresses.loopback(PORTS[store.kind])
    # FastAPI's own pages of documentation load scripts from elsewhere, and its redirects name the
    # host and the scheme of the request, which a proxy may have changed
    app = FastAPI(openapi_url=None, redirect_slashes=False)
    app.state.page_slots = PageSlots()
    if store.kind == "audit":
        app.state.workbench = audit_decks.audit_workbench(store, addresses)
        app.include_router(deck_pages.router(audit_decks.PATHS, audit_decks.ENDS))
    else:
        if bank is None:
            raise ReviewError(
                f"{store.path} is the file of a study, which needs its bank",
                hint="give create_app the bank of the study",
            )
        app.state.workbench = study_decks.study_workbench(bank, store, addresses)
        app.include_router(deck_pages.router(study_decks.PATHS, study_decks.ENDS))
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=_STATIC))
    for kind, answer in _ANSWERS.items():
        app.add_exception_handler(kind, answer)
    return Guard(app, addresses)


async def _redirected(_: Request, error: Any) -> Response:
    return pages.go_to(error.path)


async def _refused(request: Request, error: Any) -> Response:
    return pages.refusal(
        request, error.status, error.title, error.words, retry=error.retry, withdraw=error.withdraw
    )


async def _ended(request: Request, error: Any) -> Response:
    why = closed_refusal if isinstance(error, ClosedError) else revoked_refusal
    return await _refused(request, why(request.app.state.workbench))


async def _not_saved(request: Request, error: Any) -> Response:
    words = (
        "The place where answers are kept cannot be used just now. What was saved before is kept"
    )
    if request.method == "POST":
        words += "; what you have just sent is not saved, but shown below: try again in a minute"
    return pages.refusal(request, 503, "Not saved", f"{words}. ({error})")


async def _unreadable(request: Request, error: Any) -> Response:
    return pages.refusal(request, error.status, "Not saved", str(error))


async def _no_page(request: Request, error: Any) -> Response:
    status = getattr(error, "status_code", 404)
    return pages.refusal(
        request, status, "There is nothing here", "Go to the overview, or use your link."
    )


async def _disconnected(_: Request, __: Any) -> Response:
    return Response(status_code=400)  # nobody is there to read it


async def _failed(request: Request, _: Any) -> Response:
    words = "Something is wrong with this program, not with what you did. What was saved stands."
    return pages.refusal(request, 500, "That should not have happened", words)


_ANSWERS: dict[type[Exception], Callable[[Request, Any], Awaitable[Response]]] = {
    RedirectError: _redirected,
    RefusedError: _refused,
    RevokedError: _ended,
    ClosedError: _ended,
    ReviewError: _not_saved,
    FormError: _unreadable,
    ClientDisconnect: _disconnected,
    RequestValidationError: _no_page,
    HTTPException: _no_page,
    Exception: _failed,
}


def serve(
    store_path: Path,
    bank: Bank | None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    behind_proxy: str | None = None,
    limits: Limits | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Run the app until it is told to stop.

    Args:
        store_path: The study's or the audit's file.
        bank: As of `create_app`.
        host: The host to listen on.
        port: The port to listen on; if not given, the default of a study or an audit; a free one
            for 0.
        behind_proxy: The https address of a proxy before the app. Without one, only this machine
            reaches it.
        limits: Times to wait for clients.
        ready: Called with the address once the port is open; the app answers a moment later.

    Raises:
        BankError: As `create_app`.
        ReviewError: The host is open to the network and has no proxy, the port is taken, or the
            file cannot be used; or as `create_app`.
    """
    if not is_loopback(host) and behind_proxy is None:
        raise ReviewError(
            f"host {host} is open to the network, where links would travel unencrypted",
            hint="put an https proxy in front, and give its address as --behind-proxy",
        )
    with closing(Store.open(store_path)) as store, ExitStack() as opened:
        wanted = PORTS[store.kind] if port is None else port
        listener = opened.enter_context(_listening(host, wanted))
        port = listener.getsockname()[1]
        addresses = (
            Addresses.behind_proxy(behind_proxy) if behind_proxy else Addresses.loopback(port)
        )
        config = uvicorn.Config(
            create_app(bank, store, addresses),
            loop="asyncio",
            http=connection_class(limits or Limits()),
            ws="none",
            backlog=BACKLOG,
            log_level="warning",
            access_log=False,  # addresses hold tokens
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=5,
        )
        server = ReviewServer(config)
        if ready is not None:
            ready(behind_proxy or f"http://127.0.0.1:{port}")
        with _ended_by_sigterm():
            asyncio.run(server.serve([listener]))


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """On SIGTERM, leave the block with status 0: uvicorn raises SIGTERM again when it has ended."""

    def end(*_: object) -> None:
        raise SystemExit(0)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ReviewError(
            f"cannot listen on {host}, port {port}: {error.strerror}", hint="choose another --port"
        ) from error
