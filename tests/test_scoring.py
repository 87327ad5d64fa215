"""Points of one response: the worked example first, then by hand, then for any rubric."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.scoring import (
    MILD,
    SEVERE,
    FloatArray,
    IntArray,
    domain_weighted,
    error_counts,
    maximum,
    scenario_points,
)

LADDER = np.array([2, 1, 0, -1, -2])
NAN = np.nan


def test_worked_example() -> None:
    """The +2 and the -1 items present, of +2 +1 0 -1 -2, score (2 - 1) / (2 + 1) = 1/3."""
    present = np.array([[1.0, 0.0, 0.0, 1.0, 0.0]])

    low, high = scenario_points(LADDER, present)

    assert low == high == 1
    assert maximum(LADDER) == 3
    assert low / maximum(LADDER) == pytest.approx(1 / 3)


# Points


def test_points_of_three_rubrics() -> None:
    """C01: a response has the sum of the points of what is present, over three rubrics."""
    rubrics = [
        (LADDER, [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 1]], [2, 1, -3], 3),
        (np.array([2, 1, 1]), [[1, 1, 0], [1, 0, 1], [0, 1, 0]], [3, 3, 1], 4),
        (np.array([2, 2, -1, -2]), [[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]], [4, 1, -3], 4),
    ]
    for points, present, expected, most in rubrics:
        low, high = scenario_points(points, np.array(present, dtype=float))
        assert low.tolist() == high.tolist() == expected
        assert maximum(points) == most


def test_additive_score_of_the_ladder() -> None:
    """C24: the second rung alone scores 1/3, and the top rung alone only 2/3, since they add up."""
    present = [
        [1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 1, 0, 1, 0],
        [1, 0, 0, 0, 1],
        [0, 0, 0, 0, 0],
    ]
    low, _ = scenario_points(LADDER, np.array(present, dtype=float))
    assert (low / maximum(LADDER)).tolist() == pytest.approx([1, 2 / 3, 1 / 3, 0, 0, 0])


def test_rubric_without_negative_items() -> None:
    """C25: without negative items no response is below 0, and there is no error to count."""
    points = np.array([2, 1, 1])
    every = np.array(list(itertools.product([0.0, 1.0], repeat=3)))

    low, high = scenario_points(points, every)

    assert low.min() / maximum(points) == 0
    assert high.max() / maximum(points) == 1
    assert error_counts(points, every, SEVERE).high.max() == 0


def test_rubric_without_positive_items_has_no_maximum() -> None:
    """Without positive items the maximum is 0."""
    assert maximum(np.array([0, -1, -2])) == 0


def test_unresolved_items_widen_by_their_sign() -> None:
    """An unresolved +2 raises the upper bound by 2, and an unresolved -2 lowers the lower by 2."""
    present = np.array([[NAN, 1, 0, 0, 0], [0, 1, 0, 0, NAN], [NAN, NAN, NAN, NAN, NAN]])
    low, high = scenario_points(LADDER, present)
    assert low.tolist() == [1, -1, -3]
    assert high.tolist() == [3, 1, 3]


# Errors


def test_errors_are_counted_by_their_points() -> None:
    """A -2 present is one severe error and no mild one; if unresolved, it is in high alone."""
    points = np.array([2, -1, -2, -2])
    present = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, NAN, 1.0, NAN]])

    severe = error_counts(points, present, SEVERE)
    mild = error_counts(points, present, MILD)

    assert (severe.low.tolist(), severe.high.tolist()) == ([1, 1], [1, 2])
    assert (mild.low.tolist(), mild.high.tolist()) == ([1, 0], [1, 1])


# Domains

EXAMPLE_LEVELS = np.array([[2, 2, 2, 1, 0], [2, 1, 1, 1, 0], [2, 2, 1, 1, 0]], dtype=float)
"""One row a domain, one column a rung of the ladder."""

# All 32 subsets, counted in binary with the +2 rung first, in thirtieths.
EXAMPLE_WEIGHTED = [
    (0, 0, 0), (-20, -24, -20), (-5, -6, -5), (-25, -30, -25),
    (0, 0, 0), (-20, -24, -20), (-5, -6, -5), (-25, -30, -25),
    (10, 6, 10), (-10, -18, -10), (5, 0, 5), (-15, -24, -15),
    (10, 6, 10), (-10, -18, -10), (5, 0, 5), (-15, -24, -15),
    (20, 24, 20), (0, 0, 0), (15, 18, 15), (-5, -6, -5),
    (20, 24, 20), (0, 0, 0), (15, 18, 15), (-5, -6, -5),
    (30, 30, 30), (10, 6, 10), (25, 24, 25), (5, 0, 5),
    (30, 30, 30), (10, 6, 10), (25, 24, 25), (5, 0, 5),
]  # fmt: skip
SUBSETS = np.array(list(itertools.product([0.0, 1.0], repeat=5)))


@pytest.mark.parametrize("domain", [0, 1, 2])
def test_domain_weighted_of_every_subset(domain: int) -> None:
    """D01: the domain-weighted score of all 32 subsets of five items is the hand table's."""
    low, high, most = domain_weighted(LADDER, EXAMPLE_LEVELS[domain], SUBSETS)
    expected = [row[domain] / 30 for row in EXAMPLE_WEIGHTED]
    assert (low / most).tolist() == pytest.approx(expected)
    assert (high / most).tolist() == pytest.approx(expected)


def test_item_that_is_not_rated_is_skipped() -> None:
    """An item without a level in a domain counts for nothing there, unlike an error at level 0."""
    points = np.array([2, 1, -2])
    both = np.array([[1.0, 0.0, 1.0]])
    unrated, at_zero = np.array([2, 2, NAN]), np.array([2, 2, 0.0])

    # 2 of 3, against (2 - 2) of 3.
    assert domain_weighted(points, unrated, both).low == 2
    assert domain_weighted(points, at_zero, both).low == 0


def test_domain_with_errors_alone() -> None:
    """If only an error is rated, it costs points of a maximum of 0."""
    points, levels = np.array([2, -2]), np.array([NAN, 0.0])
    present = np.array([[1.0, 1.0]])

    weighted = domain_weighted(points, levels, present)

    assert weighted.low == weighted.high == -2
    assert weighted.maximum == 0


# For any rubric

RUBRICS = st.lists(
    st.tuples(st.integers(-2, 2), st.sampled_from([0.0, 1.0, 2.0, NAN])), min_size=1, max_size=6
)
MARKS = st.sampled_from([0.0, 1.0, NAN])


@st.composite
def judged(draw: st.DrawFn) -> tuple[IntArray, FloatArray, FloatArray]:
    """Points, levels in one domain, and the judgments of one response, some unresolved."""
    items = draw(RUBRICS)
    marks = draw(st.lists(MARKS, min_size=len(items), max_size=len(items)))
    points, levels = zip(*items, strict=True)
    return np.array(points), np.array(levels), np.array([marks])


def all_bounds(points: IntArray, levels: FloatArray, present: FloatArray) -> list[list[float]]:
    """The [low, high] of one response by every function here."""
    pairs = [
        scenario_points(points, present),
        error_counts(points, present, SEVERE),
        error_counts(points, present, MILD),
        domain_weighted(points, levels, present)[:2],
    ]
    return [[float(low[0]), float(high[0])] for low, high in pairs]


@given(judged(), st.randoms())
def test_order_of_items_changes_nothing(
    response: tuple[IntArray, FloatArray, FloatArray], rng: random.Random
) -> None:
    """Whatever the order of the items, all bounds stay the same."""
    points, levels, present = response
    order = list(range(len(points)))
    rng.shuffle(order)
    shuffled = all_bounds(points[order], levels[order], present[:, order])
    np.testing.assert_allclose(shuffled, all_bounds(points, levels, present))


@given(judged())
def test_bounds_are_the_extremes_of_every_settlement(
    response: tuple[IntArray, FloatArray, FloatArray],
) -> None:
    """Every way of settling the unresolved items is within the bounds, and some reach them."""
    points, levels, present = response
    unresolved = np.isnan(present[0])
    settled = []
    for marks in itertools.product([0.0, 1.0], repeat=int(unresolved.sum())):
        resolution = present.copy()
        resolution[0, unresolved] = marks
        settled.append(all_bounds(points, levels, resolution))
    low_high = np.array(settled)
    np.testing.assert_allclose(low_high[..., 0], low_high[..., 1])
    extremes = np.column_stack([low_high.min(axis=(0, 2)), low_high.max(axis=(0, 2))])
    np.testing.assert_allclose(all_bounds(points, levels, present), extremes)


@given(judged(), st.data())
def test_a_present_item_moves_numbers_its_own_way(
    response: tuple[IntArray, FloatArray, FloatArray], data: st.DataObject
) -> None:
    """A positive item made present lowers no points, and a negative one raises none."""
    points, levels, present = response
    item = data.draw(st.integers(0, len(points) - 1))
    without, having = present.copy(), present.copy()
    without[0, item], having[0, item] = 0, 1
    not_counts = [0, 3]
    before = np.array(all_bounds(points, levels, without))[not_counts]
    after = np.array(all_bounds(points, levels, having))[not_counts]
    moved = (after - before)[~np.isnan(before)]
    if points[item] > 0:
        assert (moved >= 0).all()
    if points[item] < 0:
        assert (moved <= 0).all()
