"""What the plans of studies and audits share: people invited, their consent, and addresses."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import ClassVar, Self
from urllib.parse import urlsplit

from pydantic import ValidationError

from careeval.core.rating import Rater, Role
from careeval.core.scenario import Frozen, Slug, Text
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


class Consent(Frozen):
    """The terms of a study or an audit, as the people who run it have written them."""

    text: Text
    """The use that is made of people's answers; an empty line begins a paragraph."""
    ethics: Text
    """The reference of the ethics committee's approval, or the reason why none was needed."""
    contact: Text
    """The person to ask, and how to reach them."""

    @property
    def digest(self) -> str:
        """A short hash of the terms; if it changes, people are asked to agree again."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]


class Invitee(Frozen):
    """The pseudonym and role of one person who is asked to rate or label."""

    id: Slug
    role: Role

    @property
    def rater(self) -> Rater:
        """The same pseudonym and role, as a `Rater`."""
        return Rater(self.id, self.role)


def numbered_raters(roles: Iterable[Role]) -> list[Rater]:
    """Return a rater for each role, called r01, r02 … in this order."""
    return [Rater(f"r{n:02}", role) for n, role in enumerate(roles, 1)]


class Plan(Frozen):
    """The plan of a study or an audit, as the store keeps it."""

    kind: ClassVar[str]  # "study" or "audit"

    title: Text
    """The title that people see."""
    seed: int
    """The seed of the assignment and of every order."""
    consent: Consent

    def json_text(self) -> str:
        """Return the plan as the store keeps it."""
        return self.model_dump_json()

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the plan that `json_text` wrote; raise ReviewError if the text is not one."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise ReviewError(
                f"the file's plan of the {cls.kind} cannot be read: {error}",
                hint="go on from the last backup of the file",
            ) from error
