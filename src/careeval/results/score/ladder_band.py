"""The lenient ladder score: a good rung counts even if one of its acts is missing.

A rung asks for several acts at once, so the ladder's score measures the grader's strictness as well
as care. The score as judged and the lenient score are the two ends of a band.
"""

from __future__ import annotations

import polars as pl

from careeval.core.scenario import Rubric
from careeval.results.score.entries import Entry
from careeval.results.score.graded_arrays import graded_scenarios
from careeval.results.score.graded_rubric import GradedRubric
from careeval.stats import Estimate

_ACT = ("scenario", "epoch", "act")


def lenient_score(entry: Entry) -> Estimate | None:
    """Return the score of a ladder entry if rungs that lack one act count as present.

    `None` for another rubric, or if this grader did not judge every response on the actions too.
    """
    if entry.rubric is not Rubric.ladder:
        return None
    acts = (
        entry.of_system.filter(
            pl.col("grader") == entry.grader, pl.col("rubric") == Rubric.actions.value
        )
        .sort(pl.col("present").is_null(), "grading")
        .unique(("scenario", "epoch", "item"), keep="first")
        .select("scenario", "epoch", act="item", found="present")
    )
    rungs = entry.first
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
        .select("scenario", "epoch", "item", nearly=pl.lit(True))
    )
    judged = (
        rungs.join(nearly, on=("scenario", "epoch", "item"), how="left", maintain_order="left")
        .with_columns(present=pl.when("nearly").then(True).otherwise(pl.col("present")))
        .drop("nearly")
    )
    scenarios = graded_scenarios(entry.responses, judged)
    return GradedRubric(scenarios, entry.n_epochs).score()
