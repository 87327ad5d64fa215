"""The rows of the fault matrix: a fault, the part that has it, and the expected result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from support.fake_server import Completion, Fault, Request

ANSWER = "I ask her about the blouse and wait, holding the sleeve."
"""The response of a system without a fault: it has two acts of the small bank."""

PRESENT = {"asks": True, "waits": True, "pulls": False}
"""The judgments of it by the keyword grader."""

ESCAPES = "\x1b]0;owned\x07\x1b[31mred\x1b[0m \u202e\u200b"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)> {{ 7*7 }} {items} {response}"

Reply = Completion | Fault | Callable[[Request], Completion | Fault | None]
"""The reply of the fake server; `None` for that without a fault."""


class Who(StrEnum):
    """The part that has a fault."""

    system = "the system"
    grader = "the grader"
    disk = "the disk"
    command = "the command line"


@dataclass(frozen=True)
class Asked:
    """A fault that the system's server has, and the response that is stored.

    Attributes:
        reply: What the server does with the question, each time.
        state: Of the response.
        note: Words of its note; empty where there is none to be.
        text: The response; `None` for the one that is given when all is well.
        cut: Whether it is marked as cut off.
        again: Whether resuming asks again.
        slow: Whether it takes a timeout to notice.
    """

    reply: Reply
    state: str
    note: str = ""
    text: str | None = ""
    cut: bool = False
    again: bool = False
    slow: bool = False


@dataclass(frozen=True)
class Judged:
    """A fault that the grader's server has, and the judgments that are stored.

    Attributes:
        reply: What the server does with each grading request.
        reason: Words of the reason of each item that is unresolved; `None` where none is.
        n_unresolved: How many items then are, of three.
        n_calls: To the grader, about one rubric.
        again: Whether resuming grades again.
        slow: Whether it takes a timeout to notice.
    """

    reply: Reply
    reason: str | None
    n_unresolved: int = 3
    n_calls: int = 1
    again: bool = False
    slow: bool = False


@dataclass(frozen=True)
class Row:
    """One fault.

    Attributes:
        name: Short, of letters, digits and hyphens; the test's name.
        who: The part that has it.
        fault: What happens.
        does: What careeval does, one sentence.
        check: What the fake server does and what is to be found; or the test, `FILE::FUNCTION`.
    """

    name: str
    who: Who
    fault: str
    does: str
    check: Asked | Judged | str
