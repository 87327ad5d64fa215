"""The grader's noise, from responses that it judged more than once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval import scoring
from careeval.core.response import GRADED_STATES
from careeval.core.scenario import Rubric
from careeval.errors import StatsError
from careeval.results.arrays import (
    BoundedValues,
    FloatArray,
    JudgmentArrays,
    bounded,
    graded_scenarios,
)
from careeval.results.entries import Entry
from careeval.stats import (
    Estimate,
    GradingVariance,
    grading_variance,
    noise_corrected_worst,
    noise_corrected_worst_interval,
    rate_interval,
)


@dataclass(frozen=True)
class GradingNoise:
    """The grader's noise on one rubric, from repeated gradings of the same responses.

    Variances are of points over the scenario's maximum, over all responses; those without words
    have no grading noise. The three shares add up to 1.
    """

    rubric: Rubric
    n_regraded: int  # Responses with words that were judged more than once
    n_gradings: int  # The most gradings of any response
    flipped: Estimate
    """Share of the items whose judgment differs between two gradings of a response, over all pairs
    of gradings in which both are resolved. Two gradings that each flip 3% of the judgments differ
    in 6%."""
    scenario_share: float | None
    """Share of the variance of a single judged response that is between scenarios."""
    response_share: float | None  # Share between responses to one scenario
    grading_share: float | None  # Share between gradings of one response
    corrected_worst_at_n: Estimate
    """Worst of n if the grader did not vary; see `careeval.stats.noise_corrected_worst` for its
    known bias."""
    reason: str  # Reason why the shares are unknown; else empty


def grading_noise(entry: Entry) -> GradingNoise | None:
    """Return the noise of an entry's grader; `None` if no response was judged twice.

    Responses without words do not count, since no grader judges them.
    """
    judged = entry.judgments
    if judged["grading"].n_unique() < 2:
        return None
    # the grading that counts comes first, even if others were made before it
    counts = entry.first.select("scenario", "epoch", pl.col("grading").alias("counting"))
    response_key = ("scenario", "epoch")
    after = pl.when(pl.col("grading") != pl.col("counting")).then(pl.col("grading")).otherwise(0)
    judged = (
        judged.join(counts.unique(), on=response_key)
        .with_columns(after.rank("dense").over(response_key).alias("grading"))
        .drop("counting")
    )
    answered = entry.responses.filter(pl.col("state").is_in(GRADED_STATES))
    of_answers = judged.join(answered, on=["scenario", "epoch"], how="semi")
    gradings = of_answers.group_by("scenario", "epoch").agg(pl.col("grading").n_unique())
    regraded = gradings.filter(pl.col("grading") > 1)
    if regraded.is_empty():
        return None
    first, maxima, again = _points(entry, judged)
    varies = _with_words(entry, answered)
    shares, reason = _shares(first, maxima, again, varies)
    return GradingNoise(
        rubric=entry.rubric,
        n_regraded=regraded.height,
        n_gradings=max(regraded["grading"].to_list()),
        flipped=_flipped(of_answers),
        scenario_share=shares and shares.scenario,
        response_share=shares and shares.response,
        grading_share=shares and shares.grading,
        corrected_worst_at_n=_corrected(first, maxima, again, varies),
        reason=reason,
    )


def _flipped(judged: pl.DataFrame) -> Estimate:
    """Return the share of pairs of gradings that differ.

    With m of n judgments of an item present, m (n - m) of n (n - 1) / 2 pairs differ.
    """
    resolved = pl.col("present").is_not_null().sum().cast(pl.Float64)
    present = pl.col("present").sum().cast(pl.Float64)
    by_item = judged.group_by("scenario", "epoch", "item").agg(
        (present * (resolved - present)).alias("differ"),
        (resolved * (resolved - 1) / 2).alias("pairs"),
    )
    by_scenario = (
        by_item.filter(pl.col("pairs") > 0)
        .group_by("scenario")
        .agg(pl.col("differ", "pairs").sum())
        .sort("scenario")
    )
    if by_scenario.is_empty():
        return Estimate.unknown("no item of a response was judged twice")
    return _share(by_scenario["differ"].to_numpy(), by_scenario["pairs"].to_numpy())


def _share(events: FloatArray, trials: FloatArray) -> Estimate:
    """Return events per trial, both by scenario, without unresolved judgments."""
    return bounded(
        lambda counts: float(counts.sum() / trials.sum()),
        lambda counts: rate_interval(counts, trials, most_a_family=np.inf),
        BoundedValues.exact(events),
    )


def _points(
    entry: Entry, judged: pl.DataFrame
) -> tuple[BoundedValues, FloatArray, list[FloatArray]]:
    """Return the points of the first gradings, the maxima, and the points of each later grading.

    Shapes (n_scenarios, n_epochs), (n_scenarios,) and (n_scenarios, n_epochs) each. NaN in a later
    grading means that it was not graded, or that it or the first has an unresolved item, which
    would pass for noise.
    """
    graded = entry.graded
    names = [scenario.scenario for scenario in graded.scenarios]
    judged_first = JudgmentArrays.of(graded.scenarios, graded.n_epochs)
    first, maxima = _scored(judged_first), scoring.maxima(judged_first.points).astype(np.float64)
    again = []
    for grading in sorted(set(judged["grading"]))[1:]:
        later = judged.filter(pl.col("grading") == grading)
        by_name = {s.scenario: s for s in graded_scenarios(entry.responses, later)}
        points = _scored(JudgmentArrays.of([by_name[name] for name in names], graded.n_epochs))
        settled = (points.low == points.high) & (first.low == first.high)
        again.append(np.where(settled, points.low, np.nan))
    return first, maxima, again


def _with_words(entry: Entry, answered: pl.DataFrame) -> NDArray[np.bool_]:
    """Return a mask of the responses that have words to judge, shape (n_scenarios, n_epochs)."""
    graded = entry.graded
    with_words = set(answered.select("scenario", "epoch").iter_rows())
    epochs = range(1, graded.n_epochs + 1)
    return np.array(
        [[(s.scenario, epoch) in with_words for epoch in epochs] for s in graded.scenarios]
    )


def _scored(judged: JudgmentArrays) -> BoundedValues:
    return judged.settled(partial(scoring.scenario_points, judged.points))


def _shares(
    first: BoundedValues, maxima: FloatArray, again: Sequence[FloatArray], varies: NDArray[np.bool_]
) -> tuple[GradingVariance | None, str]:
    """Return the three shares of the variance, or the reason why they are unknown.

    Only scenarios whose first judgments are all resolved count.
    """
    resolved = ((first.low == first.high) | np.isnan(first.low)).all(axis=1)
    could = (maxima > 0) & resolved
    values = np.stack([first.low, *again], axis=2)[could] / maxima[could, np.newaxis, np.newaxis]
    try:
        return grading_variance(values, varies[could]).shares, ""
    except StatsError as error:
        return None, str(error)


def _corrected(
    first: BoundedValues, maxima: FloatArray, again: Sequence[FloatArray], varies: NDArray[np.bool_]
) -> Estimate:
    """Return the worst of n if the grader did not vary, with bounds for unresolved judgments."""

    def stacked(points: FloatArray) -> FloatArray:
        return np.stack([points, *again], axis=2)

    try:
        value, *ends = (
            noise_corrected_worst(stacked(end), maxima, varies)
            for end in (first.value, *first.ends)
        )
        ends.append(value)
    except StatsError as error:
        return Estimate.unknown(str(error))
    try:
        intervals = [
            noise_corrected_worst_interval(stacked(end), maxima, varies)
            for end in ([first.low] if first.resolved else first.ends)
        ]
    except StatsError as error:
        return Estimate(value, min(ends), max(ends), None, str(error))
    ci95 = min(i.low for i in intervals), max(i.high for i in intervals)
    return Estimate(value, min(ends), max(ends), ci95)
