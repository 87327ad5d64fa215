"""How far a run has come, and how fast: counted while it goes on, for whoever wants to be told."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from careeval.protocol.costs.cost_log import Paid

SampleKey = tuple[str, int]
"""Scenario and epoch."""

EVERY = 0.25
"""Seconds between two reports, at least."""

WINDOW = 60.0
"""Seconds over which a rate is taken."""

LOOK_EVERY = 1.0
"""Seconds between two counts that a rate remembers, at least."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one run has come.

    Attributes:
        system: Name of what is evaluated.
        n_samples: Responses that the run will have, each with its gradings.
        n_done: Those that are finished.
        n_failed: Those that ended in an error, and were given up.
        n_calls: Calls that came back since the run was begun or resumed.
        usd: What those cost; `None` while the cost of one is not known.
        n_errors: Attempts at a call that failed since then, most of them tried again.
        last_error: The last of those in words, and when it is tried again; empty if there is none.
        rate: Responses a second that were finished or given up in the last minute; `None` while
            that is not known.
        ended: Whether the run is over, complete or not.
        waiting: Whether it has not begun, since no more runs may go on at once; nothing else of it
            is known then.
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
        """Whole percent that are finished, rounded down; 100 is not reached before the end."""
        percent = 100 * self.n_done // self.n_samples if self.n_samples else 0
        return percent if self.ended else min(percent, 99)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at the last minute's rate; `None` if unknown, or nothing moves."""
        if self.ended:
            return 0.0
        left = self.n_samples - self.n_done - self.n_failed
        return left / self.rate if self.rate else None

    def as_json(self) -> dict[str, Any]:
        """As values that `Progress(**…)` takes."""
        return asdict(self)


Report = Callable[[Progress], None]
"""Is told how far a run has come."""


class Pace:
    """Looks at a growing count, and says how fast it has grown in the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looks: deque[tuple[float, int]] = deque()

    def rate(self, n: int) -> float | None:
        """The rate a second, the count being `n` now.

        It falls while nothing happens. Before the first second is over it is not known.
        """
        now, looks = self._clock(), self._looks
        if not looks or now - looks[-1][0] >= LOOK_EVERY:
            looks.append((now, n))
        while now - looks[0][0] > WINDOW and len(looks) > 1:
            looks.popleft()
        began, before = looks[0]
        return (n - before) / (now - began) if now - began >= LOOK_EVERY else None


def together(progress: Sequence[Progress]) -> Progress:
    """Several runs as one; what is not known of one of them is not known of all."""
    costs, rates = [run.usd for run in progress], [run.rate for run in progress if not run.ended]
    known = [cost for cost in costs if cost is not None]
    moving = [rate for rate in rates if rate is not None]
    return Progress(
        "all",
        sum(run.n_samples for run in progress),
        sum(run.n_done for run in progress),
        sum(run.n_failed for run in progress),
        sum(run.n_calls for run in progress),
        sum(known) if len(known) == len(costs) else None,
        rate=sum(moving) if len(moving) == len(rates) else None,
        ended=all(run.ended for run in progress),
    )


class Tally:
    """Counts what happens in a run, and reports it now and then."""

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
        self._progress = Progress(system, n_samples, n_done=len(done))
        self._done, self._failed = set(done), set[SampleKey]()
        self._report, self._reported = report, 0.0

    def paid(self, paid: Paid) -> None:
        """A call has come back."""
        now = self._progress
        usd = None if now.usd is None or paid.cost_usd is None else now.usd + paid.cost_usd
        self._tell(replace(now, n_calls=now.n_calls + 1, usd=usd))

    def _shown(self, words: str) -> str:
        """Words that may be shown: those of a held-out run may repeat what it asks."""
        return "its words are not shown" if self._is_held_out else words

    def failing(self, what: str, when: str) -> None:
        """Count an attempt at a call that has failed.

        Args:
            what: Whom it asked, and what went wrong.
            when: When it is made again, in our own words.
        """
        now = self._progress
        said = f"an attempt failed, {self._shown(what)}" if self._is_held_out else what
        self._tell(replace(now, n_errors=now.n_errors + 1, last_error=f"{said}; again {when}"))

    def ended(self, sample: SampleKey, error: str | None) -> None:
        """A response is finished with its gradings, or given up."""
        now = self._progress
        if error is None:
            self._failed.discard(sample)
            self._done.add(sample)
        else:
            self._done.discard(sample)
            self._failed.add(sample)
            # a server's words may be those of what it was asked
            now = replace(now, last_error=self._shown(error))
        self._tell(replace(now, n_done=len(self._done), n_failed=len(self._failed)))

    def flush(self) -> None:
        """Report what has been counted so far."""
        self._reported = time.monotonic()
        self._report(self._progress)

    def _tell(self, progress: Progress) -> None:
        self._progress = progress
        if time.monotonic() - self._reported >= EVERY:
            self.flush()
