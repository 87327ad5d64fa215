"""Checks of every request's host and origin, and headers that limit what browsers do."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from careeval.people.addresses import Addresses

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
        # every browser states the origin of a form
        if method not in ("GET", "HEAD") and headers.get("origin") not in self._addresses.origins:
            return PlainTextResponse(
                "This was sent from another page than ours, and changed nothing.", 403
            )
        return None
