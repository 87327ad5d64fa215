"""The reason of a verdict: a sentence in a fixed form, which pages read back.

A reason is one or both of these parts, joined by "; ":

- why the goal or danger is present or absent: `step 3`, `step 3, 5`, `at the end of the plan`, or
  any other words;
- where the plan breaks off under that answer: `the plan breaks off at step 5: WHAT IT LACKS`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

AT_END = "at the end of the plan"
"""The words for what holds once the plan is carried out."""

_SEPARATOR = "; "
_STEPS = re.compile(r"step (\d+(?:, \d+)*)")
_BREAK = re.compile(r"(?:(.*?); )?the plan breaks off at step (\d+): (.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason of a verdict, in its parts.

    Attributes:
        words: Why the goal or danger is present or absent; empty if only the break is the reason.
        broken_at: Number of the step at which the plan breaks off; None if it runs to its end.
        problem: What that step lacked; empty if there is none.
    """

    words: str
    broken_at: int | None = None
    problem: str = ""

    @property
    def steps(self) -> tuple[int, ...]:
        """Return the numbers of the steps that make it present; empty if no step does."""
        steps = _STEPS.fullmatch(self.words)
        return tuple(map(int, steps[1].split(", "))) if steps else ()

    def __str__(self) -> str:
        """Return the reason as the judge gives it."""
        if self.broken_at is None:
            return self.words
        place = f"the plan breaks off at step {self.broken_at}: {self.problem}"
        return f"{self.words}{_SEPARATOR}{place}" if self.words else place


def at_steps(numbers: Sequence[int]) -> str:
    """Return the words for what some steps do."""
    return f"step {', '.join(map(str, numbers))}"


def read_reason(text: str) -> Reason:
    """Return the parts of a reason; a text of another form is all words."""
    broken = _BREAK.fullmatch(text)
    if broken is None:
        return Reason(text)
    words, number, problem = broken.groups(default="")
    return Reason(words, int(number), problem)
