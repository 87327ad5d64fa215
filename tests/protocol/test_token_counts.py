"""Token counts that a provider reports are read, or unknown where they cannot be true."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import MagicMock

import pytest
from inspect_ai.model import ModelOutput, ModelUsage

from careeval.protocol.call_journal import usage_numbers, without_false_usage
from careeval.protocol.connect import with_readable_usage

USAGE = {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59}


def model(name: str) -> Any:
    """A model with a name."""
    return MagicMock(__str__=lambda _: name)


@pytest.mark.parametrize(
    ("counts", "words", "counted"),
    [
        ({}, "I ask.", True),
        ({"output_tokens": 0}, "I ask.", False),
        ({"output_tokens": 0}, " ", True),
        ({"input_tokens": 0}, "I ask.", False),
        ({"input_tokens": 0, "input_tokens_cache_read": 50}, "I ask.", True),
        ({"input_tokens": -5}, "I ask.", False),
        ({"output_tokens": -9}, "I ask.", False),
        ({"output_tokens": 10**12}, "I ask.", False),
        ({"input_tokens_cache_read": -450, "input_tokens_cache_write": 500}, "I ask.", False),
        ({"reasoning_tokens": -1}, "I ask.", False),
    ],
)
def test_what_can_have_been_counted(counts: dict[str, int], words: str, counted: bool) -> None:
    """A prompt has tokens, and so have words; none is negative."""
    fields = {"input_tokens": 50, "output_tokens": 9, "total_cost": 0.1, **counts}
    output = ModelOutput.from_content("m", words)
    output.usage = ModelUsage.model_validate(fields)
    checked = without_false_usage(model("openai/m"), output)
    assert (checked.usage is not None) is counted
    assert (usage_numbers(checked)[2] == 0.1) is counted


def test_models_in_the_process_need_not_count() -> None:
    """The usage of a program is kept as it is, and costs nothing."""
    output = ModelOutput.from_content("m", "present")
    output.usage = ModelUsage(total_cost=0.0)
    assert without_false_usage(model("careeval/lexical"), output).usage == ModelUsage(total_cost=0)


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
