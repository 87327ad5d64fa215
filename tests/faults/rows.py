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
    """A fault that the system's server has, and the response that is stored."""

    reply: Reply  # what the server does with the question, each time
    state: str  # of the response
    note: str = ""  # words of its note; empty where there is none to be
    text: str | None = ""  # the response; `None` for the one that is given when all is well
    cut: bool = False  # whether it is marked as cut off
    again: bool = False  # whether resuming asks again
    slow: bool = False  # whether it takes a timeout to notice


@dataclass(frozen=True)
class Judged:
    """A fault that the grader's server has, and the judgments that are stored."""

    reply: Reply  # what the server does with each grading request
    reason: str | None  # words of the reason of each item that is unresolved; `None` where none is
    n_unresolved: int = 3  # how many items then are, of three
    n_calls: int = 1  # to the grader, about one rubric
    again: bool = False  # whether resuming grades again
    slow: bool = False  # whether it takes a timeout to notice


@dataclass(frozen=True)
class Row:
    """One fault."""

    name: str  # short, of letters, digits and hyphens; the test's name
    who: Who  # the part that has it
    fault: str  # what happens
    does: str  # what careeval does, one sentence
    # What the fake server does and what is to be found; or the test, `FILE::FUNCTION`
    check: Asked | Judged | str
