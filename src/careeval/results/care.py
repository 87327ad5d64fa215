"""Rates of too little and too much care, and the lenient score on the ladder.

Only for banks that say in which direction each bad act errs. The two directions are never set off
against each other: a system could then make up for neglect with risk.

A rung asks for several acts at once, so the ladder's score measures the grader's strictness as well
as care. The score as judged and the lenient score are the two ends of a band.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from careeval.core.scenario import CareError, ItemKind
from careeval.results.graded_rubric import BoolArray, GradedRubric
from careeval.stats.estimate import Bounded, Estimate, FloatArray, scenario_rate


@dataclass(frozen=True)
class Rate:
    """A share of responses or of points."""

    n: int  # Responses that could count
    share: Estimate  # The share; its bounds settle the unresolved judgments


def gives_directions(graded: GradedRubric) -> bool:
    """Tell whether the bank says of any item in which direction it errs."""
    return bool((graded.items["error"] != None).any())  # noqa: E711


def error_rate(graded: GradedRubric, error: CareError) -> Rate:
    """Return the share of responses with an act that errs in this direction."""
    return any_rate(graded, graded.items["error"] == error.value)


def unspecific_rate(graded: GradedRubric) -> Rate:
    """Return the share of responses without a good act of technique, where technique is scored."""
    techniques = (graded.points > 0) & (graded.items["kind"] == ItemKind.technique.value)
    return any_rate(graded, techniques, none=True)


def earned_rate(graded: GradedRubric, *, core: bool) -> Rate:
    """Return the share of points earned by good acts of the easy core, or by the others."""
    return _earned(graded, (graded.points > 0) & (graded.items["core"] == core))


def any_rate(graded: GradedRubric, items: BoolArray, *, none: bool = False) -> Rate:
    """Return the share of responses with at least one of these items; if `none`, with none of them.

    Where an unresolved judgment leaves a response open, it counts as much as the share among the
    other responses.
    """
    chosen = items[:, np.newaxis]
    certain = ((graded.present == 1) & chosen).any(axis=2)
    could = ((graded.present != 0) & chosen).any(axis=2)
    if none:
        certain, could = ~could, ~certain
    trials = graded.can_err & items.any(axis=1, keepdims=True)
    return _rate(certain, could, trials.astype(np.float64), int(trials.sum()))


def _earned(graded: GradedRubric, items: BoolArray) -> Rate:
    """Return the points earned on these items, over their maximum."""
    n = int(graded.is_judged[items.any(axis=1)].sum())
    points = graded.is_judged[:, :, np.newaxis] * np.where(items, graded.points, 0)[:, np.newaxis]
    return _rate(graded.present == 1, graded.present != 0, points.astype(np.float64), n)


def _rate(certain: BoolArray, could: BoolArray, trials: FloatArray, n: int) -> Rate:
    """Return the rate of what counts among trials, with an interval over scenarios.

    The first axis of all three arrays is the scenarios. `certain` is what counts whatever the
    unresolved judgments are, `could` what counts under some of them.
    """
    resolved = certain == could
    if not (total := trials[resolved].sum()):
        return Rate(n, Estimate.unknown("the bank has no such items, or none could be judged"))
    likely = (trials * certain)[resolved].sum() / total

    def by_scenario(events: FloatArray | BoolArray) -> FloatArray:
        summed = (trials * events).reshape(len(trials), -1).sum(axis=1)
        return np.asarray(summed[has_trials])

    has_trials = trials.reshape(len(trials), -1).any(axis=1)
    counts = Bounded(certain, could, np.where(resolved, certain, likely)).map(by_scenario)
    return Rate(n, scenario_rate(counts, by_scenario(np.ones_like(trials)), "scenarios"))


_ACT = ("scenario", "epoch", "act")


def lenient_score(ladder: GradedRubric, rungs: pl.DataFrame, acts: pl.DataFrame) -> Estimate | None:
    """Return the score on the ladder if rungs that lack one act count as present.

    `None` if not every response was judged on the actions too.

    Args:
        ladder: The judgments of the rungs that count, as arrays.
        rungs: The same judgments.
        acts: All judgments of the acts of the same responses by the same grader.
    """
    acts = (
        acts.sort(pl.col("present").is_null(), "grading")
        .unique(("scenario", "epoch", "item"), keep="first")
        .select("scenario", "epoch", act="item", found="present")
    )
    if not rungs.join(acts, on=("scenario", "epoch"), how="anti").is_empty():
        return None
    several = (pl.col("points") > 0) & (pl.col("of").list.len() > 1)
    nearly = (
        rungs.filter(several)
        .select("scenario", "epoch", "item", n=pl.col("of").list.len(), act="of")
        .explode("act")
        .join(acts, on=_ACT, how="left")
        .group_by("scenario", "epoch", "item", "n")
        .agg(pl.col("found").sum().alias("n_found"))
        .filter(pl.col("n_found") + 1 >= pl.col("n"))
    )
    forgiven = ladder.are_in(nearly.select("scenario", "epoch", "item"))
    return ladder.with_present(np.where(forgiven, 1.0, ladder.present)).score()
