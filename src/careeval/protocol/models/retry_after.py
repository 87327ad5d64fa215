"""Waits before a call is retried: as long as the server asks for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from tenacity import RetryCallState
from tenacity.wait import wait_base, wait_exponential_jitter, wait_random

LONGEST = 15 * 60.0
"""The longest wait in seconds if the server does not ask for a wait."""

LONGEST_ASKED = 3600.0
"""The longest wait in seconds if the server asks for a wait. A longer wait is an outage: resume the
run another day."""

HOPELESS = 2.0
"""Seconds of wait after a hopeless attempt: see `RunCalls.record_failure`."""


class RetryAfterWait(wait_base):
    """A wait as long as a reply's `Retry-After` says; without one, 3 s, doubled each time.

    A random part is added, so that a hundred calls do not come back in the same instant.
    """

    def __init__(self) -> None:
        self._default = wait_exponential_jitter(multiplier=3, max=LONGEST, jitter=3)
        self._jitter = wait_random(0, 1)

    def __call__(self, retry_state: RetryCallState) -> float:
        """Return the seconds to wait after a failed attempt."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = retry_after(_headers(error))
        if asked is None:
            return self._default(retry_state)
        return min(asked, LONGEST_ASKED) + self._jitter(retry_state)


class ReportingWait(wait_base):
    """Wraps another wait, and also reports each failed attempt.

    A hopeless attempt is retried soon, so that a run without a working server ends soon.
    """

    def __init__(
        self, wait: Callable[[RetryCallState], float], failed: Callable[[BaseException], bool]
    ) -> None:
        """Wrap a wait.

        Args:
            wait: Returns the seconds to wait.
            failed: Called with the error of each attempt; returns whether it is hopeless.
        """
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
