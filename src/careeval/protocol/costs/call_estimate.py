"""What one call is expected to take, and at worst: the figures that plans and budgets share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from careeval.protocol.costs.prices import PER

BYTES_PER_TOKEN = 4.0
"""Bytes of UTF-8 in a token, expected. Measured with OpenAI's o200k tokenizer on twelve of the
bank's scenarios: 4.0 in their texts, 4.2 in whole grading prompts, 4.4 in written answers."""

WORST_BYTES_PER_TOKEN = 3.0
"""The same for a tokenizer that cuts a third finer, which some models have."""

ANSWER_TOKENS = 220
"""Of an expected answer. The prompt asks for about 150 words, which are 172 tokens at the 1.15 a
word measured as above; the rest is for models that say more than they are asked."""

ITEM_TOKENS = 60
"""Of an expected reply, for each item judged. An entry with one sentence quoted and one sentence of
reason is 50 to 55 tokens, measured as above on written entries; the rest is for its layout."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one attempt at a call will cost.

    Attributes:
        who: Role and model: calls of one kind err alike.
        usd: Expected, without reasoning.
        worst_usd: Its reply reaches its token limit.
    """

    who: str
    usd: float
    worst_usd: float


def estimate(
    who: str, price: Mapping[str, Any], n_bytes: int, expected_tokens: float, limit: int
) -> Estimate:
    """What a call will cost at a price.

    Args:
        who: Role and model.
        price: Fields of its `prices.Price`.
        n_bytes: Of what is sent.
        expected_tokens: Of the reply.
        limit: Tokens of the reply at most.
    """
    out = min(expected_tokens, limit)
    usd = price["input"] * n_bytes / BYTES_PER_TOKEN + price["output"] * out
    dearest = max(price["input"], price["cache_write"])
    worst = dearest * n_bytes / WORST_BYTES_PER_TOKEN + price["output"] * limit
    return Estimate(who, usd / PER, worst / PER)
