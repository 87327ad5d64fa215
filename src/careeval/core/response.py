"""What a system under test gave back: words, nothing, a refusal, or no response at all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ResponseState(StrEnum):
    """The four ends of a question.

    `answered`, also when cut off at the token limit after some words: graded.
    `empty`, stopped by itself without a word, and `refused`, by the provider: 0 points, not graded,
    counted.
    `missing`, an error, or cut off before any text: no response; null, never 0.
    """

    answered = "answered"
    empty = "empty"
    refused = "refused"
    missing = "missing"


@dataclass(frozen=True, slots=True)
class Response:
    """One system's answer to one scenario in one epoch.

    Attributes:
        scenario: Id of the scenario.
        epoch: The k-th independent response, from 1.
        text: The words; empty unless `answered`.
        state: How it ended.
        cut: Whether the words stop at the token limit.
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
            raise ValueError(f"{self.state} response with text {self.text[:40]!r}")
