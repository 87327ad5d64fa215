"""Tests of the response in a model's output, and of the seeds of calls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import (
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.model._model_output import ChatCompletionChoice

from careeval.core.response import Response, ResponseState
from careeval.protocol.call_journal import response_of, stop_problem
from careeval.protocol.solvers import epoch_seed


def output(text: str, stop: Any, error: str | None = None) -> ModelOutput:
    """A model's output of one choice, which it was paid for."""
    message = ChatMessageAssistant(content=text)
    choice = ChatCompletionChoice(message=message, stop_reason=stop)
    return ModelOutput(model="fake/m", choices=[choice], error=error, usage=ModelUsage())


@pytest.mark.parametrize(
    ("text", "stop", "error", "expected"),
    [
        (" I wait.\n", "stop", None, ("I wait.", "answered", False, "")),
        ("I wai", "max_tokens", None, ("I wai", "answered", True, "")),
        ("I wai", "model_length", None, ("I wai", "answered", True, "")),
        ("I wait.", "tool_calls", None, ("I wait.", "answered", False, "")),
        ("", "stop", None, ("", "empty", False, "")),
        ("\n ", "stop", None, ("", "empty", False, "")),
        ("", "max_tokens", None, ("", "missing", False, "cut off before any text")),
        ("", "model_length", None, ("", "missing", False, "cut off before any text")),
        ("", "unknown", None, ("", "missing", False, "stopped: unknown")),
        ("", "unknown", "overloaded", ("", "missing", False, "overloaded")),
        ("", "content_filter", None, ("", "refused", False, "content filter")),
        ("", "content_filter", "policy", ("", "refused", False, "policy")),
        ("I can't.", "content_filter", None, ("", "refused", False, "I can't.")),
    ],
)
def test_what_an_output_is(
    text: str, stop: str, error: str | None, expected: tuple[str, str, bool, str]
) -> None:
    """Words are answered, cut words too; nothing is empty, refused or missing by how it stopped."""
    words, state, cut, note = expected
    found = response_of(output(text, stop, error), "eating-001", 2)
    assert found == Response("eating-001", 2, words, ResponseState(state), cut, note)


def test_no_choice_at_all_is_missing() -> None:
    """An output without a choice is no response: unknown, never an empty one that scores 0."""
    found = response_of(ModelOutput(model="fake/m", choices=[]), "eating-001", 1)
    assert (found.state, found.note) == (ResponseState.missing, "stopped: unknown")


def test_an_error_is_not_what_the_model_said() -> None:
    """If a question did not fit, the provider's error is the note of a missing response."""
    said = ModelOutput.from_content("fake/m", "512 tokens at most.", stop_reason="model_length")
    found = response_of(said, "eating-001", 1)
    assert (found.state, found.text, found.note) == (
        ResponseState.missing,
        "",
        "512 tokens at most.",
    )


def test_what_is_marked_as_a_refusal_is_one() -> None:
    """Words that the provider marks as a refusal are no answer, however the model stopped."""
    content = [ContentText(text="I cannot help.", refusal=True)]
    found = response_of(
        ModelOutput.from_message(ChatMessageAssistant(content=content)), "eating-001", 1
    )
    assert (found.state, found.text, found.note) == (ResponseState.refused, "", "I cannot help.")


def test_half_a_character_is_replaced() -> None:
    """Half of a surrogate pair, which no file can hold, becomes the sign for the unreadable."""
    assert response_of(output("I \ud83d wait.", "stop"), "eating-001", 1).text == "I \ufffd wait."


@pytest.mark.parametrize(
    ("text", "stop", "why"),
    [
        ("I wait.", "stop", ""),
        ("", "stop", ""),
        ("I wai", "max_tokens", "it was cut off at the token limit"),
        ("", "max_tokens", "there is none: cut off before any text"),
        ("No.", "content_filter", "it is a refusal: No."),
    ],
)
def test_how_an_output_ended(text: str, stop: str, why: str) -> None:
    """An output that ended by itself needs no word; any other says why it ended."""
    assert stop_problem(output(text, stop)) == why


def test_the_reasoning_trace_is_not_the_answer() -> None:
    """Of an output with a trace the words alone are the response; a trace alone is no words."""
    trace = ContentReasoning(reasoning="She may fall.")
    both = ModelOutput.from_message(
        ChatMessageAssistant(content=[trace, ContentText(text="I wait.")])
    )
    alone = ModelOutput.from_message(
        ChatMessageAssistant(content=[trace]), stop_reason="max_tokens"
    )
    assert response_of(both, "eating-001", 1).text == "I wait."
    assert response_of(alone, "eating-001", 1).state is ResponseState.missing


@given(st.integers(), st.text(), st.integers(1, 100))
def test_a_seed_is_one_that_every_provider_takes(seed: int, scenario: str, epoch: int) -> None:
    """A seed is from 0 to 2³¹ − 1, and the same for the same run, scenario and epoch."""
    drawn = epoch_seed(seed, scenario, epoch)
    assert 0 <= drawn < 2**31
    assert drawn == epoch_seed(seed, scenario, epoch)


def test_seeds_differ() -> None:
    """Ten epochs of a hundred scenarios have seeds of their own; the first is pinned for good."""
    seeds = {epoch_seed(0, f"eating-{n:03}", epoch) for n in range(100) for epoch in range(1, 11)}
    assert len(seeds) == 1000
    assert epoch_seed(0, "eating-001", 1) != epoch_seed(1, "eating-001", 1)
    assert epoch_seed(0, "eating-001", 1) == 1827206171
