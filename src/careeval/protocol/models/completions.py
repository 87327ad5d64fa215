"""Requests for completions through OpenAI's client, without its conversion of every field.

The conversion is for callers who pass the client's own types. Inspect passes plain JSON, and
converting that takes as long as everything else that the client does for a call.
"""

from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI, NotGiven
from openai.types.chat import ChatCompletion

UNSUPPORTED = {"stream", "tools", "tool_choice", "timeout", "extra_query"}
"""Fields that, if in a request, make `create` use the client's own method."""


class Completions:
    """Replaces `chat.completions` of OpenAI's client, and falls back on the original."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self._client, self._original = client, client.chat.completions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    async def create(self, **request: Any) -> Any:
        """Return the completion for a request; raise what the client raises."""
        fields = {name: value for name, value in request.items() if not isinstance(value, NotGiven)}
        if not UNSUPPORTED.isdisjoint(fields):
            return await self._original.create(**request)
        headers, more = fields.pop("extra_headers", None), fields.pop("extra_body", None)
        return await self._client.post(
            "/chat/completions",
            cast_to=ChatCompletion,
            body={**fields, **(more or {})},
            options={"headers": headers or {}},
        )


def lighten(client: object) -> None:
    """Replace `chat.completions` of OpenAI's own client; leave any other client as it is."""
    # Azure's client, for example, builds its requests differently
    if type(client) is AsyncOpenAI and not isinstance(client.chat.completions, Completions):
        client.chat.completions = Completions(client)  # type: ignore[assignment, misc]
