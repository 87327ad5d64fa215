"""The judgments of an entry that an audit uses, and a check that its sample was drawn from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from careeval.core.response import ResponseState
from careeval.core.scenario import Split
from careeval.people.audit.sample import AuditSample, GradedTotals
from careeval.results.entries import Entry

OTHER_ANSWERS = "people read another run’s answers of this system"
OTHER_JUDGMENTS = "what people read was drawn from other judgments than these"
"""Reasons why a sample does not apply to an entry."""

HAS_WORDS = (
    (pl.col("state") == ResponseState.answered.value) & (pl.col("text").str.strip_chars() != "")
).fill_null(value=False)
"""True for responses with words that people can read."""


def with_whole(first: pl.DataFrame) -> pl.DataFrame:
    """Return judgments with a column `whole`: every item of the rubric was judged and resolved."""
    n_items = pl.len().over("scenario", "epoch", "rubric")
    n_unresolved = pl.col("present").is_null().sum().over("scenario", "epoch", "rubric")
    return first.with_columns(
        n_items.alias("n_items"), (n_unresolved == 0).alias("resolved")
    ).with_columns(
        (
            pl.col("resolved")
            & (pl.col("n_items") == pl.col("n_items").max().over("scenario", "rubric"))
        ).alias("whole")
    )


def graded_totals(entry: Entry) -> Iterator[GradedTotals]:
    """Yield, for each scenario, the grader's totals over its public responses."""
    public = entry.responses.filter(pl.col("split") == Split.public.value)
    judged = (
        with_whole(entry.first)
        .filter(pl.col("whole"))
        .join(
            public.select("scenario", "epoch", (~HAS_WORDS).alias("wordless")),
            on=["scenario", "epoch"],
        )
    )
    points = pl.col("points")
    by_response = judged.group_by("scenario", "epoch").agg(
        pl.col("wordless").first(),
        pl.len().alias("n_items"),
        points.filter(pl.col("present")).sum().alias("points"),
        points.filter(points > 0).sum().alias("maximum"),
    )
    by_scenario = by_response.group_by("scenario").agg(
        pl.col("n_items").first(),
        pl.len().alias("n_responses"),
        pl.col("wordless").sum().alias("n_wordless"),
        pl.col("maximum").first(),
        pl.col("points").sum(),
    )
    for row in by_scenario.sort("scenario").iter_rows(named=True):
        yield GradedTotals(system=entry.system, rubric=entry.rubric, **row)


def why_not_drawn_from(sample: AuditSample, entry: Entry) -> str:
    """Return the reason why a sample was not drawn from an entry's judgments; empty if it was.

    The name of a system proves nothing, since two runs may use it for different responses. So the
    texts that people read must be the entry's, and the grader's totals must be the same.
    """
    strata, hidden = sample.hidden.strata, sample.hidden
    shown = {response.id: response.text for response in sample.shown}
    texts = {(scenario, epoch): text for scenario, epoch, text in _columns(entry.responses, "text")}
    judged = {tuple(key): verdict for *key, verdict in _columns(entry.first, "item", "present")}
    same = True
    for drawn in hidden.drawn:
        stratum = strata[drawn.stratum]
        if (stratum.system, stratum.rubric) != (entry.system, entry.rubric):
            continue
        if shown.get(drawn.response) != texts.get((drawn.scenario, drawn.epoch)):
            return OTHER_ANSWERS
        key = (drawn.scenario, drawn.epoch, drawn.item)
        same = same and judged.get(key) is stratum.present
    own = entry.system, entry.rubric
    drawn_from = {row for row in hidden.graded if (row.system, row.rubric) == own}
    return "" if same and drawn_from == set(graded_totals(entry)) else OTHER_JUDGMENTS


def _columns(frame: pl.DataFrame, *more: str) -> Iterator[tuple[Any, ...]]:
    return frame.select("scenario", "epoch", *more).iter_rows()
