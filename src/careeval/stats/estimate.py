"""A number for publication, with its bounds and interval, or the reason why it is unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError
from careeval.stats.intervals import MIN_SCENARIOS, Interval, rate_interval, ratio_interval
from careeval.stats.score import pooled_score

NOISE = 1e-12
"""Numbers no further from 0 than this are left from rounding, as 5.6e-17 of 0.1 + 0.2 - 0.3."""


def without_noise(number: float) -> float:
    """Return the number; 0 if it is no further from 0 than `NOISE`, and never minus 0."""
    return 0.0 if -NOISE <= number <= NOISE else number


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number in its own unit, or unknown with a reason. Unknown is never 0.

    What lies within `NOISE` of 0 is taken for 0: it is left from rounding, and is nobody's result.

    Two kinds of uncertainty are kept apart. `low` and `high` are the bounds that the unresolved
    items of these responses leave; `ci95` is about other scenarios.

    Raises:
        ValueError: The attributes contradict each other.
    """

    value: float | None  # The number, or `None` if unknown
    low: float | None
    """The lowest value that settling the unresolved items can give; `None` if `value` is."""
    high: float | None  # The highest value that settling them can give; `None` if `value` is
    ci95: tuple[float, float] | None
    """The 95% interval, or `None` if unknown. A bootstrap interval of a skewed statistic need not
    contain the value."""
    reason: str = ""  # Why `value`, or else `ci95`, is unknown; empty if both are known

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            if (number := getattr(self, name)) is not None:
                object.__setattr__(self, name, without_noise(number))
        if self.ci95 is not None:
            low, high = self.ci95
            object.__setattr__(self, "ci95", (without_noise(low), without_noise(high)))
        numbers = (self.value, self.low, self.high, *(self.ci95 or ()))
        if any(number is not None and not math.isfinite(number) for number in numbers):
            raise ValueError(f"an unknown number is None, never NaN or infinite: {self}")
        if self.value is None:
            if (self.low, self.high, self.ci95) != (None, None, None):
                raise ValueError(f"an unknown value has no bounds and no interval: {self}")
        elif self.low is None or self.high is None or not self.low <= self.value <= self.high:
            raise ValueError(f"a value lies within its bounds: {self}")
        if self.ci95 is not None and self.ci95[0] > self.ci95[1]:
            raise ValueError(f"an interval goes from low to high: {self}")
        if bool(self.reason) != (self.ci95 is None):
            raise ValueError(
                f"a reason is given where something is unknown, and only there: {self}"
            )

    @classmethod
    def unknown(cls, reason: str) -> Estimate:
        """Return an estimate without a value, with the reason."""
        return cls(value=None, low=None, high=None, ci95=None, reason=reason)


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


def scenario_rate(counts: BoundedValues, trials: FloatArray, units: str) -> Estimate:
    """Return events per trial, without an interval below five units, such as "scenarios".

    Trials of a scenario are not independent: the largest number of them counts as one.
    """

    def interval(events: FloatArray, trials: FloatArray) -> Interval:
        if len(trials) < MIN_SCENARIOS:
            raise StatsError(f"fewer than {MIN_SCENARIOS} {units}: no interval")
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
        low_end = None if lowest is None else float(lowest.sum() / denominators.sum())
        return ratio_interval(numerators.low, denominators, lowest=low_end, highest=numerators.high)

    parts = (numerators.value, *numerators.ends)
    return estimate(
        lambda: [pooled_score(part[:, np.newaxis], denominators) for part in parts], interval
    )
