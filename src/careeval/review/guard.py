"""What stands before every page: who may ask, and what a browser may do with the answer."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from careeval.errors import ReviewError

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


@dataclass(frozen=True)
class Settings:
    """At which addresses the app is reached.

    Attributes:
        origins: As a browser states them: scheme, host, and port where it is not the usual one.
        secure: Whether all of them are https, so that cookies go nowhere else.
    """

    origins: frozenset[str]
    secure: bool

    @classmethod
    def loopback(cls, port: int) -> Self:
        """On this machine alone."""
        hosts = ("127.0.0.1", "localhost", "[::1]")
        return cls(frozenset(f"http://{host}:{port}" for host in hosts), secure=False)

    @classmethod
    def behind_proxy(cls, address: str) -> Self:
        """At the one address, https, of a proxy that passes requests on with their Host.

        Raises:
            ReviewError: It is no such address.
        """
        parts = urlsplit(address)
        if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or parts.query:
            raise ReviewError(
                f"{address!r} is no address for raters",
                hint="give what they type, like https://rating.example.org",
            )
        port = f":{parts.port}" if parts.port not in (None, 443) else ""
        return cls(frozenset({f"https://{parts.hostname}{port}"}), secure=True)

    @property
    def hosts(self) -> frozenset[str]:
        """What the Host header may be."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)


def is_loopback(host: str) -> bool:
    """Whether what listens there is reached from this machine alone."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Refuses requests to another name or, where they change anything, from another site."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on; every answer gets the headers."""
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
        if headers.getlist("host") not in [[host] for host in self._settings.hosts]:
            return PlainTextResponse("This is not the address of this study or audit.", 421)
        # every browser states the origin of a form; who does not is not one of our pages
        if method not in ("GET", "HEAD") and headers.get("origin") not in self._settings.origins:
            return PlainTextResponse(
                "This was sent from another page than ours, and changed nothing.", 403
            )
        return None
