"""The HTTP clients of providers, with our limits and hooks."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from careeval.protocol.calls.failures import ReplyTooLongError
from careeval.protocol.calls.redaction import Redactor
from careeval.protocol.costs.token_counts import with_readable_usage
from careeval.protocol.models.reply_queue import ReplyQueue

TIMEOUT = 1800
"""Seconds after which a call that fails is not retried."""

CONNECT_TIMEOUT = 10
"""Seconds for an attempt to connect to a server."""

PROBE_TIMEOUT = 30
"""Seconds within which a working server answers a small request, even while it is busy."""

MAX_REPLY = 16 * 2**20
"""The most bytes of a reply: more than any model writes, and a hundred of them fit into memory."""


def limit_connecting() -> None:
    """Set a short timeout for connecting in every provider's client, unless the user has set one.

    Inspect waits 60 seconds, and then once more, because long work between two calls may hold up
    its loop; `ReplyQueue` prevents that here.
    """
    os.environ.setdefault("INSPECT_HTTP_CONNECT_TIMEOUT", str(CONNECT_TIMEOUT))
    os.environ.setdefault("INSPECT_HTTP_CONNECT_RETRIES", "0")


def prepare_clients(api: Any, reply_queue: ReplyQueue, redactor: Redactor) -> None:
    """Put our limits and hooks on a provider's present client, and on clients it makes later.

    vLLM's provider makes its client at the first call, Mistral's makes one for each call, and any
    may make another when its key has changed. The clients of Google, Grok and the clouds have no
    hooks.

    Args:
        api: The provider's object, as Inspect made it.
        reply_queue: The queue in which replies wait.
        redactor: Removes the key from replies.
    """
    hooks = ReplyHooks(reply_queue, redactor)
    initialize = api.initialize

    def prepare() -> None:
        if _use_aiohttp(api):
            initialize()
        client = getattr(api, "client", None)
        if client is not None and hasattr(client, "max_retries"):
            # Inspect retries, and counts that
            client.max_retries = 0
            _lighten(client)
        hooks.put_on(getattr(client, "_client", None))

    def initialized() -> None:
        initialize()
        prepare()

    api.initialize = initialized
    prepare()
    if hasattr(api, "_context_window_registered"):
        # else vLLM's asks for its context length before the first call, and waits long for that
        api._context_window_registered = True
    if (default_args := getattr(api, "_http_default_args", None)) is not None:

        def hooked() -> dict[str, Any]:
            args: dict[str, Any] = default_args()
            hooks.put_on(args.get("async_client"))
            return args

        api._http_default_args = hooked


def _lighten(client: Any) -> None:
    """Skip the conversion of requests in a client of OpenAI's package."""
    if type(client).__module__.partition(".")[0] == "openai":
        # imported here: openai is slow to load, and is loaded already in this case
        from careeval.protocol.models.completions import lighten

        lighten(client)


def _use_aiohttp(api: Any) -> bool:
    """Make a client of OpenAI's package send over aiohttp; return whether that was possible.

    A call takes a sixth less work than over httpx. OpenAI's package offers this client for many
    calls at once.
    """
    if (client := getattr(api, "http_client", None)) is None:
        return False  # before openai is imported, which is slow
    import httpx2
    from inspect_ai._util.http_defaults_httpx2 import connect_timeout
    from openai import DefaultAioHttpClient

    if type(client) is DefaultAioHttpClient or not isinstance(client, httpx2.AsyncClient):
        return False
    api.http_client = DefaultAioHttpClient(
        timeout=httpx2.Timeout(TIMEOUT, connect=connect_timeout()),
        # 0 means no limit; aiohttp's default is a hundred
        limits=httpx2.Limits(max_connections=0),
    )
    return True


async def is_silent(api: Any) -> bool:
    """Ask a provider's server for its list of models; return whether no reply comes in time.

    Any reply counts, even an error: a slow server, or a server that is still loading its model,
    replies. False if the provider has no such request.
    """
    client = getattr(api, "client", None)
    http: Any = getattr(client, "_client", None)
    url = getattr(client, "base_url", None)
    if url is None or not hasattr(http, "get"):
        return False
    try:
        await asyncio.wait_for(http.get(f"{str(url).rstrip('/')}/models"), PROBE_TIMEOUT)
    except TimeoutError:
        return True
    except Exception:  # it answered, or the connection failed, which the attempt will report
        return False
    return False


class ReplyHooks:
    """Hooks that limit the size of a reply, redact the key in it, and queue it.

    Inspect logs replies unchanged, and the number of the request from their headers.
    """

    def __init__(self, reply_queue: ReplyQueue, redactor: Redactor) -> None:
        self._reply_queue, self._redactor = reply_queue, redactor

    def put_on(self, http: Any) -> None:
        """Add the hooks to a client, once; do nothing for a client that is not like httpx's."""
        hooks = getattr(http, "event_hooks", None)
        if hooks is not None and self.on_reply not in hooks["response"]:
            # before Inspect's own
            hooks["response"].insert(0, self.on_reply)

    async def on_reply(self, response: Any) -> None:
        """Read a whole reply, and redact its headers and body.

        Raises:
            ReplyTooLongError: The reply is longer than `MAX_REPLY`.
        """
        for name, value in list(response.headers.items()):
            if (redacted := self._redactor.header(value)) != value:
                response.headers[name] = redacted
        parts, n = [], 0
        async for part in response.aiter_bytes():
            parts.append(part)
            n += len(part)
            if n > MAX_REPLY:
                raise ReplyTooLongError(
                    f"the server's reply is longer than {MAX_REPLY // 2**20} MB, so it was not "
                    "read to its end: check that the address is that of a model's server"
                )
        body = self._redactor.body(b"".join(parts), is_error=response.is_error)
        if response.is_success and "json" in response.headers.get("content-type", ""):
            body = with_readable_usage(body)
        response._content = body
        await self._reply_queue.wait()
