"""Graders held against each other, and against the vendors of what they judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from careeval.core.response import ResponseState
from careeval.core.scenario import Rubric
from careeval.errors import StatsError
from careeval.results.entries import Entry
from careeval.results.estimates import NOT_GRADED, Parts, bounded, bounded_ratio
from careeval.results.points import Bounds, FloatArray
from careeval.results.summary import EMBEDDED_MODEL, LEXICAL_GRADER
from careeval.results.vendors import vendor
from careeval.stats import Estimate, cohen_kappa, kappa_interval, rate_interval

__all__ = ["GraderPair", "OwnVendorOut", "grader_pairs", "own_vendor_out", "vendor"]

_JUDGMENT = ["scenario", "epoch", "rubric", "item"]


@dataclass(frozen=True)
class GraderPair:
    """Two graders that judged the same responses.

    Attributes:
        a: Name of the one.
        b: Name of the other.
        systems: Whose responses, by name.
        n: Judgments that both made; those that either left unresolved are not among them.
        agree: Share of them that are the same; the interval is clustered by scenario.
        kappa: Cohen's; unknown where one of the two found all or nothing.
        by_points: Points of the item → share the same, and of how many.
    """

    a: str
    b: str
    systems: tuple[str, ...]
    n: int
    agree: Estimate
    kappa: Estimate
    by_points: dict[int, tuple[float, int]]


def grader_pairs(entries: Sequence[Entry]) -> list[GraderPair]:
    """Each two graders that judged any response in common, over all systems.

    A response without words is in none: nobody judged it.
    """
    by_system: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_system[entry.model].append(entry)
    common: dict[tuple[str, str], dict[str, pl.DataFrame]] = defaultdict(dict)
    for system, of_system in by_system.items():
        if len(of_system) < 2:
            continue
        read = {entry.grader: _read(entry) for entry in of_system}
        for a, b in combinations(sorted(read), 2):
            both = read[a].join(read[b].drop("points"), on=_JUDGMENT, suffix="_b")
            if both.height:
                common[a, b][system] = both
    return [
        _pair(a, b, tuple(sorted(systems)), pl.concat(systems.values()))
        for (a, b), systems in sorted(common.items())
    ]


def _read(entry: Entry) -> pl.DataFrame:
    """What a grader found in the answers the first time."""
    answered = entry.responses.filter(pl.col("state") == ResponseState.answered.value)
    first = entry.first.select(*_JUDGMENT, "points", "present")
    return first.join(answered, on=["scenario", "epoch"], how="semi")


def _pair(a: str, b: str, systems: tuple[str, ...], both: pl.DataFrame) -> GraderPair:
    made = both.drop_nulls(["present", "present_b"])
    if made.is_empty():
        nothing = Estimate.unknown("one of the two left every judgment unresolved")
        return GraderPair(a, b, systems, 0, nothing, nothing, {})
    one, other, same = (
        pl.col("present"),
        pl.col("present_b"),
        pl.col("present") == pl.col("present_b"),
    )
    by_scenario = made.group_by("scenario", maintain_order=True).agg(
        (one & other).sum().alias("both"),
        (one & ~other).sum().alias("one"),
        (~one & other).sum().alias("other"),
        (~one & ~other).sum().alias("neither"),
    )
    tables = by_scenario.drop("scenario").cast(pl.Float64).to_numpy().reshape(-1, 2, 2)
    by_points = made.group_by("points").agg(same.mean(), pl.len().alias("n"))
    return GraderPair(
        a=a,
        b=b,
        systems=systems,
        n=made.height,
        agree=share(np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))),
        kappa=_kappa(tables),
        by_points={
            points: (agree, n)
            for points, agree, n in by_points.sort("points", descending=True).iter_rows()
        },
    )


def share(events: FloatArray, trials: FloatArray) -> Estimate:
    """Events per trial, both by scenario, each trial with a known end."""
    return bounded(
        lambda known: float(known.sum() / trials.sum()),
        lambda known: rate_interval(known, trials),
        Bounds(events, events),
    )


def _kappa(tables: FloatArray) -> Estimate:
    return bounded(
        lambda known: cohen_kappa(known.sum(axis=0)), kappa_interval, Bounds(tables, tables)
    )


@dataclass(frozen=True)
class OwnVendorOut:
    """One system's score without the graders of its own vendor.

    Attributes:
        model: Name of the system.
        kept: Graders of other vendors.
        left_out: Graders of its own.
        unknown: Graders, or the system itself, whose vendor is not known; those are kept.
        score: Of the ladder, mean over the kept graders; unknown where none is left.
        action_score: The same of the actions.
    """

    model: str
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    unknown: tuple[str, ...]
    score: Estimate
    action_score: Estimate


def own_vendor_out(entries: Sequence[Entry]) -> list[OwnVendorOut]:
    """For each system that several graders judged, its score without those of its own vendor.

    Graders that are only for seeing everything work, the lexical and embedded ones, are not among
    them. Kept graders are averaged scenario by scenario, over the scenarios that all of them judged
    on a rubric, so that none is given the easier ones.
    """
    by_system: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if not entry.grader.startswith((LEXICAL_GRADER, EMBEDDED_MODEL)):
            by_system[entry.model].append(entry)
    return [
        _own_vendor_out(system, of_system)
        for system, of_system in sorted(by_system.items())
        if len(of_system) > 1
    ]


def _own_vendor_out(system: str, entries: Sequence[Entry]) -> OwnVendorOut:
    own = vendor(entries[0].asked)
    vendors = {entry.grader: vendor(entry.grader) for entry in entries}
    left_out = [grader for grader, of in vendors.items() if own is not None and of == own]
    kept = [entry for entry in entries if entry.grader not in left_out]
    return OwnVendorOut(
        model=system,
        kept=tuple(entry.grader for entry in kept),
        left_out=tuple(left_out),
        unknown=(
            *(() if own else (system,)),
            *(grader for grader, of in vendors.items() if of is None),
        ),
        score=_mean_score(kept, Rubric.ladder),
        action_score=_mean_score(kept, Rubric.actions),
    )


def _mean_score(entries: Sequence[Entry], rubric: Rubric) -> Estimate:
    if not entries:
        return Estimate.unknown("all of its graders are of its own vendor")
    parts: list[Parts] = []
    for entry in entries:
        try:
            parts.append(entry.rubric(rubric).score_parts())
        except StatsError:
            continue  # graded on the other rubric alone
    if not parts:
        return Estimate.unknown(NOT_GRADED)
    shared = sorted(set.intersection(*(set(part.scenarios) for part in parts)))
    if not shared:
        return Estimate.unknown("its graders have no scenario in common")
    chosen = [[part.scenarios.index(scenario) for scenario in shared] for part in parts]
    low, high = (
        np.mean([b[at] for b, at in zip(bounds, chosen, strict=True)], axis=0)
        for bounds in zip(*(part.numerators.both for part in parts), strict=True)
    )
    maxima = parts[0].denominators[chosen[0]]
    if not maxima.sum():
        return Estimate.unknown("no positive points: the score has no maximum")
    return bounded_ratio(Bounds(low, high), maxima)
