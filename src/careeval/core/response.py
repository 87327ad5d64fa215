"""The response of a system to a scenario, and the state in which it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ResponseState(StrEnum):
    """The state in which a response ended.

    `answered`: has words, perhaps cut off at the token limit. It is graded.
    `empty`: the system stopped without a word. `refused`: the provider refused. An empty or refused
    response counts as 0 points and is not graded.
    `missing`: an error, or cut off before any text. There is no response: null, never 0.
    """

    answered = "answered"
    empty = "empty"
    refused = "refused"
    missing = "missing"


@dataclass(frozen=True, slots=True)
class Response:
    """A system's response to one scenario in one epoch.

    Attributes:
        scenario: Id of the scenario.
        epoch: Number of the repetition, from 1.
        text: The text of the response; empty unless `answered`.
        state: The state in which it ended.
        cut: Whether the text was cut off at the token limit.
        note: For `missing` and `refused`, what happened; else empty.
    """

    scenario: str
    epoch: int
    text: str
    state: ResponseState
    cut: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        if (self.state is ResponseState.answered) != bool(self.text.strip()):
            raise ValueError(f"the response is {self.state}, but its text is {self.text[:40]!r}")
