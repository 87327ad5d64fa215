"""Inspect's models, with our limits on calls in flight, waiting and retries."""

from __future__ import annotations

import asyncio
import os
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

from careeval.protocol import clients
from careeval.protocol.calls import RunCalls, current_calls
from careeval.protocol.clients import (
    TIMEOUT,
    ReplyQueue,
    ReportingWait,
    RetryAfterWait,
    is_silent,
    limit_connecting,
    prepare_clients,
)
from careeval.protocol.failures import Redactor
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
        await asyncio.sleep(max(0.0, seconds - 1.1 * clients.PROBE_TIMEOUT))
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
