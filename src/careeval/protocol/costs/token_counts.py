"""Whether a provider's count of tokens can be true: where it cannot, a call's cost is unknown."""

from __future__ import annotations

import json

MOST_TOKENS = 10**9
"""In one call or for one rubric: more is no count."""


def is_counted(
    input_tokens: float | None,
    output_tokens: float | None,
    *parts: float | None,
    words: bool = True,
) -> bool:
    """Whether the tokens of a call that came back can have been counted.

    Args:
        input_tokens: Of its prompt, those of a cache included: there are some in every call.
        output_tokens: Of its reply.
        parts: Of either, where the provider tells them apart.
        words: Whether the reply has any.
    """
    known = [input_tokens, output_tokens, *(part for part in parts if part is not None)]
    if any(each is None or not 0 <= each <= MOST_TOKENS for each in known):
        return False
    return bool(input_tokens) and bool(output_tokens or not words)


def mended(body: bytes) -> bytes:
    """A completion of OpenAI's kind of server, with a null for a usage that cannot be read.

    What reads a usage without numbers fails, and the words would be lost with it. Anything else
    comes back as it is.
    """
    try:
        completion = json.loads(body)
        usage = completion["usage"]
        if not completion["choices"] or usage is None:
            return body
    except (ValueError, KeyError, TypeError, RecursionError):
        return body
    if not _is_read(usage):
        usage = None
    elif "total_tokens" not in usage:
        usage = {**usage, "total_tokens": usage["prompt_tokens"] + usage["completion_tokens"]}
    else:
        return body
    return json.dumps({**completion, "usage": usage}).encode()


def _is_read(usage: object) -> bool:
    """Whether every number that is read from a usage is one."""
    if not isinstance(usage, dict):
        return False
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    counts.append(usage.get("total_tokens", 0))
    for name in ("prompt_tokens_details", "completion_tokens_details"):
        details = usage.get(name) or {}
        if not isinstance(details, dict):
            return False
        read = ("cached_tokens", "cache_write_tokens", "reasoning_tokens")
        counts += [details[part] for part in read if details.get(part) is not None]
    return all(type(count) is int for count in counts)
