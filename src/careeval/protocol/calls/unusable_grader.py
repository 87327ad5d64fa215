"""The check that ends a run if the grader's first replies are all unusable."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

MAX_UNUSABLE = 20
"""A run ends after this many responses without a usable grading, if no grading was usable
before."""

SAMPLE = 200
"""The most characters shown of an unusable grader's reply."""


@dataclass(frozen=True, slots=True)
class UnusableGrader:
    """The reasons why a grader cannot be used.

    Attributes:
        problems: The problems of its replies, without any of their text.
        reply: The beginning of its last reply; empty if that reply has no text.
    """

    problems: str
    reply: str


class GraderTrial:
    """The problems of a grader's replies until one of them is usable."""

    def __init__(self) -> None:
        # response → problem of the last reply about it; `None` once a grading was usable
        self._problems: dict[str, str] | None = {}

    def record(
        self, response: str, n_judged: int, problem: str, reply: str
    ) -> UnusableGrader | None:
        """Record the grading of a response; return why the grader cannot be used.

        Returns `None` while the grader may still be usable, and after the reason was returned once.

        Args:
            response: Name of the response.
            n_judged: Items that were judged.
            problem: Problem of the last reply.
            reply: Text of the last reply.
        """
        if n_judged or self._problems is None:
            self._problems = None
            return None
        # text of the server may follow a colon
        self._problems[response] = problem.partition(":")[0]
        if len(self._problems) != MAX_UNUSABLE:
            return None
        problems = Counter(self._problems.values()).most_common()
        counts = ", ".join(f"{text} ({n})" for text, n in problems)
        summary = f"none of {MAX_UNUSABLE} responses was judged; the replies' problems: {counts}"
        return UnusableGrader(summary, _beginning(reply))


def _beginning(reply: str) -> str:
    """Return the first printable words of a reply."""
    printable = "".join(c if c.isprintable() else " " for c in reply[: 10 * SAMPLE])
    words = " ".join(printable.split())
    cut = "…" if len(words) > SAMPLE else ""
    return f"one reply: {words[:SAMPLE]}{cut}" if words else ""
