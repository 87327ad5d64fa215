"""The HTTP clients of providers: limits, waits, a queue of replies, and usage made readable."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from tenacity import RetryCallState
from tenacity.wait import wait_base, wait_exponential_jitter, wait_random

from careeval.protocol.failures import Redactor, ReplyTooLongError

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
        client = getattr(api, "client", None)
        if client is not None and hasattr(client, "max_retries"):
            # Inspect retries, and counts that
            client.max_retries = 0
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
            if (redacted := self._redactor.text(value, is_error=False)) != value:
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


def with_readable_usage(body: bytes) -> bytes:
    """Return a completion of an OpenAI-like server with a usage that the client can read.

    An unreadable usage is set to null, and a missing total is added: else the client would fail,
    and the reply's text would be lost. A body that is not a completion is returned unchanged.
    """
    try:
        completion = json.loads(body)
        usage = completion["usage"]
        if not completion["choices"] or usage is None:
            return body
    except (ValueError, KeyError, TypeError, RecursionError):
        return body
    if not _has_counts(usage):
        usage = None
    elif "total_tokens" not in usage:
        usage = {**usage, "total_tokens": usage["prompt_tokens"] + usage["completion_tokens"]}
    else:
        return body
    return json.dumps({**completion, "usage": usage}).encode()


def _has_counts(usage: object) -> bool:
    """Tell whether every number that the client reads from a `usage` object is an integer."""
    if not isinstance(usage, dict):
        return False
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    counts.append(usage.get("total_tokens", 0))
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        details = usage.get(name) or {}
        if not isinstance(details, dict):
            return False
        parts = ("cached_tokens", "cache_write_tokens", "reasoning_tokens")
        counts += [details[part] for part in parts if details.get(part) is not None]
    return all(type(count) is int for count in counts)


# Waiting as a server asks

MAX_WAIT = 15 * 60.0
"""The longest wait in seconds if the server does not ask for a wait."""

MAX_ASKED_WAIT = 3600.0
"""The longest wait in seconds if the server asks for a wait. A longer wait is an outage: resume the
run another day."""

HOPELESS = 2.0
"""Seconds of wait after a hopeless attempt: see `RunCalls.record_failure`."""


class RetryAfterWait(wait_base):
    """A wait as long as a reply's `Retry-After` says; without one, 3 s, doubled each time.

    A random part is added, so that a hundred calls do not come back in the same instant.
    """

    def __init__(self) -> None:
        self._default = wait_exponential_jitter(multiplier=3, max=MAX_WAIT, jitter=3)
        self._jitter = wait_random(0, 1)

    def __call__(self, retry_state: RetryCallState) -> float:
        """Return the seconds to wait after a failed attempt."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = retry_after(_headers(error))
        if asked is None:
            return self._default(retry_state)
        return min(asked, MAX_ASKED_WAIT) + self._jitter(retry_state)


class ReportingWait(wait_base):
    """Wraps another wait, and also reports each failed attempt.

    A hopeless attempt is retried soon, so that a run without a working server ends soon.
    """

    def __init__(
        self, wait: Callable[[RetryCallState], float], failed: Callable[[BaseException], bool]
    ) -> None:
        """Wrap a wait.

        Args:
            wait: Returns the seconds to wait.
            failed: Called with the error of each attempt; returns whether it is hopeless.
        """
        self._wait, self._failed = wait, failed
        self._jitter = wait_random(0, 1)

    def __call__(self, retry_state: RetryCallState) -> float:
        """Return the seconds to wait after a failed attempt."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        if error is not None and self._failed(error):
            return HOPELESS + self._jitter(retry_state)
        return self._wait(retry_state)


def retry_after(headers: Mapping[str, Any]) -> float | None:
    """Return the seconds that a reply's headers ask to wait; `None` if they ask for no wait.

    `retry-after-ms` is OpenAI's; `Retry-After` is of RFC 9110, in seconds or as a date.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    header = headers.get("retry-after")
    if (seconds := _number(header)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(str(header)).timestamp() - time.time())
    except ValueError:
        return None


def _headers(error: BaseException | None) -> Mapping[str, Any]:
    """Return the headers of the reply that an error is about; empty if there was none."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        # Amazon's
        headers = response.get("ResponseMetadata", {}).get("HTTPHeaders")
    else:
        # Mistral's errors have headers, and no response
        headers = getattr(response, "headers", None) or getattr(error, "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _number(text: Any) -> float | None:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < float("inf") else None


# A queue of replies

STEPS = 60
"""Cycles of the event loop between two replies: about as many as pass from a reply to the next call
that follows from it. Fewer cycles gain less, more gain nothing."""


class ReplyQueue:
    """A queue of replies, for all models of one process."""

    def __init__(self, steps: int = STEPS) -> None:
        """Make an empty queue that waits `steps` cycles of the event loop after each reply."""
        self._steps = steps
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._calling: asyncio.Task[None] | None = None

    async def wait(self) -> None:
        """Wait for the turn of the current reply: in the order of arrival, `steps` apart."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        if self._calling is None or self._calling.done():
            self._calling = loop.create_task(self._call_up())
        await turn

    async def _call_up(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if turn.done():
                continue  # its call was cancelled while it waited
            turn.set_result(None)
            for _ in range(self._steps):
                await asyncio.sleep(0)
