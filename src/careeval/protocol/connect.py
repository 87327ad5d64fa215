"""Inspect's models, with our limits on calls in flight, waiting, retries and replies."""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import Mapping
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    GenerateConfig,
    Model,
    ModelCost,
    ModelInfo,
    get_model,
    get_model_info,
    set_model_info,
)

from careeval.protocol.calls import RunCalls, current_calls
from careeval.protocol.failures import (
    Redactor,
    ReplyTooLongError,
    ReportingWait,
    RetryAfterWait,
)
from careeval.protocol.prices import Price
from careeval.protocol.providers import Endpoint, address_error, check_address, secrets
from careeval.protocol.run import GRADER_TOKENS, Run

EMBEDDED = "gguf"
"""The provider whose models run inside the process."""

EMBEDDED_CALLS = 8
"""The most calls in flight to the embedded engine: as many as it decodes at a time."""

OWN_CALLS = 32
"""The most calls in flight to the user's own server."""

HOSTED_CALLS = 100
"""The most calls in flight to a hosted model: Inspect begins with 20 and adapts to refusals."""

EMBEDDED_GRADER_TOKENS = 1536
"""Token limit of an embedded grader's reply: enough for nine items, and a stop to rambling."""

ATTEMPT_TIMEOUT = 300
"""Seconds until an attempt at a call is given up and retried; no limit for a model loaded here."""

MAX_RETRIES = 10
"""The most retries of a call."""

TIMEOUT = 1800
"""Seconds after which a call that fails is not retried."""

CONNECT_TIMEOUT = 10
"""Seconds for an attempt to connect to a server."""

PROBE_TIMEOUT = 30
"""Seconds within which a working server answers a small request, even while it is busy."""

MAX_REPLY = 16 * 2**20
"""The most bytes of a reply: more than any model writes, and a hundred of them fit into memory."""


def connect(run: Run, endpoint: Endpoint, reply_queue: ReplyQueue) -> Model:
    """Return one of the models of a run, ready to be called.

    The task sets how responses are sampled, and the grader sets how it is called. Both models of a
    run share a `reply_queue`, since they share a loop.

    Raises:
        PrerequisiteError: A key or a package is missing.
        ProtocolError: The address is not valid.
        ValueError: There is no such provider.
    """
    name, provider = endpoint.model, endpoint.provider
    # vLLM's provider reads its address only at the first call
    elsewhere = endpoint.address
    config = GenerateConfig(
        max_connections=_fixed_connections(endpoint, run.max_connections),
        max_retries=MAX_RETRIES,
        timeout=TIMEOUT,
        attempt_timeout=None if provider.loads_models and not elsewhere else ATTEMPT_TIMEOUT,
    )
    if endpoint.role == "grade":
        is_embedded = provider.name == EMBEDDED
        config.max_tokens = EMBEDDED_GRADER_TOKENS if is_embedded else GRADER_TOKENS
    limit_connecting()
    try:
        # not memoized: another run of this process may have other limits
        model = get_model(
            name, config=config, base_url=endpoint.base_url, memoize=False, **endpoint.args
        )
    except Exception as error:
        if type(error).__name__ != "InvalidURL":
            raise
        # each HTTP package has its own InvalidURL; its message may hold a password
        raise address_error(f"the address of {name}") from None
    if elsewhere and (server := getattr(model.api, "_server", None)) is not None:
        # else vLLM's provider has one server for all models of one name, whatever their addresses
        model.api._server = type(server)()  # type: ignore[attr-defined]
    client = getattr(model.api, "client", None)
    address = getattr(client, "base_url", None) or model.api.base_url or elsewhere
    if address:
        check_address(name, str(address), f"the address of {name}")
    redactor = Redactor(secrets(model.api, name, os.environ))
    prepare_clients(model.api, reply_queue, redactor)
    # Inspect retries calls; a provider's own wait, such as vLLM's five seconds, asks no server
    wait = ReportingWait(RetryAfterWait(), _failed)
    model.api.retry_wait = lambda: wait  # type: ignore[method-assign]
    _follow_calls(model, redactor, config.attempt_timeout)
    return model


def calls_in_flight(run: Run) -> int:
    """Return the most calls in flight to a run's model, or to its grader if it asks no model."""
    fixed = [_fixed_connections(each, run.max_connections) for each in run.endpoints[:1]]
    return next(filter(None, fixed), HOSTED_CALLS)


def set_prices(prices: Mapping[str, Price]) -> None:
    """Give Inspect the prices with which it computes the cost of each call: see `Run.prices`."""
    for name, price in prices.items():
        cost = ModelCost(
            input=price.input,
            output=price.output,
            input_cache_write=price.cache_write,
            input_cache_read=price.cache_read,
        )
        info = get_model_info(name) or ModelInfo()
        set_model_info(name, info.model_copy(update={"cost": cost}))


def _fixed_connections(endpoint: Endpoint, wanted: int | None) -> int | None:
    """Return the fixed number of calls in flight; `None` if the number adapts to refusals."""
    if wanted is not None:
        return wanted
    if endpoint.provider.name == EMBEDDED:
        return EMBEDDED_CALLS
    return OWN_CALLS if endpoint.base_url or endpoint.provider.own_server else None


def _failed(error: BaseException) -> bool:
    calls = current_calls()
    return calls is not None and calls.record_failure(error)


def _follow_calls(model: Model, redactor: Redactor, attempt_timeout: int | None) -> None:
    """Record each attempt at a call in its run, and redact the key in its result and its error.

    The run gets the request that was sent, which Inspect's log lacks, and a server's silence. Five
    attempts at a server that takes requests and never answers last 25 minutes where one call is
    made at a time. A shorter timeout would give up servers that load a model at the first call. So
    the first attempts keep their whole time, and towards its end the server is sent a small
    request: a server that does not answer that either is given up with the attempt.
    """
    generate: Any = model.api.generate

    async def probe(calls: RunCalls, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds - 1.1 * PROBE_TIMEOUT))
        if await is_silent(model.api):
            calls.record_silence()

    async def followed(*args: Any, **more: Any) -> Any:
        calls, probing = current_calls(), None
        if calls and attempt_timeout and calls.none_has_succeeded():
            probing = asyncio.create_task(probe(calls, attempt_timeout))
        try:
            result = await generate(*args, **more)
        except Exception as error:
            redactor.error(error)
            _redact_logged_call(redactor, is_error=True)
            raise
        finally:
            if probing:
                probing.cancel()
        output, *call = result if isinstance(result, tuple) else (result,)
        is_error = isinstance(output, Exception)
        if is_error:
            redactor.error(output)
        for part in (output, *call):
            redactor.inside(part, is_error=is_error)
        _redact_logged_call(redactor, is_error=is_error)
        if call and calls:
            calls.record_request(call[0].request)
        return result

    model.api.generate = followed  # type: ignore[method-assign]


def _redact_logged_call(redactor: Redactor, *, is_error: bool) -> None:
    """Redact the key in the reply that Inspect has already logged for the current call."""
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent):
            redactor.inside(event.call, is_error=is_error)
            return


# The HTTP clients of providers


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
