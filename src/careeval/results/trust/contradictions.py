"""Judgments that contradict each other: a check of the grader that needs no labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from careeval.core.scenario import Rubric


class Contradiction(StrEnum):
    """The kinds of judgments that cannot all be true of one response."""

    top_without_next = "top without next"
    """The +2 rung is present, and the +1 rung that is a part of it is not."""
    rung_without_act = "rung without act"
    """A rung is present, and an act that it is made of is not."""
    acts_without_rung = "acts without rung"
    """All acts that a rung is made of are present, and the rung is not."""
    excluded_pair = "excluded pair"
    """Two acts that exclude each other are both present."""


@dataclass(frozen=True, slots=True)
class ContradictionCount:
    """The frequency of one kind of contradiction."""

    count: int | None  # Contradictions found; `None` if the rubrics that it needs were not judged
    opportunities: int | None
    """Cases in which it could arise: a rung present, all acts of a rung present, or one act of an
    excluding pair present; `None` likewise."""
    reason: str = ""  # Reason why it is unknown; else empty

    @property
    def share(self) -> float | None:
        """Return the share of the opportunities; `None` if there is none or it is unknown."""
        return (
            self.count / self.opportunities
            if self.count is not None and self.opportunities
            else None
        )


NOT_JUDGED = {
    Rubric.actions: "it needs the actions, which this grader did not judge",
    Rubric.ladder: "it needs the ladder, which this grader did not judge",
}

LadderCheck = Mapping[Contradiction, ContradictionCount]

_RESPONSE = ["system", "scenario", "epoch"]
CHECKED = (*_RESPONSE, "rubric", "item", "points", "present", "of", "excludes")
"""Columns of the judgments that `ladder_check` reads."""


def ladder_check(judgments: pl.DataFrame) -> LadderCheck:
    """Count the contradictions in one grader's judgments.

    A rung is part of another if all its acts are acts of the other. Rungs that name no acts are
    left out. Contradictions that need a rubric that was not judged are unknown; those between the
    rubrics are only sought in responses judged on both.

    Args:
        judgments: Judgments by one grader, each item of a response once; columns
            `careeval.results.tables.JUDGMENTS`. Unresolved items are left out.

    Returns:
        Every kind of contradiction; 0 of 0 if there was no opportunity.
    """
    rubrics = set(judgments["rubric"].unique())
    lacking = {rubric: NOT_JUDGED[rubric] for rubric in NOT_JUDGED if rubric not in rubrics}
    no_ladder, no_actions = lacking.get(Rubric.ladder), lacking.get(Rubric.actions)
    reasons = {
        Contradiction.top_without_next: no_ladder,
        Contradiction.rung_without_act: no_ladder or no_actions,
        Contradiction.acts_without_rung: no_ladder or no_actions,
        Contradiction.excluded_pair: no_actions,
    }
    made = judgments.select(CHECKED).filter(pl.col("present").is_not_null())
    # system by system, since a table of all pairs of all systems would be large
    parts = [_counts(of_system) for of_system in made.partition_by("system")]
    return {
        kind: ContradictionCount(None, None, reason)
        if reason
        else ContradictionCount(
            sum(part[kind].count or 0 for part in parts),
            sum(part[kind].opportunities or 0 for part in parts),
        )
        for kind, reason in reasons.items()
    }


def _counts(made: pl.DataFrame) -> LadderCheck:
    """Count each kind of contradiction in resolved judgments, as if both rubrics were judged."""
    is_rung = pl.col("rubric") == Rubric.ladder.value
    rungs = made.filter(is_rung, pl.col("of").list.len() > 0)
    acts = made.filter(~is_rung)
    rung_without_act, acts_without_rung = _rungs_and_acts(rungs, acts)
    return {
        Contradiction.top_without_next: _top_without_next(rungs),
        Contradiction.rung_without_act: rung_without_act,
        Contradiction.acts_without_rung: acts_without_rung,
        Contradiction.excluded_pair: _excluded_pairs(acts),
    }


def _top_without_next(rungs: pl.DataFrame) -> ContradictionCount:
    top = rungs.filter(pl.col("points") == 2, pl.col("present"))
    pairs = top.join(rungs.filter(pl.col("points") == 1), on=_RESPONSE, suffix="_next")
    is_part = pl.col("of_next").list.set_difference(pl.col("of")).list.len() == 0
    return _count(pairs.filter(is_part), broken=~pl.col("present_next"))


def _rungs_and_acts(
    rungs: pl.DataFrame, acts: pl.DataFrame
) -> tuple[ContradictionCount, ContradictionCount]:
    """Count rungs without one of their acts, and rungs absent though all acts are present."""
    rung_acts = rungs.with_row_index("rung").explode("of")
    judged_acts = rung_acts.join(
        acts.select(*_RESPONSE, "item", pl.col("present").alias("act")),
        left_on=[*_RESPONSE, "of"],
        right_on=[*_RESPONSE, "item"],
        how="left",
    )
    by_rung = judged_acts.group_by("rung").agg(
        pl.col("present").first(),
        lacks=(~pl.col("act")).any(),
        any_judged=pl.col("act").is_not_null().any(),
        all_present=pl.col("act").fill_null(False).all(),
    )
    return (
        _count(by_rung.filter("present", "any_judged"), broken=pl.col("lacks")),
        _count(by_rung.filter("all_present"), broken=~pl.col("present")),
    )


def _excluded_pairs(acts: pl.DataFrame) -> ContradictionCount:
    one = acts.filter(pl.col("excludes").list.len() > 0).explode("excludes")
    both = one.join(
        acts.select(*_RESPONSE, "item", pl.col("present").alias("other")),
        left_on=[*_RESPONSE, "excludes"],
        right_on=[*_RESPONSE, "item"],
    )
    # most excluding acts name each other, so that a pair appears twice
    ends = [pl.min_horizontal("item", "excludes"), pl.max_horizontal("item", "excludes")]
    pairs = both.with_columns(ends[0].alias("a"), ends[1].alias("b")).unique([*_RESPONSE, "a", "b"])
    opportunities = pairs.filter(pl.col("present") | pl.col("other"))
    return _count(opportunities, broken=pl.col("present") & pl.col("other"))


def _count(opportunities: pl.DataFrame, broken: pl.Expr) -> ContradictionCount:
    return ContradictionCount(opportunities.filter(broken).height, opportunities.height)
