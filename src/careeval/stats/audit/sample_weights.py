"""An audit of a grader by people: what its sample bounds, and what each reading weighs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from careeval.errors import StatsError
from careeval.stats.intervals import Interval, clopper_pearson
from careeval.stats.score import FloatArray


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
