"""Where something stands in a file, and what is wrong with it there.

Every problem of a bank is listed, not the first, each as `file:line:col CODE what`, then a hint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from careeval.errors import BankError


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file; line and column count from 1."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing to mend.

    Attributes:
        place: Where.
        code: The rule that found it, `CE101` …
        message: What was found and what was expected.
        hint: What to do; empty where the message says it.
    """

    place: Place
    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.place}  {self.code} {self.message}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class BankProblems(BankError):  # noqa: N818 - named for what it holds
    """A bank with problems; `problems` holds all of them, in the order of files and lines."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        lines = "\n".join(str(problem) for problem in self.problems)
        n_problems = _count(len(self.problems), "problem")
        n_files = _count(len({problem.place.path for problem in self.problems}), "file")
        super().__init__(f"{lines}\n{n_problems} in {n_files}.")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
