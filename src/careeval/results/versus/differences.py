"""What two systems differ by: paired numbers, held up against the others of their family.

The scenario is the unit, and everything is paired: each scenario's two numbers are held against
each other. Two intervals that overlap say nothing about a difference; its own interval does. That
it leaves out a margin is a t test of the difference, with an error of the first kind measured by
`bench/coverage.py --table type1`.
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
from careeval.results.score.graded_arrays import Bounds, FloatArray
from careeval.results.score.graded_rubric import Parts
from careeval.stats import (
    MIN_CLUSTERS,
    Estimate,
    detectable_after,
    difference_intervals,
    flips_for,
    holm,
    least_error,
    ratio_errors,
    sign_flip_ps,
    smallest_p,
    t_ps,
)

LEVEL = 0.05
"""Below it, a p value held up against its family counts."""


class Verdict(StrEnum):
    """What may be said of B against A."""

    better = "B better"
    worse = "B worse"
    unclear = "no clear difference"
    unknown = "not known"


@dataclass(frozen=True)
class Difference:
    """What B has more than A of one number, paired by scenario.

    Attributes:
        name: Of the number: a metric, an activity, a domain.
        n: Scenarios that both were judged on.
        a: A's number over these scenarios; `None` where unknown.
        b: B's.
        difference: b − a; its bounds settle the unresolved items of both at their worst.
        p: Two-sided, by flipping the signs of the scenarios' differences or by t, whichever is
            larger; the larger one too where unresolved items leave it open. 1 where no scenario
            differs. `None` below five scenarios.
        p_holm: The same, held up against the other numbers of its family (Holm); `None` where `p`
            is.
        detectable: The smallest difference that would be found four times in five with a spread
            like this one, in a family of this size; `None` where it is not known.
        fewer_is_better: Whether it counts errors.
        why_not_detectable: Why `detectable` is not known; empty where it is.
        constant: Where there is no interval because all scenarios differ by the same, that
            difference as an interval, which unresolved items widen; `None` elsewhere.
    """

    name: str
    n: int
    a: float | None
    b: float | None
    difference: Estimate
    p: float | None
    p_holm: float | None
    detectable: float | None
    fewer_is_better: bool = False
    why_not_detectable: str = ""
    constant: tuple[float, float] | None = None

    @property
    def clear(self) -> bool:
        """Whether the 95% interval leaves out 0: on its own, whatever else is compared."""
        ci95 = self.difference.ci95
        return ci95 is not None and not ci95[0] <= 0 <= ci95[1]

    @property
    def verdict(self) -> Verdict:
        """What may be said of it within its family: by Holm's p, and never by overlap."""
        value = self.difference.value
        if value is None or self.p_holm is None:
            return Verdict.unknown
        if self.p_holm >= LEVEL or (self.difference.ci95 is not None and not self.clear):
            return Verdict.unclear
        return Verdict.worse if (value > 0) == self.fewer_is_better else Verdict.better

    @property
    def turned(self) -> Difference:
        """A − B: the same with both the other way round."""
        e = self.difference
        if e.value is not None and e.low is not None and e.high is not None:
            e = Estimate(-e.value, -e.high, -e.low, _negated(e.ci95), e.reason)
        return replace(self, a=self.b, b=self.a, difference=e, constant=_negated(self.constant))

    @property
    def b_is_worse_by_more_than(self) -> float | None:
        """The least by which B is worse, as its interval has it, or the difference of them all.

        Negative where the interval reaches the other side. `None` where there is no interval, but
        for scenarios that all differ by the same: a loss that none of them escapes is one.
        """
        reach = self.difference.ci95 or self.constant
        if reach is None:
            return None
        return reach[0] if self.fewer_is_better else -reach[1]


def _negated(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if ends is None else (-ends[1], -ends[0])


K = TypeVar("K")


@dataclass(frozen=True, eq=False)
class Paired:
    """One number of two entries, over the scenarios that both have it for.

    Attributes:
        a: Numerators of the one, shape (n_scenarios,).
        b: Of the other.
        weights: The denominators, the same for both, of positive sum.
        furthest: The most by which two such numbers can differ.
    """

    a: Bounds
    b: Bounds
    weights: FloatArray
    furthest: float = math.inf

    @staticmethod
    def of(a: Parts, b: Parts, alike: AbstractSet[str]) -> Paired:
        """Both parts over the scenarios in common.

        Args:
            a: The one.
            b: The other.
            alike: Scenarios whose rubric is the same in both; others are left out.

        Raises:
            StatsError: They have no scenario in common, or one has another maximum in each.
        """
        places = {name: row for row, name in enumerate(b.scenarios)}
        rows = [
            (row, places[name])
            for row, name in enumerate(a.scenarios)
            if name in places and name in alike
        ]
        if not rows:
            raise StatsError("there is no scenario in common")
        at = np.array(rows).T
        weights = a.denominators[at[0]]
        others = b.denominators[at[1]]
        if not (np.array_equal(weights, others) or np.allclose(weights, others)):
            raise StatsError("the same scenario has another maximum in each run")
        if not weights.sum() > 0:
            raise StatsError("no positive points: the score has no maximum")
        ours, theirs = _numerators(a, at[0]), _numerators(b, at[1])
        lowest = np.minimum(a.lowest[at[0]], b.lowest[at[1]])
        return Paired(ours, theirs, weights, 1 - float(lowest.sum() / weights.sum()))

    @property
    def apart(self) -> Bounds:
        """B − A, with the unresolved items of both at their worst."""
        return Bounds(
            self.b.low - self.a.high, self.b.high - self.a.low, self.b.value - self.a.value
        )


def _numerators(parts: Parts, rows: NDArray[np.int64]) -> Bounds:
    """The numerators of some scenarios, such that their mean is the number as it is published.

    A share of responses counts a scenario by its responses. Where some are missing, each scenario
    has its linearised part of the share R instead of its own share r: R + n / mean(n) · (r − R).
    """
    numerators = parts.numerators.at(rows)
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
    """B − A of each, held up against each other by Holm.

    Args:
        family: What is compared → both numbers, or why there are none.
        fewer_is_better: Those that count errors.
        n_family: Comparisons that Holm counts, where some of them could not be made and are no
            evidence; by default those alone that have a test.
        name: Of the number, where all are of one; by default each is named by its key.

    Returns:
        In the order given, by the same names.
    """
    known = {key: found for key, found in family.items() if isinstance(found, Paired)}
    tested = [key for key, found in known.items() if len(found.weights) >= MIN_CLUSTERS]
    n_family = len(tested) if n_family is None else n_family
    # of the same scenarios at once: as a rule they are all
    groups: dict[tuple[bytes, bool], list[K]] = {}
    for key, found in known.items():
        groups.setdefault((found.weights.tobytes(), key in fewer_is_better), []).append(key)
    seen: dict[K, _Seen] = {}
    for (_, counts_errors), keys in groups.items():
        pairs = [known[key] for key in keys]
        seen |= zip(keys, _seen(pairs, n_family, counts_errors=counts_errors), strict=True)
    ps = [p for key in tested if (p := seen[key].p) is not None]
    adjusted = dict(zip(tested, holm([*ps, *[1.0] * (n_family - len(ps))]), strict=False))
    return {
        key: _unknown(name or str(key), found, key in fewer_is_better)
        if isinstance(found, str)
        else Difference(
            name=name or str(key),
            n=len(found.weights),
            a=float(found.a.value.sum() / found.weights.sum()),
            b=float(found.b.value.sum() / found.weights.sum()),
            difference=seen[key].estimate,
            p=seen[key].p,
            p_holm=adjusted.get(key),
            detectable=seen[key].detectable,
            fewer_is_better=key in fewer_is_better,
            why_not_detectable=seen[key].why_not_detectable,
            constant=seen[key].constant,
        )
        for key, found in family.items()
    }


def _unknown(name: str, reason: str, fewer_is_better: bool) -> Difference:
    unknown = Estimate.unknown(reason)
    return Difference(name, 0, None, None, unknown, None, None, None, fewer_is_better, reason)


class _Seen(NamedTuple):
    """What the fields of a `Difference` of these names are made from."""

    estimate: Estimate
    p: float | None
    detectable: float | None
    why_not_detectable: str
    constant: tuple[float, float] | None


def _seen(pairs: Sequence[Paired], n_family: int, *, counts_errors: bool) -> list[_Seen]:
    """What is seen of pairs over the same scenarios, all at once.

    Args:
        pairs: Of equal weights.
        n_family: Comparisons in their family.
        counts_errors: Whether they are shares of responses with an error.
    """
    weights = pairs[0].weights
    total, n = float(weights.sum()), len(weights)
    apart = [pair.apart for pair in pairs]
    low, high = np.stack([of.low for of in apart]), np.stack([of.high for of in apart])
    at_low, at_high = low.sum(axis=1) / total, high.sum(axis=1) / total
    middles = np.clip(np.stack([of.value for of in apart]).sum(axis=1) / total, at_low, at_high)
    if n < MIN_CLUSTERS:
        reason = "fewer than five scenarios"
        return [
            _Seen(Estimate(m, lo, hi, None, reason), None, None, reason, None)
            for m, lo, hi in zip(middles.tolist(), at_low.tolist(), at_high.tolist(), strict=True)
        ]
    # a second time only for pairs with unresolved items
    (open_,) = np.nonzero((low != high).any(axis=1))
    both = np.concatenate([low, high[open_]])
    ps = sign_flip_ps(both, draws=flips_for(n_family))
    p = ps[: len(pairs)].copy()
    p[open_] = np.maximum(p[open_], ps[len(pairs) :])
    p[(at_low < 0) & (at_high > 0)] = 1
    p = np.maximum(p, t_ps(low, high, weights, counts_errors=counts_errors))
    ends = difference_intervals(low, high, weights, counts_errors=counts_errors)
    furthest = np.array([[pair.furthest] for pair in pairs])
    ends = np.clip(ends, -furthest, furthest)
    errors = ratio_errors((low + high) / 2, weights)
    if counts_errors:
        errors = np.maximum(errors, least_error(n))
    found = []
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
        found.append(_Seen(estimate, float(p[row]), detectable, why_not, constant))
    return found


_NO_VARIATION = "no variation to take an interval from"


def _detectable(standard_error: float, n: int, n_family: int) -> tuple[float | None, str]:
    """The difference that would be found four times in five, or why none is known."""
    if smallest_p(n, n_family) >= LEVEL:
        return None, (
            f"{n} scenarios can find no difference, however large, among {n_family} comparisons"
        )
    if standard_error == 0:
        return None, "all scenarios differ by the same"
    return detectable_after(standard_error, comparisons=n_family, degrees=n - 1), ""
