"""The usage of a call: its token counts, read and checked once, as the call returns."""

from __future__ import annotations

import json

from inspect_ai.model import Model, ModelOutput, ModelUsage

from careeval.protocol.providers import provider_of

MOST_TOKENS = 10**9
"""The most tokens of one call; a higher count is taken as false."""


def without_false_usage(model: Model, output: ModelOutput) -> ModelOutput:
    """Remove a usage that cannot be true from an output, so that the cost of the call is unknown.

    A model that runs inside the process need not count.
    """
    words = bool(output.completion.strip()) or any(
        not isinstance(choice.message.content, str) and choice.message.content
        for choice in output.choices
    )
    is_free = provider_of(str(model)).in_process
    if not is_free and output.usage and not _is_plausible(output.usage, words=words):
        output.usage = None
    return output


def _is_plausible(usage: ModelUsage, *, words: bool) -> bool:
    """Tell whether the token counts of a call can be true: a prompt has tokens, and so do words."""
    cached = (usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0)
    prompt = (usage.input_tokens, *cached)
    counts = (*prompt, usage.output_tokens, usage.reasoning_tokens or 0)
    if not all(0 <= count <= MOST_TOKENS for count in (*counts, sum(prompt))):
        return False
    return any(prompt) and bool(usage.output_tokens or not words)


def usage_numbers(output: ModelOutput) -> tuple[int | None, int | None, float | None, float | None]:
    """Return a call's input tokens, output tokens, dollars and seconds; `None` where unknown."""
    usage = output.usage
    if usage is None:
        return None, None, None, output.time
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached, usage.output_tokens, usage.total_cost, output.time


def with_readable_usage(body: bytes) -> bytes:
    """Return a completion of an OpenAI-like server with a usage that the client can read.

    An unreadable usage is set to null, and a missing total is added: else the client would fail,
    and the reply's text would be lost. A body that is not a completion is returned unchanged.
    """
    try:
        completion = json.loads(body)
        usage = completion["usage"]
        if not completion["choices"] or usage is None:
            return body
    except (ValueError, KeyError, TypeError, RecursionError):
        return body
    if not _has_counts(usage):
        usage = None
    elif "total_tokens" not in usage:
        usage = {**usage, "total_tokens": usage["prompt_tokens"] + usage["completion_tokens"]}
    else:
        return body
    return json.dumps({**completion, "usage": usage}).encode()


def _has_counts(usage: object) -> bool:
    """Tell whether every number that the client reads from a `usage` object is an integer."""
    if not isinstance(usage, dict):
        return False
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    counts.append(usage.get("total_tokens", 0))
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        details = usage.get(name) or {}
        if not isinstance(details, dict):
            return False
        parts = ("cached_tokens", "cache_write_tokens", "reasoning_tokens")
        counts += [details[part] for part in parts if details.get(part) is not None]
    return all(type(count) is int for count in counts)
