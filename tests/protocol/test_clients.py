"""The HTTP clients of providers, as a run has them."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web
from inspect_ai.model import ChatMessage, ChatMessageUser, Model, get_model

from careeval.protocol.connect import ReplyQueue, prepare_clients
from careeval.protocol.failures import Redactor
from support.fake_server import FakeServer


class Crowded(FakeServer):
    """A server that counts how many requests it has at a time, at most."""

    n_now = most = 0

    async def _handle(self, http: web.BaseRequest) -> web.StreamResponse:
        self.n_now += 1
        self.most = max(self.most, self.n_now)
        try:
            return await super()._handle(http)
        finally:
            self.n_now -= 1


def test_more_than_a_hundred_calls_are_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run limits the number of calls in flight; clients do not."""

    async def ask(model: Model) -> None:
        # the provider itself: Inspect's own limit is not asked
        send = model.api.generate
        async with asyncio.TaskGroup() as group:
            for number in range(120):
                messages: list[ChatMessage] = [ChatMessageUser(content=str(number))]
                group.create_task(send(messages, [], "none", model.config))
        await model.api.aclose()

    with Crowded(latency=2.0) as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        monkeypatch.setenv("FAKE_API_KEY", "a-key")
        model = get_model("openai-api/fake/m", memoize=False)
        prepare_clients(model.api, ReplyQueue(), Redactor([]))
        asyncio.run(ask(model))
    assert server.most == 120
