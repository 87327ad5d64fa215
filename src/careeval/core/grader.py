"""The name of a grader: its model, and how the model is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass

LEXICAL = "careeval/lexical"
"""Model name of the grader that compares words."""

_BATCHED = "batched"
_WITH_SCENARIO = "+scenario"
_NAME = re.compile(r"(?P<model>.+?) \((?P<mode>.+?)(?:, prompt (?P<prompt>.+))?\)", re.DOTALL)


def grade_mode(*, per_item: bool, with_scenario: bool) -> str:
    """Return a grader's mode, as its name has it: `batched` or `per-item`, perhaps `+scenario`."""
    mode = "per-item" if per_item else _BATCHED
    return f"{mode}{_WITH_SCENARIO}" if with_scenario else mode


@dataclass(frozen=True, slots=True)
class Grader:
    """A grader, as logs and tables name it: `openai/gpt-5 (batched, prompt 2f0c473a)`.

    Attributes:
        model: Inspect's name of the model.
        mode: `batched` or `per-item`, with `+scenario` if the grader sees the scenario; empty if
            the name has no mode.
        prompt: Hash of the grader's prompts; empty if the name has none.
    """

    model: str
    mode: str = ""
    prompt: str = ""

    @classmethod
    def parse(cls, text: str) -> Grader:
        """Parse a grader's name; text of any other form is taken as the name of a model."""
        match = _NAME.fullmatch(text)
        return cls(text) if match is None else cls(**match.groupdict(""))

    def __str__(self) -> str:
        """Return the grader's name as in logs and tables."""
        return f"{self.model} ({self.setting})" if self.mode else self.model

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
