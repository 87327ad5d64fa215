"""Tests of the checks of token counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from careeval.core.response import ResponseState
from careeval.protocol.log_fields import LoggedGradingUsage, LoggedResponse, LoggedUsage
from careeval.protocol.log_rows import _plausible_grading_usage, _plausible_usage
from careeval.protocol.prices import is_plausible, with_readable_usage

ANSWERED = LoggedResponse(ResponseState.answered, "I ask.", cut=False, note="")

USAGE = {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59}


@pytest.mark.parametrize(
    ("tokens", "words", "counted"),
    [
        ((50, 9), True, True),
        ((50, 0), True, False),
        ((50, 0), False, True),
        ((0, 9), True, False),
        ((0, 0), True, False),
        ((-5, 9), True, False),
        ((50, -9), True, False),
        ((None, 9), True, False),
        ((50, None), True, False),
        ((50, 10**12), True, False),
        ((50, 9, None, 20), True, True),
        ((50, 9, -450, 500), True, False),
    ],
)
def test_what_can_have_been_counted(
    tokens: tuple[int | None, ...], words: bool, counted: bool
) -> None:
    """A prompt has tokens, and so have words; none is negative."""
    assert is_plausible(*tokens, words=words) is counted


@pytest.mark.parametrize(
    "usage",
    [
        {},
        [],
        "x",
        7,
        {**USAGE, "prompt_tokens": None},
        {**USAGE, "completion_tokens": "9"},
        {"prompt_tokens": 50},
        {**USAGE, "prompt_tokens": 50.5},
        {**USAGE, "prompt_tokens": True},
        {**USAGE, "total_tokens": None},
        {**USAGE, "prompt_tokens_details": []} | {"prompt_tokens_details": [1]},
        {**USAGE, "prompt_tokens_details": {"cached_tokens": "many"}},
    ],
)
def test_a_usage_that_cannot_be_read_is_none(usage: Any) -> None:
    """The words are kept, and nothing is known of their cost."""
    completion = {"choices": [{"message": {"content": "I ask."}}], "usage": usage}
    assert json.loads(with_readable_usage(json.dumps(completion).encode())) == {
        **completion,
        "usage": None,
    }


def test_a_total_is_reckoned() -> None:
    """A usage that lacks only the sum is given it."""
    usage = {"prompt_tokens": 50, "completion_tokens": 9}
    body = json.dumps({"choices": [1], "usage": usage}).encode()
    assert json.loads(with_readable_usage(body))["usage"] == USAGE


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"choices": [1], "usage": USAGE}).encode(),
        json.dumps({"choices": [1], "usage": {**USAGE, "prompt_tokens_details": None}}).encode(),
        json.dumps({"choices": [1], "usage": None}).encode(),
        json.dumps({"choices": [], "usage": {}}).encode(),
        json.dumps({"content": "x", "usage": {"input_tokens": 5}}).encode(),
        b"<html>",
        b"[1]",
        b"",
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_anything_else_is_left_alone(body: bytes) -> None:
    """A readable reply stays the same, byte for byte."""
    assert with_readable_usage(body) is body


def test_logs_of_the_past() -> None:
    """Token counts of older logs that cannot be true are unknown; models in the process have 0."""
    true = LoggedUsage(input_tokens=50, output_tokens=9, total_cost=0.1)
    assert _plausible_usage(true, ANSWERED, "openai/m") == true
    for false in (
        LoggedUsage(0, None, None, 0, None, 0.0),
        LoggedUsage(-5, None, None, -7, None, -0.1),
    ):
        assert _plausible_usage(false, ANSWERED, "openai/m") == LoggedUsage()
    free = LoggedGradingUsage(0, 0, 0.0, 1.0)
    assert _plausible_grading_usage(free, "careeval/lexical") == free
    assert _plausible_grading_usage(free, "openai/m") == LoggedGradingUsage(seconds=1.0)
    assert _plausible_grading_usage(
        LoggedGradingUsage(-5, -7, -0.1, 1.0), "openai/m"
    ) == LoggedGradingUsage(seconds=1.0)
