"""A response, the judgments of its items, and the grader that made them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class ResponseState(StrEnum):
    """The state in which a response ended.

    `answered`: has words, perhaps cut off at the token limit. It is graded.
    `not_executable`: a plan with a step that cannot be carried out. It is graded.
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
        """True if a response in this state has words that people can read."""
        return self in (ResponseState.answered, ResponseState.not_executable,
                        ResponseState.malformed)  # fmt: skip

    @property
    def is_graded(self) -> bool:
        """True if a grader judges a response in this state."""
        return self in (ResponseState.answered, ResponseState.not_executable)


GRADED_STATES = tuple(state.value for state in ResponseState if state.is_graded)
"""States in which a response is graded, as tables have them."""


@dataclass(frozen=True, slots=True)
class Response:
    """A system's response to one scenario in one epoch."""

    scenario: str  # Id of the scenario
    epoch: int  # Number of the repetition, from 1
    text: str  # Empty unless its state `has_words`
    state: ResponseState
    cut: bool = False  # True if the text was cut off at the token limit
    note: str = ""
    """For `missing`, `refused`, `malformed` and `not_executable`, what happened; else empty."""

    def __post_init__(self) -> None:
        if self.state.has_words != bool(self.text.strip()):
            raise ValueError(f"the response is {self.state}, but its text is {self.text[:40]!r}")


@dataclass(frozen=True, slots=True)
class GraderItem:
    """A rubric item as the grader sees it: its number in the list, and its text."""

    number: int
    text: str

    def __str__(self) -> str:
        return f"{self.number}. {self.text}"


@dataclass(frozen=True, slots=True)
class Judgment:
    """A grader's judgment of one item of one response: present, absent, or unresolved."""

    item: str  # Id of the rubric item
    present: bool | None
    """True if the response contains the item; `None` if unresolved: the grader gave no usable
    judgment."""
    reason: str  # The grader's reason; for an unresolved judgment, why it is unresolved
    quote: str | None = None
    """The words of the response that show the item; `None` if the grader gave none or they are not
    in the response."""

    def __post_init__(self) -> None:
        if self.present is None and not self.reason:
            raise ValueError(f"an unresolved judgment needs a reason: {self.item!r}")


LEXICAL = "careeval/lexical"
"""Model name of the grader that compares words."""

_BATCHED = "batched"
_WITH_SCENARIO = "+scenario"
_NAME = re.compile(r"(?P<model>.+?) \((?P<mode>.+?)(?:, prompt (?P<prompt>.+))?\)", re.DOTALL)


def grade_mode(*, per_item: bool, with_scenario: bool) -> str:
    """Return a grader's mode, as its name has it: `batched` or `per-item`, perhaps `+scenario`."""
    mode = "per-item" if per_item else _BATCHED
    return f"{mode}{_WITH_SCENARIO}" if with_scenario else mode


class Grader(str):
    """A grader's name, as logs and tables have it: `openai/gpt-5 (batched, prompt 2f0c473a)`.

    A name of any other form is taken as that of a model.
    """

    __slots__ = ("mode", "model", "prompt")

    model: str  # Inspect's name of the model
    mode: str
    """`batched` or `per-item`, with `+scenario` if the grader sees the scenario; empty if the name
    has no mode."""
    prompt: str  # Hash of the grader's prompts; empty if the name has none

    def __new__(cls, name: str) -> Grader:
        """Return the name with its parts."""
        grader = super().__new__(cls, name)
        match = _NAME.fullmatch(name)
        grader.model, grader.mode, grader.prompt = match.groups("") if match else (name, "", "")
        return grader

    @staticmethod
    def named(model: str, mode: str, prompt: str) -> Grader:
        """Return the grader that these prompts make of a model, in a mode of `grade_mode`."""
        setting = f"{mode}, prompt {prompt}" if prompt else mode
        return Grader(f"{model} ({setting})" if setting else model)

    @property
    def setting(self) -> str:
        """The mode and the hash of the prompts, as in the name."""
        return f"{self.mode}, prompt {self.prompt}" if self.prompt else self.mode

    @property
    def short(self) -> str:
        """The model, with the mode unless it is `batched`, the usual one."""
        return f"{self.model} ({self.mode})" if self.mode not in {"", _BATCHED} else self.model

    @property
    def with_scenario(self) -> bool:
        """True if the grader sees the scenario in addition to the response."""
        return self.mode.endswith(_WITH_SCENARIO)

    @property
    def is_lexical(self) -> bool:
        """True if this is the lexical grader, which only compares words."""
        return self.model == LEXICAL
