"""What a run cost: asking the system, and grading its responses, each from its table.

A price that is not known makes the total unknown, never smaller: what is known of it stands apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from careeval.results.tables import NOT_ASKED


@dataclass(frozen=True)
class Cost:
    """What the calls about some responses came to.

    Attributes:
        value: Dollars; `None` where the price of any response is not known.
        reason: Why there is no value; empty where there is one.
        known_usd: Dollars of those responses whose price is known.
        n: Responses.
        n_unknown: Those whose price is not known.
        input_tokens: What went in, the provider's cache included; `None` if not known of all.
        output_tokens: What came out, reasoning included; `None` if not known of all.
        per_response: Dollars, the mean; `None` without a value.
    """

    value: float | None
    reason: str
    known_usd: float
    n: int
    n_unknown: int
    input_tokens: int | None
    output_tokens: int | None
    per_response: float | None


@dataclass(frozen=True)
class RunCost:
    """What one system cost as one grader judged it.

    Attributes:
        asking: Of its responses.
        grading: Of the judgments that count: each rubric's first grading by this grader.
    """

    asking: Cost
    grading: Cost

    @property
    def per_response(self) -> float | None:
        """Dollars of a response, asked and graded; `None` where either is not known."""
        asking, grading = self.asking.per_response, self.grading.per_response
        return None if asking is None or grading is None else asking + grading


def asking_cost(responses: pl.DataFrame) -> Cost:
    """What one system's responses cost; one that a run has not come to is none.

    A recorded response was paid for elsewhere, if at all: its price is not known.
    """
    asked = responses.filter(pl.col("note").fill_null("") != NOT_ASKED)
    cached = pl.sum_horizontal("cache_read_tokens", "cache_write_tokens")  # null: none
    recorded = asked.height > 0 and asked["model"].null_count() == asked.height
    return _cost(
        asked.select("cost_usd", pl.col("input_tokens") + cached, "output_tokens"),
        "the responses were recorded, not asked for here" if recorded else "",
    )


def grading_cost(judgments: pl.DataFrame) -> Cost:
    """What judging one system's responses by one grader cost, over the gradings given."""
    amounts = ("cost_usd", "input_tokens", "output_tokens")
    return _cost(
        judgments.group_by("scenario", "epoch")
        # a sum passes over what is null: unknown it must stay
        .agg(pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).sum()) for name in amounts)
        .select(amounts)
    )


def _cost(responses: pl.DataFrame, why_unknown: str = "") -> Cost:
    """The total of `cost_usd`, `input_tokens` and `output_tokens`, a row a response."""
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
    """The sum; `None` where any is not known. Shares of a call add up to whole tokens again."""
    return None if tokens.null_count() or tokens.is_empty() else round(tokens.sum())
