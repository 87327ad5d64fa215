"""Costs of a run: asking the system, and grading its responses.

A missing price makes the total unknown, never smaller; the known part is kept beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from careeval.results.tables import NOT_ASKED


@dataclass(frozen=True)
class Cost:
    """The cost of the calls for some responses."""

    value: float | None  # Dollars; `None` if the price of any response is unknown
    reason: str  # Reason why there is no value; else empty
    known_usd: float  # Dollars of the responses with a known price
    n: int  # Responses
    n_unknown: int  # Responses with an unknown price
    input_tokens: int | None
    """Input, the provider's cache included; `None` if unknown for any response."""
    output_tokens: int | None  # Output, reasoning included; `None` if unknown for any response
    per_response: float | None  # Mean dollars of a response; `None` without a value


@dataclass(frozen=True)
class RunCost:
    """The cost of one system and of its grading by one grader."""

    asking: Cost  # Cost of its responses
    grading: Cost  # Cost of the judgments that count: one grading of each response, on one rubric

    @property
    def per_response(self) -> float | None:
        """Return the mean dollars of asking and grading a response; `None` if either is unknown."""
        asking, grading = self.asking.per_response, self.grading.per_response
        return None if asking is None or grading is None else asking + grading


AMOUNTS = ("cost_usd", "input_tokens", "output_tokens")


def asking_cost(responses: pl.DataFrame) -> Cost:
    """Return the cost of one system's responses, without those that were not asked yet.

    The price of a recorded response is unknown: it was paid for elsewhere, if at all.
    """
    cached = pl.sum_horizontal("cache_read_tokens", "cache_write_tokens")  # null: none
    asked = responses.select(
        "note", "model", "cost_usd", pl.col("input_tokens") + cached, "output_tokens"
    ).filter(pl.col("note").fill_null("") != NOT_ASKED)
    recorded = asked.height > 0 and asked["model"].null_count() == asked.height
    return _total_cost(
        asked,
        "the responses were recorded, not asked for here" if recorded else "",
    )


def grading_cost(judgments: pl.DataFrame) -> Cost:
    """Return the cost of these judgments of one system's responses by one grader."""
    return _total_cost(
        judgments.group_by("scenario", "epoch")
        # a sum skips nulls, but an unknown part must make the sum unknown
        .agg(pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).sum()) for name in AMOUNTS)
        .select(AMOUNTS)
    )


def _total_cost(responses: pl.DataFrame, why_unknown: str = "") -> Cost:
    """Return the total cost and tokens of responses, which have one row each."""
    n, n_unknown = responses.height, responses["cost_usd"].null_count()
    known = float(responses["cost_usd"].sum())
    reason = ""
    if not n:
        reason = "there is no response"
    elif n_unknown:
        reason = why_unknown or f"the price of {n_unknown:,} of {n:,} responses is not known"
    return Cost(
        value=None if reason else known,
        reason=reason,
        known_usd=known,
        n=n,
        n_unknown=n_unknown,
        input_tokens=_total(responses["input_tokens"]),
        output_tokens=_total(responses["output_tokens"]),
        per_response=None if reason else known / n,
    )


def _total(tokens: pl.Series) -> int | None:
    """Return the sum of a column; `None` if any value is unknown.

    A call's tokens are split over its rows, so the sum is rounded to a whole number again.
    """
    return None if tokens.null_count() or tokens.is_empty() else round(tokens.sum())
