"""A model's reply: its text, its usage, and how it was sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.util import LimitExceededError

from careeval.protocol.calls.failures import CallError, failure_reason
from careeval.protocol.costs.prices import runs_in_process
from careeval.protocol.costs.token_counts import is_plausible

_SAMPLING_FIELDS = (
    *("temperature", "top_p", "top_k", "min_p", "seed"),
    *("max_tokens", "max_completion_tokens", "max_output_tokens"),
    *("reasoning_effort", "reasoning"),
)
"""Fields of a request to a provider that say how its reply is sampled."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of a call.

    Attributes:
        output: The model's output.
        sampling: The fields of the request that say how the reply was sampled; empty if the
            provider reports no request.
    """

    output: ModelOutput
    sampling: dict[str, Any]


async def generate(
    model: Model, messages: Sequence[ChatMessage], config: GenerateConfig
) -> ModelOutput:
    """Call a model and return its output.

    Raises:
        CallError: The call failed. The message is ours, without the provider's wrapping.
    """
    try:
        return await model.generate(list(messages), config=config)
    except LimitExceededError:
        raise  # the limits of a user who runs the task through Inspect
    except Exception as error:
        raise CallError(failure_reason(error, [model.api.api_key or ""]), error) from None


def without_false_usage(model: Model, output: ModelOutput) -> ModelOutput:
    """Remove an impossible usage from an output, so that the cost of the call is unknown."""
    usage = output.usage
    if usage is None or runs_in_process(str(model)):
        return output
    read, write = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    words = bool(output.completion.strip()) or any(
        not isinstance(choice.message.content, str) and choice.message.content
        for choice in output.choices
    )
    parts = (usage.input_tokens, read, write)
    if not is_plausible(sum(parts), usage.output_tokens, *parts, words=words):
        output.usage = None
    return output


def usage_numbers(output: ModelOutput) -> tuple[int | None, int | None, float | None, float | None]:
    """Return a call's input tokens, output tokens, dollars and seconds; `None` where unknown."""
    usage = output.usage
    if usage is None:
        return None, None, None, output.time
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached, usage.output_tokens, usage.total_cost, output.time


def sampling_in(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request to a provider that say how its reply is sampled.

    A provider may drop a field that its model refuses, such as a reasoning model's temperature.
    Fields that are not in the result were not sent.
    """
    return {name: request[name] for name in _SAMPLING_FIELDS if name in request}


def sampling_logged() -> dict[str, Any]:
    """Return the sampling fields of the last request in Inspect's transcript; empty if none."""
    for event in reversed(transcript().events):
        if isinstance(event, ModelEvent):
            return sampling_in(event.call.request if event.call else {})
    return {}
