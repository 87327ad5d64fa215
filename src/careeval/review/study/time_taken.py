"""How long somebody took over each page, from the moments at which answers were saved. No I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from statistics import median

from careeval.review.store import Event

LONGEST_GAP = 10
"""Minutes between two answers after which somebody is taken to have been away."""

FASTEST_READER = 500
"""Words a minute; silent readers of English mostly do 175 to 300 (Brysbaert 2019,
doi:10.1016/j.jml.2019.104047).
"""


def minutes_by_task(events: Iterable[Event]) -> Mapping[str, Mapping[str, float]]:
    """Return rater → task → minutes between its answers and what was saved before them.

    What somebody else typed has no time, nor has the first answer of a rater, nor one after a gap
    of more than `LONGEST_GAP`. A task without any time is no key.
    """
    minutes: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    before: dict[str, datetime] = {}
    for event in events:
        if event.typed_by:
            continue
        now = datetime.fromisoformat(event.at)
        if event.rater in before:
            gap = (now - before[event.rater]).total_seconds() / 60
            if 0 <= gap <= LONGEST_GAP:
                minutes[event.rater][event.task] += gap
        before[event.rater] = now
    return minutes


def median_minutes(minutes: Iterable[float]) -> float | None:
    """Return the median; `None` of none."""
    known = list(minutes)
    return median(known) if known else None


def is_faster_than_reading(minutes: float, n_words: int) -> bool:
    """Tell whether so many words cannot have been read in that time."""
    return minutes < n_words / FASTEST_READER
