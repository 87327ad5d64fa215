"""The response of a system to a scenario, and the state in which it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ResponseState(StrEnum):
    """The state in which a response ended.

    `answered`: has words, perhaps cut off at the token limit. It is graded.
    `not_executable`: a plan with a step that cannot be carried out. The part before it is graded.
    `empty`: the system stopped without a word. `refused`: the provider refused. `malformed`: words
    that are no plan. A response in these three states counts as 0 points and is not graded.
    `missing`: an error, or cut off before any text. There is no response: null, never 0.
    """

    answered = "answered"
    not_executable = "not_executable"
    malformed = "malformed"
    empty = "empty"
    refused = "refused"
    missing = "missing"

    @property
    def has_words(self) -> bool:
        """Tell whether a response in this state has words that people can read."""
        return self in (ResponseState.answered, ResponseState.not_executable,
                        ResponseState.malformed)  # fmt: skip

    @property
    def is_graded(self) -> bool:
        """Tell whether a grader judges a response in this state."""
        return self in (ResponseState.answered, ResponseState.not_executable)


GRADED_STATES = tuple(state.value for state in ResponseState if state.is_graded)
"""States in which a response is graded, as tables have them."""


@dataclass(frozen=True, slots=True)
class Response:
    """A system's response to one scenario in one epoch.

    Attributes:
        scenario: Id of the scenario.
        epoch: Number of the repetition, from 1.
        text: The text of the response; empty unless its state `has_words`.
        state: The state in which it ended.
        cut: Whether the text was cut off at the token limit.
        note: For `missing`, `refused`, `malformed` and `not_executable`, what happened; else empty.
    """

    scenario: str
    epoch: int
    text: str
    state: ResponseState
    cut: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        if self.state.has_words != bool(self.text.strip()):
            raise ValueError(f"the response is {self.state}, but its text is {self.text[:40]!r}")
