"""The clients of providers as a run has them: calls in flight, replies, token counts."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from unittest.mock import MagicMock

import pytest
from aiohttp import web
from inspect_ai.model import ChatMessage, ChatMessageUser, Model, ModelOutput, ModelUsage, get_model

from careeval.protocol.call_journal import usage_numbers, without_false_usage
from careeval.protocol.connect import ReplyQueue, prepare_clients, with_readable_usage
from careeval.protocol.failures import Redactor
from support.fake_server import FakeServer


class Crowded(FakeServer):
    """A server that replies once it has 120 requests."""

    n_waiting = 0
    all_came = asyncio.Event()

    async def _handle(self, http: web.BaseRequest) -> web.StreamResponse:
        self.n_waiting += 1
        if self.n_waiting == 120:
            self.all_came.set()
        await self.all_came.wait()
        return await super()._handle(http)


def test_more_than_a_hundred_calls_are_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run limits the number of calls in flight; clients do not."""

    async def ask(model: Model) -> None:
        # the provider itself: Inspect's own limit is not asked
        send = model.api.generate
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for number in range(120):
                messages: list[ChatMessage] = [ChatMessageUser(content=str(number))]
                group.create_task(send(messages, [], "none", model.config))
        await model.api.aclose()

    with Crowded() as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        monkeypatch.setenv("FAKE_API_KEY", "a-key")
        model = get_model("openai-api/fake/m", memoize=False)
        prepare_clients(model.api, ReplyQueue(), Redactor([]))
        asyncio.run(ask(model))
    assert server.n_answered("ask") == 120


async def _deal(reply_queue: ReplyQueue, name: str, done: list[str], steps: int) -> None:
    await reply_queue.wait()
    for _ in range(steps):
        await asyncio.sleep(0)
    done.append(name)


def test_a_later_reply_that_takes_less_waits_for_an_earlier_one_that_takes_more() -> None:
    """Without a queue, `c` with one step would be done first."""

    async def all_at_once(reply_queue: ReplyQueue) -> list[str]:
        done: list[str] = []
        async with asyncio.TaskGroup() as group:
            for name, steps in (("a", 9), ("b", 5), ("c", 1)):
                group.create_task(_deal(reply_queue, name, done, steps))
        return done

    assert asyncio.run(all_at_once(ReplyQueue(steps=10))) == ["a", "b", "c"]
    assert asyncio.run(all_at_once(ReplyQueue(steps=0))) == ["c", "b", "a"]


def test_a_call_that_is_cancelled_while_it_waits_holds_nobody_up() -> None:
    """The turn of `b` passes to `c`, and the queue works in a later loop too."""

    async def cancelled(reply_queue: ReplyQueue) -> list[str]:
        done: list[str] = []
        tasks = [asyncio.create_task(_deal(reply_queue, name, done, 1)) for name in "abc"]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
        return done

    reply_queue = ReplyQueue(steps=10)
    assert asyncio.run(cancelled(reply_queue)) == ["a", "c"]
    assert asyncio.run(cancelled(reply_queue)) == ["a", "c"]


USAGE = {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59}


def model(name: str) -> Any:
    """A model with a name."""
    return MagicMock(__str__=lambda _: name)


@pytest.mark.parametrize(
    ("counts", "words", "counted"),
    [
        ({}, "I ask.", True),
        ({"output_tokens": 0}, "I ask.", False),
        ({"output_tokens": 0}, " ", True),
        ({"input_tokens": 0}, "I ask.", False),
        ({"input_tokens": 0, "input_tokens_cache_read": 50}, "I ask.", True),
        ({"input_tokens": -5}, "I ask.", False),
        ({"output_tokens": -9}, "I ask.", False),
        ({"output_tokens": 10**12}, "I ask.", False),
        ({"input_tokens_cache_read": -450, "input_tokens_cache_write": 500}, "I ask.", False),
        ({"reasoning_tokens": -1}, "I ask.", False),
    ],
)
def test_what_can_have_been_counted(counts: dict[str, int], words: str, counted: bool) -> None:
    """A prompt has tokens, and so have words; none is negative."""
    fields = {"input_tokens": 50, "output_tokens": 9, "total_cost": 0.1, **counts}
    output = ModelOutput.from_content("m", words)
    output.usage = ModelUsage.model_validate(fields)
    checked = without_false_usage(model("openai/m"), output)
    assert (checked.usage is not None) is counted
    assert (usage_numbers(checked)[2] == 0.1) is counted


def test_models_in_the_process_need_not_count() -> None:
    """The usage of a program is kept as it is, and costs nothing."""
    output = ModelOutput.from_content("m", "present")
    output.usage = ModelUsage(total_cost=0.0)
    assert without_false_usage(model("careeval/lexical"), output).usage == ModelUsage(total_cost=0)


@pytest.mark.parametrize(
    "usage",
    [
        {},
        [],
        "x",
        7,
        {**USAGE, "prompt_tokens": None},
        {**USAGE, "completion_tokens": "9"},
        {"prompt_tokens": 50},
        {**USAGE, "prompt_tokens": 50.5},
        {**USAGE, "prompt_tokens": True},
        {**USAGE, "total_tokens": None},
        {**USAGE, "prompt_tokens_details": []} | {"prompt_tokens_details": [1]},
        {**USAGE, "prompt_tokens_details": {"cached_tokens": "many"}},
    ],
)
def test_a_usage_that_cannot_be_read_is_none(usage: Any) -> None:
    """The words are kept, and nothing is known of their cost."""
    completion = {"choices": [{"message": {"content": "I ask."}}], "usage": usage}
    assert json.loads(with_readable_usage(json.dumps(completion).encode())) == {
        **completion,
        "usage": None,
    }


def test_a_total_is_reckoned() -> None:
    """A usage that lacks only the sum is given it."""
    usage = {"prompt_tokens": 50, "completion_tokens": 9}
    body = json.dumps({"choices": [1], "usage": usage}).encode()
    assert json.loads(with_readable_usage(body))["usage"] == USAGE


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"choices": [1], "usage": USAGE}).encode(),
        json.dumps({"choices": [1], "usage": {**USAGE, "prompt_tokens_details": None}}).encode(),
        json.dumps({"choices": [1], "usage": None}).encode(),
        json.dumps({"choices": [], "usage": {}}).encode(),
        json.dumps({"content": "x", "usage": {"input_tokens": 5}}).encode(),
        b"<html>",
        b"[1]",
        b"",
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_anything_else_is_left_alone(body: bytes) -> None:
    """A readable reply stays the same, byte for byte."""
    assert with_readable_usage(body) is body
