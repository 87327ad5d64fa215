"""From rows to arrays: one example, then what rows may lack."""

from __future__ import annotations

import numpy as np
import polars as pl

from careeval.core.scenario import Domain
from careeval.results.graded_rubric import GradedRubric
from careeval.results.tables import Runs
from careeval.stats.estimate import Bounded
from results.authored import judgments, ladder_run, responses


def test_rows_as_arrays() -> None:
    """Each scenario's rows become its points, levels, and a row of marks for a judged response."""
    marks = {"eating-1": ["1?0", "missing", "001"], "dressing-1": ["01", "10", "ungraded"]}
    points = {"eating-1": [2, 1, -2], "dressing-1": [2, -1]}
    levels = {"eating-1": {Domain.user_agency: [2, None, 0]}}
    runs = Runs.of(responses(marks), judgments(marks, points, levels))

    graded = GradedRubric.of(runs.responses, runs.judgments, 3)

    nan = np.nan
    assert graded.scenarios == ("dressing-1", "eating-1")
    assert [traits.adl for traits in graded.traits] == ["dressing", "eating"]
    assert graded.n_items.tolist() == [2, 3]
    assert graded.points.tolist() == [[2, -1, 0], [2, 1, -2]]
    assert graded.is_judged.tolist() == [[True, True, False], [True, False, True]]
    np.testing.assert_array_equal(
        graded.present,
        [[[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[1, nan, 0], [0, 0, 0], [0, 0, 1]]],
    )
    np.testing.assert_array_equal(graded.items[Domain.user_agency], [[nan] * 3, [2, nan, 0]])


def test_scenario_without_judgments_has_no_items() -> None:
    """A scenario that nothing was judged of is there, with no item and no response."""
    runs = ladder_run({"dressing-1": ["11000"], "eating-1": ["missing"]})
    graded = GradedRubric.of(runs.responses, runs.judgments, 1)
    assert graded.n_items.tolist() == [5, 0]
    assert graded.n_judged == {"dressing-1": 1, "eating-1": 0}
    assert np.isnan(graded.items[Domain.user_agency][1]).all()


def test_response_that_lacks_an_item_is_not_judged() -> None:
    """A response without a row for one of the items is not among the responses judged."""
    runs = ladder_run({"dressing-1": ["11000", "11111"]})
    lacking = runs.judgments.filter((pl.col("epoch") == 2) | (pl.col("position") != 3))
    graded = GradedRubric.of(runs.responses, lacking, 2)
    assert graded.is_judged.tolist() == [[False, True]]
    assert graded.present.tolist() == [[[0] * 5, [1] * 5]]


def test_some_of_the_scenarios() -> None:
    """Epoch k is place k - 1; what is not judged is NaN, in all scenarios or in some of them."""
    runs = ladder_run({"dressing-1": ["missing", "11000", "00000"], "eating-1": ["missing"] * 3})
    graded = GradedRubric.of(runs.responses, runs.judgments, 3)
    nan = np.nan
    earned = [[nan, 3, 0], [nan, nan, nan]]
    np.testing.assert_array_equal(graded.earned.value, earned)
    part = graded.only(graded.has("adl", "eating"))
    np.testing.assert_array_equal(part.earned.value, [[nan] * 3, earned[1]])


def test_unresolved_judgments_are_filled() -> None:
    """An item takes the mean of its other epochs; without any, that of all items of its points.

    Of all -2 there are 1 and 0 resolved, so 1/2; of +1 none, which nothing tells.
    """
    marks = {"dressing-1": ["11?", "0??", "100"], "eating-1": ["?1?", "?0?", "?0?"]}
    points = {"dressing-1": [2, -2, -1], "eating-1": [-2, -1, 1]}
    runs = Runs.of(responses(marks), judgments(marks, points))
    graded = GradedRubric.of(runs.responses, runs.judgments, 3)
    dressing, eating = graded.filled
    np.testing.assert_array_equal(dressing, [[1, 1, 0], [0, 1 / 2, 0], [1, 0, 0]])
    nan, half = np.nan, 1 / 2
    np.testing.assert_array_equal(eating, [[half, 1, nan], [half, 0, nan], [half, 0, nan]])
    assert np.isnan(graded.present[0]).sum() == 3


def test_any_error() -> None:
    """A response holds an error by 1 - Π (1 - p) over its items of those points, NaN if unknown."""
    marks = {"dressing-1": ["11??", "1110", "1000"], "eating-1": ["1", "?", "0"]}
    points = {"dressing-1": [2, -1, -2, -2], "eating-1": [-1]}
    runs = Runs.of(responses(marks), judgments(marks, points))
    graded = GradedRubric.of(runs.responses, runs.judgments, 3)
    severe, mild = (graded.any_error(points) for points in (-2, -1))
    # the third item is present in one of two, the fourth in none
    assert severe.value.tolist() == [[1 / 2, 1, 0], [0, 0, 0]]
    assert (severe.low.tolist(), severe.high.tolist()) == (
        [[0, 1, 0], [0, 0, 0]],
        [[1, 1, 0], [0, 0, 0]],
    )
    assert mild.value.tolist() == [[1, 1, 0], [1, 1 / 2, 0]]


def test_ends_that_differ() -> None:
    """There are two ways to settle where the bounds differ, and one where they do not."""
    ends = np.array([0.0]), np.array([1.0])
    assert Bounded(*ends, np.array([0.5])).settlements == ends
    assert Bounded.exact(ends[0]).settlements == (ends[0],)
