"""The HTTP clients that providers ask with, each with our limits and hooks."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from careeval.protocol.calls.failures import ReplyTooLongError
from careeval.protocol.calls.redaction import Blot
from careeval.protocol.costs.token_counts import mended
from careeval.protocol.models.reply_queue import Turns

TIMEOUT = 1800
"""Seconds after which a call that fails is not tried again."""

CONNECT_TIMEOUT = 10
"""Seconds until a server that cannot be reached is given up, and tried again."""

PROBE_TIMEOUT = 30
"""Seconds in which a living server answers some request, while it works on another."""

MAX_REPLY = 16 * 2**20
"""Bytes of one reply: more than any model says, and a hundred of them fit into memory."""


def limit_connecting() -> None:
    """Have every provider's client give a connection up soon, unless the user has set a time.

    Inspect waits 60 seconds, and then once more, because long work between two calls may hold up
    its loop; `Turns` keeps that from happening here.
    """
    os.environ.setdefault("INSPECT_HTTP_CONNECT_TIMEOUT", str(CONNECT_TIMEOUT))
    os.environ.setdefault("INSPECT_HTTP_CONNECT_RETRIES", "0")


def prepare_clients(api: Any, turns: Turns, blot: Blot) -> None:
    """Put our limits and hooks on the client that a provider has, and on those it will make.

    vLLM's makes its client at the first call, Mistral's one for each call; any may make another
    when its key has changed. Google's, Grok's and those of the clouds ask over clients without
    hooks.

    Args:
        api: The provider.
        turns: In which replies wait.
        blot: Takes the key out of replies.
    """
    hooks = ReplyHooks(turns, blot)
    initialize = api.initialize

    def prepare() -> None:
        if _over_aiohttp(api):
            initialize()
        client = getattr(api, "client", None)
        if client is not None and hasattr(client, "max_retries"):
            # repeating is Inspect's, which counts it
            client.max_retries = 0
            _lighten(client)
        hooks.put_on(getattr(client, "_client", None))

    def initialized() -> None:
        initialize()
        prepare()

    api.initialize = initialized
    prepare()
    if hasattr(api, "_context_window_registered"):
        # vLLM's asks for the length of its context before the first call, and waits long for that
        api._context_window_registered = True
    if (arguments := getattr(api, "_http_default_args", None)) is not None:

        def hooked() -> dict[str, Any]:
            made: dict[str, Any] = arguments()
            hooks.put_on(made.get("async_client"))
            return made

        api._http_default_args = hooked


def _lighten(client: Any) -> None:
    """Spare a client of OpenAI's package the conversion of what needs none."""
    if type(client).__module__.partition(".")[0] == "openai":
        # that package is loaded then, and need not be otherwise
        from careeval.protocol.models.completions import lighten

        lighten(client)


def _over_aiohttp(api: Any) -> bool:
    """Have a client of OpenAI's kind send over aiohttp: a sixth less work a call than over httpx.

    It is the client that OpenAI's own package offers for many calls at once. Whether it was put in
    place just now comes back.
    """
    if (client := getattr(api, "http_client", None)) is None:
        return False  # and openai need not be loaded
    import httpx2
    from inspect_ai._util.http_defaults_httpx2 import connect_timeout
    from openai import DefaultAioHttpClient

    if type(client) is DefaultAioHttpClient or not isinstance(client, httpx2.AsyncClient):
        return False
    api.http_client = DefaultAioHttpClient(
        timeout=httpx2.Timeout(TIMEOUT, connect=connect_timeout()),
        # 0 is no limit; where none is given, aiohttp takes a hundred
        limits=httpx2.Limits(max_connections=0),
    )
    return True


async def is_silent(api: Any) -> bool:
    """Ask a provider's server for its list of models; whether no reply of any kind comes.

    A server that is slow, or still loads its model, has one: an error will do. False where we
    cannot ask.
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
    except Exception:  # it answered, or the connection failed: the attempt itself says more
        return False
    return False


class ReplyHooks:
    """Bounds each reply, blots out the key that it repeats, and has it wait for its turn.

    Inspect logs what a server says as it came, and of its headers the number of the request.
    """

    def __init__(self, turns: Turns, blot: Blot) -> None:
        self._turns, self._blot = turns, blot

    def put_on(self, http: Any) -> None:
        """Hook a client's replies, once; what is no client of httpx's kind is left alone."""
        hooks = getattr(http, "event_hooks", None)
        if hooks is not None and self.on_reply not in hooks["response"]:
            # before Inspect's own
            hooks["response"].insert(0, self.on_reply)

    async def on_reply(self, response: Any) -> None:
        """Read a reply whole, and leave in its place what may be read."""
        for name, value in list(response.headers.items()):
            if (blotted := self._blot.header(value)) != value:
                response.headers[name] = blotted
        parts, n = [], 0
        async for part in response.aiter_bytes():
            parts.append(part)
            n += len(part)
            if n > MAX_REPLY:
                raise ReplyTooLongError(
                    f"the server's reply is longer than {MAX_REPLY // 2**20} MB"
                )
        body = self._blot.body(b"".join(parts), is_error=response.is_error)
        if response.is_success and "json" in response.headers.get("content-type", ""):
            # a usage that cannot be read is taken for one that does not count tokens
            body = mended(body)
        response._content = body
        await self._turns.take()
