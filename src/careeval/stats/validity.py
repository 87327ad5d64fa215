"""Content validity of items, from ratings by a panel of experts.

Ratings are numbers on a scale. NaN means not rated: not asked by design, or left out. Panels are
small, so decisions use counts: "at least .78" is meant to include 7 of 9, though 7/9 < .78.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb

import numpy as np

from careeval.errors import StatsError
from careeval.stats.intervals import Interval, clopper_pearson, wilson
from careeval.stats.score import FloatArray

MIN_RATERS = 3
"""The fewest raters for a decision; with fewer, only their ratings are shown."""

MANY_RATERS = 6
"""With this many raters or more an item must reach an I-CVI; with fewer, a modified kappa."""

EXCELLENT_KAPPA = 0.74


class EndorsementRule(StrEnum):
    """A rule that keeps or revises an item, by the number of its raters who endorse it.

    `paper`: at least 0.8 of them, as in CareEval (HRI Companion '26). `lynn`: all of up to five
    raters, all but one of six to eight, all but two of nine or ten (Lynn 1986,
    doi:10.1097/00006199-198611000-00017). `polit`: at least .78, rounded to two decimals (Polit,
    Beck and Owen 2007, doi:10.1002/nur.20199).
    """

    paper = "paper"
    lynn = "lynn"
    polit = "polit"

    def min_endorsements(self, n: int) -> int:
        """Return the smallest number of endorsements by n raters that keeps an item.

        Raises:
            StatsError: There are fewer than three raters, or more than the rule is defined for.
        """
        if n < MIN_RATERS:
            raise StatsError(f"fewer than three raters decide nothing: {n}")
        match self:
            case EndorsementRule.paper:
                return -(-4 * n // 5)
            case EndorsementRule.polit:
                return -(-31 * n // 40)
            case EndorsementRule.lynn if n > 10:
                raise StatsError(f"Lynn's rule is only defined for up to ten raters, not for {n}")
            case EndorsementRule.lynn:
                return n - (n > 5) - (n > 8)

    def pass_probability(self, n: int, share: float) -> float:
        """Return the probability that an item passes with n raters drawn by chance (binomial).

        `share` of all possible raters would endorse it; raises `StatsError` as above.
        """
        passing = range(self.min_endorsements(n), n + 1)
        return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in passing)


@dataclass(frozen=True, slots=True)
class Endorsement:
    """The I-CVI of an item, as counts: `k` of the `n` raters who rated it endorse it.

    Raises:
        StatsError: Nobody rated it, or k is not from 0 to n.

    Source: Lynn 1986, doi:10.1097/00006199-198611000-00017; Polit and Beck 2006,
    doi:10.1002/nur.20147.
    """

    k: int  # Raters who endorse it, 0 to n
    n: int  # Raters, at least 1

    def __post_init__(self) -> None:
        if self.n < 1:
            raise StatsError("nobody gave a rating")
        if not 0 <= self.k <= self.n:
            raise StatsError(
                f"{self.k} of {self.n} raters endorse it, but the number must be 0 to {self.n}"
            )

    @property
    def value(self) -> float:
        """Share of raters who endorse it, 0 to 1."""
        return self.k / self.n

    @property
    def interval(self) -> Interval:
        """Exact interval of the share among raters like these; wide: .28 to .99 for 4 of 5."""
        return clopper_pearson(self.k, self.n)

    def passes(self, rule: EndorsementRule) -> bool:
        """Tell whether a rule keeps the item; raise `StatsError` as the rule does."""
        return self.k >= rule.min_endorsements(self.n)


@dataclass(frozen=True, slots=True)
class AikenV:
    """Aiken's V of an item: the mean height of its ratings on the scale, without a cut.

    Raises:
        StatsError: Nobody rated it, the scale has one category, or the sum is out of range.

    Source: Aiken 1985, doi:10.1177/0013164485451012.
    """

    excess: int  # Steps above the lowest category, summed over raters
    n: int  # Raters, at least 1
    steps: int  # Steps from the lowest category to the highest: 4 on a scale of 1 to 5

    def __post_init__(self) -> None:
        if self.n < 1:
            raise StatsError("nobody gave a rating")
        if self.steps < 1:
            raise StatsError("the scale has fewer than two categories, so it measures nothing")
        if not 0 <= self.excess <= self.n * self.steps:
            max_excess = self.n * self.steps
            raise StatsError(
                f"the ratings add up to {self.excess} steps; the sum must be 0 to {max_excess}"
            )

    @property
    def value(self) -> float:
        """V, from 0 if all gave the lowest category to 1 if all gave the highest."""
        return self.excess / (self.n * self.steps)

    @property
    def interval(self) -> Interval:
        """Wilson's score interval with n × steps trials, as if the steps were independent.

        Source: Penfield and Giacobbi 2004, doi:10.1207/s15327841mpee0804_3.
        """
        return wilson(self.excess, self.n * self.steps)


def endorsed(ratings: FloatArray, cut: float) -> FloatArray:
    """Return, for each rating, 1 if it is at least the cut, 0 if below, NaN if not rated."""
    return np.where(np.isnan(ratings), np.nan, (ratings >= cut).astype(np.float64))


def i_cvi(ratings: FloatArray, cut: float) -> Endorsement:
    """Return the number of an item's raters who endorse it.

    Args:
        ratings: Ratings of one item on one scale, shape (n_raters,). NaN = not rated, left out.
        cut: The lowest rating that endorses: 4 on a scale of 1 to 5.

    Returns:
        The counts; `value` is the I-CVI.

    Raises:
        StatsError: Nobody rated the item.
    """
    endorsements = endorsed(ratings, cut)
    return Endorsement(k=int(np.nansum(endorsements)), n=int((~np.isnan(endorsements)).sum()))


def modified_kappa(k: int, n: int) -> float:
    """Return the I-CVI corrected for the chance agreement of n coin tosses; not Cohen's kappa.

    Args:
        k: Raters who endorse the item.
        n: Raters.

    Returns:
        1 if all endorse it, a little below 0 if none does. Above .74 is called excellent, from .60
        good, from .40 fair.

    Raises:
        StatsError: As for `Endorsement`.

    Source: Polit, Beck and Owen 2007, doi:10.1002/nur.20199; exact where their table starts from
    the rounded I-CVI (.816 for 5 of 6, not .81).
    """
    by_chance = comb(n, k) * 0.5**n
    return (Endorsement(k, n).value - by_chance) / (1 - by_chance)


def falls_short_of_excellent(endorsement: Endorsement) -> str:
    """Return how an item falls short of excellent content validity; empty if it does not.

    With six raters or more it must reach an I-CVI of .78, rounded to two decimals; with three to
    five a modified kappa of .74, since so few agree by chance more often.

    Raises:
        StatsError: Fewer than three rated it.

    Source: Polit, Beck and Owen 2007, doi:10.1002/nur.20199.
    """
    k, n = endorsement.k, endorsement.n
    needed = EndorsementRule.polit.min_endorsements(n)
    if n >= MANY_RATERS:
        return "" if k >= needed else f"{k} of {n}, where {needed} were needed"
    kappa = modified_kappa(k, n)
    if kappa >= EXCELLENT_KAPPA:
        return ""
    return f"{k} of {n}, a modified kappa of {kappa:z.2f}, under {EXCELLENT_KAPPA}"


def s_cvi_ave(items: Sequence[Endorsement]) -> float:
    """Return the mean of the items' I-CVIs, with equal weight for each item.

    Over kept items alone the mean is too high, since they were kept for their I-CVIs; so publish
    the mean over all items too.

    Args:
        items: Endorsements on one scale.

    Returns:
        A fraction, 0 to 1.

    Raises:
        StatsError: There is no item.

    Source: Polit and Beck 2006, doi:10.1002/nur.20147.
    """
    return float(np.mean([item.value for item in _require_items(items)]))


def s_cvi_ua(items: Sequence[Endorsement]) -> float:
    """Return the share of the items that all of their raters endorse.

    The share falls as raters are added, so it describes a panel and is not a threshold.

    Args:
        items: Endorsements on one scale.

    Returns:
        A fraction, 0 to 1.

    Raises:
        StatsError: There is no item.

    Source: Polit and Beck 2006, doi:10.1002/nur.20147.
    """
    return float(np.mean([item.k == item.n for item in _require_items(items)]))


def cut_sensitive(ratings: FloatArray, rule: EndorsementRule, cuts: tuple[float, float]) -> bool:
    """Tell whether a rule decides differently about an item with two different cuts.

    Args:
        ratings: Ratings of one item, shape (n_raters,); NaN = not rated.
        rule: The rule.
        cuts: The declared cut and the other.

    Raises:
        StatsError: As for `i_cvi` and `EndorsementRule.min_endorsements`.
    """
    first, second = (i_cvi(ratings, cut).passes(rule) for cut in cuts)
    return first != second


def aiken_v(ratings: FloatArray, low: int, high: int) -> AikenV:
    """Return Aiken's V of an item.

    Args:
        ratings: Ratings of one item, whole numbers, shape (n_raters,); NaN = not rated, left out.
        low: The scale's lowest category, used or not.
        high: The scale's highest category, used or not.

    Returns:
        V with its score interval.

    Raises:
        StatsError: Nobody rated the item, or a rating is not on the scale.
    """
    values = ratings[~np.isnan(ratings)]
    off_scale = values[(values < low) | (values > high) | (values != np.rint(values))]
    if off_scale.size:
        raise StatsError(f"a rating of {off_scale[0]:g} is not on the scale from {low} to {high}")
    return AikenV(excess=int((values - low).sum()), n=len(values), steps=high - low)


def _require_items(items: Sequence[Endorsement]) -> Sequence[Endorsement]:
    if not items:
        raise StatsError("no item was rated")
    return items
