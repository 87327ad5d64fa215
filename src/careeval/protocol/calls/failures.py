"""Why a call brought nothing, in words that a person can act on.

The exceptions of providers and of what lies between say it in many ways: some hold the whole
request, some only the name of a class, and some repeat the key.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterable, Iterator
from http import HTTPStatus

from careeval.protocol.calls.redaction import Blot

MAX_WORDS = 500
"""Characters that are kept; a server may send a whole page."""

TURNED_AWAY = (401, 402, 403, 404, 405, 407, 410)
"""Statuses that a server gives to every call alike: no such key, no credit, no such model or
path."""

TOO_MANY, SERVER_ERROR = 429, 500

NO_CREDIT = r"insufficient_quota|exceeded your current quota|credit balance|billing_hard_limit"
"""What a 429 says that no waiting helps against."""

UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, IndexError)
"""What a provider's code raises over a reply that it did not expect."""


class CallError(Exception):
    """A call brought nothing, though it was tried again where that could help.

    Attributes:
        message: Why, in words; as Inspect logs it.
        cause: What the call raised.
    """

    def __init__(self, message: str, cause: BaseException) -> None:
        super().__init__(message)
        self.message, self.cause = message, cause


class ReplyTooLongError(Exception):
    """A reply has more bytes than any that is meant."""


def why(error: BaseException, keys: Iterable[str] = ()) -> str:
    """One line that says why a call failed.

    Args:
        error: What the call raised.
        keys: Secrets, which a server may repeat; they are blotted out.
    """
    words = Blot(keys).text(" ".join(_words(last_attempt(error)).split()))
    return words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}…"


def is_hopeless(error: BaseException) -> bool:
    """Whether a call failed in a way in which every other would fail too.

    There is nobody at the address, or nothing that answers as a model does, or it takes nothing
    from us: no key, no credit, no such model. A server that is busy or has an error of its own is
    not meant: it may have recovered a minute later.
    """
    error = last_attempt(error)
    status = _status(error)
    if status is not None:
        if status in TURNED_AWAY:
            return True
        if status == TOO_MANY:
            return bool(re.search(NO_CREDIT, _raw(error), re.IGNORECASE))
        return status >= SERVER_ERROR and _page(_body(error)) is not None
    if isinstance(_first(error), ReplyTooLongError):
        return True
    name = type(error).__name__
    if isinstance(error, UNREADABLE) or _no_completion(error):
        return True
    return "Timeout" in name or _is_of_the_connection(error)


def last_attempt(error: BaseException) -> BaseException:
    """What went wrong at the last attempt, where attempts were made until they were used up."""
    attempt = getattr(error, "last_attempt", None)
    found = attempt.exception() if attempt is not None else None
    return found if isinstance(found, BaseException) else error


def _words(error: BaseException) -> str:
    status = _status(error)
    if status is not None:
        answered = f"the server answered {status}{_phrase(status)}"
        if (title := _page(_body(error))) is not None:
            return f"{answered} with a web page{title}"
        return f"{answered}: {said}" if (said := _said(error)) else answered
    if seconds := re.fullmatch(r"attempt_timeout '(\d+)' exceeded\.", str(error)):
        return f"no whole answer within {seconds[1]} s"
    name, first = type(error).__name__, _first(error)
    if isinstance(first, ReplyTooLongError):
        return str(first)
    # a client may call what another library under it found a time that ran out
    if "Timeout" in name and (first is error or "Timeout" in type(first).__name__):
        if {"ConnectTimeout", "ConnectionTimeoutError"} & _names(error):
            return "the connection failed: it was not made in time"
        return "no answer in time"
    if "Timeout" in name or _is_of_the_connection(error):
        return f"the connection failed: {_why_not_connected(error, first)}"
    if (reply := _no_completion(error)) is not None:
        if (title := _page(reply)) is not None:
            return f"the server's reply is no completion but a web page{title}"
        return "the server's reply is no completion" + (f": {reply}" if reply.strip("'") else "")
    if isinstance(error, UNREADABLE):
        # a provider's code over a reply that it did not expect
        return "the server's reply is no completion"
    return str(error) or "it does not say why"


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _no_completion(error: BaseException) -> str | None:
    """What a reply held that was no completion, as Inspect shows it."""
    reply = re.search(r"Unexpected non-ChatCompletion response: (.*)", str(error), re.DOTALL)
    return reply[1] if reply else None


def _page(text: str) -> str | None:
    """The title of a web page, after a colon; empty for one without, and `None` for no page."""
    if not re.search(r"<(!doctype|html|head|body)\b", text[:4000], re.IGNORECASE):
        return None
    title = re.search(r"<(title|h1)[^>]*>(.*?)</\1>", text, re.IGNORECASE | re.DOTALL)
    words = re.sub(r"<[^>]+>", " ", title[2]).strip() if title else ""
    return f": {words[:100]}" if words else ""


def _is_of_the_connection(error: BaseException) -> bool:
    below = type(_first(error)).__module__.partition(".")[0] == "aiohttp"
    return below or "Connection" in type(error).__name__ or isinstance(error, OSError)


def _why_not_connected(error: BaseException, first: BaseException) -> str:
    """What kept a connection from being made or kept, in words."""
    names = _names(error)
    if isinstance(first, socket.gaierror) or "ClientConnectorDNSError" in names:
        return "there is no such host"
    if isinstance(first, ConnectionRefusedError) or "Connect call failed" in str(first):
        return "nobody listens there, it was refused"
    if isinstance(first, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {first.verify_message}"
    if isinstance(first, ssl.SSLError):
        return "what answers does not speak TLS; is it http:// instead of https://?"
    if "BadStatusLine" in names or "BadHttpMessage" in names or "BadHttpMethod" in names:
        return "what answers does not speak HTTP; is the port another's, or is it https://?"
    if isinstance(first, ConnectionResetError):
        return "it was reset"
    if isinstance(first, OSError) and first.strerror:
        return first.strerror
    said = getattr(first, "message", "") or str(first)
    return said if isinstance(said, str) and said else "it broke off"


def _names(error: BaseException) -> set[str]:
    """The classes of an error, of those that led to it, and of what these are derived from."""
    return {kind.__name__ for each in _chain(error) for kind in type(each).__mro__}


def _phrase(status: int) -> str:
    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""


def _raw(error: BaseException) -> str:
    """What the provider's package says of a server's error."""
    # Inspect's message holds the whole request; this is the part that the provider said
    return str(getattr(error, "provider_message", None) or error)


def _body(error: BaseException) -> str:
    """What the server sent, as far as the error holds it."""
    for each in _chain(error):
        response = getattr(each, "response", None)
        if isinstance(text := getattr(response, "text", None), str) and text:
            return text
    return _raw(error)


def _said(error: BaseException) -> str:
    """The server's own words."""
    # as the OpenAI client words it: the body follows, in Python's notation where it is JSON
    said = re.sub(r"^Error code: \d+( - )?", "", _raw(error))
    if quoted := re.search(r"""['"]message['"]: (?:'([^']+)'|"([^"]+)")""", said):
        said = quoted[1] or quoted[2]
    return re.sub(r"<[^>]+>", " ", said)


def _first(error: BaseException) -> BaseException:
    """The first of the errors that led to this one."""
    *_, first = _chain(error)
    return first


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that led to it."""
    if not isinstance(error, Exception):
        yield error
    seen = set[int]()
    each: BaseException | None = error
    # a time that ran out is a cancellation at its root, which says nothing
    while isinstance(each, Exception) and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__
