"""Minutes that raters took for each page, from the moments at which answers were saved. No I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from statistics import median

from careeval.people.store import Event
from careeval.people.study.round_ratings import FASTEST_READER

LONGEST_GAP = 10
"""Minutes between two answers after which the rater is taken to have been away."""


def minutes_by_task(events: Iterable[Event]) -> Mapping[str, Mapping[str, float]]:
    """Return rater → task → minutes, summed over its answers, from the save before to each answer.

    An answer has no time if somebody else typed it, if it is the rater's first, or if it follows a
    gap of more than `LONGEST_GAP`, in which the rater may have read the page. A task with such an
    answer is left out.
    """
    minutes: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    untimed: set[tuple[str, str]] = set()
    before: dict[str, datetime] = {}
    for event in events:
        if event.typed_by:
            untimed.add((event.rater, event.task))
            continue
        now = datetime.fromisoformat(event.at)
        last = before.get(event.rater)
        gap = (now - last).total_seconds() / 60 if last else -1.0
        if 0 <= gap <= LONGEST_GAP:
            minutes[event.rater][event.task] += gap
        else:
            untimed.add((event.rater, event.task))
        before[event.rater] = now
    for rater, task in untimed:
        minutes[rater].pop(task, None)
    return {rater: dict(tasks) for rater, tasks in minutes.items() if tasks}


def median_minutes(minutes: Iterable[float]) -> float | None:
    """Return the median of minutes; `None` if there are none."""
    values = list(minutes)
    return median(values) if values else None


def is_faster_than_reading(minutes: float, n_words: int) -> bool:
    """Tell whether a time in minutes is too short for reading this many words."""
    return minutes < n_words / FASTEST_READER
