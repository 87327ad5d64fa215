"""Estimates whose value depends on unresolved judgments: value, bounds and interval."""

from __future__ import annotations

from collections.abc import Callable

from careeval.errors import StatsError
from careeval.results.score.graded_arrays import BoundedValues, FloatArray
from careeval.stats import Estimate, Interval, bounded_ratio_interval


def bounded_ratio(
    numerators: BoundedValues, denominators: FloatArray, least: FloatArray | None = None
) -> Estimate:
    """Return a ratio of sums over scenarios.

    The interval covers the intervals for every way to settle the unresolved judgments.

    Args:
        numerators: One number per scenario, shape (n_scenarios,).
        denominators: Shape (n_scenarios,), with a sum above 0.
        least: The lowest value of each numerator; the highest is its denominator. `None` if the
            ratio has no limits.
    """
    total = float(denominators.sum())
    low, high, value = (
        float(part.sum()) / total for part in (numerators.low, numerators.high, numerators.value)
    )
    return with_ratio_interval(value, low, high, numerators, denominators, least)


def with_ratio_interval(
    value: float,
    low: float,
    high: float,
    numerators: BoundedValues,
    denominators: FloatArray,
    least: FloatArray | None,
) -> Estimate:
    """Return a ratio with the bounds given, and its interval within the limits of the ratio."""
    value = min(max(value, low), high)  # rounding can put it a hair outside
    lowest = None if least is None else float(least.sum() / denominators.sum())
    try:
        ci95 = bounded_ratio_interval(*numerators.ends, denominators, lowest=lowest)
    except StatsError as error:
        return Estimate(value, low, high, None, str(error))
    return Estimate(value, low, high, (ci95.low, ci95.high))


def bounded(
    statistic: Callable[[FloatArray], float],
    interval: Callable[[FloatArray], Interval],
    numbers: BoundedValues,
) -> Estimate:
    """Return the estimate of a statistic, which must never fall when a number rises.

    The interval covers those of both bounds; there is none if either bound has none. If some
    judgments were settled low and others high, their interval might reach beyond this one. For a
    ratio of sums use `bounded_ratio`.
    """
    try:
        low, high, value = (statistic(part) for part in (numbers.low, numbers.high, numbers.value))
    except StatsError as error:
        return Estimate.unknown(str(error))
    value = min(max(value, low), high)  # rounding can put it a hair outside
    try:
        at_low = interval(numbers.low)
        at_high = at_low if numbers.resolved else interval(numbers.high)
    except StatsError as error:
        return Estimate(value, low, high, None, str(error))
    # the ends of an interval need not rise with the numbers: its width can grow faster
    ci95 = min(at_low.low, at_high.low), max(at_low.high, at_high.high)
    return Estimate(value, low, high, ci95)
