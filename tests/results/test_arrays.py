"""From rows to arrays: one example, then what rows may lack."""

from __future__ import annotations

import numpy as np
import polars as pl

from careeval.core.scenario import Domain
from careeval.results.arrays import BoundedValues, JudgmentArrays, graded_scenarios
from careeval.results.tables import Runs
from results.authored import judgments, ladder_run, responses


def test_rows_as_arrays() -> None:
    """Each scenario's rows become its points, levels, and a row of marks for a judged response."""
    marks = {"eating-1": ["1?0", "missing", "001"], "dressing-1": ["01", "10", "ungraded"]}
    points = {"eating-1": [2, 1, -2], "dressing-1": [2, -1]}
    levels = {"eating-1": {Domain.user_agency: [2, None, 0]}}
    runs = Runs.of(responses(marks), judgments(marks, points, levels))

    dressing, eating = graded_scenarios(runs.responses, runs.judgments)

    assert (dressing.scenario, dressing.about.adl) == ("dressing-1", "dressing")
    assert dressing.points.tolist() == [2, -1]
    assert dressing.epochs.tolist() == [1, 2]
    assert dressing.present.tolist() == [[0, 1], [1, 0]]
    assert np.isnan(dressing.levels[Domain.user_agency]).all()
    assert (eating.scenario, eating.epochs.tolist()) == ("eating-1", [1, 3])
    np.testing.assert_array_equal(eating.present, [[1, np.nan, 0], [0, 0, 1]])
    np.testing.assert_array_equal(eating.levels[Domain.user_agency], [2, np.nan, 0])


def test_scenario_without_judgments_has_no_items() -> None:
    """A scenario that nothing was judged of is there, with no item and no response."""
    runs = ladder_run({"dressing-1": ["11000"], "eating-1": ["missing"]})
    _, eating = graded_scenarios(runs.responses, runs.judgments)
    assert eating.points.shape == (0,)
    assert eating.present.shape == (0, 0)
    assert eating.levels[Domain.user_agency].shape == (0,)


def test_response_that_lacks_an_item_is_not_judged() -> None:
    """A response without a row for one of the items is not among the responses judged."""
    runs = ladder_run({"dressing-1": ["11000", "11111"]})
    lacking = runs.judgments.filter((pl.col("epoch") == 2) | (pl.col("position") != 3))
    (dressing,) = graded_scenarios(runs.responses, lacking)
    assert dressing.epochs.tolist() == [2]
    assert dressing.present.tolist() == [[1, 1, 1, 1, 1]]


def test_judged() -> None:
    """Epoch k is place k - 1; what is not judged is NaN, and a small rubric has no item more."""
    runs = ladder_run({"dressing-1": ["missing", "11000", "00000"], "eating-1": ["missing"] * 3})
    scenarios = graded_scenarios(runs.responses, runs.judgments)

    found = JudgmentArrays.of(scenarios, 3)
    bounds = found.settled(lambda present: (present.sum(axis=2), present.sum(axis=2) + 4))

    nan = np.nan
    np.testing.assert_array_equal(bounds.low, [[nan, 2, 0], [nan, nan, nan]])
    np.testing.assert_array_equal(bounds.high, [[nan, 6, 4], [nan, nan, nan]])
    assert found.points[1].tolist() == [0] * 5


def test_unresolved_judgments_are_filled() -> None:
    """An item takes the mean of its other epochs; without any, that of all items of its points.

    Of all -2 there are 1 and 0 resolved, so 1/2; of +1 none, which nothing tells.
    """
    marks = {"dressing-1": ["11?", "0??", "100"], "eating-1": ["?1?", "?0?", "?0?"]}
    points = {"dressing-1": [2, -2, -1], "eating-1": [-2, -1, 1]}
    runs = Runs.of(responses(marks), judgments(marks, points))
    dressing, eating = graded_scenarios(runs.responses, runs.judgments)
    np.testing.assert_array_equal(dressing.filled, [[1, 1, 0], [0, 1 / 2, 0], [1, 0, 0]])
    nan, half = np.nan, 1 / 2
    np.testing.assert_array_equal(eating.filled, [[half, 1, nan], [half, 0, nan], [half, 0, nan]])
    assert np.isnan(dressing.present).sum() == 3


def test_any_error() -> None:
    """A response holds an error by 1 - Π (1 - p) over its items of those points, NaN if unknown."""
    marks = {"dressing-1": ["11??", "1110", "1000"], "eating-1": ["1", "?", "0"]}
    points = {"dressing-1": [2, -1, -2, -2], "eating-1": [-1]}
    runs = Runs.of(responses(marks), judgments(marks, points))
    judged = JudgmentArrays.of(graded_scenarios(runs.responses, runs.judgments), 3)
    severe, mild = (judged.any_present(judged.are_errors(points)) for points in (-2, -1))
    # the third item is present in one of two, the fourth in none
    assert severe.value.tolist() == [[1 / 2, 1, 0], [0, 0, 0]]
    assert (severe.low.tolist(), severe.high.tolist()) == (
        [[0, 1, 0], [0, 0, 0]],
        [[1, 1, 0], [0, 0, 0]],
    )
    assert mild.value.tolist() == [[1, 1, 0], [1, 1 / 2, 0]]


def test_bounds_of_some_scenarios() -> None:
    """Choosing scenarios takes the same rows of all three arrays."""
    rows = [np.array([[k], [k + 1.0]]) for k in (0.0, 4, 2)]
    chosen = BoundedValues(*rows).at(np.array([False, True]))
    assert (chosen.low.tolist(), chosen.high.tolist(), chosen.value.tolist()) == (
        [[1]],
        [[5]],
        [[3]],
    )
    assert chosen.ends == (chosen.low, chosen.high)
    assert not chosen.resolved
    assert BoundedValues.exact(rows[0]).resolved
