"""From the two tables to the arrays of the statistics: one system, one grader, one rubric."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval.core.scenario import Domain, HarmKind

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
        harms: Of the items, the place of what they do in `HarmKind`, NaN where the bank does not
            say, shape (n_items,).
        epochs: Of the responses judged, rising, shape (n_responses,).
        present: 1, 0, or NaN where unresolved, shape (n_responses, n_items).
        filled: The same, an unresolved judgment filled with how likely the item is present: its
            mean over the other epochs, or else the mean of all judgments of items of its points.
            NaN where every judgment of items of those points is unresolved.
    """

    scenario: str
    about: About
    points: IntArray
    levels: dict[Domain, FloatArray]
    harms: FloatArray
    epochs: IntArray
    present: FloatArray
    filled: FloatArray


@dataclass(frozen=True, eq=False)
class Bounds:
    """Numbers with what the unresolved judgments could make of them: three arrays of one shape.

    Attributes:
        low: Every unresolved judgment settled for the lower number.
        high: Every unresolved judgment settled for the higher number.
        value: The number itself, from the filled judgments; NaN where they do not tell it.
    """

    low: FloatArray
    high: FloatArray
    value: FloatArray

    @staticmethod
    def exact(numbers: FloatArray) -> Bounds:
        """Numbers that nothing unresolved can move."""
        return Bounds(numbers, numbers, numbers)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The lower and the higher."""
        return self.low, self.high

    @property
    def resolved(self) -> bool:
        """Whether both ends are the same, since nothing is unresolved."""
        return np.array_equal(self.low, self.high, equal_nan=True)

    def map(self, function: Callable[[FloatArray], FloatArray]) -> Bounds:
        """The three arrays after a function that no number lowers by rising."""
        return Bounds(function(self.low), function(self.high), function(self.value))

    def at(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Bounds:
        """The three arrays at the scenarios chosen."""
        return self.map(lambda numbers: numbers[rows])


def graded_scenarios(responses: pl.DataFrame, judgments: pl.DataFrame) -> list[GradedScenario]:
    """What one grading of one system found, scenario by scenario, in order of ids.

    A scenario without a judgment is in, without items: a run that lost it is not whole.

    Args:
        responses: Of the system.
        judgments: Of these responses by one grader on one rubric, each item of a response once.
    """
    abouts = _abouts(responses)
    places = {kind.value: place for place, kind in enumerate(HarmKind)}
    rows = (
        judgments.with_columns(pl.col("harm").replace_strict(places, default=None))
        .select("scenario", *_NUMBERS)
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
    return _filled(
        [
            _graded_scenario(scenario, abouts[scenario], found.get(scenario, numbers[:0]))
            for scenario in sorted(abouts)
        ]
    )


def _filled(scenarios: Sequence[GradedScenario]) -> list[GradedScenario]:
    """The scenarios with every unresolved judgment filled, as `GradedScenario.filled` says."""
    made: dict[int, list[FloatArray]] = {}
    for scenario in scenarios:
        for points, of_item in zip(scenario.points.tolist(), scenario.present.T, strict=True):
            made.setdefault(points, []).append(of_item[~np.isnan(of_item)])
    together = {points: np.concatenate(parts) for points, parts in made.items()}
    by_points = {points: all_.mean() for points, all_ in together.items() if all_.size}
    return [replace(scenario, filled=_fill(scenario, by_points)) for scenario in scenarios]


def _fill(scenario: GradedScenario, by_points: Mapping[int, float]) -> FloatArray:
    unresolved = np.isnan(scenario.present)
    if not unresolved.any():
        return scenario.present
    filled = scenario.present.copy()
    for column, points in enumerate(scenario.points.tolist()):
        made = scenario.present[~unresolved[:, column], column]
        likely = made.mean() if made.size else by_points.get(points, np.nan)
        filled[unresolved[:, column], column] = likely
    return filled


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


_NUMBERS = ("epoch", "position", "points", "present", "harm", *(domain.value for domain in Domain))


def _graded_scenario(scenario: str, about: About, rows: FloatArray) -> GradedScenario:
    """One scenario from its rows of `_NUMBERS`, sorted by epoch and position.

    A response that lacks an item's row (its grading was another version's, say) is not judged.
    """
    epoch, position, points, present, harms, *levels = rows.T
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
        harms=harms[items],
        epochs=epoch[begins][whole].astype(np.int64),
        present=(
            of_items := present[np.repeat(whole, n_rows)].reshape(whole.sum(), len(positions))
        ),
        filled=of_items,
    )


@dataclass(frozen=True, eq=False)
class Judged:
    """What a grader found in the responses to several scenarios, as arrays.

    A rubric that is smaller than the largest fills up with items of 0 points that are absent.

    Attributes:
        points: Of the items, shape (n_scenarios, n_items).
        levels: Of the items in each domain, NaN where not rated, the same shape each.
        harms: Of the items, as `GradedScenario.harms` has it, the same shape.
        present: 1, 0, or NaN where unresolved, shape (n_scenarios, n_epochs, n_items).
        filled: The same with the unresolved filled, as `GradedScenario.filled` has it.
        is_judged: Whether there is a judged response, shape (n_scenarios, n_epochs).
    """

    points: IntArray
    levels: dict[Domain, FloatArray]
    harms: FloatArray
    present: FloatArray
    filled: FloatArray
    is_judged: NDArray[np.bool_]

    @staticmethod
    def of(scenarios: Sequence[GradedScenario], n_epochs: int) -> Judged:
        """The scenarios given, in their order; epoch k is place k - 1."""
        n, n_items = len(scenarios), max((len(s.points) for s in scenarios), default=0)
        points = np.zeros((n, n_items), dtype=np.int64)
        levels = {domain: np.full((n, n_items), np.nan) for domain in Domain}
        harms = np.full((n, n_items), np.nan)
        present, filled = np.zeros((2, n, n_epochs, n_items))
        is_judged = np.zeros((n, n_epochs), dtype=np.bool_)
        for row, scenario in enumerate(scenarios):
            items, epochs = slice(len(scenario.points)), scenario.epochs - 1
            points[row, items] = scenario.points
            harms[row, items] = scenario.harms
            for domain, of_items in scenario.levels.items():
                levels[domain][row, items] = of_items
            present[row, epochs, items] = scenario.present
            filled[row, epochs, items] = scenario.filled
            is_judged[row, epochs] = True
        return Judged(points, levels, harms, present, filled, is_judged)

    def settled(self, count: Callable[[FloatArray], tuple[FloatArray, ...]]) -> Bounds:
        """What a function of `careeval.scoring` counts in each response, NaN where none is judged.

        Args:
            count: From `present`, to the lower and the higher number of each response.
        """
        low, high = count(self.present)[:2]
        least, most = count(self.filled)[:2]
        return self._of_judged(low, high, np.where(least == most, least, np.nan))

    def are_errors(self, severity: int, kind: HarmKind | None = None) -> NDArray[np.bool_]:
        """Which items are errors of these points, and of one kind where it is named.

        Returns:
            Shape (n_scenarios, n_items).
        """
        errors = self.points == severity
        if kind is not None:
            errors &= self.harms == list(HarmKind).index(kind)
        return np.asarray(errors)

    def any_present(self, items: NDArray[np.bool_]) -> Bounds:
        """Whether each response holds any of these items: 1, 0, or how likely it does.

        With unresolved judgments the value is 1 − Π (1 − p) over the items.

        Args:
            items: As `are_errors` gives them.
        """
        chosen = items[:, np.newaxis, :]
        absent = 1 - np.where(chosen, self.present, 0.0)
        low = 1 - np.nan_to_num(absent, nan=1.0).prod(axis=-1)
        high = 1 - np.nan_to_num(absent, nan=0.0).prod(axis=-1)
        value = 1 - np.where(chosen, 1 - self.filled, 1.0).prod(axis=-1)
        return self._of_judged(low, high, value)

    def _of_judged(self, low: FloatArray, high: FloatArray, value: FloatArray) -> Bounds:
        return Bounds(*(np.where(self.is_judged, part, np.nan) for part in (low, high, value)))
