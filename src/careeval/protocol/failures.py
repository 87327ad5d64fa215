"""Why a call brought nothing, in words that a person can act on.

The exceptions of providers and of what lies between say it in many ways: some hold the whole
request, some only the name of a class, and some repeat the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from http import HTTPStatus

MAX_WORDS = 500
"""Characters that are kept; a server may send a whole page."""


class CallError(Exception):
    """A call brought nothing, though it was tried again where that could help.

    Attributes:
        message: Why, in words; as Inspect logs it.
        status: That the server gave, if it answered.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.message, self.status = message, status


def why(error: BaseException, keys: Iterable[str] = ()) -> str:
    """One line that says why a call failed.

    Args:
        error: What the call raised.
        keys: Secrets, which a server may repeat; they are blotted out.
    """
    last = _last_attempt(error)
    words = " ".join(_words(last).split())
    for key in filter(None, keys):
        words = words.replace(key, "(the key)")
    return words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}…"


def _last_attempt(error: BaseException) -> BaseException:
    """What went wrong at the last attempt, where attempts were made until they were used up."""
    attempt = getattr(error, "last_attempt", None)
    found = attempt.exception() if attempt is not None else None
    return found if isinstance(found, BaseException) else error


def _words(error: BaseException) -> str:
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        answered = f"the server answered {status}{_phrase(status)}"
        return f"{answered}: {said}" if (said := _said(error)) else answered
    name = type(error).__name__
    if seconds := re.fullmatch(r"attempt_timeout '(\d+)' exceeded\.", str(error)):
        return f"no whole answer within {seconds[1]} s"
    first = _first(error)
    # a client may call what another library under it found a time that ran out
    if "Timeout" in name and (first is error or "Timeout" in type(first).__name__):
        return "no answer in time"
    below = type(first).__module__.partition(".")[0] == "aiohttp"
    if below or "Timeout" in name or "Connection" in name or isinstance(error, OSError):
        said = getattr(first, "message", "") or str(first) or type(first).__name__
        return f"the connection failed: {said}"
    if reply := re.search(r"Unexpected non-ChatCompletion response: (.*)", str(error), re.DOTALL):
        return f"the server's reply is no completion: {reply[1]}"
    if isinstance(error, TypeError | ValueError | KeyError | AttributeError | IndexError):
        # a provider's code over a reply that it did not expect
        return f"the server's reply is no completion ({name})"
    return str(error) or name


def _phrase(status: int) -> str:
    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""


def _said(error: BaseException) -> str:
    """The server's own words."""
    # Inspect's message holds the whole request; this is the part that the provider said
    said = getattr(error, "provider_message", None) or str(error)
    # as the OpenAI client words it: the body follows, in Python's notation where it is JSON
    said = re.sub(r"^Error code: \d+( - )?", "", said)
    if quoted := re.search(r"""['"]message['"]: (?:'([^']+)'|"([^"]+)")""", said):
        said = quoted[1] or quoted[2]
    return re.sub(r"<[^>]+>", " ", said)


def _first(error: BaseException) -> BaseException:
    """The first of the errors that led to this one."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    return error
