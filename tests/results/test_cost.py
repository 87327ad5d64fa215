"""Costs of asking and grading, and the reasons where they are unknown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.results.entries import entries
from careeval.results.tables import NOT_ASKED, Cost, Runs, asking_cost, grading_cost
from results.authored import Marks, judgments, responses

MARKS: Marks = {"dressing-1": ["11000", "01000"], "eating-1": ["11000", "empty"]}
PRICED = {"cost_usd": 0.25, "input_tokens": 300, "output_tokens": 200}
SHARE = {"cost_usd": 0.125, "input_tokens": 100.2, "output_tokens": 60.0}
"""Of one of five judgments: 0.625 dollars, 501 and 300 tokens a response."""


def asked(*changes: dict[str, Any]) -> Cost:
    """The cost of four priced responses, the first of them changed."""
    rows = responses(MARKS, model="openai/gpt", **PRICED)
    for row, change in zip(rows, changes, strict=False):
        row |= change
    return asking_cost(Runs.of(rows, []).responses)


def graded(*rows: dict[str, Any]) -> Cost:
    """The cost of judgments."""
    return grading_cost(Runs.of([], rows).judgments)


def test_asking() -> None:
    """Four responses at a quarter of a dollar cost one dollar, and their tokens add up."""
    assert asked() == Cost(
        value=1.0,
        reason="",
        known_usd=1.0,
        n=4,
        n_unknown=0,
        input_tokens=1200,
        output_tokens=800,
        per_response=0.25,
    )


def test_cached_tokens_went_in() -> None:
    """Input that the provider had cached, or cached then, is input."""
    cost = asked({"input_tokens": 10, "cache_read_tokens": 200}, {"cache_write_tokens": 5})
    assert cost.input_tokens == (10 + 200) + (300 + 5) + 300 + 300


def test_a_price_that_is_not_known() -> None:
    """One unknown price makes the total unknown; what is known is not lost."""
    cost = asked({"cost_usd": None})
    assert (cost.value, cost.per_response) == (None, None)
    assert cost.reason == "the price of 1 of 4 responses is not known"
    assert (cost.known_usd, cost.n, cost.n_unknown) == (0.75, 4, 1)
    assert cost.input_tokens == 1200


def test_tokens_that_are_not_known() -> None:
    """One unknown count of tokens makes their number unknown, and not the price."""
    cost = asked({"output_tokens": None})
    assert (cost.value, cost.input_tokens, cost.output_tokens) == (1.0, 1200, None)


def test_what_was_not_asked_yet() -> None:
    """A response that the run has not come to is in no count."""
    cost = asked({"state": "missing", "note": NOT_ASKED, "cost_usd": None, "input_tokens": None})
    assert (cost.value, cost.n, cost.input_tokens, cost.per_response) == (0.75, 3, 900, 0.25)


def test_a_failed_response_may_have_cost_something() -> None:
    """A response that is missing for another reason may have been paid for."""
    cost = asked({"state": "missing", "note": "error: the line broke", "cost_usd": None})
    assert cost.reason == "the price of 1 of 4 responses is not known"


def test_recorded_responses() -> None:
    """The cost of recorded responses is unknown, with that reason."""
    cost = asking_cost(Runs.of(responses(MARKS), []).responses)
    assert cost.reason == "the responses were recorded, not asked for here"
    assert (cost.value, cost.known_usd) == (None, 0)


def test_grading() -> None:
    """Shares of a response's judgments add up to its calls; one without words cost nothing."""
    rows = judgments(MARKS, **SHARE)
    rows[-5:] = [
        row | {"cost_usd": 0.0, "input_tokens": 0, "output_tokens": 0} for row in rows[-5:]
    ]
    cost = graded(*rows)
    assert cost.value == pytest.approx(3 * 0.625)
    assert (cost.n, cost.n_unknown) == (4, 0)
    assert (cost.input_tokens, cost.output_tokens) == (1503, 900)
    assert cost.per_response == pytest.approx(3 * 0.625 / 4)


def test_a_judgment_whose_price_is_not_known() -> None:
    """One judgment of unknown price makes its response's unknown, and the total."""
    rows = judgments(MARKS, **SHARE)
    rows[0]["cost_usd"] = None
    cost = graded(*rows)
    assert (cost.value, cost.n_unknown) == (None, 1)
    assert cost.reason == "the price of 1 of 4 responses is not known"
    assert cost.known_usd == pytest.approx(3 * 0.625)


def test_nothing_graded() -> None:
    """Without a judgment there is no cost, and that is not 0."""
    assert graded() == Cost(None, "there is no response", 0.0, 0, 0, None, None, None)


@given(st.lists(st.none() | st.integers(0, 2**20), min_size=4, max_size=4))
def test_known_or_unknown(cents: list[int | None]) -> None:
    """The total is the sum or unknown, and never less than the known part."""
    cost = asked(*({"cost_usd": None if c is None else c / 4} for c in cents))
    known = [c / 4 for c in cents if c is not None]
    assert (cost.known_usd, cost.n_unknown) == (sum(known), cents.count(None))
    assert cost.value == (None if None in cents else sum(known))
    assert bool(cost.reason) is (cost.value is None)


def test_in_a_summary() -> None:
    """An entry has what its system cost, and of its grader the grading that counts."""
    again = judgments(MARKS, grading=2, **{**SHARE, "cost_usd": 9.0})
    dear = judgments(MARKS, grader="other", **{**SHARE, "cost_usd": 1.0})
    rows = judgments(MARKS, **SHARE) + again + dear
    first, other = entries(Runs.of(responses(MARKS, model="m", **PRICED), rows))
    assert first.cost.asking == other.cost.asking == asked()
    assert (first.cost.grading.value, other.cost.grading.value) == (20 * 0.125, 20)
