"""The addresses of model servers: taken from the environment, checked, shown without secrets."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from careeval.errors import ProtocolError
from careeval.protocol.providers import provider_of

EXAMPLE = "such as http://localhost:8000/v1"


def server_address(model: str, base_url: str | None) -> str | None:
    """Return the address of a model's server that the run gives, or else the environment's.

    `None` if neither is set: the provider then has an address of its own, loads the model on this
    machine, or cannot be asked.
    """
    given = (base_url, *map(os.environ.get, provider_of(model).address_variables))
    return next(filter(None, given), None)


def check_address(model: str | None, url: str, where: str) -> None:
    """Check that a text is the address of a model's server, and has no secret in it.

    Addresses are written to run.json, logs and messages, and keys must not be. An address that is
    only a host, as its provider wants it, is not checked.

    Raises:
        ProtocolError: It is not an address, or may have a secret in it, which is not shown: the
            message names `where` the text is from.
    """
    if provider_of(model).host_only:
        return
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.username is not None or parts.password is not None or "@" in url.partition("?")[0]:
        raise ProtocolError(
            f"{where} has a user name or a password before an @, which logs would keep",
            hint="leave both out, and set the provider's environment variable, NAME_API_KEY",
        )
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise ProtocolError(
            f"{where} has text after a ? or a #, which may be a key, and logs would keep it",
            hint="give the address without that text, and set the provider's environment "
            "variable, NAME_API_KEY",
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise address_error(f"{where}, {url!r},")


def address_error(what: str) -> ProtocolError:
    """Return the error for a text that is not the address of a server."""
    return ProtocolError(
        f"{what} is not the address of a server",
        hint=f"give an address that begins with http:// or https:// and names a host, {EXAMPLE}",
    )


def redacted(url: str) -> str:
    """Return an address without the parts that may be secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be read"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/") if parts.scheme else parts.path
