"""The expected and the worst cost of a call, which plans and budgets share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from careeval.protocol.costs.prices import PER

BYTES_PER_TOKEN = 4.0
"""Expected bytes of UTF-8 per token. Measured with OpenAI's o200k tokenizer on twelve of the
bank's scenarios: 4.0 in their texts, 4.2 in whole grading prompts, 4.4 in written answers."""

WORST_BYTES_PER_TOKEN = 3.0
"""Expected bytes of UTF-8 per token of a tokenizer that cuts a third finer, as some models have."""

ANSWER_TOKENS = 220
"""Expected tokens of a response. The prompt asks for about 150 words, which are 172 tokens at the
1.15 a word measured as above; the rest is for models that say more than they are asked."""

ITEM_TOKENS = 60
"""Expected tokens of a grader's reply for each item judged. An entry with one sentence quoted and
one sentence of reason is 50 to 55 tokens, measured as above; the rest is for its layout."""


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """The estimated cost of one attempt at a call.

    Attributes:
        kind: Role and model. Estimates for calls of one kind tend to err in the same direction.
        usd: Expected cost, without reasoning.
        worst_usd: Cost if the reply reaches its token limit.
    """

    kind: str
    usd: float
    worst_usd: float


def estimate(
    kind: str, price: Mapping[str, Any], n_bytes: int, expected_tokens: float, limit: int
) -> CallEstimate:
    """Return the estimated cost of a call at a price.

    Args:
        kind: Role and model.
        price: The model's price: the fields of `prices.Price`.
        n_bytes: Bytes sent.
        expected_tokens: Expected tokens of the reply.
        limit: The most tokens of the reply.
    """
    out = min(expected_tokens, limit)
    usd = price["input"] * n_bytes / BYTES_PER_TOKEN + price["output"] * out
    dearest = max(price["input"], price["cache_write"])
    worst = dearest * n_bytes / WORST_BYTES_PER_TOKEN + price["output"] * limit
    return CallEstimate(kind, usd / PER, worst / PER)
