"""An audit of a grader by people: its size, its sample, and what that bounds."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy import special

from careeval.errors import StatsError
from careeval.stats.intervals import TAIL, Interval, clopper_pearson
from careeval.stats.score import FloatArray

_Z = float(special.ndtri(1 - TAIL))


def audit_size(sensitivity: float, half_width: float, prevalence: float) -> int:
    """Judgments that people must read, drawn at random, to know the grader's sensitivity so well.

    For rare items it is thousands: draw by the grader's verdict instead.

    Args:
        sensitivity: What it is expected to be, above 0 and below 1.
        half_width: Half the 95% interval wanted, above 0.
        prevalence: Share of the judgments in which the item is present, above 0 to 1.

    Returns:
        As if judgments were independent; times the design effect where they cluster.

    Raises:
        StatsError: A number is out of its range.

    Source: Buderer 1996, doi:10.1111/j.1553-2712.1996.tb03538.x.
    """
    if not (0 < sensitivity < 1 and half_width > 0 and 0 < prevalence <= 1):
        raise StatsError("no plan from a sensitivity, width or prevalence out of range")
    present = _Z**2 * sensitivity * (1 - sensitivity) / half_width**2
    return ceil(present / prevalence)


def sensitivity_range(confirmed: float, not_found: int, missed: int, read: int) -> Interval:
    """The sensitivity that a sample of what the grader did not find leaves open.

    All that it did find is taken as read. For a rare item this is where the uncertainty lies: two
    misses in 94 of 940 leave .37 to .95.

    Args:
        confirmed: Judgments that the grader found present, and people too; above 0.
        not_found: All that it called absent.
        missed: Of those people read, the ones that are present to them.
        read: How many of those they read, independent of each other; above 0.

    Returns:
        Fractions, 0 to 1, from the exact interval of the share missed.

    Raises:
        StatsError: Nothing was confirmed or read, or the counts are impossible.

    Source: Clopper and Pearson 1934, Biometrika 26:404, for the share missed.
    """
    if confirmed <= 0:
        raise StatsError("nothing that the grader found is confirmed")
    if not 0 <= missed <= read <= not_found or read < 1:
        raise StatsError(f"no such sample: {missed} missed in {read} read of {not_found}")
    share = clopper_pearson(missed, read)
    low, high = (confirmed / (confirmed + not_found * miss) for miss in reversed(share))
    return Interval(low, high)


def majority_accuracy(accuracy: float, n_graders: int) -> float:
    """How often most of several graders are right, if their errors had nothing in common.

    Language models share errors, so this is what a jury of them cannot pass, not what it reaches.

    Args:
        accuracy: Of each grader, 0 to 1.
        n_graders: An odd number.

    Raises:
        StatsError: An even number of graders can tie, and a tie is for a person to settle.

    Source: Condorcet 1785; Ladha 1992, doi:10.2307/2111584 (correlated votes).
    """
    if n_graders < 1 or n_graders % 2 == 0:
        raise StatsError(f"an odd number of graders settles every item: {n_graders} does not")
    return float(special.bdtrc(n_graders // 2, n_graders, accuracy))


def inverse_weights(read: NDArray[np.bool_], inclusion: FloatArray | None) -> FloatArray:
    """What each judgment or response that people read counts for: one over its chance to be read.

    Args:
        read: Which people read, any shape.
        inclusion: The known chance of being drawn for it, above 0 to 1, the same shape; unknown
            chances of what was not read do no harm. None where all had the same.

    Returns:
        The same shape; 0 for what was not read, 1 for the rest where `inclusion` is None.

    Raises:
        StatsError: Shapes differ, or the chance of something read is not above 0 to 1.

    Source: Horvitz and Thompson 1952, doi:10.1080/01621459.1952.10483446.
    """
    weights = read.astype(np.float64)
    if inclusion is None:
        return weights
    if inclusion.shape != read.shape:
        raise StatsError(f"chances of shape {inclusion.shape} for what has shape {read.shape}")
    if not ((inclusion[read] > 0) & (inclusion[read] <= 1)).all():
        raise StatsError("something was read with a chance that is not above 0 to 1")
    weights[read] /= inclusion[read]
    return weights
