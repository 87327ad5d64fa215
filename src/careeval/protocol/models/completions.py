"""Requests for completions through OpenAI's client, without its conversion of every field.

The conversion is for callers who pass the client's own types. Inspect passes plain JSON, and
converting that takes as long as all else that the client does for a call, sending included.
"""

from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI, NotGiven
from openai.types.chat import ChatCompletion

OF_THEIRS = {"stream", "tools", "tool_choice", "timeout", "extra_query"}
"""Parts of a request with which it goes the client's own way."""


class Completions:
    """Replaces `chat.completions` of a client of OpenAI's; what it does not do, theirs does."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client, self._theirs = client, client.chat.completions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)

    async def create(self, **request: Any) -> Any:
        """Return the completion that a request brings; raise what the client raises."""
        given = {name: value for name, value in request.items() if not isinstance(value, NotGiven)}
        if not OF_THEIRS.isdisjoint(given):
            return await self._theirs.create(**request)
        headers, more = given.pop("extra_headers", None), given.pop("extra_body", None)
        return await self._client.post(
            "/chat/completions",
            cast_to=ChatCompletion,
            body={**given, **(more or {})},
            options={"headers": headers or {}},
        )


def lighten(client: object) -> None:
    """Replace `chat.completions` of a client of OpenAI's own kind; leave any other as it is."""
    # a client of another kind, such as Azure's, has ways of its own
    if type(client) is AsyncOpenAI and not isinstance(client.chat.completions, Completions):
        client.chat.completions = Completions(client)  # type: ignore[assignment, misc]
