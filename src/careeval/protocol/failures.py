"""Failed calls: why, as text that a person can act on, how long to wait, and when to give up.

The exceptions of providers and of the libraries under them differ: some hold the whole request,
some only the name of a class, and some repeat the key.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel
from tenacity import RetryCallState
from tenacity.wait import wait_base, wait_exponential_jitter, wait_random

MAX_CHARACTERS = 500
"""The most characters kept of a reason for a failure, since a server may send a whole page."""

TURNED_AWAY = (401, 402, 403, 404, 405, 407, 410)
"""HTTP statuses with which a server refuses every call: wrong key, no credit, unknown model or
path."""

TOO_MANY, SERVER_ERROR = 429, 500

NO_CREDIT = r"insufficient_quota|exceeded your current quota|credit balance|billing_hard_limit"
"""Pattern of a 429 reply after which waiting does not help: the quota is used up."""

UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, IndexError)
"""Errors that a provider's client raises on a reply of an unexpected form."""


class CallError(Exception):
    """A call that failed, after all retries that could help; Inspect logs its `message`."""

    def __init__(self, message: str, cause: BaseException) -> None:
        super().__init__(message)
        self.message, self.cause = message, cause


class ReplyTooLongError(Exception):
    """A reply with more bytes than are accepted."""


def failure_reason(error: BaseException, keys: Iterable[str] = ()) -> str:
    """Return in one line why a call failed; `keys`, which a server may repeat, are redacted."""
    reason = Redactor(keys).text(" ".join(_reason(last_attempt(error)).split()), is_error=True)
    return reason if len(reason) <= MAX_CHARACTERS else f"{reason[:MAX_CHARACTERS]}…"


def is_hopeless(error: BaseException) -> bool:
    """Tell whether a call failed in a way in which every other call would fail too.

    A call is hopeless if no server answers at the address in time, if the reply is too long or not
    that of a model's server, or if the server refuses us: wrong key, no credit, unknown model. A
    call is not hopeless if the server is busy or has an internal error, since the server may
    recover within a minute.
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
    return "Timeout" in name or _is_connection_error(error)


REFUSED = (400, 413, 415, 422)
"""HTTP statuses with which a server refuses what is asked, and might answer another request."""


def refuses_request(error: BaseException) -> bool:
    """Tell whether a server took a call, and refused what was asked: another might be answered."""
    return _status(last_attempt(error)) in REFUSED and not is_hopeless(error)


def last_attempt(error: BaseException) -> BaseException:
    """Return the error of the last attempt if all retries were used up; else the error itself."""
    attempt = getattr(error, "last_attempt", None)
    last = attempt.exception() if attempt is not None else None
    return last if isinstance(last, BaseException) else error


def _reason(error: BaseException) -> str:
    status = _status(error)
    if status is not None:
        answered = f"the server answered {status}{_phrase(status)}"
        if (title := _page(_body(error))) is not None:
            return f"{answered} with a web page{title}"
        return f"{answered}: {message}" if (message := _server_message(error)) else answered
    if seconds := re.fullmatch(r"attempt_timeout '(\d+)' exceeded\.", str(error)):
        return f"no complete answer within {seconds[1]} s"
    name, first = type(error).__name__, _first(error)
    if isinstance(first, ReplyTooLongError):
        return str(first)
    # a client may report another library's error as a timeout
    if "Timeout" in name and (first is error or "Timeout" in type(first).__name__):
        if {"ConnectTimeout", "ConnectionTimeoutError"} & _names(error):
            return "the connection failed: timeout while connecting"
        return "no answer in time"
    if "Timeout" in name or _is_connection_error(error):
        return f"the connection failed: {_why_not_connected(error, first)}"
    if (reply := _no_completion(error)) is not None:
        if (title := _page(reply)) is not None:
            return f"the server's reply is not a completion but a web page{title}"
        return "the server's reply is not a completion" + (f": {reply}" if reply.strip("'") else "")
    if isinstance(error, UNREADABLE):
        # a provider's code over a reply that it did not expect
        return "the server's reply is not a completion"
    return str(error) or "no reason given"


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _no_completion(error: BaseException) -> str | None:
    """Return the reply that was not a completion, as Inspect quotes it; `None` for other errors."""
    reply = re.search(r"Unexpected non-ChatCompletion response: (.*)", str(error), re.DOTALL)
    return reply[1] if reply else None


def _page(text: str) -> str | None:
    """Return ": TITLE" of a web page; empty if it has no title, `None` for other text."""
    if not re.search(r"<(!doctype|html|head|body)\b", text[:4000], re.IGNORECASE):
        return None
    element = re.search(r"<(title|h1)[^>]*>(.*?)</\1>", text, re.IGNORECASE | re.DOTALL)
    title = re.sub(r"<[^>]+>", " ", element[2]).strip() if element else ""
    return f": {title[:100]}" if title else ""


def _is_connection_error(error: BaseException) -> bool:
    return "Connection" in type(error).__name__ or isinstance(error, OSError)


def _why_not_connected(error: BaseException, first: BaseException) -> str:
    names = _names(error)
    if isinstance(first, socket.gaierror):
        return "the host does not exist"
    if isinstance(first, ConnectionRefusedError) or "Connect call failed" in str(first):
        return "refused, no server listens at this address"
    if isinstance(first, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {first.verify_message}"
    if isinstance(first, ssl.SSLError):
        return "the server does not speak TLS; try http:// instead of https://"
    if "RemoteProtocolError" in names:
        if "disconnected" in str(first):
            return "the server closed it without an answer"
        return "the server does not speak HTTP; try https://, or check the port"
    if isinstance(first, ConnectionResetError):
        return "reset by the server"
    if isinstance(first, OSError) and first.strerror:
        return first.strerror
    message = getattr(first, "message", "") or str(first)
    return message if isinstance(message, str) and message else "it was interrupted"


def _names(error: BaseException) -> set[str]:
    """Return the class names, bases included, of an error and of every error in its chain."""
    return {kind.__name__ for each in _chain(error) for kind in type(each).__mro__}


def _phrase(status: int) -> str:
    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""


def _raw(error: BaseException) -> str:
    # Inspect's message would hold the whole request
    return str(getattr(error, "provider_message", None) or error)


def _body(error: BaseException) -> str:
    """Return the server's reply, as far as the error has it."""
    for each in _chain(error):
        response = getattr(each, "response", None)
        if isinstance(text := getattr(response, "text", None), str) and text:
            return text
    return _raw(error)


def _server_message(error: BaseException) -> str:
    # the OpenAI client writes "Error code: 400 - " and the body, as Python where it is JSON
    message = re.sub(r"^Error code: \d+( - )?", "", _raw(error))
    if quoted := re.search(r"""['"]message['"]: (?:'([^']+)'|"([^"]+)")""", message):
        message = quoted[1] or quoted[2]
    return re.sub(r"<[^>]+>", " ", message)


def _first(error: BaseException) -> BaseException:
    *_, first = _chain(error)
    return first


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, then its causes, the root last."""
    if not isinstance(error, Exception):
        yield error
    seen = set[int]()
    current: BaseException | None = error
    # a timeout is at its root a cancellation, which says nothing
    while isinstance(current, Exception) and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


# Waiting as a server asks

MAX_WAIT = 15 * 60.0
"""The longest wait in seconds if the server does not ask for a wait."""

MAX_ASKED_WAIT = 3600.0
"""The longest wait in seconds if the server asks for a wait. A longer wait is an outage: resume the
run another day."""

HOPELESS = 2.0
"""Seconds of wait after a hopeless attempt: see `RunCalls.record_failure`."""


class RetryAfterWait(wait_base):
    """A wait as long as a reply's `Retry-After` says; without one, 3 s, doubled each time.

    A random part is added, so that a hundred calls do not come back in the same instant.
    """

    def __init__(self) -> None:
        self._default = wait_exponential_jitter(multiplier=3, max=MAX_WAIT, jitter=3)
        self._jitter = wait_random(0, 1)

    def __call__(self, retry_state: RetryCallState) -> float:
        """Return the seconds to wait after a failed attempt."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = retry_after(_headers(error))
        if asked is None:
            return self._default(retry_state)
        return min(asked, MAX_ASKED_WAIT) + self._jitter(retry_state)


class ReportingWait(wait_base):
    """Wraps another wait, and also reports each failed attempt.

    A hopeless attempt is retried soon, so that a run without a working server ends soon.
    """

    def __init__(
        self, wait: Callable[[RetryCallState], float], failed: Callable[[BaseException], bool]
    ) -> None:
        """Wrap a wait; `failed` gets each attempt's error, and returns whether it is hopeless."""
        self._wait, self._failed = wait, failed
        self._jitter = wait_random(0, 1)

    def __call__(self, retry_state: RetryCallState) -> float:
        """Return the seconds to wait after a failed attempt."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        if error is not None and self._failed(error):
            return HOPELESS + self._jitter(retry_state)
        return self._wait(retry_state)


def retry_after(headers: Mapping[str, Any]) -> float | None:
    """Return the seconds that a reply's headers ask to wait; `None` if they ask for no wait.

    `retry-after-ms` is OpenAI's; `Retry-After` is of RFC 9110, in seconds or as a date.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    header = headers.get("retry-after")
    if (seconds := _number(header)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(str(header)).timestamp() - time.time())
    except ValueError:
        return None


def _headers(error: BaseException | None) -> Mapping[str, Any]:
    """Return the headers of the reply that an error is about; empty if there was none."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        # Amazon's
        headers = response.get("ResponseMetadata", {}).get("HTTPHeaders")
    else:
        # Mistral's errors have headers, and no response
        headers = getattr(response, "headers", None) or getattr(error, "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _number(text: Any) -> float | None:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < float("inf") else None


# Keys in texts

REDACTED = "(the key)"

MIN_REDACTED = 8
"""The fewest characters of a key that is redacted in answers too, not in errors alone. A shorter
key, such as "EMPTY", may be a word of the answer."""


class Redactor:
    """Redacts keys in what a provider returns: in errors all of them, elsewhere the long ones.

    A key that JSON escapes is plain again once the provider's client has read the reply.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        # a key may begin with another
        self._keys = sorted(filter(None, keys), key=len, reverse=True)
        self._long = [key for key in self._keys if len(key) >= MIN_REDACTED]

    def text(self, text: str, *, is_error: bool) -> str:
        """Return a text with its keys redacted."""
        for key in self._keys if is_error else self._long:
            text = text.replace(key, REDACTED)
        return text

    def body(self, raw: bytes, *, is_error: bool) -> bytes:
        """Return the body of a reply with its keys redacted."""
        for key in self._keys if is_error else self._long:
            raw = raw.replace(key.encode(), REDACTED.encode())
        return raw

    def error(self, error: BaseException) -> None:
        """Redact the keys in an exception and in its chain of causes, in place."""
        seen = set[int]()
        left: list[BaseException | None] = [error]
        while left:
            current = left.pop()
            if current is None or id(current) in seen:
                continue
            seen.add(id(current))
            left += [current.__cause__, current.__context__]
            current.args = tuple(self._value(value) for value in current.args)
            for name, value in list(getattr(current, "__dict__", {}).items()):
                if (redacted := self._value(value)) is not value:
                    setattr(current, name, redacted)

    def inside(self, value: Any, *, is_error: bool) -> Any:
        """Return a value with its keys redacted, in lists, mappings and pydantic models too.

        Models are changed in place, since Inspect's log may hold them already.
        """
        if isinstance(value, str):
            redacted = self.text(value, is_error=is_error)
            return value if redacted == value else redacted
        if isinstance(value, Mapping):
            return {each: self.inside(value[each], is_error=is_error) for each in value}
        if isinstance(value, list | tuple):
            clean = [self.inside(each, is_error=is_error) for each in value]
            return clean if isinstance(value, list) else tuple(clean)
        if isinstance(value, BaseModel):
            for name, field in value.__dict__.items():
                value.__dict__[name] = self.inside(field, is_error=is_error)
        return value

    def _value(self, value: Any) -> Any:
        if not isinstance(value, str | bytes):
            return value
        redact: Any = self.text if isinstance(value, str) else self.body
        redacted = redact(value, is_error=True)
        return value if redacted == value else redacted


# Graders that give nothing usable

MAX_UNUSABLE = 20
"""A run ends after this many responses without a usable grading, if no grading was usable
before."""

SAMPLE = 200
"""The most characters shown of an unusable grader's reply."""


@dataclass(frozen=True, slots=True)
class UnusableGrader:
    """A reason why a grader cannot be used."""

    problems: str  # The problems of its replies, without any of their text
    reply: str  # The beginning of its last reply; empty if that reply has no text


class GraderTrial:
    """The problems of a grader's replies until one of them is usable."""

    def __init__(self) -> None:
        # response → problem of the last reply about it; `None` once a grading was usable
        self._problems: dict[str, str] | None = {}

    def record(
        self, response: str, n_judged: int, problem: str, reply: str
    ) -> UnusableGrader | None:
        """Record the grading of a response; return why the grader cannot be used.

        `None` while the grader may still be usable, and after the reason was returned once.
        `problem` and `reply` are those of the grader's last reply; `n_judged` items were judged.
        """
        if n_judged or self._problems is None:
            self._problems = None
            return None
        # text of the server may follow a colon
        self._problems[response] = problem.partition(":")[0]
        if len(self._problems) != MAX_UNUSABLE:
            return None
        problems = Counter(self._problems.values()).most_common()
        counts = ", ".join(f"{text} ({n})" for text, n in problems)
        summary = f"none of {MAX_UNUSABLE} responses was judged; the replies' problems: {counts}"
        return UnusableGrader(summary, _beginning(reply))


def _beginning(reply: str) -> str:
    printable = "".join(c if c.isprintable() else " " for c in reply[: 10 * SAMPLE])
    words = " ".join(printable.split())
    cut = "…" if len(words) > SAMPLE else ""
    return f"one reply: {words[:SAMPLE]}{cut}" if words else ""
