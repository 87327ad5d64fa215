"""A number for publication, with its bounds and interval, or the reason why it is unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass

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
