"""Failed calls: the reason in one line, and the wait before a call is retried."""

from __future__ import annotations

import time
from email.utils import formatdate
from types import SimpleNamespace

import httpx2
import openai
import pytest
from inspect_ai.model._model import AttemptTimeoutError, ModelGenerateError
from tenacity import Future, RetryCallState, RetryError

from careeval.protocol.failures import (
    MAX_ASKED_WAIT,
    MAX_CHARACTERS,
    MAX_WAIT,
    RetryAfterWait,
    failure_reason,
    retry_after,
)

REQUEST = httpx2.Request("POST", "http://127.0.0.1:1/v1/chat/completions")


def status(code: int, message: str, body: object = None) -> openai.APIStatusError:
    """A server's refusal, as the OpenAI client raises it."""
    return openai.APIStatusError(
        message, response=httpx2.Response(code, request=REQUEST), body=body
    )


def unreachable() -> openai.APIConnectionError:
    """A connection that failed, with what led to it."""
    error = openai.APIConnectionError(request=REQUEST)
    error.__cause__ = ConnectionRefusedError("nobody listens")
    return error


def used_up(error: Exception) -> RetryError:
    """Return the error that is raised when the last of several attempts failed."""
    attempt = Future(1)
    attempt.set_exception(error)
    return RetryError(attempt)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            status(401, "Error code: 401 - Incorrect API key provided."),
            "the server answered 401 (Unauthorized): Incorrect API key provided.",
        ),
        (
            status(404, "Error code: 404 - {'error': {'message': 'No such model.', 'code': 1}}"),
            "the server answered 404 (Not Found): No such model.",
        ),
        (status(502, "<html><h1>Bad\nGateway</h1></html>"),
         "the server answered 502 (Bad Gateway) with a web page: Bad Gateway"),
        (status(413, "Error code: 413"), "the server answered 413 (Request Entity Too Large)"),
        (status(799, "Error code: 799"), "the server answered 799"),
        (
            ModelGenerateError(
                '\nRequest:\n{"messages": "a scenario"}\n\nPermissionDeniedError()',
                status_code=403,
                provider_message="Error code: 403 - Not in your country.",
            ),
            "the server answered 403 (Forbidden): Not in your country.",
        ),
        (unreachable(), "the connection failed: refused, no server listens at this address"),
        (ConnectionResetError(), "the connection failed: reset by the server"),
        (AttemptTimeoutError(300), "no complete answer within 300 s"),
        (openai.APITimeoutError(request=REQUEST), "no answer in time"),
        (TypeError("'NoneType' object is not iterable"),
         "the server's reply is not a completion"),
        (RuntimeError("out of memory"), "out of memory"),
        (RuntimeError(), "no reason given"),
    ],
)  # fmt: skip
def test_words(error: Exception, words: str) -> None:
    """A failure is said in one line, the same where it is that of the last attempt of several."""
    assert failure_reason(error) == words
    assert failure_reason(used_up(error)) == words


def test_a_key_is_blotted_out() -> None:
    """A key that a server repeats is redacted; without a key nothing is."""
    error = status(401, "Error code: 401 - sk-secret is not a key, sk-secret!")
    assert failure_reason(error, ["sk-secret", ""]).endswith("(the key) is not a key, (the key)!")
    assert failure_reason(error, [""]).endswith("sk-secret is not a key, sk-secret!")


def test_long_words_are_cut() -> None:
    """A long message of a server is cut."""
    said = failure_reason(status(500, "no " * 100_000))
    assert len(said) == MAX_CHARACTERS + 1
    assert said.endswith("…")


def failed(attempt: int, headers: dict[str, str], error: Exception | None = None) -> RetryCallState:
    """The state after an attempt that failed with these headers in its reply, or as `error`."""
    state = RetryCallState(None, None, (), {})  # type: ignore[arg-type]
    state.attempt_number = attempt
    state.outcome = Future(attempt)
    state.outcome.set_exception(error or with_fields(response=SimpleNamespace(headers=headers)))
    return state


def with_fields(**fields: object) -> Exception:
    """An error with these attributes."""
    error = Exception("refused")
    vars(error).update(fields)
    return error


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
    ("error", "seconds"),
    [
        (with_fields(response=SimpleNamespace(headers={"retry-after": "7"})), 7),
        (with_fields(headers={"retry-after": "7"}), 7),
        (with_fields(response={"ResponseMetadata": {"HTTPHeaders": {"retry-after": "7"}}}), 7),
        (ConnectionError("broken"), 3),
    ],
    ids=["OpenAI and most", "Mistral", "Amazon", "without a reply"],
)
def test_where_errors_have_headers(error: Exception, seconds: int) -> None:
    """Headers are read wherever an error has them; without any, the default wait applies."""
    assert seconds <= RetryAfterWait()(failed(1, {}, error)) <= seconds + 3


def test_without_a_word_waits_double() -> None:
    """Waits begin at 3 seconds, double, and end at a quarter of an hour."""
    first, fourth, twentieth = (RetryAfterWait()(failed(n, {})) for n in (1, 4, 20))
    assert 3 <= first <= 6
    assert 24 <= fourth <= 27
    assert twentieth == MAX_WAIT


def test_no_server_is_waited_for_all_day() -> None:
    """A server that asks for a day is waited for as long as the longest wait of ours."""
    assert RetryAfterWait()(failed(1, {"retry-after": "86400"})) <= MAX_ASKED_WAIT + 1
