"""A call to a model that has not come back yet."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.model import Model

from careeval.protocol.costs.cost_log import Role


@dataclass(slots=True, eq=False)
class PendingCall:
    """One pending call, with its attempts so far.

    Between two attempts it waits, and may be ended without loss.

    Attributes:
        role: Whether it asks or grades.
        model: The model that is called.
        n_bytes: Bytes sent.
        expected_tokens: Expected tokens of the reply.
        under_way: True from the beginning of an attempt until it fails or its result is stored.
        reserved: Number of the budget's reservation for it; `None` where there is none.
        since: Monotonic time at which its present or last attempt began.
        failure: The error of its last attempt.
        reason: That error as text.
        is_silent: True if the server did not answer a request for its list of models either.
        sampling: The fields of the last attempt's request that say how its reply is sampled.
    """

    role: Role
    model: Model
    n_bytes: int
    expected_tokens: float
    sampling: dict[str, Any] = field(default_factory=dict)
    under_way: bool = False
    reserved: int | None = None
    since: float = 0.0
    failure: BaseException | None = None
    reason: str = ""
    is_silent: bool = False


PENDING_CALL: ContextVar[PendingCall | None] = ContextVar("careeval_flight", default=None)
"""The pending call of this context."""


def last_failure_reason() -> str:
    """Return why the last attempt at the current call failed; empty if no attempt failed."""
    pending = PENDING_CALL.get()
    return pending.reason if pending else ""
