"""Tests of requests for completions, which are the same as those of OpenAI's client."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from openai import NOT_GIVEN, AsyncAzureOpenAI, AsyncOpenAI, BadRequestError, InternalServerError

from careeval.protocol.clients import Completions, lighten
from support.fake_server import SERVER_ERROR, TOO_LONG, Completion, FakeServer, Request

REQUEST: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "You help with care."},
        {"role": "user", "content": "She says: „wait“ – and looks away."},
    ],
    "model": "m",
    "temperature": 1.0,
    "seed": 7,
    "max_tokens": 8192,
    "tools": NOT_GIVEN,
    "tool_choice": NOT_GIVEN,
    "extra_headers": {"x-irid": "1"},
    "extra_body": {"min_p": 0.1},
    "response_format": {"type": "json_schema", "json_schema": {"name": "j", "strict": True}},
}


def client_at(url: str) -> AsyncOpenAI:
    """A client of OpenAI's that tries once."""
    return AsyncOpenAI(api_key="a-key", base_url=url, max_retries=0)


def lightened(url: str) -> AsyncOpenAI:
    """The same, made light."""
    client = client_at(url)
    lighten(client)
    return client


def test_the_same_is_sent_and_the_same_comes_back() -> None:
    """Body and key are those of OpenAI's own way, and so is the completion."""
    came: list[Request] = []

    def script(request: Request) -> Completion:
        came.append(request)
        return Completion("I wait.")

    async def ask(client: AsyncOpenAI) -> Any:
        async with client:
            return await client.chat.completions.create(**REQUEST)

    with FakeServer(script) as server:
        theirs = asyncio.run(ask(client_at(server.base_url)))
        ours = asyncio.run(ask(lightened(server.base_url)))
    assert came[0].body == came[1].body
    assert came[1].body["min_p"] == 0.1
    assert [each.authorization for each in came] == ["Bearer a-key"] * 2
    assert type(ours) is type(theirs)
    assert ours.choices == theirs.choices
    assert ours.usage == theirs.usage


@pytest.mark.parametrize(
    ("reply", "kind"), [(TOO_LONG, BadRequestError), (SERVER_ERROR, InternalServerError)]
)
def test_errors_are_those_of_the_client(reply: Any, kind: type[Exception]) -> None:
    """A refused request is raised as OpenAI's client raises it: how it is repeated hangs on it."""

    async def ask(client: AsyncOpenAI) -> str:
        async with client:
            with pytest.raises(kind) as caught:
                await client.chat.completions.create(**REQUEST)
        return str(caught.value)

    with FakeServer(lambda _: reply) as server:
        url = server.base_url
        assert asyncio.run(ask(lightened(url))) == asyncio.run(ask(client_at(url)))


def test_what_is_special_goes_their_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream, tools and other ways to ask are left to OpenAI's client."""
    client, asked = client_at("http://127.0.0.1:9/v1"), list[dict[str, Any]]()

    async def theirs(**request: Any) -> None:
        asked.append(request)

    monkeypatch.setattr(client.chat.completions, "create", theirs)
    lighten(client)
    for special in ({"stream": True}, {"tools": [{"type": "function"}]}, {"timeout": 3.0}):
        asyncio.run(client.chat.completions.create(**{**REQUEST, **special}))
    assert [len(each) for each in asked] == [len(REQUEST) + 1, len(REQUEST), len(REQUEST) + 1]
    assert callable(client.chat.completions.with_raw_response.create)


def test_a_client_is_made_light_once_and_another_kind_never() -> None:
    """Azure's asks at an address that it makes of the model's name."""
    client = lightened("http://127.0.0.1:9/v1")
    first = client.chat.completions
    lighten(client)
    assert client.chat.completions is first
    azure = AsyncAzureOpenAI(api_key="a-key", azure_endpoint="http://x", api_version="1")
    lighten(azure)
    assert not isinstance(azure.chat.completions, Completions)
    lighten(None)
