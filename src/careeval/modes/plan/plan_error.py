"""The error of a response that is not a plan."""

from __future__ import annotations

from careeval.errors import CareEvalError
from careeval.modes.grading import readable

MAX_MESSAGE = 400
"""The most characters of a message, since it may quote the response."""


class PlanError(CareEvalError):
    """A response that is not a plan."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(readable(message)[:MAX_MESSAGE], hint=readable(hint)[:MAX_MESSAGE])
