"""What two systems differ by: paired numbers, held up against the others of their family.

The scenario is the unit, and everything is paired: each scenario's two numbers are held against
each other. Two intervals that overlap say nothing about a difference; its own interval does.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError
from careeval.results.estimates import Parts
from careeval.results.points import Bounds, FloatArray
from careeval.stats import (
    MIN_BOOTSTRAP_CLUSTERS,
    MIN_CLUSTERS,
    Estimate,
    bounded_ratio_interval,
    detectable_after,
    flips_for,
    holm,
    ratio_errors,
    ratio_intervals,
    sign_flip_ps,
    smallest_p,
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
        a: A's number over these scenarios, halfway between its bounds; `None` where unknown.
        b: B's.
        difference: b − a; its bounds settle the unresolved items of both at their worst.
        p: Two-sided, by flipping the signs of the scenarios' differences; the larger one where
            unresolved items leave it open. 1 where no scenario differs. `None` below five
            scenarios.
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
    def b_is_worse_by_more_than(self) -> float | None:
        """The least by which B is worse, as its interval has it, or the difference of them all.

        Negative where the interval reaches the other side. `None` where there is no interval, but
        for scenarios that all differ by the same: a loss that none of them escapes is one.
        """
        reach = self.difference.ci95 or self.constant
        if reach is None:
            return None
        return reach[0] if self.fewer_is_better else -reach[1]


K = TypeVar("K")


@dataclass(frozen=True, eq=False)
class Paired:
    """One number of two entries, over the scenarios that both have it for.

    Attributes:
        a: Numerators of the one, shape (n_scenarios,).
        b: Of the other.
        weights: The denominators, the same for both, of positive sum.
    """

    a: Bounds
    b: Bounds
    weights: FloatArray

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
        ours, theirs = (
            Bounds(of.numerators.low[place], of.numerators.high[place])
            for of, place in ((a, at[0]), (b, at[1]))
        )
        return Paired(ours, theirs, weights)

    @property
    def apart(self) -> Bounds:
        """B − A, with the unresolved items of both at their worst."""
        return Bounds(self.b.low - self.a.high, self.b.high - self.a.low)


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
    groups: dict[bytes, list[K]] = {}
    for key, found in known.items():
        groups.setdefault(found.weights.tobytes(), []).append(key)
    seen: dict[K, _Seen] = {}
    for keys in groups.values():
        seen |= zip(keys, _seen([known[key] for key in keys], n_family), strict=True)
    ps = [p for key in tested if (p := seen[key].p) is not None]
    adjusted = dict(zip(tested, holm([*ps, *[1.0] * (n_family - len(ps))]), strict=False))
    return {
        key: _unknown(name or str(key), found, key in fewer_is_better)
        if isinstance(found, str)
        else Difference(
            name=name or str(key),
            n=len(found.weights),
            a=float(found.a.middle.sum() / found.weights.sum()),
            b=float(found.b.middle.sum() / found.weights.sum()),
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


def _seen(pairs: Sequence[Paired], n_family: int) -> list[_Seen]:
    """What is seen of pairs over the same scenarios, all at once.

    Args:
        pairs: Of equal weights.
        n_family: Comparisons in their family.
    """
    weights = pairs[0].weights
    total, n = float(weights.sum()), len(weights)
    apart = [pair.apart for pair in pairs]
    low, high = np.stack([of.low for of in apart]), np.stack([of.high for of in apart])
    at_low, at_high = low.sum(axis=1) / total, high.sum(axis=1) / total
    middles = (at_low + at_high) / 2
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
    try:
        intervals, why_none = ratio_intervals(both, weights), _NO_VARIATION
    except StatsError as error:
        intervals, why_none = np.full((len(both), 2), np.nan), str(error)
    # the ends of an interval need not rise with the numbers: its width can grow faster
    ends = intervals[: len(pairs)].copy()
    ends[open_, 0] = np.minimum(ends[open_, 0], intervals[len(pairs) :, 0])
    ends[open_, 1] = np.maximum(ends[open_, 1], intervals[len(pairs) :, 1])
    if n < MIN_BOOTSTRAP_CLUSTERS:
        # what is settled partly low and partly high can vary more than either end
        for place in open_.tolist():
            if not np.isnan(ends[place]).any():
                ends[place] = bounded_ratio_interval(low[place], high[place], weights)
    errors = ratio_errors((low + high) / 2, weights)
    constants = _constants(both, weights, intervals, open_, len(pairs))
    found = []
    for row in range(len(pairs)):
        ci95 = None if np.isnan(ends[row]).any() else (float(ends[row, 0]), float(ends[row, 1]))
        detectable, why_not = _detectable(float(errors[row]), n, n_family)
        estimate = Estimate(
            float(middles[row]),
            float(at_low[row]),
            float(at_high[row]),
            ci95,
            "" if ci95 else why_none,
        )
        constant = None if ci95 else constants.get(row)
        found.append(_Seen(estimate, float(p[row]), detectable, why_not, constant))
    return found


_NO_VARIATION = "no variation to take an interval from"


def _constants(
    both: FloatArray,
    weights: FloatArray,
    intervals: FloatArray,
    open_: NDArray[np.intp],
    n_pairs: int,
) -> dict[int, tuple[float, float]]:
    """Pairs that differ by the same in all scenarios → from where to where, at both bounds."""
    ratios = both.sum(axis=1) / weights.sum()
    still = ratio_errors(both, weights) == 0
    ends = np.where(still[:, np.newaxis], ratios[:, np.newaxis], intervals)
    highs = dict(zip(open_.tolist(), range(n_pairs, len(both)), strict=True))
    found = {}
    for row in range(n_pairs):
        of = ends[[row, highs.get(row, row)]]
        if (still[row] or still[highs.get(row, row)]) and not np.isnan(of).any():
            found[row] = float(of[:, 0].min()), float(of[:, 1].max())
    return found


def _detectable(standard_error: float, n: int, n_family: int) -> tuple[float | None, str]:
    """The difference that would be found four times in five, or why none is known."""
    if smallest_p(n, n_family) >= LEVEL:
        return None, (
            f"{n} scenarios can find no difference, however large, among {n_family} comparisons"
        )
    if standard_error == 0:
        return None, "all scenarios differ by the same"
    return detectable_after(standard_error, comparisons=n_family, degrees=n - 1), ""
