"""Judgments that contradict each other: a measure of the grader that needs no labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from careeval.core.scenario import Rubric


class Contradiction(StrEnum):
    """What cannot be true of one response."""

    top_without_next = "top without next"
    """The +2 rung is present, and the +1 rung that is a part of it is not."""
    rung_without_act = "rung without act"
    """A rung is present, and an act that it is made of is not."""
    acts_without_rung = "acts without rung"
    """All acts that a rung is made of are present, and the rung is not."""
    excluded_pair = "excluded pair"
    """Two acts that exclude each other are both present."""


@dataclass(frozen=True, slots=True)
class Count:
    """How often one contradiction was found.

    Attributes:
        count: Times; `None` where the rubrics that it needs were not judged.
        opportunities: Times that its first half was there: a rung present, all acts of a rung
            present, one act of an excluding pair present; `None` likewise.
        reason: Why it is not known; empty where it is.
    """

    count: int | None
    opportunities: int | None
    reason: str = ""

    @property
    def share(self) -> float | None:
        """Of the opportunities; `None` where there was none, or they are not known."""
        return (
            self.count / self.opportunities
            if self.count is not None and self.opportunities
            else None
        )


NOT_JUDGED = {
    Rubric.actions: "it needs the actions, which this grader did not judge",
    Rubric.ladder: "it needs the ladder, which this grader did not judge",
}

LadderCheck = Mapping[Contradiction, Count]

_RESPONSE = ["system", "scenario", "epoch"]
CHECKED = (*_RESPONSE, "rubric", "item", "points", "present", "of", "excludes")
"""Columns of the judgments that are looked at."""


def ladder_check(judgments: pl.DataFrame) -> LadderCheck:
    """How often one grader's judgments contradict each other.

    A rung is a part of another where all acts that it is made of are acts of the other. Of a rung
    that names no acts nothing is said. What needs a rubric that was not judged is unknown; a
    contradiction between the rubrics is looked for in responses that were judged on both.

    Args:
        judgments: By one grader, each item of a response once; columns
            `careeval.results.tables.JUDGMENTS`. An unresolved item is no part of any.

    Returns:
        Every contradiction, 0 of 0 where the rubrics leave no room for it.
    """
    rubrics = set(judgments["rubric"].unique())
    lacking = {rubric: NOT_JUDGED[rubric] for rubric in Rubric if rubric not in rubrics}
    no_ladder, no_actions = lacking.get(Rubric.ladder), lacking.get(Rubric.actions)
    reasons = {
        Contradiction.top_without_next: no_ladder,
        Contradiction.rung_without_act: no_ladder or no_actions,
        Contradiction.acts_without_rung: no_ladder or no_actions,
        Contradiction.excluded_pair: no_actions,
    }
    made = judgments.select(CHECKED).filter(pl.col("present").is_not_null())
    # every contradiction is within a response: a table of all pairs of all systems would be large
    parts = [_counts(of_system) for of_system in made.partition_by("system")]
    return {
        kind: Count(None, None, reason)
        if reason
        else Count(
            sum(part[kind].count or 0 for part in parts),
            sum(part[kind].opportunities or 0 for part in parts),
        )
        for kind, reason in reasons.items()
    }


def _counts(made: pl.DataFrame) -> LadderCheck:
    """Every contradiction in judgments that were made, as if both rubrics were judged."""
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


def _top_without_next(rungs: pl.DataFrame) -> Count:
    top = rungs.filter(pl.col("points") == 2, pl.col("present"))
    pairs = top.join(rungs.filter(pl.col("points") == 1), on=_RESPONSE, suffix="_next")
    is_part = pl.col("of_next").list.set_difference(pl.col("of")).list.len() == 0
    return _count(pairs.filter(is_part), broken=~pl.col("present_next"))


def _rungs_and_acts(rungs: pl.DataFrame, acts: pl.DataFrame) -> tuple[Count, Count]:
    """A rung without one of its acts, and all acts of a rung without it."""
    each = rungs.with_row_index("rung").explode("of")
    found = each.join(
        acts.select(*_RESPONSE, "item", pl.col("present").alias("act")),
        left_on=[*_RESPONSE, "of"],
        right_on=[*_RESPONSE, "item"],
        how="left",
    )
    by_rung = found.group_by("rung").agg(
        pl.col("present").first(),
        lacks=(~pl.col("act")).any(),
        known=pl.col("act").is_not_null().any(),
        all_there=pl.col("act").fill_null(False).all(),
    )
    return (
        _count(by_rung.filter("present", "known"), broken=pl.col("lacks")),
        _count(by_rung.filter("all_there"), broken=~pl.col("present")),
    )


def _excluded_pairs(acts: pl.DataFrame) -> Count:
    one = acts.filter(pl.col("excludes").list.len() > 0).explode("excludes")
    both = one.join(
        acts.select(*_RESPONSE, "item", pl.col("present").alias("other")),
        left_on=[*_RESPONSE, "excludes"],
        right_on=[*_RESPONSE, "item"],
    )
    # most pairs name each other, and are one
    ends = [pl.min_horizontal("item", "excludes"), pl.max_horizontal("item", "excludes")]
    pairs = both.with_columns(ends[0].alias("a"), ends[1].alias("b")).unique([*_RESPONSE, "a", "b"])
    there = pairs.filter(pl.col("present") | pl.col("other"))
    return _count(there, broken=pl.col("present") & pl.col("other"))


def _count(opportunities: pl.DataFrame, broken: pl.Expr) -> Count:
    return Count(opportunities.filter(broken).height, opportunities.height)
