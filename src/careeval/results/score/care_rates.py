"""Rates of too little care, too much care and vague responses.

Only for banks that say in which direction each bad act errs. The two directions are never set off
against each other: a system could then make up for neglect with risk.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from careeval.core.scenario import CareError, ItemKind
from careeval.results.score.bounded_estimates import bounded
from careeval.results.score.entries import Entry
from careeval.results.score.graded_arrays import BoundedValues
from careeval.stats import MIN_CLUSTERS, Estimate, rate_interval

FEW = f"fewer than {MIN_CLUSTERS} scenarios: no interval"


@dataclass(frozen=True)
class Rate:
    """A share of responses or of points."""

    n: int  # Responses that could count
    share: Estimate  # The share; its bounds settle the unresolved judgments


@dataclass(frozen=True)
class CareRates:
    """The care rates of one entry; a rate that the bank does not support is unknown."""

    too_little: Rate  # Responses with an act of too little care
    too_much: Rate  # Responses with an act of too much care
    unspecific: Rate  # Responses without any good act of technique, where technique is scored
    core: Rate  # Points earned on the easy core, over its maximum
    other: Rate  # Points earned on the other good acts, over their maximum


def care_rates(entry: Entry) -> CareRates | None:
    """Return the care rates of an entry; None if its bank gives no directions of error."""
    columns = ("scenario", "epoch", "points", "present", "kind", "core", "error")
    judged = entry.first_of(*columns)
    if judged["error"].null_count() == judged.height:
        return None
    good = pl.col("points") > 0
    technique = judged.filter(good, pl.col("kind") == ItemKind.technique.value)
    return CareRates(
        too_little=_any(judged.filter(pl.col("error") == CareError.too_little.value)),
        too_much=_any(judged.filter(pl.col("error") == CareError.too_much.value)),
        unspecific=_any(technique, none=True),
        core=_earned(judged.filter(good, pl.col("core"))),
        other=_earned(judged.filter(good, ~pl.col("core"))),
    )


def _any(judged: pl.DataFrame, *, none: bool = False) -> Rate:
    """Return the share of responses with at least one of these items; if `none`, with none of them.

    A response that an unresolved judgment leaves open counts with the share among the others.
    """
    present = pl.col("present")
    by_response = judged.group_by("scenario", "epoch").agg(
        certain=present.fill_null(False).any(), could=present.fill_null(True).any()
    )
    if none:
        by_response = by_response.with_columns(certain=~pl.col("could"), could=~pl.col("certain"))
    return _rate(
        by_response.with_columns(pl.col("certain", "could").cast(pl.Float64), trials=pl.lit(1.0)),
        by_response.height,
    )


def _earned(judged: pl.DataFrame) -> Rate:
    """Return the points earned on these items, over their maximum."""
    points = pl.col("points").cast(pl.Float64)
    return _rate(
        judged.select(
            "scenario",
            certain=points * pl.col("present").fill_null(False),
            could=points * pl.col("present").fill_null(True),
            trials=points,
        ),
        judged.select("scenario", "epoch").n_unique(),
    )


def _rate(rows: pl.DataFrame, n: int) -> Rate:
    """Return a rate over scenarios from rows with the columns `certain`, `could` and `trials`."""
    resolved = rows.filter(pl.col("certain") == pl.col("could"))
    total = float(resolved["trials"].sum())
    if not total:
        return Rate(n, Estimate.unknown("the bank has no such items, or none could be judged"))
    likely = float(resolved["certain"].sum()) / total
    span = pl.col("could") - pl.col("certain")
    by_scenario = (
        rows.group_by("scenario")
        .agg(
            low=pl.col("certain").sum(),
            value=(pl.col("certain") + likely * span).sum(),
            high=pl.col("could").sum(),
            trials=pl.col("trials").sum(),
        )
        .sort("scenario")
    )
    trials = by_scenario["trials"].to_numpy()
    low, value, high = (by_scenario[name].to_numpy() for name in ("low", "value", "high"))
    if len(trials) < MIN_CLUSTERS:
        at, least, most = (float(part.sum() / trials.sum()) for part in (value, low, high))
        return Rate(n, Estimate(at, least, most, None, FEW))
    # points and epochs are not independent trials: count the largest scenario as one
    scale = float(trials.max())
    return Rate(
        n,
        bounded(
            lambda counts: float(counts.sum() / trials.sum()),
            lambda counts: rate_interval(counts / scale, trials / scale),
            BoundedValues(low, high, value),
        ),
    )
