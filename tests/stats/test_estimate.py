"""An estimate that contradicts itself cannot be made."""

from __future__ import annotations

import math

import pytest

from careeval.stats.estimate import Estimate
from careeval.stats.intervals import Interval


def test_known_estimate() -> None:
    """A value with its bounds and its interval needs no reason."""
    estimate = Estimate(0.5, 0.4, 0.6, ci95=Interval(0.3, 0.7))
    assert estimate.reason == ""
    assert estimate.ci95 == (0.3, 0.7)


def test_value_without_interval_says_why() -> None:
    """A value may stand without an interval, with the reason for that."""
    assert Estimate(0.5, 0.5, 0.5, None, "fewer than five scenarios").value == 0.5


def test_unknown_has_a_reason_and_nothing_else() -> None:
    """An unknown estimate is no number at all, and says why."""
    assert Estimate.unknown("one epoch") == Estimate(None, None, None, None, "one epoch")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((None, None, None, None, ""), "a reason is given"),
        ((0.5, 0.5, 0.5, None, ""), "a reason is given"),
        ((0.5, 0.5, 0.5, (0.4, 0.6), "why"), "a reason is given"),
        ((None, 0.1, 0.2, None, "why"), "an unknown value has no bounds"),
        ((None, None, None, (0.1, 0.2), ""), "an unknown value has no bounds"),
        ((0.5, 0.6, 0.7, None, "why"), "a value lies within"),
        ((0.5, 0.3, 0.4, None, "why"), "a value lies within"),
        ((0.5, None, 0.5, None, "why"), "a value lies within"),
        ((0.5, 0.5, 0.5, (0.6, 0.4), ""), "an interval goes from low to high"),
        ((math.nan, 0.5, 0.5, None, "why"), "never NaN"),
        ((0.5, 0.5, math.inf, None, "why"), "never NaN"),
        ((0.5, 0.5, 0.5, (0.4, math.nan), ""), "never NaN"),
    ],
)
def test_contradictions_are_refused(
    parts: tuple[float | None, float | None, float | None, tuple[float, float] | None, str],
    message: str,
) -> None:
    """Parts that contradict each other, or a NaN for unknown, raise."""
    with pytest.raises(ValueError, match=message):
        Estimate(*parts)


def test_what_rounding_leaves_is_0() -> None:
    """A hair from 0 is 0, without a minus, in the value, the bounds and the interval."""
    hair = 0.1 + 0.2 - 0.3
    estimate = Estimate(hair, -hair, hair, (-0.0, 1.9e-18))
    assert estimate == Estimate(0, 0, 0, (0, 0))
    assert "-" not in repr(estimate)
    assert Estimate(1e-9, 1e-9, 1e-9, (1e-9, 1e-9)).value == 1e-9
