"""The grader's share in the noise, from responses that it judged more than once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval import scoring
from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric
from careeval.errors import StatsError
from careeval.results.score.bounded_estimates import bounded
from careeval.results.score.entries import Entry
from careeval.results.score.graded_arrays import Bounds, FloatArray, Judged, graded_scenarios
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
    """What judging the same responses again shows, on one rubric.

    Variances are of points over the scenario's maximum; shares add up to 1. They are over all
    responses, of which those without words have no noise of grading.

    Attributes:
        n_regraded: Responses with words judged more than once.
        n_gradings: The most gradings of any response.
        flipped: Share of the items whose judgment differs between two gradings of a response;
            over all pairs of gradings, without those that either left unresolved. Two gradings
            that each turn round 3% of the judgments differ in 6%.
        scenario_share: Of the variance of a single judged response, what is between scenarios.
        response_share: What is between responses to one scenario.
        grading_share: What is between gradings of one response.
        corrected_worst_at_n: Worst of n if the grader did not vary; see
            `careeval.stats.noise_corrected_worst` for its known bias.
        reason: Why the variance is not split; else empty, and the shares are numbers.
    """

    rubric: Rubric
    n_regraded: int
    n_gradings: int
    flipped: Estimate
    scenario_share: float | None
    response_share: float | None
    grading_share: float | None
    corrected_worst_at_n: Estimate
    reason: str


def grading_noise(entry: Entry) -> GradingNoise | None:
    """The noise of an entry's grader; `None` where nothing was judged twice.

    A response without words is judged by nobody, and is not among those that were judged twice.
    """
    judged = entry.judgments
    if judged["grading"].n_unique() < 2:
        return None
    # a response's first grading is the one that counts, though others were graded before it
    counts = entry.first.select("scenario", "epoch", pl.col("grading").alias("counting"))
    of_one = ("scenario", "epoch")
    after = pl.when(pl.col("grading") != pl.col("counting")).then(pl.col("grading")).otherwise(0)
    judged = (
        judged.join(counts.unique(), on=of_one)
        .with_columns(after.rank("dense").over(of_one).alias("grading"))
        .drop("counting")
    )
    answered = entry.responses.filter(pl.col("state") == ResponseState.answered.value)
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
    """With m of n judgments of an item present, m (n - m) of n (n - 1) / 2 pairs differ."""
    made = pl.col("present").is_not_null().sum().cast(pl.Float64)
    there = pl.col("present").sum().cast(pl.Float64)
    by_item = judged.group_by("scenario", "epoch", "item").agg(
        (there * (made - there)).alias("differ"), (made * (made - 1) / 2).alias("pairs")
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
    """Events per trial, both by scenario, each trial with a known end."""
    return bounded(
        lambda known: float(known.sum() / trials.sum()),
        lambda known: rate_interval(known, trials, most_a_family=np.inf),
        Bounds.exact(events),
    )


def _points(entry: Entry, judged: pl.DataFrame) -> tuple[Bounds, FloatArray, list[FloatArray]]:
    """Points of the first gradings, maxima, and points of each later grading.

    Shapes (n_scenarios, n_epochs), (n_scenarios,) and (n_scenarios, n_epochs) each. NaN in a later
    grading = not graded, or not to be held against the first, since one of the two has an
    unresolved item: the doubt about it would pass for noise.
    """
    graded = entry.graded
    names = [scenario.scenario for scenario in graded.scenarios]
    judged_first = Judged.of(graded.scenarios, graded.n_epochs)
    first, maxima = _scored(judged_first), scoring.maxima(judged_first.points).astype(np.float64)
    again = []
    for grading in sorted(set(judged["grading"]))[1:]:
        later = judged.filter(pl.col("grading") == grading)
        by_name = {s.scenario: s for s in graded_scenarios(entry.responses, later)}
        points = _scored(Judged.of([by_name[name] for name in names], graded.n_epochs))
        settled = (points.low == points.high) & (first.low == first.high)
        again.append(np.where(settled, points.low, np.nan))
    return first, maxima, again


def _with_words(entry: Entry, answered: pl.DataFrame) -> NDArray[np.bool_]:
    """Whether there are words to judge, shape (n_scenarios, n_epochs)."""
    graded = entry.graded
    there = set(answered.select("scenario", "epoch").iter_rows())
    epochs = range(1, graded.n_epochs + 1)
    return np.array([[(s.scenario, epoch) in there for epoch in epochs] for s in graded.scenarios])


def _scored(judged: Judged) -> Bounds:
    return judged.settled(partial(scoring.scenario_points, judged.points))


def _shares(
    first: Bounds, maxima: FloatArray, again: Sequence[FloatArray], varies: NDArray[np.bool_]
) -> tuple[GradingVariance | None, str]:
    """The parts of the variance as shares of it, or why there are none.

    Over the scenarios all of whose first judgments are resolved.
    """
    resolved = ((first.low == first.high) | np.isnan(first.low)).all(axis=1)
    could = (maxima > 0) & resolved
    values = np.stack([first.low, *again], axis=2)[could] / maxima[could, np.newaxis, np.newaxis]
    try:
        return grading_variance(values, varies[could]).shares, ""
    except StatsError as error:
        return None, str(error)


def _corrected(
    first: Bounds, maxima: FloatArray, again: Sequence[FloatArray], varies: NDArray[np.bool_]
) -> Estimate:
    """The worst of n if the grader did not vary; its bounds settle all that is unresolved."""

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
