"""Models as Inspect runs them, with our limits on calls in flight, on waiting and on repeating."""

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

from careeval.protocol.address import BARE, check_address, no_address
from careeval.protocol.calls.redaction import Blot
from careeval.protocol.calls.run_calls import current_calls
from careeval.protocol.costs.cost_log import Role
from careeval.protocol.models import clients
from careeval.protocol.models.api_keys import secrets
from careeval.protocol.models.clients import (
    TIMEOUT,
    is_silent,
    limit_connecting,
    prepare_clients,
)
from careeval.protocol.models.reply_queue import Turns
from careeval.protocol.models.retry_after import ServersWord, Watched
from careeval.protocol.runs.spec import GRADER_TOKENS, LOCAL, Run, provider

EMBEDDED = "gguf"
"""The provider whose models run inside the process."""

EMBEDDED_CALLS = 8
"""What the embedded engine decodes at a time; more would only wait."""

OWN_SERVERS = {*LOCAL, "ollama"}
"""Providers whose server is one's own: it queues calls where a hosted one refuses them."""

OWN_CALLS = 32
"""Calls in flight to a server of one's own."""

HOSTED_CALLS = 100
"""At most in flight to a hosted model: Inspect begins with 20 and adapts to what is refused."""

EMBEDDED_GRADER_TOKENS = 1536
"""Of an embedded grader's reply: enough for nine items, and an end for a small model's rambling."""

ATTEMPT_TIMEOUT = 300
"""Seconds until an attempt at a call is given up and made again; none for a model loaded here."""

MAX_RETRIES = 10
"""How often a call is tried again."""


def connect(run: Run, role: Role, turns: Turns) -> Model:
    """The model to be asked, or the grader, as the run has it.

    How answers are drawn is the task's to say, and how the grader is asked, the grader's.

    Args:
        run: Names both.
        role: Which of them.
        turns: In which replies wait; one for both, since they share a loop.

    Raises:
        PrerequisiteError: A key or a package is missing.
        ValueError: There is no such provider.
    """
    name, base_url = (run.model, run.base_url) if role == "ask" else (run.grader, None)
    assert name is not None
    # vLLM's provider reads its address at the first call only
    elsewhere = base_url or os.environ.get(f"{provider(name).upper().replace('-', '_')}_BASE_URL")
    config = GenerateConfig(
        max_connections=_fixed(name, base_url, run.max_connections),
        max_retries=MAX_RETRIES,
        timeout=TIMEOUT,
        attempt_timeout=None if provider(name) in LOCAL and not elsewhere else ATTEMPT_TIMEOUT,
    )
    if role == "grade":
        embedded = provider(name) == EMBEDDED
        config.max_tokens = EMBEDDED_GRADER_TOKENS if embedded else GRADER_TOKENS
    args = run.model_args if role == "ask" else {}
    limit_connecting()
    # not shared with another run of this process, whose limits may differ
    try:
        model = get_model(name, config=config, base_url=base_url, memoize=False, **args)
    except Exception as error:
        if type(error).__name__ != "InvalidURL":
            raise
        # of whichever package the provider asks with; what it says may hold a password
        raise no_address(f"the address of {name}") from None
    client = getattr(model.api, "client", None)
    address = getattr(client, "base_url", None) or model.api.base_url or elsewhere
    if address and provider(name) not in BARE:
        check_address(str(address), f"the address of {name}")
    blot = Blot(secrets(model.api, name, os.environ))
    prepare_clients(model.api, turns, blot)
    _repeat_in_one_place(model)
    _blot_results(model, blot)
    _note_requests(model)
    if config.attempt_timeout:
        _watch_for_silence(model, config.attempt_timeout)
    return model


def calls_in_flight(run: Run) -> int:
    """At most, to each of model and grader."""
    name = run.model or run.grader or ""
    return _fixed(name, run.base_url, run.max_connections) or HOSTED_CALLS


def set_prices(prices: Mapping[str, Mapping[str, Any]]) -> None:
    """Have Inspect reckon the cost of each call: see `Run.prices`."""
    for name, price in prices.items():
        cost = ModelCost(
            input=price["input"],
            output=price["output"],
            input_cache_write=price["cache_write"],
            input_cache_read=price["cache_read"],
        )
        info = get_model_info(name) or ModelInfo()
        set_model_info(name, info.model_copy(update={"cost": cost}))


def _fixed(name: str, base_url: str | None, wanted: int | None) -> int | None:
    """Calls in flight where their number is fixed; `None` where it adapts to what is refused."""
    if wanted is not None:
        return wanted
    if provider(name) == EMBEDDED:
        return EMBEDDED_CALLS
    return OWN_CALLS if base_url or provider(name) in OWN_SERVERS else None


def _repeat_in_one_place(model: Model) -> None:
    """Have Inspect, which repeats calls, wait as long as the server asks."""
    theirs: Any = model.api.retry_wait()
    wait = Watched(theirs or ServersWord(), _failed)
    model.api.retry_wait = lambda: wait  # type: ignore[method-assign]


def _failed(error: BaseException) -> bool:
    calls = current_calls()
    return calls is not None and calls.failed(error)


def _note_requests(model: Model) -> None:
    """Tell the run what each call sent to the provider, which Inspect's log does not keep."""
    generate: Any = model.api.generate

    async def noted(*args: Any, **more: Any) -> Any:
        result = await generate(*args, **more)
        if isinstance(result, tuple) and (calls := current_calls()):
            calls.sent(result[1].request)
        return result

    model.api.generate = noted  # type: ignore[method-assign]


def _blot_results(model: Model, blot: Blot) -> None:
    """Blot the key out of what any provider gives back or raises, and out of what Inspect logs."""
    generate: Any = model.api.generate

    async def blotted(*args: Any, **more: Any) -> Any:
        try:
            result = await generate(*args, **more)
        except Exception as error:
            blot.error(error)
            _blot_call(blot, is_error=True)
            raise
        output = result[0] if isinstance(result, tuple) else result
        is_error = isinstance(output, Exception)
        if is_error:
            blot.error(output)
        for each in result if isinstance(result, tuple) else (result,):
            blot.inside(each, is_error=is_error)
        _blot_call(blot, is_error=is_error)
        return result

    model.api.generate = blotted  # type: ignore[method-assign]


def _watch_for_silence(model: Model, attempt_timeout: float) -> None:
    """Have it noticed, before an attempt's time is up, that a server answers nothing at all.

    Five attempts at a server that takes requests and never answers last 25 minutes where one call
    is made at a time. A shorter time would give up servers that load a model at the first call. So
    the first attempts keep their whole time, and towards its end the server is asked for something
    small: one that does not answer that either is given up with the attempt.
    """
    generate: Any = model.api.generate

    async def probe() -> None:
        await asyncio.sleep(max(0.0, attempt_timeout - 1.1 * clients.PROBE_TIMEOUT))
        if (calls := current_calls()) and await is_silent(model.api):
            calls.silent()

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


def _blot_call(blot: Blot, *, is_error: bool) -> None:
    """Blot the key out of the reply that Inspect has already logged for the present call."""
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent):
            blot.inside(event.call, is_error=is_error)
            return
