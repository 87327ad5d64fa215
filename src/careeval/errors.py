"""The error policy, and the errors that a user can fix.

```text
CareEvalError
├── BankError        the bank's data has problems: each is listed with its place
├── ProtocolError    a run is set up wrongly: raised before the first call is paid for
├── LogError         a log or table cannot be read
├── ReviewError      the plan, the links or the store of a study or an audit cannot be used
├── StatsError       a number is not defined for these data
└── UsageError       the command line asks for something that cannot be done
```

For each of these the command line prints the message and its `hint:`, never a traceback. A failure
of the *grader* is not among them: it is data (an unresolved judgment), never an exception that
stops a run and never a score. Any other exception is a defect of careeval, and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a hint with the name closest to a misspelt one; empty if none is close."""
    closest = get_close_matches(name, list(names), n=1, cutoff=cutoff)
    return f"did you mean {closest[0]!r}?" if closest else ""


class CareEvalError(Exception):
    """An error that the user can fix.

    Attributes:
        hint: What to do next, in one sentence; empty if the message already says what to do.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class BankError(CareEvalError):
    """Scenarios, probes or sources of a bank cannot be read or are not valid."""


class ProtocolError(CareEvalError):
    """A run, a grading or a prompt is set up wrongly."""


class LogError(CareEvalError):
    """A log or a table cannot be read, or was not written by careeval."""


class ReviewError(CareEvalError):
    """The plan, links or store of a study or an audit cannot be used. Saved data is kept."""


class StatsError(CareEvalError):
    """A number is not defined for these data."""


class UsageError(CareEvalError):
    """The command line asks for something that cannot be done."""
