"""Estimates of numbers that unresolved judgments leave open: value, bounds and interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import MIN_CLUSTERS, Interval, bounded_ratio_interval
from careeval.stats.rates import rate_interval
from careeval.stats.score import pooled_score

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Bounded(Generic[T]):
    """A number with the bounds that unresolved judgments leave, or three arrays of one shape."""

    low: T  # With every unresolved judgment settled for the lower number
    high: T  # With every unresolved judgment settled for the higher number
    value: T  # From the filled judgments; NaN where those do not determine it

    @staticmethod
    def exact(numbers: U) -> Bounded[U]:
        """Return numbers that have no unresolved judgments as values with equal bounds."""
        return Bounded(numbers, numbers, numbers)

    @property
    def ends(self) -> tuple[T, T]:
        """Return the lower ends and the upper ends."""
        return self.low, self.high

    @property
    def settlements(self) -> tuple[T, ...]:
        """Return the ends that differ: one if no judgment is unresolved."""
        resolved = np.array_equal(self.low, self.high, equal_nan=True)  # type: ignore[arg-type]
        return (self.low,) if resolved else self.ends

    def map(self, function: Callable[[T], U]) -> Bounded[U]:
        """Apply a function to all three; it must never fall when a number rises."""
        return Bounded(function(self.low), function(self.high), function(self.value))


BoundedValues = Bounded[FloatArray]


def estimate(numbers: Callable[[], Iterable[float]], interval: Callable[[], Interval]) -> Estimate:
    """Return an estimate; it has no value, or no interval, if the function raises `StatsError`.

    Args:
        numbers: Returns the value, then the number for each way to settle the unresolved judgments.
            The bounds include the value, since some numbers may rise either way.
        interval: Returns the interval that covers those of all these ways.
    """
    try:
        value, *ends = numbers()
    except StatsError as error:
        return Estimate.unknown(str(error))
    low, high = min([value, *ends]), max([value, *ends])
    try:
        ends95 = interval()
    except StatsError as error:
        return Estimate(value, low, high, None, str(error))
    return Estimate(value, low, high, (ends95.low, ends95.high))


def settled(
    statistic: Callable[[T], float],
    interval: Callable[[T], Interval],
    value: T,
    settlements: Sequence[T],
) -> Estimate:
    """Return the estimate of a statistic of `value`, over the ways to settle judgments.

    If some judgments were settled low and others high, their interval might reach beyond this one.
    For a ratio of sums use `ratio`.
    """

    def covering() -> Interval:
        # the ends of an interval need not rise with the numbers: its width can grow faster
        parts = [interval(each) for each in settlements]
        return Interval(min(part.low for part in parts), max(part.high for part in parts))

    return estimate(lambda: map(statistic, (value, *settlements)), covering)


def rate(
    counts: BoundedValues,
    trials: FloatArray,
    interval: Callable[[FloatArray, FloatArray], Interval],
) -> Estimate:
    """Return events per trial, both by scenario, shape (n_scenarios,)."""
    total = trials.sum()
    return settled(
        lambda events: float(events.sum() / total),
        lambda events: interval(events, trials),
        counts.value,
        counts.settlements,
    )


def family_rate(counts: BoundedValues, trials: FloatArray, families: str) -> Estimate:
    """Return events per trial, without an interval below five families, such as "scenarios".

    Trials of a family are not independent: the largest family counts as one.
    """

    def interval(events: FloatArray, trials: FloatArray) -> Interval:
        if len(trials) < MIN_CLUSTERS:
            raise StatsError(f"fewer than {MIN_CLUSTERS} {families}: no interval")
        scale = float(trials.max())
        return rate_interval(events / scale, trials / scale)

    return rate(counts, trials, interval)


def ratio(
    numerators: BoundedValues, denominators: FloatArray, lowest: FloatArray | None = None
) -> Estimate:
    """Return a ratio of sums over scenarios.

    Args:
        numerators: One number per scenario, shape (n_scenarios,).
        denominators: Shape (n_scenarios,). The ratio is unknown if their sum is 0.
        lowest: The lowest value of each numerator; the highest is its denominator. `None` if the
            ratio has no limits.
    """

    def interval() -> Interval:
        least = None if lowest is None else float(lowest.sum() / denominators.sum())
        return bounded_ratio_interval(*numerators.ends, denominators, lowest=least)

    parts = (numerators.value, *numerators.ends)
    return estimate(
        lambda: [pooled_score(part[:, np.newaxis], denominators) for part in parts], interval
    )
