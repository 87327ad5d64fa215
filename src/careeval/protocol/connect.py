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
from careeval.protocol.calls import current_calls
from careeval.protocol.clients import (
    TIMEOUT,
    ReplyQueue,
    ReportingWait,
    RetryAfterWait,
    is_silent,
    limit_connecting,
    prepare_clients,
)
from careeval.protocol.ledger import Role
from careeval.protocol.prices import Price
from careeval.protocol.providers import (
    Redactor,
    address_error,
    check_address,
    provider_of,
    secrets,
    server_address,
)
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


def connect(run: Run, role: Role, reply_queue: ReplyQueue) -> Model:
    """Return the model that a run asks, or its grader, ready to be called.

    The task sets how responses are sampled, and the grader sets how it is called.

    Args:
        run: The run, which names the model and the grader.
        role: `ask` for the model, `grade` for the grader.
        reply_queue: The queue of replies; one for both models, since they share a loop.

    Raises:
        PrerequisiteError: A key or a package is missing.
        ProtocolError: The address is not valid.
        ValueError: There is no such provider.
    """
    if role == "ask":
        name, base_url, args = run.model, run.base_url, run.model_args
    else:
        name, base_url, args = run.grader, run.grader_base_url, run.grader_args
    assert name is not None
    # vLLM's provider reads its address only at the first call
    elsewhere, provider = server_address(name, base_url), provider_of(name)
    config = GenerateConfig(
        max_connections=_fixed(name, base_url, run.max_connections),
        max_retries=MAX_RETRIES,
        timeout=TIMEOUT,
        attempt_timeout=None if provider.loads_models and not elsewhere else ATTEMPT_TIMEOUT,
    )
    if role == "grade":
        is_embedded = provider.name == EMBEDDED
        config.max_tokens = EMBEDDED_GRADER_TOKENS if is_embedded else GRADER_TOKENS
    limit_connecting()
    try:
        # not memoized: another run of this process may have other limits
        model = get_model(name, config=config, base_url=base_url, memoize=False, **args)
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
    _set_retry_wait(model)
    _redact_results(model, redactor)
    _record_requests(model)
    if config.attempt_timeout:
        _watch_for_silence(model, config.attempt_timeout)
    return model


def calls_in_flight(run: Run) -> int:
    """Return the most calls in flight to a run's model, or to its grader if it asks no model."""
    name = run.model or run.grader or ""
    base_url = run.base_url if run.model else run.grader_base_url
    return _fixed(name, base_url, run.max_connections) or HOSTED_CALLS


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


def _fixed(name: str, base_url: str | None, wanted: int | None) -> int | None:
    """Return the fixed number of calls in flight; `None` if the number adapts to refusals."""
    if wanted is not None:
        return wanted
    provider = provider_of(name)
    if provider.name == EMBEDDED:
        return EMBEDDED_CALLS
    return OWN_CALLS if base_url or provider.own_server else None


def _set_retry_wait(model: Model) -> None:
    """Make Inspect, which retries calls, wait as long as the server asks."""
    # a provider's own wait, such as vLLM's five seconds, does not ask the server
    wait = ReportingWait(RetryAfterWait(), _failed)
    model.api.retry_wait = lambda: wait  # type: ignore[method-assign]


def _failed(error: BaseException) -> bool:
    calls = current_calls()
    return calls is not None and calls.record_failure(error)


def _record_requests(model: Model) -> None:
    """Record in the run the request that each call sent; Inspect's log lacks it."""
    generate: Any = model.api.generate

    async def recorded(*args: Any, **more: Any) -> Any:
        result = await generate(*args, **more)
        if isinstance(result, tuple) and (calls := current_calls()):
            calls.record_request(result[1].request)
        return result

    model.api.generate = recorded  # type: ignore[method-assign]


def _redact_results(model: Model, redactor: Redactor) -> None:
    """Redact the key in a provider's results and errors, and in Inspect's log of them."""
    generate: Any = model.api.generate

    async def redacted(*args: Any, **more: Any) -> Any:
        try:
            result = await generate(*args, **more)
        except Exception as error:
            redactor.error(error)
            _redact_logged_call(redactor, is_error=True)
            raise
        output = result[0] if isinstance(result, tuple) else result
        is_error = isinstance(output, Exception)
        if is_error:
            redactor.error(output)
        for part in result if isinstance(result, tuple) else (result,):
            redactor.inside(part, is_error=is_error)
        _redact_logged_call(redactor, is_error=is_error)
        return result

    model.api.generate = redacted  # type: ignore[method-assign]


def _watch_for_silence(model: Model, attempt_timeout: float) -> None:
    """Detect, before an attempt times out, a server that does not answer any request.

    Five attempts at a server that takes requests and never answers last 25 minutes where one call
    is made at a time. A shorter timeout would give up servers that load a model at the first call.
    So the first attempts keep their whole time, and towards its end the server is sent a small
    request: a server that does not answer that either is given up with the attempt.
    """
    generate: Any = model.api.generate

    async def probe() -> None:
        await asyncio.sleep(max(0.0, attempt_timeout - 1.1 * clients.PROBE_TIMEOUT))
        if (calls := current_calls()) and await is_silent(model.api):
            calls.record_silence()

    async def watched(*args: Any, **more: Any) -> Any:
        calls = current_calls()
        if calls is None or not calls.none_has_succeeded():
            return await generate(*args, **more)
        probing = asyncio.create_task(probe())
        try:
            return await generate(*args, **more)
        finally:
            probing.cancel()

    model.api.generate = watched  # type: ignore[method-assign]


def _redact_logged_call(redactor: Redactor, *, is_error: bool) -> None:
    """Redact the key in the reply that Inspect has already logged for the current call."""
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent):
            redactor.inside(event.call, is_error=is_error)
            return
