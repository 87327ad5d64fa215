"""Tests of the reason of a failed call: one line with the cause, without request and key."""

from __future__ import annotations

from concurrent.futures import Future

import httpx2
import openai
import pytest
from inspect_ai.model._model import AttemptTimeoutError, ModelGenerateError
from tenacity import RetryError

from careeval.protocol.failures import MAX_CHARACTERS, failure_reason

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
    attempt: Future[None] = Future()
    attempt.set_exception(error)
    return RetryError(attempt)  # type: ignore[arg-type]


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
