"""Responses: only an answered one has words."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest
from hypothesis import given

from careeval.core.response import Response, ResponseState
from support.strategies import responses


@given(responses())
def test_words_if_and_only_if_the_state_has_some(response: Response) -> None:
    """A response has words if and only if its state says so: the other text is refused."""
    has_words = response.state.has_words
    assert bool(response.text) is has_words

    with pytest.raises(ValueError, match=f"^the response is {response.state}, but its text"):
        Response("dressing-001", 1, "" if has_words else "I stop.", response.state)


def test_blank_is_no_answer() -> None:
    """White space alone is no answer."""
    with pytest.raises(ValueError, match="response is answered, but its text"):
        Response("dressing-001", 1, " \n\t", ResponseState.answered)


def test_long_text_is_not_repeated() -> None:
    """The message about a response in a wrong state does not repeat all of its words."""
    with pytest.raises(ValueError, match="response is missing") as caught:
        Response("dressing-001", 1, "word " * 1000, ResponseState.missing)

    assert len(str(caught.value)) < 100


@given(responses())
def test_frozen(response: Response) -> None:
    """No field of a response can be set."""
    for field in fields(response):
        with pytest.raises(FrozenInstanceError):
            setattr(response, field.name, None)
