"""A number as it is published: with its bounds and interval, or the reason why it is unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number, in its own unit, or unknown with a reason; never 0 for unknown.

    The two kinds of uncertainty are kept apart. `low` and `high` bound what the unresolved items of
    these very responses could make of the value; `ci95` is about other scenarios.

    Attributes:
        value: The number, or `None` where it is unknown.
        low: The value if every unresolved item is settled for the lower; `None` where `value` is.
        high: The value if every unresolved item is settled for the higher; `None` where `value` is.
        ci95: The 95% interval, or `None` where it is unknown. A bootstrap interval of a skewed
            statistic need not contain the value.
        reason: Why `value`, or else `ci95`, is unknown; empty where both are known.

    Raises:
        ValueError: The parts contradict each other.
    """

    value: float | None
    low: float | None
    high: float | None
    ci95: tuple[float, float] | None
    reason: str = ""

    def __post_init__(self) -> None:
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
        """An estimate without a value, and why."""
        return cls(value=None, low=None, high=None, ci95=None, reason=reason)
