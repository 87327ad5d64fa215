"""A grader that is no use: many responses in, none of its replies could be used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

MAX_UNUSABLE = 20
"""Responses of whose gradings none is usable, and no other has been, before a run ends."""

SAMPLE = 200
"""Characters that are shown of such a grader's reply."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a grader is no use.

    Attributes:
        shape: Without a word of its.
        words: The beginning of its last reply; empty where that has no words.
    """

    shape: str
    words: str


class GraderTrial:
    """The replies of a grader until one of them is usable."""

    def __init__(self) -> None:
        # until a grading is usable: response → what is wrong with the last reply about it
        self._problems: dict[str, str] | None = {}

    def judged(self, response: str, n_judged: int, problem: str, reply: str) -> Unusable | None:
        """Take note of what the calls about a response brought; return why the grader is no use.

        `None` as long as it may be some, and once the run has been told.

        Args:
            response: Its name.
            n_judged: Items that a reply judged.
            problem: What is wrong with the last reply.
            reply: That reply.
        """
        if n_judged or self._problems is None:
            self._problems = None
            return None
        # after a colon a server's words may follow
        self._problems[response] = problem.partition(":")[0]
        if len(self._problems) != MAX_UNUSABLE:
            return None
        problems = Counter(self._problems.values()).most_common()
        counted = ", ".join(f"{what} ({n})" for what, n in problems)
        shape = f"{MAX_UNUSABLE} responses have no judgment; of the reply: {counted}"
        return Unusable(shape, _beginning(reply))


def _beginning(reply: str) -> str:
    """Return the first words of a reply, without what cannot be printed."""
    printable = "".join(c if c.isprintable() else " " for c in reply[: 10 * SAMPLE])
    words = " ".join(printable.split())
    cut = "…" if len(words) > SAMPLE else ""
    return f"one reply: {words[:SAMPLE]}{cut}" if words else ""
