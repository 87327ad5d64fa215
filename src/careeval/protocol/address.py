"""The addresses of model servers: taken from the environment, checked, shown without secrets."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from careeval.errors import ProtocolError

EXAMPLE = "such as http://localhost:8000/v1"

HOST_ONLY = {"grok"}
"""Providers whose address is only a host, without http:// or https://."""


COMPATIBLE = "openai-api"
"""The provider of any server with OpenAI's API: openai-api/SERVICE/MODEL."""


def address_variable(model: str) -> str:
    """Return the environment variable with the address of a model's server.

    Args:
        model: Inspect's name of the model.
    """
    provider, *parts = model.split("/")
    service = parts[0] if provider == COMPATIBLE and len(parts) > 1 else provider
    return f"{service.upper().replace('-', '_')}_BASE_URL"


def server_address(model: str, base_url: str | None) -> str | None:
    """Return the given address of a model's server, or else the environment's.

    `None` if neither is set: the provider then has an address of its own, loads the model on this
    machine, or cannot be asked.

    Args:
        model: Inspect's name of the model.
        base_url: The address that the run gives; `None` if it gives none.
    """
    return base_url or os.environ.get(address_variable(model)) or None


def check_address(url: str, where: str) -> None:
    """Check that a text is the address of a server, and has no secret in it.

    Addresses are written to run.json, logs and messages, and keys must not be.

    Args:
        url: The text.
        where: Source of the text, for the message.

    Raises:
        ProtocolError: It is not an address, or may have a secret in it, which the message does not
            show.
    """
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
