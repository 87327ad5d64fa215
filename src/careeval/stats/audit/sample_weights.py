"""Weights of the judgments in an audit sample, and the sensitivity that a sample leaves open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError
from careeval.stats.intervals import Interval, clopper_pearson
from careeval.stats.score import FloatArray


def sensitivity_range(confirmed: float, not_found: int, missed: int, read: int) -> Interval:
    """Return the interval of sensitivity, given a sample of what the grader called absent.

    It assumes that people read all judgments of `present`. For a rare item most of the uncertainty
    is in what the grader may have missed: with 42 confirmed, two misses in 94 read of 940 leave .37
    to .95.

    Args:
        confirmed: Judgments of present that people confirmed; above 0.
        not_found: All judgments of absent.
        missed: Judgments of absent that people read and call present.
        read: Judgments of absent that people read, independent of each other; above 0.

    Returns:
        Fractions, 0 to 1, from the exact interval of the share missed.

    Raises:
        StatsError: Nothing was confirmed or read, or the counts are inconsistent.

    Source: Clopper and Pearson 1934, Biometrika 26:404, for the share missed.
    """
    if confirmed <= 0:
        raise StatsError("people confirmed nothing that the grader found")
    if not 0 <= missed <= read <= not_found or read < 1:
        raise StatsError(
            f"{missed} missed, {read} read, {not_found} called absent: each must be at most the "
            "next, and at least one read"
        )
    share = clopper_pearson(missed, read)
    low, high = (confirmed / (confirmed + not_found * miss) for miss in reversed(share))
    return Interval(low, high)


def inverse_weights(read: NDArray[np.bool_], inclusion: FloatArray | None) -> FloatArray:
    """Return the weight of each judgment or response: 1 / its chance to be read, 0 if not read.

    Args:
        read: Mask of those that people read, any shape.
        inclusion: The known chance of being drawn, above 0 and at most 1, the same shape; ignored
            for those not read. `None` if it was the same for all.

    Returns:
        Weights of the same shape; if `inclusion` is `None`, 1 for those read.

    Raises:
        StatsError: Shapes differ, or the chance of something read is not above 0 and at most 1.

    Source: Horvitz and Thompson 1952, doi:10.1080/01621459.1952.10483446.
    """
    weights = read.astype(np.float64)
    if inclusion is None:
        return weights
    if inclusion.shape != read.shape:
        raise StatsError(
            f"the chances have shape {inclusion.shape}, what was read {read.shape}; they must be "
            "the same"
        )
    if not ((inclusion[read] > 0) & (inclusion[read] <= 1)).all():
        raise StatsError("the chance of everything read must be above 0 and at most 1")
    weights[read] /= inclusion[read]
    return weights
