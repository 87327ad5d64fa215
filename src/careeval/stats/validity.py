"""Content validity: do those who know the work find an item realistic, valid, worth keeping?

Ratings are numbers on a scale, NaN = not rated: not asked by design, or left out. Panels are small,
so decisions go by counts: 7 of 9 is what "at least .78" means, though 7/9 < .78.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb

import numpy as np

from careeval.errors import StatsError
from careeval.stats.intervals import Interval, clopper_pearson
from careeval.stats.rates import wilson
from careeval.stats.score import FloatArray

MIN_RATERS = 3
"""With fewer raters nothing is decided: their ratings are shown as they are."""


MANY_RATERS = 6
"""From so many raters up an item is held to an I-CVI; fewer are held to a modified kappa."""

EXCELLENT_KAPPA = 0.74


class Rule(StrEnum):
    """When an item is kept rather than revised, by how many of its raters endorse it.

    `paper`: at least 0.8 of them, as CareEval (HRI Companion '26) has it. `lynn`: up to five raters
    all, of six to eight all but one, of nine or ten all but two (Lynn 1986,
    doi:10.1097/00006199-198611000-00017). `polit`: at least .78, rounded to two decimals (Polit,
    Beck and Owen 2007, doi:10.1002/nur.20199).
    """

    paper = "paper"
    lynn = "lynn"
    polit = "polit"

    def least(self, n: int) -> int:
        """The smallest number of n raters that keeps an item.

        Raises:
            StatsError: There are fewer than three raters, or more than the rule was made for.
        """
        if n < MIN_RATERS:
            raise StatsError(f"fewer than three raters decide nothing: {n}")
        match self:
            case Rule.paper:
                return -(-4 * n // 5)
            case Rule.polit:
                return -(-31 * n // 40)
            case Rule.lynn if n > 10:
                raise StatsError(f"Lynn's rule ends at ten raters: {n}")
            case Rule.lynn:
                return n - (n > 5) - (n > 8)


@dataclass(frozen=True, slots=True)
class Endorsement:
    """The I-CVI of an item, kept as its count: `k` of the `n` who rated it endorse it.

    Attributes:
        k: Raters who endorse it, 0 to n.
        n: Raters, at least 1.

    Raises:
        StatsError: Nobody rated it, or the counts are impossible.

    Source: Lynn 1986, doi:10.1097/00006199-198611000-00017; Polit and Beck 2006,
    doi:10.1002/nur.20147.
    """

    k: int
    n: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise StatsError("nobody rated it")
        if not 0 <= self.k <= self.n:
            raise StatsError(f"no such count: {self.k} of {self.n}")

    @property
    def value(self) -> float:
        """The share that endorses it, 0 to 1."""
        return self.k / self.n

    @property
    def interval(self) -> Interval:
        """Where that share lies among raters like these; exact, and wide: .28 to .99 for 4 of 5."""
        return clopper_pearson(self.k, self.n)

    def passes(self, rule: Rule) -> bool:
        """Whether a rule keeps the item; raises `StatsError` as `Rule.least` does."""
        return self.k >= rule.least(self.n)


@dataclass(frozen=True, slots=True)
class AikenV:
    """Aiken's V of an item: how far up the scale its ratings stand, without a cut.

    Attributes:
        excess: Steps above the lowest category, summed over raters.
        n: Raters, at least 1.
        steps: Steps from the lowest category to the highest: 4 on a scale of 1 to 5.

    Raises:
        StatsError: Nobody rated it, the scale has one category, or the sum is impossible.

    Source: Aiken 1985, doi:10.1177/0013164485451012.
    """

    excess: int
    n: int
    steps: int

    def __post_init__(self) -> None:
        if self.n < 1:
            raise StatsError("nobody rated it")
        if self.steps < 1:
            raise StatsError("a scale of one category measures nothing")
        if not 0 <= self.excess <= self.n * self.steps:
            raise StatsError(f"no such sum: {self.excess} of {self.n * self.steps} steps")

    @property
    def value(self) -> float:
        """From 0, where all gave the lowest category, to 1, where all gave the highest."""
        return self.excess / (self.n * self.steps)

    @property
    def interval(self) -> Interval:
        """Score interval: Wilson's of n × steps trials, which takes the steps as independent.

        Source: Penfield and Giacobbi 2004, doi:10.1207/s15327841mpee0804_3.
        """
        return wilson(self.excess, self.n * self.steps)


def endorsed(ratings: FloatArray, cut: float) -> FloatArray:
    """1 where a rating is at least the cut, 0 where it is below, NaN where there is none."""
    return np.where(np.isnan(ratings), np.nan, (ratings >= cut).astype(np.float64))


def i_cvi(ratings: FloatArray, cut: float, *, strict: bool = False) -> Endorsement:
    """How many of an item's raters endorse it.

    Args:
        ratings: Of one item on one scale, shape (n_raters,). NaN = not rated.
        cut: The lowest rating that endorses: 4 on a scale of 1 to 5.
        strict: Count a missing rating as no endorsement, rather than leave it out. Then only those
            who were asked belong in `ratings`.

    Returns:
        Its count; `value` is the I-CVI.

    Raises:
        StatsError: Nobody rated the item, or, if strict, was asked to.
    """
    known = endorsed(ratings, cut)
    asked = np.ones_like(known, dtype=np.bool_) if strict else ~np.isnan(known)
    return Endorsement(k=int(np.nansum(known)), n=int(asked.sum()))


def modified_kappa(k: int, n: int) -> float:
    """The I-CVI less what n raters who toss a coin would agree on by chance; no Cohen's kappa.

    Args:
        k: Raters who endorse the item.
        n: Raters.

    Returns:
        1 where all endorse it; a little below 0 where none does. Above .74 is called excellent,
        from .60 good, from .40 fair.

    Raises:
        StatsError: As `Endorsement`.

    Source: Polit, Beck and Owen 2007, doi:10.1002/nur.20199; exact where their table starts from
    the rounded I-CVI (.816 for 5 of 6, not .81).
    """
    by_chance = comb(n, k) * 0.5**n
    return (Endorsement(k, n).value - by_chance) / (1 - by_chance)


def falls_short_of_excellent(given: Endorsement) -> str:
    """Return how an item falls short of excellent content validity; empty where it does not.

    Six raters or more: an I-CVI of .78, rounded to two decimals. Three to five: a modified kappa
    above .74, since so few agree by chance more often.

    Raises:
        StatsError: Fewer than three rated it.

    Source: Polit, Beck and Owen 2007, doi:10.1002/nur.20199.
    """
    least = Rule.polit.least(given.n)
    if given.n >= MANY_RATERS:
        return "" if given.k >= least else f"{given.k} of {given.n}, where {least} were needed"
    kappa = modified_kappa(given.k, given.n)
    if kappa >= EXCELLENT_KAPPA:
        return ""
    return f"{given.k} of {given.n}, a modified kappa of {kappa:.2f}, under {EXCELLENT_KAPPA}"


def s_cvi_ave(items: Sequence[Endorsement]) -> float:
    """Mean of the items' I-CVIs, each item weighing the same however many rated it.

    Over the items that were kept it is too high, by the keeping: so it goes with that of all items.

    Args:
        items: Of one scale.

    Returns:
        A fraction, 0 to 1.

    Raises:
        StatsError: There is no item.

    Source: Polit and Beck 2006, doi:10.1002/nur.20147.
    """
    return float(np.mean([item.value for item in _some(items)]))


def s_cvi_ua(items: Sequence[Endorsement]) -> float:
    """Share of the items that every one of their raters endorses.

    It falls as raters are added, so it describes a panel and is no threshold.

    Args:
        items: Of one scale.

    Returns:
        A fraction, 0 to 1.

    Raises:
        StatsError: There is no item.

    Source: Polit and Beck 2006, doi:10.1002/nur.20147.
    """
    return float(np.mean([item.k == item.n for item in _some(items)]))


def cut_sensitive(ratings: FloatArray, rule: Rule, cuts: tuple[float, float]) -> bool:
    """Whether what a rule decides of an item depends on which of two cuts is taken.

    Args:
        ratings: Of one item, shape (n_raters,); NaN = not rated.
        rule: The rule.
        cuts: The declared cut and the other.

    Raises:
        StatsError: As `i_cvi` and `Rule.least`.
    """
    first, second = (i_cvi(ratings, cut).passes(rule) for cut in cuts)
    return first != second


def aiken_v(ratings: FloatArray, low: int, high: int) -> AikenV:
    """Aiken's V of an item.

    Args:
        ratings: Of one item, whole numbers, shape (n_raters,); NaN = not rated, left out.
        low: The scale's lowest category, which may be in no rating.
        high: Its highest.

    Returns:
        V with its score interval.

    Raises:
        StatsError: Nobody rated the item, or a rating is not on the scale.
    """
    known = ratings[~np.isnan(ratings)]
    off = known[(known < low) | (known > high) | (known != np.rint(known))]
    if off.size:
        raise StatsError(f"a rating of {off[0]:g} is not on the scale from {low} to {high}")
    return AikenV(excess=int((known - low).sum()), n=len(known), steps=high - low)


def _some(items: Sequence[Endorsement]) -> Sequence[Endorsement]:
    if not items:
        raise StatsError("no item was rated")
    return items
