"""How far two readings of the same things agree."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from careeval.errors import StatsError
from careeval.stats.agreement.jackknife import jackknife_interval
from careeval.stats.intervals import Interval
from careeval.stats.rates import rate_interval
from careeval.stats.score import FloatArray

# What a judgment adds to what a reading calls present on average: one, or a half if one alone does.
_SHARE_PRESENT = np.array([1, 0.5, 0])


def weighted_kappa(first: Sequence[int], second: Sequence[int], levels: Sequence[int]) -> float:
    """Cohen's kappa with quadratic weights: two levels apart weigh four times one level.

    Args:
        first: One reading's levels.
        second: The other's, of the same things in the same order.
        levels: Every level that could have been given, ascending and evenly spaced.

    Returns:
        1 where all agree, 0 where no better than chance given both readings' own shares; below 0
        where worse.

    Raises:
        StatsError: Nothing was read, a level is not among the levels, or each reading gave one and
            the same level throughout, so that chance alone would agree.

    Source: Cohen 1968, doi:10.1037/h0026256; Fleiss and Cohen 1973, doi:10.1177/001316447303300309.
    """
    if len(first) != len(second):
        raise StatsError(f"{len(first)} readings against {len(second)}")
    if not first:
        raise StatsError("nothing was read")
    place = {level: i for i, level in enumerate(levels)}
    if unknown := sorted({*first, *second} - set(place)):
        raise StatsError(f"level {unknown[0]} is not among {list(levels)}")
    counts = np.zeros((len(levels), len(levels)))
    for a, b in zip(first, second, strict=True):
        counts[place[a], place[b]] += 1
    distance = np.subtract.outer(np.arange(len(levels)), np.arange(len(levels))) ** 2
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(first)
    by_chance = float((distance * expected).sum())
    if by_chance == 0:
        raise StatsError("both readings gave one and the same level throughout")
    return 1 - float((distance * counts).sum()) / by_chance


def positive_agreement(counts: FloatArray) -> float:
    """Agreement of two readings on what is present: 2 × both / (2 × both + one alone).

    It leaves out what both call absent, which is most of what a grader judges.

    Args:
        counts: Judgments that both readings call present, that one alone does, and that neither
            does, of each scenario, shape (n_scenarios, 3). Whole, or sums of weights.

    Returns:
        A fraction, 0 to 1: the F1 of either reading against the other.

    Raises:
        StatsError: Neither reading calls anything present.

    Source: Cicchetti and Feinstein 1990, doi:10.1016/0895-4356(90)90159-M.
    """
    both, one, _ = counts.sum(axis=0)
    if not both + one:
        raise StatsError("neither of the two calls anything present")
    return float(2 * both / (2 * both + one))


def positive_agreement_interval(counts: FloatArray, read: FloatArray | None = None) -> Interval:
    """Interval of `positive_agreement`, clustered by scenario.

    It is the interval of a rate (`rate_interval`): of what a reading calls present on average, the
    part that both do.

    Args:
        counts: As of `positive_agreement`.
        read: The same judgments counted once each, where `counts` weighs them; else not given.

    Returns:
        Fractions, 0 to 1.

    Raises:
        StatsError: Neither reading calls anything present, or fewer than five scenarios have
            anything that one of them does.
    """
    positive_agreement(counts)
    present = counts @ _SHARE_PRESENT
    scale = 1.0 if read is None else float((read @ _SHARE_PRESENT).sum() / present.sum())
    return rate_interval(counts[:, 0] * scale, present * scale, most_a_family=np.inf)


def presence_ac1(counts: FloatArray) -> float:
    """Gwet's AC1 of two readings of what is present and what is absent.

    Args:
        counts: As of `positive_agreement`.

    Returns:
        1 where all agree, 0 where no better than chance; below 0 where worse. The same as
        `gwet_ac1` of the readings with levels 0 and 1.

    Raises:
        StatsError: Nothing was read.

    Source: Gwet 2008, doi:10.1348/000711006X126600.
    """
    if not counts.sum():
        raise StatsError("nothing was read by both")
    return float(_ac1(counts.sum(axis=0, keepdims=True))[0])


def presence_ac1_interval(counts: FloatArray, read: FloatArray | None = None) -> Interval:
    """Interval of `presence_ac1`, clustered by scenario.

    A jackknife over scenarios. Few disagreements, or few that weigh much, are too little for it:
    where it has no value, or judgments are weighted, the interval also takes in that of the share
    on which both agree (`rate_interval`), with the agreement by chance held.

    Args:
        counts: As of `positive_agreement`.
        read: As of `positive_agreement_interval`.

    Returns:
        On the coefficient's scale, at most 1.

    Raises:
        StatsError: There are fewer than five scenarios, or nothing was read.
    """
    presence_ac1(counts)
    counts = counts[counts.any(axis=1)]
    found = []
    # where there are too few scenarios, the other interval says so
    with suppress(StatsError):
        found.append(jackknife_interval(_ac1, counts, 2))
    if read is not None or not found:
        agree, trials = counts[:, [0, 2]].sum(axis=1), counts.sum(axis=1)
        scale = 1.0 if read is None else float(read.sum() / trials.sum())
        by_chance = float(_by_chance(counts.sum(axis=0, keepdims=True))[0])
        low, high = rate_interval(agree * scale, trials * scale, most_a_family=np.inf)
        found.append(Interval(*((end - by_chance) / (1 - by_chance) for end in (low, high))))
    return Interval(min(i.low for i in found), max(i.high for i in found))


def _ac1(sums: FloatArray) -> FloatArray:
    """AC1 of each row of three counts; NaN where nothing was read."""
    by_chance = _by_chance(sums)
    with np.errstate(invalid="ignore"):
        same = sums[:, [0, 2]].sum(axis=1) / sums.sum(axis=1)
    return np.asarray((same - by_chance) / (1 - by_chance))


def _by_chance(sums: FloatArray) -> FloatArray:
    """Agreement of each row that AC1 takes for chance, at most a half."""
    with np.errstate(invalid="ignore"):
        present = (sums @ _SHARE_PRESENT) / sums.sum(axis=1)
    return np.asarray(2 * present * (1 - present))
