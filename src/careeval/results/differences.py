"""Paired differences between two systems, tested together as a family.

The unit is the scenario: each scenario's two numbers are paired. Whether the intervals of two
systems overlap says nothing about their difference; the interval of the difference does. Checking
that it excludes a margin is a t test; `bench/coverage.py --table type1` measures its type I error.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError
from careeval.results.graded_rubric import RatioTerms
from careeval.stats.estimate import Bounded, BoundedValues, Estimate, FloatArray
from careeval.stats.intervals import MIN_SCENARIOS, ratio_errors
from careeval.stats.paired import (
    detectable_after,
    difference_intervals,
    holm,
    one_scenario_error,
    sign_flip_draws,
    sign_flip_p_values,
    smallest_p,
    t_test_p_values,
)
from careeval.stats.score import positive_points

LEVEL = 0.05
"""Significance level of p values after Holm's correction."""


class Verdict(StrEnum):
    """The conclusion about B against A."""

    better = "B better"
    worse = "B worse"
    unclear = "no clear difference"
    unknown = "not known"


@dataclass(frozen=True)
class Difference:
    """The difference B − A of one number, paired by scenario."""

    name: str  # Name of the number: a metric, an activity or a domain
    n: int  # Scenarios that both were judged on
    a: float | None  # A's number over these scenarios; `None` if unknown
    b: float | None  # B's number
    difference: Estimate  # b − a; its bounds settle the unresolved judgments of both
    p: float | None
    """Two-sided p value: the larger of a sign-flip test and a t test, and the largest over the
    bounds if judgments are unresolved. 1 if no scenario differs. `None` below five scenarios."""
    p_holm: float | None  # `p` after Holm's correction over its family; `None` if `p` is
    detectable: float | None
    """Smallest difference detected with 80% power, given this spread and the size of the family;
    `None` if unknown."""
    fewer_is_better: bool = False  # True if the number counts errors
    why_not_detectable: str = ""  # Reason why `detectable` is unknown; else empty
    constant: tuple[float, float] | None = None
    """If all scenarios differ by the same, so that there is no interval, the bounds of that
    difference; else `None`."""
    n_family: int = 0
    """Tests of its family, which `p_holm` and `detectable` allow for; 0 if untested."""

    @property
    def clear(self) -> bool:
        """Tell whether the 95% interval excludes 0, not corrected for the family."""
        ci95 = self.difference.ci95
        return ci95 is not None and not ci95[0] <= 0 <= ci95[1]

    @property
    def verdict(self) -> Verdict:
        """Return whether B is better or worse, if that is clear.

        It is clear if `p_holm` is below 5% and the interval, if there is one, excludes 0. It is
        unknown without a difference or without `p_holm`.
        """
        value = self.difference.value
        if value is None or self.p_holm is None:
            return Verdict.unknown
        if self.p_holm >= LEVEL or (self.difference.ci95 is not None and not self.clear):
            return Verdict.unclear
        return Verdict.worse if (value > 0) == self.fewer_is_better else Verdict.better

    @property
    def untested(self) -> Difference:
        """Return the same difference without a test, for one that describes."""
        return replace(self, p=None, p_holm=None, detectable=None, n_family=0)

    @property
    def reversed(self) -> Difference:
        """Return the difference the other way round, A − B, with A and B exchanged."""
        e = self.difference
        if e.value is not None and e.low is not None and e.high is not None:
            e = Estimate(-e.value, -e.high, -e.low, _negated(e.ci95), e.reason)
        return replace(self, a=self.b, b=self.a, difference=e, constant=_negated(self.constant))

    @property
    def b_is_worse_by_more_than(self) -> float | None:
        """Return the lower limit of how much worse B is, from the interval or from `constant`.

        Negative if the interval or `constant` includes that B is better; `None` if there is
        neither. `constant` counts since a loss that is the same in every scenario is still a loss.
        """
        ends = self.difference.ci95 or self.constant
        if ends is None:
            return None
        return ends[0] if self.fewer_is_better else -ends[1]


def _negated(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if ends is None else (-ends[1], -ends[0])


K = TypeVar("K")


@dataclass(frozen=True, eq=False)
class Paired:
    """One number of two entries, over the scenarios for which both have it."""

    a: BoundedValues  # Numerators of A, shape (n_scenarios,)
    b: BoundedValues  # Numerators of B, same shape
    weights: FloatArray  # Denominators, the same for both, with a positive sum
    largest: float = math.inf  # Largest possible difference between two such numbers

    @staticmethod
    def of(a: RatioTerms, b: RatioTerms, shared: AbstractSet[str]) -> Paired:
        """Pair the terms of two entries over the scenarios in common.

        Args:
            a: Terms of A.
            b: Terms of B.
            shared: Scenarios whose rubric is the same in both; others are left out.

        Raises:
            StatsError: There is no scenario in common, a scenario's maximum differs between A and
                B, or there are no positive points.
        """
        places = {name: row for row, name in enumerate(b.scenarios)}
        rows = [
            (row, places[name])
            for row, name in enumerate(a.scenarios)
            if name in places and name in shared
        ]
        if not rows:
            raise StatsError("there is no scenario in common")
        rows_a, rows_b = np.array(rows).T
        weights = a.denominators[rows_a]
        others = b.denominators[rows_b]
        if not (np.array_equal(weights, others) or np.allclose(weights, others)):
            raise StatsError("the maximum points of a scenario differ between the two runs")
        lowest = np.minimum(a.lowest[rows_a], b.lowest[rows_b])
        numerators = _numerators(a, rows_a), _numerators(b, rows_b)
        return Paired(*numerators, weights, 1 - float(lowest.sum()) / positive_points(weights))

    @property
    def difference(self) -> BoundedValues:
        """Return B − A by scenario, with bounds over the unresolved judgments of both."""
        return Bounded(
            self.b.low - self.a.high, self.b.high - self.a.low, self.b.value - self.a.value
        )


def _numerators(parts: RatioTerms, rows: NDArray[np.int64]) -> BoundedValues:
    """Return the numerators of the chosen scenarios, such that they give the published number.

    A share of responses weights a scenario by its responses. If some are missing, a scenario's own
    share r is therefore replaced by its linearised part of the share R: R + n / mean(n) · (r − R).
    """
    numerators = parts.numerators.map(lambda part: part[rows])
    if parts.n_judged is None:
        return numerators
    counts = parts.n_judged[rows] / parts.n_judged[rows].mean()
    if (counts == 1).all():
        return numerators

    def linearised(shares: FloatArray) -> FloatArray:
        whole = (counts * shares).mean()
        return np.asarray(whole + counts * (shares - whole))

    return numerators.map(linearised)


def differences(
    family: Mapping[K, Paired | str],
    *,
    fewer_is_better: Container[K] = (),
    n_family: int | None = None,
    name: str = "",
) -> dict[K, Difference]:
    """Return B − A of each number of a family, with Holm's correction.

    Args:
        family: Key of a number → the pairs, or why there are none.
        fewer_is_better: Keys of the numbers that count errors.
        n_family: Size of the family for Holm's correction, including comparisons that could not be
            tested; by default only those with a test.
        name: Name of the number, if it is the same for all; by default the key.

    Returns:
        The differences by the same keys, in the same order.
    """
    paired = {key: pair for key, pair in family.items() if isinstance(pair, Paired)}
    tested = [key for key, pair in paired.items() if len(pair.weights) >= MIN_SCENARIOS]
    n_family = len(tested) if n_family is None else n_family
    # pairs over the same scenarios, usually all of them, are tested in one go
    groups: dict[tuple[bytes, bool], list[K]] = {}
    for key, pair in paired.items():
        groups.setdefault((pair.weights.tobytes(), key in fewer_is_better), []).append(key)
    tests: dict[K, _Test] = {}
    for (_, counts_errors), keys in groups.items():
        pairs = [paired[key] for key in keys]
        tests |= zip(keys, _tests(pairs, n_family, counts_errors=counts_errors), strict=True)
    ps = [p for key in tested if (p := tests[key].p) is not None]
    adjusted = dict(zip(tested, holm([*ps, *[1.0] * (n_family - len(ps))]), strict=False))
    return {
        key: _unknown(name or str(key), pair, key in fewer_is_better)
        if isinstance(pair, str)
        else Difference(
            name=name or str(key),
            n=len(pair.weights),
            a=float(pair.a.value.sum() / pair.weights.sum()),
            b=float(pair.b.value.sum() / pair.weights.sum()),
            difference=tests[key].estimate,
            p=tests[key].p,
            p_holm=adjusted.get(key),
            detectable=tests[key].detectable,
            fewer_is_better=key in fewer_is_better,
            why_not_detectable=tests[key].why_not_detectable,
            constant=tests[key].constant,
            n_family=n_family if key in adjusted else 0,
        )
        for key, pair in family.items()
    }


def _unknown(name: str, reason: str, fewer_is_better: bool) -> Difference:
    unknown = Estimate.unknown(reason)
    return Difference(name, 0, None, None, unknown, None, None, None, fewer_is_better, reason)


class _Test(NamedTuple):
    """The fields of a `Difference` that come from its test."""

    estimate: Estimate
    p: float | None
    detectable: float | None
    why_not_detectable: str
    constant: tuple[float, float] | None


def _tests(pairs: Sequence[Paired], n_family: int, *, counts_errors: bool) -> list[_Test]:
    """Return the tests of several pairs over the same scenarios.

    Args:
        pairs: The pairs, with equal weights.
        n_family: Comparisons in their family.
        counts_errors: True if the pairs are shares of responses with an error.
    """
    weights = pairs[0].weights
    total, n = float(weights.sum()), len(weights)
    gaps = [pair.difference for pair in pairs]
    low, high = np.stack([gap.low for gap in gaps]), np.stack([gap.high for gap in gaps])
    at_low, at_high = low.sum(axis=1) / total, high.sum(axis=1) / total
    middles = np.clip(np.stack([gap.value for gap in gaps]).sum(axis=1) / total, at_low, at_high)
    if n < MIN_SCENARIOS:
        reason = "fewer than five scenarios"
        return [
            _Test(Estimate(m, lo, hi, None, reason), None, None, reason, None)
            for m, lo, hi in zip(middles.tolist(), at_low.tolist(), at_high.tolist(), strict=True)
        ]
    # the upper bounds need a test of their own only in pairs with unresolved judgments
    (open_,) = np.nonzero((low != high).any(axis=1))
    both = np.concatenate([low, high[open_]])
    ps = sign_flip_p_values(both, draws=sign_flip_draws(n_family))
    p = ps[: len(pairs)].copy()
    p[open_] = np.maximum(p[open_], ps[len(pairs) :])
    p[(at_low < 0) & (at_high > 0)] = 1
    p = np.maximum(p, t_test_p_values(low, high, weights, counts_errors=counts_errors))
    ends = difference_intervals(low, high, weights, counts_errors=counts_errors)
    largest = np.array([[pair.largest] for pair in pairs])
    ends = np.clip(ends, -largest, largest)
    errors = ratio_errors((low + high) / 2, weights)
    if counts_errors:
        errors = np.maximum(errors, one_scenario_error(n))
    tests = []
    for row in range(len(pairs)):
        ci95 = None if np.isnan(ends[row]).any() else (float(ends[row, 0]), float(ends[row, 1]))
        detectable, why_not = _detectable(float(errors[row]), n, n_family)
        estimate = Estimate(
            float(middles[row]),
            float(at_low[row]),
            float(at_high[row]),
            ci95,
            "" if ci95 else _NO_VARIATION,
        )
        constant = None if ci95 else (float(at_low[row]), float(at_high[row]))
        tests.append(_Test(estimate, float(p[row]), detectable, why_not, constant))
    return tests


_NO_VARIATION = "no variation to take an interval from"


def _detectable(standard_error: float, n: int, n_family: int) -> tuple[float | None, str]:
    """Return the smallest difference detected with 80% power, or why it is unknown."""
    if smallest_p(n, n_family) >= LEVEL:
        return None, (
            f"with {n} scenarios and {n_family} comparisons no difference can be detected, however "
            "large"
        )
    if standard_error == 0:
        return None, "all scenarios differ by the same"
    return detectable_after(standard_error, comparisons=n_family, degrees=n - 1), ""
