"""Addresses of servers: what is one, and how it is shown."""

from __future__ import annotations

from urllib.parse import urlsplit

from careeval.errors import ProtocolError

EXAMPLE = "such as http://localhost:8000/v1"

BARE = {"grok"}
"""Providers whose address is a host alone."""


def check_address(url: str, where: str) -> None:
    """Return if a text is the address of a server, and holds no secret.

    An address stands in run.json, in logs and in messages; a key does not.

    Args:
        url: The text.
        where: What holds it.

    Raises:
        ProtocolError: It is none, or holds one. The message shows no secret.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.username is not None or parts.password is not None or "@" in url.partition("?")[0]:
        raise ProtocolError(
            f"{where} holds a name or a password before an @, which logs would keep",
            hint="leave it out, and set the key as the provider's variable, NAME_API_KEY",
        )
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ProtocolError(
            f"{where} holds something after a ? or a #, where a key may be, and logs would keep it",
            hint="give the address up to there, and set the key as the provider's variable, "
            "NAME_API_KEY",
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise no_address(f"{where}, {url!r},")


def no_address(what: str) -> ProtocolError:
    """The error that something is no address of a server."""
    return ProtocolError(
        f"{what} is no address of a server",
        hint=f"it begins with http:// or https://, and names a host, {EXAMPLE}",
    )


def shown(url: str) -> str:
    """An address without anything that may be secret in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be read"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/") if parts.scheme else parts.path
