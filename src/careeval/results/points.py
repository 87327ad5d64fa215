"""From the two tables to the arrays that the statistics take: one rubric, one system, one grader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval.core.scenario import Domain

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class GradedScenario:
    """One rubric of one scenario, with what a grader found in the responses to it.

    Attributes:
        scenario: Its id.
        adl: Its activity.
        points: Of the items, shape (n_items,).
        levels: Of the items in each domain, 0 to 2, NaN where not rated, shape (n_items,) each.
        epochs: Of the responses judged, shape (n_responses,).
        present: 1, 0, or NaN where unresolved, shape (n_responses, n_items).
    """

    scenario: str
    adl: str | None
    points: IntArray
    levels: dict[Domain, FloatArray]
    epochs: IntArray
    present: FloatArray


@dataclass(frozen=True)
class Bounds:
    """Two arrays of one shape: with every unresolved item settled for the lower, and for the higher."""

    low: FloatArray
    high: FloatArray

    @property
    def middle(self) -> FloatArray:
        """Halfway between them: the value where nothing is unresolved."""
        return (self.low + self.high) / 2

    def of(self, chosen: NDArray[np.bool_]) -> Bounds:
        """Both arrays at the scenarios chosen."""
        return Bounds(self.low[chosen], self.high[chosen])


def graded_scenarios(judgments: pl.DataFrame, responses: pl.DataFrame) -> list[GradedScenario]:
    """The judgments of one system, grader, grading and rubric, scenario by scenario, in the order of ids.

    A response for which an item has no row at all (its grading was another version's, say) is left
    out, and so counts as ungraded.
    """
    adls = dict(responses.select("scenario", "adl").unique("scenario").iter_rows())
    found = []
    for (scenario,), part in judgments.sort("scenario", "epoch", "position").group_by("scenario", maintain_order=True):
        items = part.unique("position").sort("position")
        whole = part.group_by("epoch").len().filter(pl.col("len") == items.height)["epoch"]
        judged = part.filter(pl.col("epoch").is_in(whole.implode()))
        present = judged["present"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        found.append(
            GradedScenario(
                scenario=str(scenario),
                adl=adls.get(scenario),
                points=items["points"].cast(pl.Int64).to_numpy(),
                levels={d: items[d.value].cast(pl.Float64).fill_null(np.nan).to_numpy() for d in Domain},
                epochs=judged["epoch"].unique().sort().cast(pl.Int64).to_numpy(),
                present=present.reshape(-1, items.height),
            )
        )
    return found


def grid(
    scenarios: Sequence[GradedScenario],
    n_epochs: int,
    of: Callable[[GradedScenario], tuple[FloatArray, FloatArray]],
) -> Bounds:
    """One number for each scenario and epoch, with bounds; NaN where there is no judged response.

    Args:
        scenarios: The rows.
        n_epochs: Number of columns; epoch k is column k - 1.
        of: The lower and upper number of each judged response of a scenario.

    Returns:
        Arrays of shape (n_scenarios, n_epochs).
    """
    bounds = Bounds(*(np.full((len(scenarios), n_epochs), np.nan) for _ in range(2)))
    for row, scenario in enumerate(scenarios):
        bounds.low[row, scenario.epochs - 1], bounds.high[row, scenario.epochs - 1] = of(scenario)
    return bounds
