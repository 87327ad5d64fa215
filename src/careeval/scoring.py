"""Points of the responses to one rubric of one scenario.

An item is present (1), absent (0) or unresolved (NaN), where the grader gave no usable judgment. An
unresolved item counts as neither, so results are pairs of bounds: `low` settles the unresolved
items for the lowest number, `high` for the highest. They are equal if nothing is unresolved.

In `present`, a response without words is a row of zeros. A missing response has no row: the caller
leaves it out.
Sums over scenarios and epochs, and intervals, are in `careeval.stats`.

Shapes are those of one rubric. Several rubrics of equal size can be scored at once, along axes
before these: `points` of shape (n_scenarios, n_items), `present` of shape (n_scenarios,
n_responses, n_items), results of shape (n_scenarios, n_responses). A smaller rubric is filled up
with items of 0 points that are absent and rated in no domain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BEST = 2
"""Points of best practice."""

# The paper counts severe and mild errors without defining them: these definitions are ours.
SEVERE = -2
"""Points of an item that is a severe error."""
MILD = -1
"""Points of an item that is a mild error."""

_FULL_LEVEL = 2


class Bounds(NamedTuple):
    """The fewest and the most points, or errors, of each response, shape (n_responses,)."""

    low: FloatArray
    high: FloatArray


class DomainPoints(NamedTuple):
    """Points of each response in one domain, shape (n_responses,), and the most it can have.

    `maximum`, one per rubric, is 0 if no positive item serves the domain. The scenario can still
    cost points.
    """

    low: FloatArray
    high: FloatArray
    maximum: FloatArray


def scenario_points(points: IntArray, present: FloatArray) -> Bounds:
    """Return the points of each response: the sum of the points of the items present.

    Args:
        points: Points of the items, shape (n_items,).
        present: 1, 0 or NaN = unresolved, shape (n_responses, n_items).

    Returns:
        Bounds in points, from the sum of the negative items to `maximum(points)`.

    Source: CareEval (HRI Companion '26) §3.4; the bounds are ours.
    """
    return _weighted_sum(points.astype(np.float64), present)


def maximum(points: IntArray) -> int:
    """Return the most points that a response can have: the sum of the positive points, or 0."""
    return int(maxima(points))


def maxima(points: IntArray) -> IntArray:
    """Return `maximum` of several rubrics, shape (n_scenarios,), from (n_scenarios, n_items)."""
    return np.asarray(np.maximum(points, 0).sum(axis=-1))


def error_counts(points: IntArray, present: FloatArray, severity: int) -> Bounds:
    """Return the number of items present that are errors of one severity.

    The number is also 0 if the rubric has no item of that severity. A rate is then unknown, not 0.

    Args:
        points: Points of the items, shape (n_items,).
        present: 1, 0 or NaN = unresolved, shape (n_responses, n_items).
        severity: The points of the items to count, `SEVERE` or `MILD`.

    Returns:
        Bounds on the count; an unresolved item is counted in `high` alone.
    """
    is_error = (points == severity).astype(np.float64)
    return _weighted_sum(is_error, present)


def domain_weighted(points: IntArray, levels: FloatArray, present: FloatArray) -> DomainPoints:
    """Return the points of each response that count for one domain (D1, domain-weighted score).

    The points of a positive item are multiplied by how well it serves the domain, level / 2; those
    of a negative item by how badly it fails the domain, (2 - level) / 2. The score of a domain is
    the sum of the points over scenarios, divided by the sum of the maxima.

    Args:
        points: Points of the items, shape (n_items,).
        levels: Levels of the items in the domain, 0, 1 or 2, shape (n_items,). NaN = not rated in
            it: the item is skipped, which is not the same as level 0.
        present: 1, 0 or NaN = unresolved, shape (n_responses, n_items).

    Returns:
        Bounds in points, and the maximum points of the domain.

    Source: ours; the paper rates items by domain and prints no score from it.
    """
    share = np.where(points > 0, levels, _FULL_LEVEL - levels) / _FULL_LEVEL
    weights = np.where(np.isnan(levels), 0.0, points * share)
    low, high = _weighted_sum(weights, present)
    return DomainPoints(low, high, np.maximum(weights, 0).sum(axis=-1))


def _weighted_sum(weights: FloatArray, present: FloatArray) -> Bounds:
    """Return bounds on the sum of the weights of the items present."""
    fewest, most = _settled(present)
    if fewest is most:
        total = _dot(present, weights)
        return Bounds(total, total)
    gains, losses = np.maximum(weights, 0), np.minimum(weights, 0)
    return Bounds(
        low=_dot(fewest, gains) + _dot(most, losses), high=_dot(most, gains) + _dot(fewest, losses)
    )


def _dot(present: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the sum of weights × presence over the items, for each response."""
    total: FloatArray = (present @ weights[..., np.newaxis])[..., 0]
    return total


def _settled(present: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return `present` twice: with unresolved items absent, and with unresolved items present."""
    unresolved = np.isnan(present)
    if not unresolved.any():
        return present, present
    return np.where(unresolved, 0.0, present), np.where(unresolved, 1.0, present)
