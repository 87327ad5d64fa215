"""What an audit takes of an entry: the judgments made whole, and whether a sample is of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from careeval.core.response import ResponseState
from careeval.core.scenario import Split
from careeval.results.score.entries import Entry
from careeval.results.trust.audit.sample import Graded, Sample

OTHER_ANSWERS = "people read another run’s answers of this system"
OTHER_JUDGMENTS = "what people read was drawn from other judgments than these"
"""Why what people say of a sample says nothing of a run."""

HAS_WORDS = (
    (pl.col("state") == ResponseState.answered.value) & (pl.col("text").str.strip_chars() != "")
).fill_null(value=False)
"""Whether a response says anything that people could read."""


def with_whole(first: pl.DataFrame) -> pl.DataFrame:
    """Return judgments with `whole`: whether all of the rubric was judged in the response."""
    of_response = pl.len().over("scenario", "epoch", "rubric")
    open_ = pl.col("present").is_null().sum().over("scenario", "epoch", "rubric")
    return first.with_columns(
        of_response.alias("n_items"), (open_ == 0).alias("made")
    ).with_columns(
        (
            pl.col("made")
            & (pl.col("n_items") == pl.col("n_items").max().over("scenario", "rubric"))
        ).alias("whole")
    )


def graded(entry: Entry) -> Iterator[Graded]:
    """Yield what the grader made of each scenario's public responses."""
    public = entry.responses.filter(pl.col("split") == Split.public.value)
    judged = (
        with_whole(entry.first)
        .filter(pl.col("whole"))
        .join(
            public.select("scenario", "epoch", (~HAS_WORDS).alias("wordless")),
            on=["scenario", "epoch"],
        )
    )
    worth = pl.col("points")
    by_response = judged.group_by("scenario", "epoch").agg(
        pl.col("wordless").first(),
        pl.len().alias("n_items"),
        worth.filter(pl.col("present")).sum().alias("points"),
        worth.filter(worth > 0).sum().alias("maximum"),
    )
    by_scenario = by_response.group_by("scenario").agg(
        pl.col("n_items").first(),
        pl.len().alias("n_responses"),
        pl.col("wordless").sum().alias("n_wordless"),
        pl.col("maximum").first(),
        pl.col("points").sum(),
    )
    for row in by_scenario.sort("scenario").iter_rows(named=True):
        yield Graded(system=entry.system, rubric=entry.rubric, **row)


def other_than(sample: Sample, entry: Entry) -> str:
    """Return why a sample is not drawn from an entry's judgments; empty where it is.

    The name of a system is no proof: two runs may give it to different answers. So the words that
    people read must be the entry's, and all that the grader made of its public responses the same.
    """
    strata, hidden = sample.hidden.strata, sample.hidden
    read = {each.id: each.text for each in sample.shown}
    texts = {(scenario, epoch): text for scenario, epoch, text in _columns(entry.responses, "text")}
    judged = {tuple(key): verdict for *key, verdict in _columns(entry.first, "item", "present")}
    same = True
    for each in hidden.drawn:
        stratum = strata[each.stratum]
        if (stratum.system, stratum.rubric) != (entry.system, entry.rubric):
            continue
        if read.get(each.response) != texts.get((each.scenario, each.epoch)):
            return OTHER_ANSWERS
        key = (each.scenario, each.epoch, each.item)
        same = same and judged.get(key) is stratum.present
    own = entry.system, entry.rubric
    drawn_from = {row for row in hidden.graded if (row.system, row.rubric) == own}
    return "" if same and drawn_from == set(graded(entry)) else OTHER_JUDGMENTS


def _columns(frame: pl.DataFrame, *more: str) -> Iterator[tuple[Any, ...]]:
    return frame.select("scenario", "epoch", *more).iter_rows()
