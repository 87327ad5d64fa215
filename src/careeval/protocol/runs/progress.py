"""Counting the progress of a run while it goes on, and the rate at which it proceeds."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from careeval.protocol.costs.cost_log import PaidCall

SampleKey = tuple[str, int]
"""The key of a sample: scenario and epoch."""

EVERY = 0.25
"""The least seconds between two reports."""

WINDOW = 60.0
"""Seconds over which a rate is computed."""

SAMPLE_EVERY = 1.0
"""The least seconds between two counts from which a rate is computed."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of one run.

    Attributes:
        system: Name of the system.
        n_samples: Responses that the run will have, each with its gradings.
        n_done: Responses that are finished.
        n_failed: Responses that ended in an error, and were given up.
        n_calls: Calls that came back since the run was begun or resumed.
        usd: Cost of those calls; `None` once the cost of one is not known.
        n_errors: Failed attempts at a call since the run was begun or resumed; most are repeated.
        last_error: The last error, and when the call is tried again; empty if there is none.
        rate: Responses per second that were finished or given up in the last minute; `None` while
            that is not known.
        ended: Whether the run is over, complete or not.
        waiting: Whether it has not begun, since no more runs may go on at once. Its other counts
            are not known then.
    """

    system: str
    n_samples: int
    n_done: int = 0
    n_failed: int = 0
    n_calls: int = 0
    usd: float | None = 0.0
    n_errors: int = 0
    last_error: str = ""
    rate: float | None = None
    ended: bool = False
    waiting: bool = False

    @property
    def percent(self) -> int:
        """Percent of the responses that are finished, rounded down; at most 99 before the end."""
        percent = 100 * self.n_done // self.n_samples if self.n_samples else 0
        return percent if self.ended else min(percent, 99)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at the last minute's rate; `None` if that rate is unknown or 0."""
        if self.ended:
            return 0.0
        left = self.n_samples - self.n_done - self.n_failed
        return left / self.rate if self.rate else None

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, which `RunProgress(**…)` takes."""
        return asdict(self)


Report = Callable[[RunProgress], None]
"""A function that is called with a run's progress."""


class Pace:
    """The rate at which a count has grown in the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: deque[tuple[float, int]] = deque()

    def rate(self, n: int) -> float | None:
        """Record that the count is `n` now; return its growth per second.

        The rate falls while nothing happens. It is `None` during the first second.
        """
        now, counts = self._clock(), self._counts
        if not counts or now - counts[-1][0] >= SAMPLE_EVERY:
            counts.append((now, n))
        while now - counts[0][0] > WINDOW and len(counts) > 1:
            counts.popleft()
        began, before = counts[0]
        return (n - before) / (now - began) if now - began >= SAMPLE_EVERY else None


def total_progress(progress: Sequence[RunProgress]) -> RunProgress:
    """Return the progress of several runs together; a cost or rate unknown for one is `None`."""
    costs, rates = [run.usd for run in progress], [run.rate for run in progress if not run.ended]
    known_costs = [cost for cost in costs if cost is not None]
    known_rates = [rate for rate in rates if rate is not None]
    return RunProgress(
        "all",
        sum(run.n_samples for run in progress),
        sum(run.n_done for run in progress),
        sum(run.n_failed for run in progress),
        sum(run.n_calls for run in progress),
        sum(known_costs) if len(known_costs) == len(costs) else None,
        rate=sum(known_rates) if len(known_rates) == len(rates) else None,
        ended=all(run.ended for run in progress),
    )


class Tally:
    """A counter of the calls and samples of a run, which reports its progress now and then."""

    def __init__(
        self,
        system: str,
        n_samples: int,
        done: set[SampleKey],
        report: Report,
        *,
        is_held_out: bool = False,
    ) -> None:
        self._is_held_out = is_held_out
        self._progress = RunProgress(system, n_samples, n_done=len(done))
        self._done, self._failed = set(done), set[SampleKey]()
        self._report, self._reported = report, 0.0

    def count_call(self, paid: PaidCall) -> None:
        """Count a call that came back."""
        now = self._progress
        usd = None if now.usd is None or paid.cost_usd is None else now.usd + paid.cost_usd
        self._tell(replace(now, n_calls=now.n_calls + 1, usd=usd))

    def _shown(self, text: str) -> str:
        """Return a text to show; for a held-out run a placeholder: the text may quote a prompt."""
        return "its words are not shown" if self._is_held_out else text

    def count_failed_attempt(self, error: str, when: str) -> None:
        """Count a failed attempt at a call.

        Args:
            error: Name of the model, and the error.
            when: Text on when the call is tried again, without words of the provider.
        """
        now = self._progress
        shown = f"an attempt failed, {self._shown(error)}" if self._is_held_out else error
        self._tell(replace(now, n_errors=now.n_errors + 1, last_error=f"{shown}; again {when}"))

    def count_sample(self, sample: SampleKey, error: str | None) -> None:
        """Count a sample that is finished, or that is given up because of an error."""
        now = self._progress
        if error is None:
            self._failed.discard(sample)
            self._done.add(sample)
        else:
            self._done.discard(sample)
            self._failed.add(sample)
            # a server's error may quote the prompt
            now = replace(now, last_error=self._shown(error))
        self._tell(replace(now, n_done=len(self._done), n_failed=len(self._failed)))

    def flush(self) -> None:
        """Report what has been counted so far."""
        self._reported = time.monotonic()
        self._report(self._progress)

    def _tell(self, progress: RunProgress) -> None:
        self._progress = progress
        if time.monotonic() - self._reported >= EVERY:
            self.flush()
