"""Which way a system errs, where its bank says so: too little care, too much, or too vague.

The two directions are given apart and never netted: a netted number would reward risk.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from careeval.core.scenario import CareError, ItemKind
from careeval.results.entries import Entry
from careeval.stats import MIN_CLUSTERS, Estimate, rate_interval

FEW = f"fewer than {MIN_CLUSTERS} scenarios: no interval"


@dataclass(frozen=True)
class Rate:
    """How often something is in responses.

    Attributes:
        n: Responses that could have it and whose judgments of it are resolved.
        share: Share of them that have it.
    """

    n: int
    share: Estimate


@dataclass(frozen=True)
class Care:
    """What one entry comes to by direction; a rate is unknown where the bank does not say.

    Attributes:
        too_little: Responses with an act of too little care.
        too_much: Responses with an act of too much care.
        unspecific: Responses without any good act of technique, where technique is scored.
        core: Points of the easy core that are earned, over those that there are.
        other: The same of the other good acts.
    """

    too_little: Rate
    too_much: Rate
    unspecific: Rate
    core: Rate
    other: Rate


def care(entry: Entry) -> Care | None:
    """Return what an entry comes to by direction; None where its bank says nothing of it."""
    columns = ("scenario", "epoch", "points", "present", "kind", "core", "error")
    judged = entry.first_of(*columns)
    if judged["error"].null_count() == judged.height:
        return None
    good = pl.col("points") > 0
    technique = judged.filter(good, pl.col("kind") == ItemKind.technique.value)
    return Care(
        too_little=_any(judged.filter(pl.col("error") == CareError.too_little.value)),
        too_much=_any(judged.filter(pl.col("error") == CareError.too_much.value)),
        unspecific=_any(technique, none=True),
        core=_earned(judged.filter(good, pl.col("core"))),
        other=_earned(judged.filter(good, ~pl.col("core"))),
    )


def _any(judged: pl.DataFrame, *, none: bool = False) -> Rate:
    """Responses with at least one of these items, or with none."""
    by_response = judged.group_by("scenario", "epoch").agg(
        pl.col("present").any(ignore_nulls=False)
    )
    found = ~pl.col("present") if none else pl.col("present")
    by_scenario = (
        by_response.filter(pl.col("present").is_not_null())
        .group_by("scenario")
        .agg(found.sum().alias("count"), pl.len().alias("n"))
        .sort("scenario")
    )
    return _rate(by_scenario, int(by_scenario["n"].sum()))


def _earned(judged: pl.DataFrame) -> Rate:
    """Points of these items that are earned, over those that there are, each scenario's share."""
    resolved = judged.filter(pl.col("present").is_not_null())
    earned = pl.col("points") * pl.col("present")
    by_scenario = (
        resolved.group_by("scenario")
        .agg(earned.sum().alias("count"), pl.col("points").sum().alias("n"))
        .sort("scenario")
    )
    return _rate(by_scenario, resolved.select("scenario", "epoch").n_unique())


def _rate(by_scenario: pl.DataFrame, n: int) -> Rate:
    if by_scenario.is_empty():
        return Rate(0, Estimate.unknown("the bank has no such items, or none could be judged"))
    counts = by_scenario["count"].cast(pl.Float64).to_numpy()
    trials = by_scenario["n"].cast(pl.Float64).to_numpy()
    value = float(counts.sum() / trials.sum())
    if len(counts) < MIN_CLUSTERS:
        return Rate(n, Estimate(value, value, value, None, FEW))
    # each scenario's share is one trial: epochs are no scenarios
    scale = trials.max()
    interval = rate_interval(counts / scale, trials / scale)
    return Rate(n, Estimate(value, value, value, (interval.low, interval.high)))
