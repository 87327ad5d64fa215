"""Agreement of two readings, by graders or people, of the same responses."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from careeval.errors import StatsError
from careeval.stats.intervals import Interval
from careeval.stats.rates import rate_interval
from careeval.stats.resampling import jackknife_interval
from careeval.stats.score import FloatArray

# Present judgments, mean of the two readings, where: both say present, one alone, neither.
_MEAN_PRESENT = np.array([1, 0.5, 0])


def positive_agreement(counts: FloatArray) -> float:
    """Return the agreement of two readings on what is present: 2 × both / (2 × both + one).

    It leaves out what both call absent, which is most judgments of a grader.

    Args:
        counts: For each scenario, the number of judgments that both readings call present, that
            only one does, and that neither does, shape (n_scenarios, 3). May be sums of weights.

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
    """Return the interval of `positive_agreement`, clustered by scenario.

    It is the interval of a rate (`rate_interval`): the number that both call present, divided by
    the mean number that a reading calls present.

    Args:
        counts: As for `positive_agreement`.
        read: Needed if `counts` are weighted: the same judgments counted once each, so that weights
            never count as more judgments than were made.

    Returns:
        Fractions, 0 to 1.

    Raises:
        StatsError: Neither reading calls anything present, or only in fewer than five scenarios
            does either.
    """
    positive_agreement(counts)
    present = counts @ _MEAN_PRESENT
    scale = 1.0 if read is None else float((read @ _MEAN_PRESENT).sum() / present.sum())
    return rate_interval(counts[:, 0] * scale, present * scale, most_a_family=np.inf)


def presence_ac1(counts: FloatArray) -> float:
    """Return Gwet's AC1 of two readings of what is present and what is absent.

    Args:
        counts: As for `positive_agreement`.

    Returns:
        1 if all agree, 0 if no better than chance, below 0 if worse. The same as `gwet_ac1` of the
        readings with levels 0 and 1.

    Raises:
        StatsError: No judgment was made in both readings.

    Source: Gwet 2008, doi:10.1348/000711006X126600.
    """
    if not counts.sum():
        raise StatsError("no judgment was made in both readings")
    return float(_ac1(counts.sum(axis=0, keepdims=True))[0])


def presence_ac1_interval(counts: FloatArray, read: FloatArray | None = None) -> Interval:
    """Return the interval of `presence_ac1`, clustered by scenario.

    It is a jackknife over scenarios, unreliable if there are few disagreements or if a few have
    large weights. So if it is not defined, or if judgments are weighted, the interval is widened to
    include a second: that of the share on which both agree (`rate_interval`), put into AC1 with
    chance agreement fixed.

    Args:
        counts: As for `positive_agreement`.
        read: As for `positive_agreement_interval`.

    Returns:
        An interval on the scale of the coefficient, at most 1.

    Raises:
        StatsError: There are fewer than five scenarios, or no judgment was made in both readings.
    """
    presence_ac1(counts)
    counts = counts[counts.any(axis=1)]
    intervals = []
    # if there are too few scenarios, the other interval raises
    with suppress(StatsError):
        intervals.append(jackknife_interval(_ac1, counts, 2))
    if read is not None or not intervals:
        agree, trials = counts[:, [0, 2]].sum(axis=1), counts.sum(axis=1)
        scale = 1.0 if read is None else float(read.sum() / trials.sum())
        by_chance = float(_by_chance(counts.sum(axis=0, keepdims=True))[0])
        low, high = rate_interval(agree * scale, trials * scale, most_a_family=np.inf)
        intervals.append(Interval(*((end - by_chance) / (1 - by_chance) for end in (low, high))))
    return Interval(min(i.low for i in intervals), max(i.high for i in intervals))


def _ac1(sums: FloatArray) -> FloatArray:
    """Return AC1 of each row of three counts; NaN if all three are 0."""
    by_chance = _by_chance(sums)
    with np.errstate(invalid="ignore"):
        same = sums[:, [0, 2]].sum(axis=1) / sums.sum(axis=1)
    return np.asarray((same - by_chance) / (1 - by_chance))


def _by_chance(sums: FloatArray) -> FloatArray:
    """Return the chance agreement of AC1 of each row, at most a half."""
    with np.errstate(invalid="ignore"):
        present = (sums @ _MEAN_PRESENT) / sums.sum(axis=1)
    return np.asarray(2 * present * (1 - present))
