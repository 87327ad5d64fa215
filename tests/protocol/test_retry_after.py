"""Tests of the waits before a call is retried."""

from __future__ import annotations

import time
from email.utils import formatdate
from types import SimpleNamespace

import pytest
from tenacity import Future, RetryCallState

from careeval.protocol.failures import MAX_ASKED_WAIT, MAX_WAIT, RetryAfterWait, retry_after


def failed(attempt: int, headers: dict[str, str]) -> RetryCallState:
    """The state after an attempt that failed with these headers in its reply."""
    error = Exception("refused")
    error.response = SimpleNamespace(headers=headers)  # type: ignore[attr-defined]
    state = RetryCallState(None, None, (), {})  # type: ignore[arg-type]
    state.attempt_number = attempt
    state.outcome = Future(attempt)
    state.outcome.set_exception(error)
    return state


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_what_headers_say(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds and milliseconds are understood, and what is no time says nothing."""
    assert retry_after(headers) == seconds


def test_a_date() -> None:
    """A date is the time until then; one that is past asks for no wait."""
    soon = formatdate(time.time() + 30, usegmt=True)
    assert retry_after({"retry-after": soon}) == pytest.approx(30, abs=2)
    assert retry_after({"retry-after": formatdate(0, usegmt=True)}) == 0


def test_the_servers_word_is_obeyed() -> None:
    """The wait is as long as the server asks at every attempt, and up to a second more."""
    for attempt in (1, 5):
        assert 7 <= RetryAfterWait()(failed(attempt, {"retry-after": "7"})) <= 8


@pytest.mark.parametrize(
    "attributes",
    [
        {"response": SimpleNamespace(headers={"retry-after": "7"})},
        {"headers": {"retry-after": "7"}},
        {"response": {"ResponseMetadata": {"HTTPHeaders": {"retry-after": "7"}}}},
    ],
    ids=["OpenAI and most", "Mistral", "Amazon"],
)
def test_where_errors_have_headers(attributes: dict[str, object]) -> None:
    """The headers are read wherever the error of a provider's client has them."""
    state = failed(1, {})
    error = Exception("refused")
    vars(error).update(attributes)
    state.outcome = Future(1)
    state.outcome.set_exception(error)
    assert 7 <= RetryAfterWait()(state) <= 8


def test_without_a_word_waits_double() -> None:
    """Waits begin at 3 seconds, double, and end at a quarter of an hour."""
    first, fourth, twentieth = (RetryAfterWait()(failed(n, {})) for n in (1, 4, 20))
    assert 3 <= first <= 6
    assert 24 <= fourth <= 27
    assert twentieth == MAX_WAIT


def test_an_error_without_a_reply() -> None:
    """A connection that broke has no headers, and the default wait applies."""
    state = failed(1, {})
    assert state.outcome is not None
    state.outcome = Future(1)
    state.outcome.set_exception(ConnectionError("broken"))
    assert 3 <= RetryAfterWait()(state) <= 6


def test_no_server_is_waited_for_all_day() -> None:
    """A server that asks for a day is waited for as long as the longest wait of ours."""
    assert RetryAfterWait()(failed(1, {"retry-after": "86400"})) <= MAX_ASKED_WAIT + 1
