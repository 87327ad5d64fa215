"""How far a run has come: counted while it goes on, for whoever wants to be told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from careeval.protocol.ledger import Paid

SampleKey = tuple[str, int]
"""Scenario and epoch."""

EVERY = 0.25
"""Seconds between two reports, at least."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one run has come.

    Attributes:
        system: Name of what is evaluated.
        n_samples: Responses that the run will have, each with its gradings.
        n_done: Those that are finished.
        n_new: Those of them that were finished since the run was begun or resumed: its rate.
        n_failed: Those that ended in an error, and were given up.
        n_calls: Calls that came back since then.
        usd: What those cost; `None` while the cost of one is not known.
        n_errors: Attempts at a call that failed since then, most of them tried again.
        last_error: The last of those in words, and when it is tried again; empty if there is none.
    """

    system: str
    n_samples: int
    n_done: int = 0
    n_new: int = 0
    n_failed: int = 0
    n_calls: int = 0
    usd: float | None = 0.0
    n_errors: int = 0
    last_error: str = ""

    def as_json(self) -> dict[str, Any]:
        """As values that `Progress(**…)` takes."""
        return asdict(self)


Report = Callable[[Progress], None]
"""Is told how far a run has come."""


class Tally:
    """Counts what happens in a run, and reports it now and then."""

    def __init__(self, system: str, n_samples: int, done: set[SampleKey], report: Report) -> None:
        self._progress = Progress(system, n_samples, n_done=len(done))
        self._done, self._failed = set(done), set[SampleKey]()
        self._report, self._reported = report, 0.0

    def paid(self, paid: Paid) -> None:
        """A call has come back."""
        now = self._progress
        usd = None if now.usd is None or paid.cost_usd is None else now.usd + paid.cost_usd
        self._tell(replace(now, n_calls=now.n_calls + 1, usd=usd))

    def failing(self, what: str) -> None:
        """An attempt at a call has failed."""
        now = self._progress
        self._tell(replace(now, n_errors=now.n_errors + 1, last_error=what))

    def ended(self, sample: SampleKey, error: str | None) -> None:
        """A response is finished with its gradings, or given up."""
        now = self._progress
        if error is None:
            self._failed.discard(sample)
            new = now.n_new + (sample not in self._done)
            self._done.add(sample)
            now = replace(now, n_new=new)
        else:
            self._done.discard(sample)
            self._failed.add(sample)
            now = replace(now, last_error=error)
        self._tell(replace(now, n_done=len(self._done), n_failed=len(self._failed)))

    def flush(self) -> None:
        """Report what has been counted so far."""
        self._reported = time.monotonic()
        self._report(self._progress)

    def _tell(self, progress: Progress) -> None:
        self._progress = progress
        if time.monotonic() - self._reported >= EVERY:
            self.flush()
