"""Models as Inspect runs them, with our limits on calls in flight, on waiting and on repeating."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import (
    GenerateConfig,
    Model,
    ModelCost,
    ModelInfo,
    get_model,
    get_model_info,
    set_model_info,
)

from careeval.protocol.ledger import Role
from careeval.protocol.patience import ServersWord
from careeval.protocol.run import GRADER_TOKENS, LOCAL, Run, provider
from careeval.protocol.turns import Turns

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

CONNECT_TIMEOUT = 60
"""Seconds until a server that cannot be reached is given up, and tried again."""

TIMEOUT = 1800
"""Seconds after which a call that fails is not tried again."""

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
    config = GenerateConfig(
        max_connections=_fixed(name, base_url, run.max_connections),
        max_retries=MAX_RETRIES,
        timeout=TIMEOUT,
        attempt_timeout=None if provider(name) in LOCAL and not base_url else ATTEMPT_TIMEOUT,
    )
    if role == "grade":
        embedded = provider(name) == EMBEDDED
        config.max_tokens = EMBEDDED_GRADER_TOKENS if embedded else GRADER_TOKENS
    args = run.model_args if role == "ask" else {}
    # not shared with another run of this process, whose limits may differ
    model = get_model(name, config=config, base_url=base_url, memoize=False, **args)
    _over_aiohttp(model)
    _repeat_in_one_place(model)
    _hook_replies(model, turns)
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


def _over_aiohttp(model: Model) -> None:
    """Have a client of OpenAI's kind send over aiohttp: a sixth less work a call than over httpx.

    It is the client that OpenAI's own package offers for many calls at once.
    """
    import httpx2
    from openai import DefaultAioHttpClient

    api: Any = model.api
    if isinstance(getattr(api, "http_client", None), httpx2.AsyncClient):
        api.http_client = DefaultAioHttpClient(
            timeout=httpx2.Timeout(TIMEOUT, connect=CONNECT_TIMEOUT),
            limits=httpx2.Limits(max_connections=None),
        )
        api.initialize()


def _repeat_in_one_place(model: Model) -> None:
    """Leave repeating to Inspect, which counts it, and have it wait as long as the server asks."""
    client: Any = getattr(model.api, "client", None)
    if client is not None and hasattr(client, "max_retries"):
        client.max_retries = 0
    if model.api.retry_wait() is None:
        wait = ServersWord()
        model.api.retry_wait = lambda: wait  # type: ignore[method-assign]


def _hook_replies(model: Model, turns: Turns) -> None:
    """Have replies wait for their turn, and blot the key out of one that repeats it.

    Inspect logs a server's error as it came.
    """
    http: Any = getattr(getattr(model.api, "client", None), "_client", None)
    if not hasattr(http, "event_hooks"):
        return
    key = (model.api.api_key or "").encode()

    async def on_reply(response: Any) -> None:
        await turns.take()
        if key and response.is_error:
            response._content = (await response.aread()).replace(key, b"(the key)")

    http.event_hooks["response"].append(on_reply)
