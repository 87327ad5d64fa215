"""Problems of a bank, each with its place in a file.

All problems are listed, each as `file:line:col CODE message` with a hint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from careeval.core.text import counted
from careeval.errors import BankError


@dataclass(frozen=True, slots=True, order=True)
class FilePlace:
    """A position in a file; line and column count from 1."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A problem in a file of a bank."""

    place: FilePlace  # Its place
    code: str  # Code of the rule that found it, `CE101` …
    message: str  # The value found and the value expected
    hint: str = ""  # The next step; empty if the message says it

    def __str__(self) -> str:
        text = f"{self.place}  {self.code} {self.message}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class BankProblems(BankError):  # noqa: N818 - named for what it holds
    """All problems of a bank, as `problems`, in the order of files and lines."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        lines = "\n".join(str(problem) for problem in self.problems)
        n_problems = counted(len(self.problems), "problem")
        n_files = counted(len({problem.place.path for problem in self.problems}), "file")
        super().__init__(f"{lines}\n{n_problems} in {n_files}.")
