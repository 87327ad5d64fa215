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

from careeval.protocol.address import BARE, check_address, no_address
from careeval.protocol.blot import Blot
from careeval.protocol.calls import current_calls
from careeval.protocol.failures import ReplyTooLongError
from careeval.protocol.ledger import Role
from careeval.protocol.patience import ServersWord, Watched
from careeval.protocol.run import GRADER_TOKENS, LOCAL, Run, provider
from careeval.protocol.turns import Turns
from careeval.protocol.usage import mended

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

CONNECT_TIMEOUT = 10
"""Seconds until a server that cannot be reached is given up, and tried again."""

MAX_REPLY = 16 * 2**20
"""Bytes of one reply: more than any model says, and a hundred of them fit into memory."""

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
    try:
        model = get_model(name, config=config, base_url=base_url, memoize=False, **args)
    except Exception as error:
        if type(error).__name__ != "InvalidURL":
            raise
        # of whichever package the provider asks with; what it says may hold a password
        raise no_address(f"the address of {name}") from None
    address = getattr(getattr(model.api, "client", None), "base_url", None) or model.api.base_url
    if address and provider(name) not in BARE:
        check_address(str(address), f"the address of {name}")
    _over_aiohttp(model)
    _repeat_in_one_place(model)
    blot = Blot([model.api.api_key or ""])
    _blot_errors(model, blot)
    _mend_usage(model)
    _hook_replies(model, turns, blot)
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
    api: Any = model.api
    if (client := getattr(api, "http_client", None)) is None:
        return  # and openai need not be loaded
    import httpx2
    from openai import DefaultAioHttpClient

    if isinstance(client, httpx2.AsyncClient):
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
    theirs: Any = model.api.retry_wait()
    wait = Watched(theirs or ServersWord(), _failed)
    model.api.retry_wait = lambda: wait  # type: ignore[method-assign]


def _mend_usage(model: Model) -> None:
    """Have a reply whose usage cannot be read taken for one that does not count tokens."""
    http: Any = getattr(getattr(model.api, "client", None), "_client", None)
    if not hasattr(http, "event_hooks"):
        return

    async def on_reply(response: Any) -> None:
        if response.is_success and "json" in response.headers.get("content-type", ""):
            body = await response.aread()
            response._content = mended(body)

    http.event_hooks["response"].append(on_reply)


def _failed(error: BaseException) -> bool:
    calls = current_calls()
    return calls is not None and calls.failed(error)


def _blot_errors(model: Model, blot: Blot) -> None:
    """Blot the key out of what goes wrong: Inspect logs errors as they come."""
    generate: Any = model.api.generate

    async def blotted(*args: Any, **more: Any) -> Any:
        try:
            result = await generate(*args, **more)
        except Exception as error:
            blot.error(error)
            raise
        output = result[0] if isinstance(result, tuple) else result
        if isinstance(output, Exception):
            blot.error(output)
        return result

    model.api.generate = blotted  # type: ignore[method-assign]


def _hook_replies(model: Model, turns: Turns, blot: Blot) -> None:
    """Have replies bounded and without the key that they repeat, and each wait for its turn.

    Inspect logs what a server says as it came, and of its headers the number of the request.
    """
    http: Any = getattr(getattr(model.api, "client", None), "_client", None)
    if not hasattr(http, "event_hooks"):
        return

    async def on_reply(response: Any) -> None:
        for name, value in list(response.headers.items()):
            if (blotted := blot.header(value)) != value:
                response.headers[name] = blotted
        parts, n = [], 0
        async for part in response.aiter_bytes():
            parts.append(part)
            n += len(part)
            if n > MAX_REPLY:
                raise ReplyTooLongError(
                    f"the server's reply is longer than {MAX_REPLY // 2**20} MB"
                )
        response._content = blot.body(b"".join(parts), is_error=response.is_error)
        await turns.take()

    # before Inspect's own
    http.event_hooks["response"].insert(0, on_reply)
