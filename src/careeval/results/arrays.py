"""Arrays for the statistics of one system, one grader and one rubric, made from the two tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval.core.scenario import Domain, HarmKind
from careeval.errors import StatsError
from careeval.stats import Estimate, Interval, bounded_ratio_interval

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class ScenarioTraits(NamedTuple):
    """The attributes of a scenario in its bank; `None` or empty if unknown."""

    adl: str | None = None
    condition: str | None = None
    assistance: str | None = None
    situation: tuple[str, ...] = ()
    actor: str | None = None


@dataclass(frozen=True, eq=False)
class GradedScenario:
    """One rubric of one scenario, with a grader's judgments of the responses."""

    scenario: str  # Id of the scenario
    about: ScenarioTraits  # Attributes of the scenario, unknown if no response has them
    points: IntArray
    """Points of the items, shape (n_items,). Empty if nothing was judged, since the rubric is then
    unknown."""
    levels: dict[Domain, FloatArray]
    """For each domain the levels of the items, 0 to 2, NaN where not rated, shape (n_items,)."""
    harms: FloatArray
    """Index in `HarmKind` of each item's harm, NaN if the bank does not say, shape (n_items,)."""
    epochs: IntArray  # Epochs of the judged responses, ascending, shape (n_responses,)
    present: FloatArray  # 1, 0, or NaN where unresolved, shape (n_responses, n_items)
    filled: FloatArray
    """`present` with each unresolved judgment replaced by a probability: the item's mean over the
    other epochs, or else the mean of all judgments of items with its points. NaN if every judgment
    of items with those points is unresolved."""


@dataclass(frozen=True, eq=False)
class BoundedValues:
    """Numbers with the bounds that unresolved judgments leave: three arrays of one shape."""

    low: FloatArray  # The numbers with every unresolved judgment settled for the lower
    high: FloatArray  # The numbers with every unresolved judgment settled for the higher
    value: FloatArray
    """The numbers from the filled judgments; NaN where those do not determine them."""

    @staticmethod
    def exact(numbers: FloatArray) -> BoundedValues:
        """Return numbers that have no unresolved judgments as values with equal bounds."""
        return BoundedValues(numbers, numbers, numbers)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Return the lower ends and the upper ends, as two arrays."""
        return self.low, self.high

    @property
    def resolved(self) -> bool:
        """Tell whether the bounds of every number are equal: no judgment is unresolved."""
        return np.array_equal(self.low, self.high, equal_nan=True)

    def map(self, function: Callable[[FloatArray], FloatArray]) -> BoundedValues:
        """Apply a function to all three arrays; it must never fall when a number rises."""
        return BoundedValues(function(self.low), function(self.high), function(self.value))

    def at(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> BoundedValues:
        """Return the three arrays at the chosen scenarios."""
        return self.map(lambda numbers: numbers[rows])


def graded_scenarios(responses: pl.DataFrame, judgments: pl.DataFrame) -> list[GradedScenario]:
    """Return the judgments of one grading of one system by scenario, sorted by id.

    A scenario without judgments is included without items, so that its loss is seen.

    Args:
        responses: Responses of the system.
        judgments: Judgments of these responses by one grader on one rubric, each item of a response
            once.
    """
    abouts = _abouts(responses)
    places = {kind.value: place for place, kind in enumerate(HarmKind)}
    rows = (
        judgments.with_columns(pl.col("harm").replace_strict(places, default=None))
        .select("scenario", *_NUMBERS)
        .sort("scenario", "epoch", "position")
    )
    # one array for all scenarios, sliced below: a query for each would take seconds
    numbers = rows.select(pl.col(_NUMBERS).cast(pl.Float64)).fill_null(np.nan).to_numpy()
    runs = rows["scenario"].rle().struct.unnest()
    ends = runs["len"].cum_sum().to_list()
    by_scenario = {
        scenario: numbers[start:end]
        for scenario, start, end in zip(runs["value"], [0, *ends], ends, strict=False)
    }
    return _filled(
        [
            _graded_scenario(scenario, abouts[scenario], by_scenario.get(scenario, numbers[:0]))
            for scenario in sorted(abouts)
        ]
    )


def _filled(scenarios: Sequence[GradedScenario]) -> list[GradedScenario]:
    """Return the scenarios with `GradedScenario.filled` set."""
    resolved: dict[int, list[FloatArray]] = {}
    for scenario in scenarios:
        for points, of_item in zip(scenario.points.tolist(), scenario.present.T, strict=True):
            resolved.setdefault(points, []).append(of_item[~np.isnan(of_item)])
    together = {points: np.concatenate(parts) for points, parts in resolved.items()}
    by_points = {points: all_.mean() for points, all_ in together.items() if all_.size}
    return [replace(scenario, filled=_fill(scenario, by_points)) for scenario in scenarios]


def _fill(scenario: GradedScenario, by_points: Mapping[int, float]) -> FloatArray:
    unresolved = np.isnan(scenario.present)
    if not unresolved.any():
        return scenario.present
    filled = scenario.present.copy()
    for column, points in enumerate(scenario.points.tolist()):
        resolved = scenario.present[~unresolved[:, column], column]
        probability = resolved.mean() if resolved.size else by_points.get(points, np.nan)
        filled[unresolved[:, column], column] = probability
    return filled


def _abouts(responses: pl.DataFrame) -> dict[str, ScenarioTraits]:
    """Return the attributes of each scenario, from the first response that has them."""
    first_values = responses.group_by("scenario").agg(
        pl.col(name).drop_nulls().first() for name in ScenarioTraits._fields
    )
    return {
        row["scenario"]: ScenarioTraits(
            **{
                **{name: row[name] for name in ScenarioTraits._fields},
                "situation": tuple(row["situation"] or ()),
            }
        )
        for row in first_values.iter_rows(named=True)
    }


_NUMBERS = ("epoch", "position", "points", "present", "harm", *(domain.value for domain in Domain))


def _graded_scenario(scenario: str, about: ScenarioTraits, rows: FloatArray) -> GradedScenario:
    """Return one scenario from its rows of `_NUMBERS`, sorted by epoch and position.

    A response that lacks the row of an item, for example since another version graded it, does not
    count as judged.
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
class JudgmentArrays:
    """A grader's judgments of the responses to several scenarios, as arrays.

    Smaller rubrics are padded with absent items of 0 points.
    """

    points: IntArray  # Points of the items, shape (n_scenarios, n_items)
    levels: dict[Domain, FloatArray]
    """For each domain the levels of the items, NaN where not rated, same shape."""
    harms: FloatArray  # Harms of the items as in `GradedScenario.harms`, same shape
    present: FloatArray  # 1, 0, or NaN where unresolved, shape (n_scenarios, n_epochs, n_items)
    filled: FloatArray  # `present` filled as in `GradedScenario.filled`
    is_judged: NDArray[np.bool_]  # True where a response was judged, shape (n_scenarios, n_epochs)

    @staticmethod
    def of(scenarios: Sequence[GradedScenario], n_epochs: int) -> JudgmentArrays:
        """Return the arrays of these scenarios in their order; epoch k has index k - 1."""
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
        return JudgmentArrays(points, levels, harms, present, filled, is_judged)

    def settled(self, count: Callable[[FloatArray], tuple[FloatArray, ...]]) -> BoundedValues:
        """Return what a function of `careeval.scoring` counts in each response; NaN if not judged.

        Args:
            count: Function from `present` to the lower and the higher number of each response.
        """
        low, high = count(self.present)[:2]
        least, most = count(self.filled)[:2]
        return self._of_judged(low, high, np.where(least == most, least, np.nan))

    def are_errors(self, severity: int, kind: HarmKind | None = None) -> NDArray[np.bool_]:
        """Return a mask of the items that are errors of this severity, and of `kind` if given.

        Returns:
            Shape (n_scenarios, n_items).
        """
        errors = self.points == severity
        if kind is not None:
            errors &= self.harms == list(HarmKind).index(kind)
        return np.asarray(errors)

    def any_present(self, items: NDArray[np.bool_]) -> BoundedValues:
        """Return, for each response, whether any of these items is present: 1, 0 or a probability.

        With unresolved judgments the value is 1 − Π (1 − p) over the items.

        Args:
            items: Mask as returned by `are_errors`.
        """
        chosen = items[:, np.newaxis, :]
        absent = 1 - np.where(chosen, self.present, 0.0)
        low = 1 - np.nan_to_num(absent, nan=1.0).prod(axis=-1)
        high = 1 - np.nan_to_num(absent, nan=0.0).prod(axis=-1)
        value = 1 - np.where(chosen, 1 - self.filled, 1.0).prod(axis=-1)
        return self._of_judged(low, high, value)

    def _of_judged(self, low: FloatArray, high: FloatArray, value: FloatArray) -> BoundedValues:
        return BoundedValues(
            *(np.where(self.is_judged, part, np.nan) for part in (low, high, value))
        )


def bounded_ratio(
    numerators: BoundedValues, denominators: FloatArray, least: FloatArray | None = None
) -> Estimate:
    """Return a ratio of sums over scenarios.

    The interval covers the intervals for every way to settle the unresolved judgments.

    Args:
        numerators: One number per scenario, shape (n_scenarios,).
        denominators: Shape (n_scenarios,), with a sum above 0.
        least: The lowest value of each numerator; the highest is its denominator. `None` if the
            ratio has no limits.
    """
    total = float(denominators.sum())
    low, high, value = (
        float(part.sum()) / total for part in (numerators.low, numerators.high, numerators.value)
    )
    return with_ratio_interval(value, low, high, numerators, denominators, least)


def with_ratio_interval(
    value: float,
    low: float,
    high: float,
    numerators: BoundedValues,
    denominators: FloatArray,
    least: FloatArray | None,
) -> Estimate:
    """Return a ratio with the bounds given, and its interval within the limits of the ratio."""
    value = min(max(value, low), high)  # rounding can put it a hair outside
    lowest = None if least is None else float(least.sum() / denominators.sum())
    try:
        ci95 = bounded_ratio_interval(*numerators.ends, denominators, lowest=lowest)
    except StatsError as error:
        return Estimate(value, low, high, None, str(error))
    return Estimate(value, low, high, (ci95.low, ci95.high))


def bounded(
    statistic: Callable[[FloatArray], float],
    interval: Callable[[FloatArray], Interval],
    numbers: BoundedValues,
) -> Estimate:
    """Return the estimate of a statistic, which must never fall when a number rises.

    The interval covers those of both bounds; there is none if either bound has none. If some
    judgments were settled low and others high, their interval might reach beyond this one. For a
    ratio of sums use `bounded_ratio`.
    """
    try:
        low, high, value = (statistic(part) for part in (numbers.low, numbers.high, numbers.value))
    except StatsError as error:
        return Estimate.unknown(str(error))
    value = min(max(value, low), high)  # rounding can put it a hair outside
    try:
        at_low = interval(numbers.low)
        at_high = at_low if numbers.resolved else interval(numbers.high)
    except StatsError as error:
        return Estimate(value, low, high, None, str(error))
    # the ends of an interval need not rise with the numbers: its width can grow faster
    ci95 = min(at_low.low, at_high.low), max(at_low.high, at_high.high)
    return Estimate(value, low, high, ci95)
