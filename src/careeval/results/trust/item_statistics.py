"""Items as they behave over systems: to send to experts with, never to drop one by."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from careeval.core.scenario import Rubric
from careeval.errors import StatsError
from careeval.results.score.entries import Entry
from careeval.results.score.graded_arrays import FloatArray, IntArray
from careeval.results.versus.comparable import Basis, basis
from careeval.stats import Estimate, fisher_interval, item_rest


@dataclass(frozen=True)
class ItemStatistic:
    """One rubric item over the systems that one grader judged.

    Attributes:
        grader: Name of the grader.
        bank: Name of the bank.
        n_systems: Systems.
        n: Judgments that were made, over all of them.
        presence: Mean over systems of the share of responses in which it is present. It has no
            interval: those are over scenarios, and an item is of one.
        always: Whether it was present wherever it was judged.
        never: Whether it was present nowhere.
        rest: Over systems, the correlation of its points with those of all other items of its
            rubric, over all scenarios; low where it goes another way than the rest. With nine
            systems a correlation of 0 has an interval of ± .66.
    """

    grader: str
    bank: str
    scenario: str
    rubric: Rubric
    item: str
    points: int
    text: str
    n_systems: int
    n: int
    presence: Estimate
    always: bool
    never: bool
    rest: Estimate


def item_statistics(entries: Sequence[Entry]) -> list[ItemStatistic]:
    """Each item judged, by grader, rubric, scenario and place; over entries that compare."""
    groups: dict[Basis, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(basis(entry), []).append(entry)
    by_grader = sorted(groups.items(), key=lambda group: (group[0].grader, group[0]))
    return [
        statistic for shared, of_group in by_grader for statistic in _statistics(shared, of_group)
    ]


_ITEM = ["scenario", "item"]
_ONE_SCENARIO = "an interval is over scenarios, and an item is of one"


def _statistics(shared: Basis, entries: Sequence[Entry]) -> Iterator[ItemStatistic]:
    counts = pl.concat(
        entry.first.group_by(_ITEM)
        .agg(
            pl.col("position", "points", "item_text").first(),
            there=pl.col("present").sum(),
            made=pl.col("present").count(),
            all=pl.len(),
        )
        .with_columns(system=pl.lit(place))
        for place, entry in enumerate(entries)
    )
    items = (
        counts.group_by(_ITEM)
        .agg(pl.col("position", "points", "item_text").first(), pl.col("there", "made").sum())
        .sort("scenario", "position", "item")
        .with_row_index("column")
    )
    at = counts.join(items.select("column", *_ITEM), on=_ITEM)
    low, high = (np.full((len(entries), items.height), np.nan) for _ in range(2))
    cells = at["system"].to_numpy(), at["column"].to_numpy()
    low[cells] = (at["there"] / at["all"]).to_numpy()
    high[cells] = ((at["there"] + at["all"] - at["made"]) / at["all"]).to_numpy()
    rests = _rests(low, high, items["points"].to_numpy())
    n_systems = (~np.isnan(low)).sum(axis=0).tolist()
    means = [np.nanmean(bound, axis=0).tolist() for bound in (low, high)]
    for row in items.iter_rows(named=True):
        column = row["column"]
        fewest, most = (bound[column] for bound in means)
        yield ItemStatistic(
            grader=shared.grader,
            bank=shared.bank,
            scenario=row["scenario"],
            rubric=shared.rubric,
            item=row["item"],
            points=row["points"],
            text=row["item_text"],
            n_systems=n_systems[column],
            n=row["made"],
            presence=Estimate((fewest + most) / 2, fewest, most, None, _ONE_SCENARIO),
            always=0 < row["made"] == row["there"],
            never=row["made"] > row["there"] == 0,
            rest=rests[column],
        )


def _rests(low: FloatArray, high: FloatArray, points: IntArray) -> list[Estimate]:
    """Of each item of one rubric, the correlation of its points with the rest's.

    Unresolved judgments move a system's points by at most half their width, so that the vector of
    an item's points turns by at most arcsin(‖half widths‖ / ‖deviations‖), and so does the rest's;
    a correlation is the cosine of the angle between the two.

    Args:
        low: Share of responses in which an item is present, shape (n_systems, n_items); NaN where a
            system was not judged on it. Such a system has no rest.
        high: The same with every unresolved judgment for present.
        points: Of the items, shape (n_items,).
    """
    whole = ~np.isnan(low).any(axis=1)
    n = int(whole.sum())
    middle = ((low + high) / 2 * points)[whole]
    reach = ((high - low) / 2 * np.abs(points))[whole]
    turns = _turns(middle, reach) + _turns(
        *(m.sum(axis=1, keepdims=True) - m for m in (middle, reach))
    )
    return [
        _correlation(r, turn, n)
        for r, turn in zip(item_rest(middle).tolist(), turns.tolist(), strict=True)
    ]


def _turns(columns: FloatArray, reach: FloatArray) -> FloatArray:
    """The angle by which each column, less its mean, may turn; at most a straight one."""
    if not len(columns):
        return np.full(columns.shape[1], np.pi)
    deviations = np.linalg.norm(columns - columns.mean(axis=0), axis=0)
    moved = np.linalg.norm(reach, axis=0)
    ratio = np.divide(moved, deviations, out=np.ones_like(moved), where=moved < deviations)
    return np.asarray(np.where(moved < deviations, np.arcsin(ratio), np.where(moved > 0, np.pi, 0)))


def _correlation(r: float, turn: float, n: int) -> Estimate:
    """A correlation over n systems, with bounds as far as its angle may turn."""
    if math.isnan(r):
        few = "fewer than three systems were judged on the whole rubric"
        return Estimate.unknown(
            few if n < 3 else "the item, or the rest, is the same in all systems"
        )
    angle = math.acos(max(-1.0, min(1.0, r)))
    low = min(r, math.cos(min(angle + turn, math.pi)))
    high = max(r, math.cos(max(angle - turn, 0.0)))
    try:
        ends = fisher_interval(low, n), fisher_interval(high, n)
    except StatsError as error:
        return Estimate(r, low, high, None, str(error))
    return Estimate(r, low, high, (ends[0].low, ends[1].high))
