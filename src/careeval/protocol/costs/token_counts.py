"""Checks of the token counts that providers report; a false count makes the cost unknown."""

from __future__ import annotations

import json

MOST_TOKENS = 10**9
"""The most tokens of one call or one graded rubric; a higher count is taken as false."""


def is_plausible(
    input_tokens: float | None,
    output_tokens: float | None,
    *parts: float | None,
    words: bool = True,
) -> bool:
    """Tell whether the token counts of a call that came back can be true.

    Args:
        input_tokens: Tokens of the prompt, cached ones included; every call has some.
        output_tokens: Tokens of the reply.
        parts: Token counts of parts of the prompt or the reply, if the provider reports them.
        words: Whether the reply has any text.
    """
    counts = [input_tokens, output_tokens, *(part for part in parts if part is not None)]
    if any(count is None or not 0 <= count <= MOST_TOKENS for count in counts):
        return False
    return bool(input_tokens) and bool(output_tokens or not words)


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
