"""What a model replies: the words, what they took, and how they were drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.util import LimitExceededError

from careeval.protocol.calls.failures import CallError, why
from careeval.protocol.costs.prices import in_process
from careeval.protocol.costs.token_counts import is_counted

_SAMPLING_FIELDS = (
    *("temperature", "top_p", "top_k", "min_p", "seed"),
    *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    *("reasoning_effort", "reasoning"),
)
"""Fields of a request to a provider that say how its answer was drawn."""


@dataclass(frozen=True, slots=True)
class Called:
    """What came back from a call.

    Attributes:
        output: The model's.
        sampling: The fields of the request that say how the answer was drawn; empty if the provider
            reports no request.
    """

    output: ModelOutput
    sampling: dict[str, Any]


async def generate(
    model: Model, messages: Sequence[ChatMessage], config: GenerateConfig
) -> ModelOutput:
    """Return what a model replies.

    Raises:
        CallError: It failed; said in our words, without what its provider wraps it in.
    """
    try:
        return await model.generate(list(messages), config=config)
    except LimitExceededError:
        raise  # of whoever runs the task with limits of their own
    except Exception as error:
        raise CallError(why(error, [model.api.api_key or ""]), error) from None


def truly_metered(model: Model, output: ModelOutput) -> ModelOutput:
    """Take its usage off an output where that cannot be true: what it cost is unknown then."""
    usage = output.usage
    if usage is None or in_process(str(model)):
        return output
    read, write = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    words = bool(output.completion.strip()) or any(
        not isinstance(choice.message.content, str) and choice.message.content
        for choice in output.choices
    )
    parts = (usage.input_tokens, read, write)
    if not is_counted(sum(parts), usage.output_tokens, *parts, words=words):
        output.usage = None
    return output


def metered(output: ModelOutput) -> tuple[int | None, int | None, float | None, float | None]:
    """Return tokens in and out, dollars and seconds, as the provider reports them."""
    usage = output.usage
    if usage is None:
        return None, None, None, output.time
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached, usage.output_tokens, usage.total_cost, output.time


def sampling_in(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request to a provider that say how its answer is drawn.

    A provider may drop a field that its model refuses (a reasoning model's temperature, say): what
    is not in here was not sent.
    """
    return {name: request[name] for name in _SAMPLING_FIELDS if name in request}


def sampling_logged() -> dict[str, Any]:
    """Return the same of the last request in Inspect's transcript."""
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent):
            return sampling_in(event.call.request if event.call else {})
    return {}
