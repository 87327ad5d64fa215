"""Statistics of each item over systems: for experts who review items, never to drop an item."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval.core.response import Grader
from careeval.core.scenario import Rubric
from careeval.results.compare import Basis, basis
from careeval.results.entry import Entry
from careeval.stats.estimate import Estimate, FloatArray, IntArray, estimate
from careeval.stats.intervals import Interval, fisher_interval


@dataclass(frozen=True)
class ItemStatistic:
    """One rubric item over the systems that one grader judged."""

    grader: Grader
    bank: str  # Name of the bank
    given: str | None  # What the systems were given of a world; `None` for a bank of words
    step: bool  # Whether they acted one act at a time
    scenario: str
    rubric: Rubric
    item: str
    points: int
    text: str
    n_systems: int  # Number of systems
    n: int  # Resolved judgments, over all systems
    presence: Estimate
    """Mean over systems of the share of responses in which the item is present. It has no interval:
    intervals are over scenarios, and an item belongs to one."""
    always: bool  # True if it was present wherever it was judged
    never: bool  # True if it was present nowhere
    rest: Estimate
    """Correlation over systems of its points with those of all other items of the rubric, over all
    scenarios (item-rest correlation). With nine systems a correlation of 0 has an interval of ±
    .66."""


def item_statistics(entries: Sequence[Entry]) -> list[ItemStatistic]:
    """Return the statistics of each item, by grader, rubric, scenario and position.

    Each statistic is over entries that can be compared with each other.
    """
    groups: dict[Basis, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(basis(entry), []).append(entry)
    by_grader = sorted(groups.items(), key=lambda group: (group[0].grader, group[0].texts))
    return [statistic for shared, group in by_grader for statistic in _statistics(shared, group)]


_ITEM = ["scenario", "item"]
_ONE_SCENARIO = "an interval is over scenarios, and an item is of one"


def _statistics(shared: Basis, entries: Sequence[Entry]) -> Iterator[ItemStatistic]:
    counts = pl.concat(
        entry.first_of(*_ITEM, "position", "points", "item_text", "present")
        .group_by(_ITEM)
        .agg(
            pl.col("position", "points", "item_text").first(),
            n_present=pl.col("present").sum(),
            n_resolved=pl.col("present").count(),
            n=pl.len(),
        )
        .with_columns(system=pl.lit(place))
        for place, entry in enumerate(entries)
    )
    items = (
        counts.group_by(_ITEM)
        .agg(
            pl.col("position", "points", "item_text").first(),
            pl.col("n_present", "n_resolved").sum(),
        )
        .sort("scenario", "position", "item")
        .with_row_index("column")
    )
    cells = counts.join(items.select("column", *_ITEM), on=_ITEM)
    low, high = (np.full((len(entries), items.height), np.nan) for _ in range(2))
    at = cells["system"].to_numpy(), cells["column"].to_numpy()
    n_present, n_resolved, n = cells["n_present"], cells["n_resolved"], cells["n"]
    low[at] = (n_present / n).to_numpy()
    high[at] = ((n_present + n - n_resolved) / n).to_numpy()
    rests = _rests(low, high, items["points"].to_numpy())
    n_systems = (~np.isnan(low)).sum(axis=0).tolist()
    means = [np.nanmean(bound, axis=0).tolist() for bound in (low, high)]
    for row in items.iter_rows(named=True):
        column = row["column"]
        low_mean, high_mean = (bound[column] for bound in means)
        yield ItemStatistic(
            grader=shared.grader,
            bank=shared.bank,
            given=shared.given,
            step=shared.step,
            scenario=row["scenario"],
            rubric=shared.rubric,
            item=row["item"],
            points=row["points"],
            text=row["item_text"],
            n_systems=n_systems[column],
            n=row["n_resolved"],
            presence=Estimate((low_mean + high_mean) / 2, low_mean, high_mean, None, _ONE_SCENARIO),
            always=0 < row["n_resolved"] == row["n_present"],
            never=row["n_resolved"] > row["n_present"] == 0,
            rest=rests[column],
        )


def _rests(low: FloatArray, high: FloatArray, points: IntArray) -> list[Estimate]:
    """Return the item-rest correlation of each item of one rubric.

    A correlation is the cosine of the angle between the vector of the item's points and that of the
    rest's. Unresolved judgments move a system's points by at most half their width, and so turn
    each vector by at most arcsin(‖half widths‖ / ‖deviations‖).

    Args:
        low: Share of responses in which an item is present, shape (n_systems, n_items); NaN where a
            system was not judged on it. Such a system is left out.
        high: The same shares, with every unresolved judgment counted as present.
        points: Points of the items, shape (n_items,).
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


_MIN_RESPONDENTS = 3

# A spread below this share of the numbers (or of 1, if they are smaller) is rounding error.
_NO_SPREAD = 1e-12


def item_rest(present: FloatArray) -> FloatArray:
    """Return the correlation of each item with the sum of the other items, over respondents.

    The item itself is left out of the sum, or it would correlate with its own noise. If `present`
    holds contributions to the score (points × share present), the correlation is above 0 for a good
    item, and for an error that better systems make less often.

    Args:
        present: Value of each item for each respondent: present or not, the share of epochs in
            which it was, or its points; shape (n_respondents, n_items). A respondent with an
            unresolved (NaN) item is left out.

    Returns:
        Correlations from -1 to 1, shape (n_items,). NaN where not defined: fewer than three
        respondents are left, or the item or the sum of the others is the same for all.

    Source: Henrysson 1963, Psychometrika 28:211.
    """
    resolved = present[~np.isnan(present).any(axis=1)]
    if len(resolved) < _MIN_RESPONDENTS:
        return np.full(present.shape[1], np.nan)
    return _correlations(resolved, resolved.sum(axis=1, keepdims=True) - resolved)


def _correlations(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the correlation of each column of `x` with its column of `y`; NaN if constant."""
    varies = _varies(x) & _varies(y)
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    products, scale = (x * y).sum(axis=0), np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    r = np.divide(products, scale, out=np.full(len(varies), np.nan), where=varies)
    return np.asarray(np.clip(r, -1, 1))


def _varies(columns: FloatArray) -> NDArray[np.bool_]:
    size = np.maximum(1, np.abs(columns).max(axis=0))
    return np.asarray(np.ptp(columns, axis=0) > _NO_SPREAD * size)


def _turns(columns: FloatArray, reach: FloatArray) -> FloatArray:
    """Return the angle by which each column, less its mean, may turn; at most π."""
    if not len(columns):
        return np.full(columns.shape[1], np.pi)
    deviations = np.linalg.norm(columns - columns.mean(axis=0), axis=0)
    moved = np.linalg.norm(reach, axis=0)
    ratio = np.divide(moved, deviations, out=np.ones_like(moved), where=moved < deviations)
    return np.asarray(np.where(moved < deviations, np.arcsin(ratio), np.where(moved > 0, np.pi, 0)))


def _correlation(r: float, turn: float, n: int) -> Estimate:
    """Return a correlation over n systems; its bounds turn the angle by `turn` either way."""
    if math.isnan(r):
        few = "fewer than three systems were judged on the whole rubric"
        return Estimate.unknown(
            few if n < 3 else "the item, or the rest, is the same in all systems"
        )
    angle = math.acos(max(-1.0, min(1.0, r)))
    low = min(r, math.cos(min(angle + turn, math.pi)))
    high = max(r, math.cos(max(angle - turn, 0.0)))
    return estimate(
        lambda: (r, low, high),
        lambda: Interval(fisher_interval(low, n).low, fisher_interval(high, n).high),
    )
