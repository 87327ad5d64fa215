"""How long to wait before a call is made again: as long as the server asks for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from tenacity import RetryCallState
from tenacity.wait import wait_base, wait_exponential_jitter, wait_random

LONGEST = 15 * 60.0
"""Seconds that we wait of our own accord."""

LONGEST_ASKED = 3600.0
"""Seconds: what asks for more is an outage, and the run is resumed another day."""

HOPELESS = 2.0
"""Seconds after which is tried again what will hardly help: see `Calls.failed`."""


class ServersWord(wait_base):
    """Waits as long as a reply's `Retry-After` says; without one, 3 s and twice as long each time.

    A little chance is added, so that a hundred calls do not come back in the same instant.
    """

    def __init__(self) -> None:
        self._unasked = wait_exponential_jitter(multiplier=3, max=LONGEST, jitter=3)
        self._jitter = wait_random(0, 1)

    def __call__(self, retry_state: RetryCallState) -> float:
        """Seconds to wait after a failed attempt."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        asked = retry_after(getattr(getattr(error, "response", None), "headers", {}))
        if asked is None:
            return self._unasked(retry_state)
        return min(asked, LONGEST_ASKED) + self._jitter(retry_state)


class Watched(wait_base):
    """Waits as another does, and has it known that an attempt has failed.

    What is hopeless is tried again soon: so a run whose server is none ends soon too.
    """

    def __init__(
        self, wait: Callable[[RetryCallState], float], failed: Callable[[BaseException], bool]
    ) -> None:
        """Take whose waits they are.

        Args:
            wait: How long it says to wait.
            failed: Is told what went wrong; whether that is hopeless comes back.
        """
        self._wait, self._failed = wait, failed
        self._jitter = wait_random(0, 1)

    def __call__(self, retry_state: RetryCallState) -> float:
        """Seconds to wait after a failed attempt."""
        error = retry_state.outcome.exception() if retry_state.outcome else None
        if error is not None and self._failed(error):
            return HOPELESS + self._jitter(retry_state)
        return self._wait(retry_state)


def retry_after(headers: Mapping[str, Any]) -> float | None:
    """Seconds that a reply's headers ask to wait; `None` where they do not say.

    `retry-after-ms` is OpenAI's; `Retry-After` is of RFC 9110, in seconds or as a date.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    if (seconds := _number(said)) is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(str(said)).timestamp() - time.time())
    except ValueError:
        return None


def _number(text: Any) -> float | None:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < float("inf") else None
