"""The error policy, and the tree that carries it out.

```text
CareEvalError
├── BankError        the bank's data needs mending: every problem is listed, with its place
├── ProtocolError    a run is set up wrongly: said before the first call is paid for
├── LogError         a log or table cannot be read: what it is, what was expected
├── ReviewError      a study or an audit: its plan, its links or its store cannot be used
├── StatsError       a number that is not defined was asked for
└── UsageError       the command line asks for something that cannot be done
```

Each is the user's to mend, so the command line prints the message and its `hint:`, never a
traceback. A failure of the *grader* is not in this tree: it is data (an unresolved judgment), never
an exception that stops a run and never a score. Anything else that escapes is a defect of ours, and
shows itself whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Make a hint of the known name that is nearest to a misspelt one; empty where none is near."""
    near = get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"did you mean {near[0]!r}?" if near else ""


class CareEvalError(Exception):
    """Something the user can mend; `hint` says how.

    Attributes:
        hint: What to do next, one sentence, or empty where the message says it already.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class BankError(CareEvalError):
    """Scenarios, probes or sources that cannot be read as what they must be."""


class ProtocolError(CareEvalError):
    """A run, a grading or a prompt that is set up wrongly."""


class LogError(CareEvalError):
    """A log or a table on disk that cannot be read, or that is not ours."""


class ReviewError(CareEvalError):
    """A study's or an audit's plan, links or store that cannot be used; what was saved stands."""


class StatsError(CareEvalError):
    """A number that is not defined for the data given."""


class UsageError(CareEvalError):
    """A command line that asks for something that cannot be done."""
