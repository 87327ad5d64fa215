"""The web addresses under which browsers reach the rating app."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self
from urllib.parse import urlsplit

from careeval.errors import ReviewError

PORTS = {"study": 8700, "audit": 8701}
"""The default ports of studies and audits, different so that both can be served at once."""


@dataclass(frozen=True)
class Addresses:
    """The addresses under which browsers reach the app."""

    origins: frozenset[str]
    """Scheme, host and port of each address, as a browser's Origin header has them."""
    secure: bool  # True if all origins are https, so that cookies can be restricted to https

    @classmethod
    def loopback(cls, port: int) -> Self:
        """Return the addresses of a server that this machine alone can reach."""
        hosts = ("127.0.0.1", "localhost", "[::1]")
        return cls(frozenset(f"http://{host}:{port}" for host in hosts), secure=False)

    @classmethod
    def behind_proxy(cls, address: str) -> Self:
        """Return the https address of a proxy that passes requests on with their Host header.

        Raises:
            ReviewError: The address is not https, or is more than a host and a port.
        """
        parts = urlsplit(address)
        if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or parts.query:
            raise ReviewError(
                f"{address!r} is not an https address of a host alone",
                hint="give the https address without a path, as https://rating.example.org",
            )
        port = f":{parts.port}" if parts.port not in (None, 443) else ""
        return cls(frozenset({f"https://{parts.hostname}{port}"}), secure=True)

    @property
    def hosts(self) -> frozenset[str]:
        """The values that the Host header may have."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine's own, so that no other machine can reach it."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
