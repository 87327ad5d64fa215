"""One call to a model on its way."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.model import Model

from careeval.protocol.costs.cost_log import Role


@dataclass(slots=True, eq=False)
class Flight:
    """One call on its way; `under_way` from an attempt's beginning until it failed or is kept.

    Between two attempts it waits, and nothing is lost that ends then.

    Attributes:
        role: What it is for.
        model: Whom it asks.
        n_bytes: Of what is sent.
        expected_tokens: Of the reply.
        reserved: Under which number what it may cost is set aside.
        since: When its present or last attempt began.
        failure: What went wrong at its last attempt.
        words: The same in words.
        is_silent: Whether the server answered nothing else meanwhile either.
        sampling: The fields of the last attempt's request that say how its answer is drawn.
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
    words: str = ""
    is_silent: bool = False


FLIGHT: ContextVar[Flight | None] = ContextVar("careeval_flight", default=None)
"""The call that is on its way in this context."""


def why_failed() -> str:
    """Return why the last attempt at the present call failed; empty where none did."""
    flight = FLIGHT.get()
    return flight.words if flight else ""
