"""From the two tables to the arrays of the statistics: one system, one grader, one rubric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval.core.scenario import Domain, Rubric

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GradedScenario:
    """One rubric of one scenario, with what a grader found in the responses to it.

    Attributes:
        scenario: Its id.
        adl: Its activity; `None` where no response says it.
        points: Of the items, shape (n_items,). Empty where nothing of the scenario was judged, and
            so its rubric is not known.
        levels: Of the items in each domain, 0 to 2, NaN where not rated, shape (n_items,) each.
        epochs: Of the responses judged, rising, shape (n_responses,).
        present: 1, 0, or NaN where unresolved, shape (n_responses, n_items).
    """

    scenario: str
    adl: str | None
    points: IntArray
    levels: dict[Domain, FloatArray]
    epochs: IntArray
    present: FloatArray


@dataclass(frozen=True, eq=False)
class Bounds:
    """Two arrays of one shape: every unresolved item settled for the lower, and for the higher."""

    low: FloatArray
    high: FloatArray

    @property
    def middle(self) -> FloatArray:
        """Halfway between them: the value where nothing is unresolved."""
        return (self.low + self.high) / 2

    @property
    def resolved(self) -> bool:
        """Whether both are the same, since nothing is unresolved."""
        return np.array_equal(self.low, self.high, equal_nan=True)

    def of(self, chosen: NDArray[np.bool_]) -> Bounds:
        """Both arrays at the scenarios chosen."""
        return Bounds(self.low[chosen], self.high[chosen])


def graded_scenarios(
    responses: pl.DataFrame, judgments: pl.DataFrame, rubric: Rubric
) -> list[GradedScenario]:
    """What one grading of one system found on one rubric, scenario by scenario, in order of ids.

    A scenario judged on the other rubric alone has none of this one, and is left out. One that was
    judged on neither is in, without items: a run that lost it is not whole.

    Args:
        responses: Of the system.
        judgments: Of these responses by one grader, on both rubrics, each item of a response once.
        rubric: The one to take.
    """
    adls = dict(responses.drop_nulls("adl").select("scenario", "adl").iter_rows())
    judged = set(judgments["scenario"])
    rows = judgments.filter(pl.col("rubric") == rubric.value).sort("scenario", "epoch", "position")
    # one array for all scenarios, cut after: a query for each would take seconds
    numbers = rows.select(pl.col(_NUMBERS).cast(pl.Float64)).fill_null(np.nan).to_numpy()
    names, starts = np.unique(rows["scenario"].to_numpy(), return_index=True)
    found = dict(zip(names.tolist(), np.split(numbers, starts[1:]), strict=False))
    return [
        _graded_scenario(scenario, adls.get(scenario), found.get(scenario, numbers[:0]))
        for scenario in sorted(set(responses["scenario"]))
        if scenario in found or scenario not in judged
    ]


_NUMBERS = ("epoch", "position", "points", "present", *(domain.value for domain in Domain))


def _graded_scenario(scenario: str, adl: str | None, rows: FloatArray) -> GradedScenario:
    """One scenario from its rows of `_NUMBERS`, sorted by epoch and position.

    A response that lacks an item's row (its grading was another version's, say) is not judged.
    """
    epoch, position, points, present, *levels = rows.T
    positions, items = np.unique(position, return_index=True)
    epochs, of_row, n_rows = np.unique(epoch, return_inverse=True, return_counts=True)
    whole = n_rows == len(positions)
    return GradedScenario(
        scenario=scenario,
        adl=adl,
        points=points[items].astype(np.int64),
        levels={domain: of_items[items] for domain, of_items in zip(Domain, levels, strict=True)},
        epochs=epochs[whole].astype(np.int64),
        present=present[whole[of_row]].reshape(whole.sum(), len(positions)),
    )


def grid(
    scenarios: Sequence[GradedScenario],
    n_epochs: int,
    of: Callable[[GradedScenario], tuple[FloatArray, FloatArray]],
) -> Bounds:
    """One number for each scenario and epoch, with bounds; NaN where no judged response is.

    Args:
        scenarios: The rows.
        n_epochs: Number of columns; epoch k is column k - 1.
        of: The lower and upper number of each judged response of a scenario.

    Returns:
        Arrays of shape (n_scenarios, n_epochs).
    """
    low, high = (np.full((len(scenarios), n_epochs), np.nan) for _ in range(2))
    for row, scenario in enumerate(scenarios):
        low[row, scenario.epochs - 1], high[row, scenario.epochs - 1] = of(scenario)
    return Bounds(low, high)
