"""The name of a grader: the model that judges, and how it was asked to."""

from __future__ import annotations

import re
from dataclasses import dataclass

LEXICAL = "careeval/lexical"
"""The grader that compares words, as a model."""

_BATCHED = "batched"
_WITH_SCENARIO = "+scenario"
_WRITTEN = re.compile(r"(?P<model>.+?) \((?P<mode>.+?)(?:, prompt (?P<prompt>.+))?\)", re.DOTALL)


def grade_mode(*, per_item: bool, with_scenario: bool) -> str:
    """Return the mode in which a grader is asked, as logs and tables name it."""
    mode = "per-item" if per_item else _BATCHED
    return f"{mode}{_WITH_SCENARIO}" if with_scenario else mode


@dataclass(frozen=True, slots=True)
class Grader:
    """A grader, as logs and tables name it: `openai/gpt-5 (batched, prompt 2f0c473a)`.

    Attributes:
        model: Inspect's name of the model.
        mode: `batched` or `per-item`, with `+scenario` where it sees the scenario; empty where the
            name has none.
        prompt: Hash of its prompts; empty where the name has none.
    """

    model: str
    mode: str = ""
    prompt: str = ""

    @classmethod
    def parse(cls, text: str) -> Grader:
        """Read a name; one that is written in no such way is a model's alone."""
        written = _WRITTEN.fullmatch(text)
        return cls(text) if written is None else cls(**written.groupdict(""))

    def __str__(self) -> str:
        """Return the name as it stands on disk."""
        return f"{self.model} ({self.setting})" if self.mode else self.model

    @property
    def setting(self) -> str:
        """Its mode and the hash of its prompts, as they stand in its name."""
        return f"{self.mode}, prompt {self.prompt}" if self.prompt else self.mode

    @property
    def short(self) -> str:
        """Its model, with the mode where that is not the usual one."""
        return f"{self.model} ({self.mode})" if self.mode not in {"", _BATCHED} else self.model

    @property
    def with_scenario(self) -> bool:
        """Whether it sees the scenario beside the response."""
        return self.mode.endswith(_WITH_SCENARIO)

    @property
    def is_lexical(self) -> bool:
        """Whether it is the grader that compares words."""
        return self.model == LEXICAL
