"""The grader's noise, from responses that it judged more than once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval.core.response import GRADED_STATES
from careeval.core.scenario import Rubric
from careeval.errors import StatsError
from careeval.results.entries import Entry
from careeval.results.estimates import Bounded, BoundedValues, FloatArray, rate, settled
from careeval.results.graded_rubric import GradedRubric
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
    if entry.n_gradings < 2:
        return None
    judged = entry.judgments
    # the grading that counts comes first, even if others were made before it
    counts = entry.first_of("scenario", "epoch", "grading").rename({"grading": "counting"})
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
    first, maxima, again = entry.graded.earned, entry.graded.maxima, _points(entry, judged)
    # only responses that have words to judge can be judged differently
    with_words = answered.select("scenario", "epoch", pl.lit(1.0).alias("words"))
    varies = ~np.isnan(entry.graded.placed(with_words))
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
    differ, pairs = (by_scenario[name].to_numpy() for name in ("differ", "pairs"))
    return rate(Bounded.exact(differ), pairs, partial(rate_interval, most_a_family=np.inf))


def _points(entry: Entry, judged: pl.DataFrame) -> list[FloatArray]:
    """Return the points of each later grading, shape (n_scenarios, n_epochs).

    NaN means that it was not graded, or that it or the first grading has an unresolved item, which
    would pass for noise.
    """
    first = entry.graded.earned
    again = []
    for grading in sorted(set(judged["grading"]))[1:]:
        later = judged.filter(pl.col("grading") == grading)
        points = GradedRubric.of(entry.responses, later, entry.n_epochs).earned
        resolved = (points.low == points.high) & (first.low == first.high)
        again.append(np.where(resolved, points.low, np.nan))
    return again


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

    return settled(
        lambda points: noise_corrected_worst(stacked(points), maxima, varies),
        lambda points: noise_corrected_worst_interval(stacked(points), maxima, varies),
        first.value,
        first.settlements,
    )
