"""From the two tables to the arrays of the statistics: one system, one grader, one rubric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval.core.scenario import Domain, Rubric

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class About(NamedTuple):
    """What a scenario is about, as the bank says it; `None` or empty where that is not known."""

    adl: str | None = None
    condition: str | None = None
    assistance: str | None = None
    situation: tuple[str, ...] = ()
    actor: str | None = None


@dataclass(frozen=True, eq=False)
class GradedScenario:
    """One rubric of one scenario, with what a grader found in the responses to it.

    Attributes:
        scenario: Its id.
        about: What the scenario is about; its fields are unknown where no response says them.
        points: Of the items, shape (n_items,). Empty where nothing of the scenario was judged, and
            so its rubric is not known.
        levels: Of the items in each domain, 0 to 2, NaN where not rated, shape (n_items,) each.
        epochs: Of the responses judged, rising, shape (n_responses,).
        present: 1, 0, or NaN where unresolved, shape (n_responses, n_items).
    """

    scenario: str
    about: About
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
    def both(self) -> tuple[FloatArray, FloatArray]:
        """The lower and the higher."""
        return self.low, self.high

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
    abouts = _abouts(responses)
    judged = set(judgments["scenario"].unique())
    rows = (
        judgments.select("rubric", "scenario", *_NUMBERS)
        .filter(pl.col("rubric") == rubric.value)
        .sort("scenario", "epoch", "position")
    )
    # one array for all scenarios, cut after: a query for each would take seconds
    numbers = rows.select(pl.col(_NUMBERS).cast(pl.Float64)).fill_null(np.nan).to_numpy()
    runs = rows["scenario"].rle().struct.unnest()
    ends = runs["len"].cum_sum().to_list()
    found = {
        scenario: numbers[start:end]
        for scenario, start, end in zip(runs["value"], [0, *ends], ends, strict=False)
    }
    return [
        _graded_scenario(scenario, abouts[scenario], found.get(scenario, numbers[:0]))
        for scenario in sorted(abouts)
        if scenario in found or scenario not in judged
    ]


def _abouts(responses: pl.DataFrame) -> dict[str, About]:
    """What each scenario is about: one response that knows tells it for all."""
    known = responses.group_by("scenario").agg(
        pl.col(name).drop_nulls().first() for name in About._fields
    )
    return {
        row["scenario"]: About(
            **{
                **{name: row[name] for name in About._fields},
                "situation": tuple(row["situation"] or ()),
            }
        )
        for row in known.iter_rows(named=True)
    }


_NUMBERS = ("epoch", "position", "points", "present", *(domain.value for domain in Domain))


def _graded_scenario(scenario: str, about: About, rows: FloatArray) -> GradedScenario:
    """One scenario from its rows of `_NUMBERS`, sorted by epoch and position.

    A response that lacks an item's row (its grading was another version's, say) is not judged.
    """
    epoch, position, points, present, *levels = rows.T
    positions, items = np.unique(position, return_index=True)
    begins = np.ones(len(epoch), dtype=np.bool_)
    begins[1:] = epoch[1:] != epoch[:-1]
    n_rows = np.bincount(begins.cumsum() - 1)
    whole = n_rows == len(positions)
    return GradedScenario(
        scenario=scenario,
        about=about,
        points=points[items].astype(np.int64),
        levels={domain: of_items[items] for domain, of_items in zip(Domain, levels, strict=True)},
        epochs=epoch[begins][whole].astype(np.int64),
        present=present[np.repeat(whole, n_rows)].reshape(whole.sum(), len(positions)),
    )


@dataclass(frozen=True, eq=False)
class Judged:
    """What a grader found in the responses to several scenarios, as arrays.

    A rubric that is smaller than the largest fills up with items of 0 points that are absent.

    Attributes:
        points: Of the items, shape (n_scenarios, n_items).
        levels: Of the items in each domain, NaN where not rated, the same shape each.
        present: 1, 0, or NaN where unresolved, shape (n_scenarios, n_epochs, n_items).
        is_judged: Whether there is a judged response, shape (n_scenarios, n_epochs).
    """

    points: IntArray
    levels: dict[Domain, FloatArray]
    present: FloatArray
    is_judged: NDArray[np.bool_]

    @staticmethod
    def of(scenarios: Sequence[GradedScenario], n_epochs: int) -> Judged:
        """The scenarios given, in their order; epoch k is place k - 1."""
        n, n_items = len(scenarios), max((len(s.points) for s in scenarios), default=0)
        points = np.zeros((n, n_items), dtype=np.int64)
        levels = {domain: np.full((n, n_items), np.nan) for domain in Domain}
        present = np.zeros((n, n_epochs, n_items))
        is_judged = np.zeros((n, n_epochs), dtype=np.bool_)
        for row, scenario in enumerate(scenarios):
            items, epochs = slice(len(scenario.points)), scenario.epochs - 1
            points[row, items] = scenario.points
            for domain, of_items in scenario.levels.items():
                levels[domain][row, items] = of_items
            present[row, epochs, items] = scenario.present
            is_judged[row, epochs] = True
        return Judged(points, levels, present, is_judged)

    def bounds(self, numbers: tuple[FloatArray, FloatArray]) -> Bounds:
        """Lower and upper numbers of all responses, NaN where none is judged."""
        return Bounds(*(np.where(self.is_judged, part, np.nan) for part in numbers))
