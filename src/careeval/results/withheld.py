"""What stands for held-out words: a mark for texts, and for the ids of items their places.

An item of a held-out scenario is called by its place, since its id may tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from careeval.core.scenario import Rubric, Scenario, Split
from careeval.results.tables import JUDGMENTS, NOT_ASKED, Runs

WITHHELD = "(held out)"
"""Stands for words of the held-out split."""

BY_POINTS = re.compile(r"[+-]?[0-9]")
"""The id of a rung that is called by its points, which are no secret."""

PREFIX: Mapping[Rubric, str] = {Rubric.ladder: "r", Rubric.actions: "a"}


def names_by_place(scenario: Scenario) -> dict[tuple[Rubric, str], str]:
    """(rubric, id of an item) → a1, a2 … of actions, r1, r2 … of rungs not called by points."""
    named = {}
    for rubric in Rubric:
        n = 0
        for item in scenario.rubric(rubric):
            by_points = rubric is Rubric.ladder and BY_POINTS.fullmatch(item.id)
            n += not by_points
            named[rubric, item.id] = item.id if by_points else f"{PREFIX[rubric]}{n}"
    return named


def withhold(runs: Runs) -> Runs:
    """Return the same numbers, without the words of the held-out split and of what was said to it.

    A scenario's id stays: that of a held-out one is to tell nothing. The ids of its items may
    tell, so that they are called by their places: a1, a2 … wherever an action is named, r1 …
    for rungs that are called by more than their points.
    """
    ids = pl.col("scenario").is_in(_held_out(runs.responses))
    if _is_withheld(runs, ids):
        return runs
    mark = pl.lit(WITHHELD)
    # what is not a word of a provider's, costs are reckoned by
    ours = pl.col("note").is_in(["", NOT_ASKED])
    responses = runs.responses.with_columns(
        *(pl.when(ids).then(mark).otherwise(pl.col(name)).alias(name)
          for name in ("text", "scenario_text")),
        pl.when(ids & ~ours).then(mark).otherwise(pl.col("note")).alias("note"),
    )  # fmt: skip
    judgments = runs.judgments.with_columns(
        *(pl.when(ids).then(None).otherwise(pl.col(name)).alias(name)
          for name in ("quote", "reason")),
        pl.when(ids).then(mark).otherwise(pl.col("item_text")).alias("item_text"),
    )  # fmt: skip
    return replace(runs, responses=responses, judgments=_items_by_place(judgments, ids))


def _is_withheld(runs: Runs, ids: pl.Expr) -> bool:
    """Return true if no word of the chosen scenarios is left; so too where none is chosen."""
    texts = runs.responses.filter(ids).select("text", "scenario_text")
    items = runs.judgments.filter(ids).select("item_text")
    return all(column.eq_missing(WITHHELD).all() for column in (*texts, *items))


def _held_out(responses: pl.DataFrame) -> list[str]:
    """Return the ids of the held-out scenarios.

    A response that never began may not say its split. Another of its scenario may; where none does,
    and its system was asked anything that is held out, it is taken for held out too.
    """
    is_secret = pl.col("split") == Split.held_out.value
    secret = responses.filter(is_secret)
    known = responses.filter(pl.col("split").is_not_null())["scenario"].unique()
    untold = responses.filter(
        pl.col("system").is_in(secret["system"].unique().implode()),
        ~pl.col("scenario").is_in(known.implode()),
    )
    return sorted({*secret["scenario"], *untold["scenario"]})


def _items_by_place(judgments: pl.DataFrame, chosen: pl.Expr) -> pl.DataFrame:
    """Return the same with the items of the chosen scenarios called by their places."""
    places = judgments.with_row_index("row")
    held = places.filter(chosen)
    named = _names_by_place(held)
    by_row = held.select("scenario", "rubric", "item", "of", "excludes").rows()
    renamed: dict[str, Any] = {
        "item": [named[scenario, rubric, item] for scenario, rubric, item, _, _ in by_row]
    }
    for name, lists in (
        ("of", [row[3] for row in by_row]),
        ("excludes", [row[4] for row in by_row]),
    ):
        renamed[name] = [
            None if acts is None else [named[row[0], Rubric.actions.value, act] for act in acts]
            for row, acts in zip(by_row, lists, strict=True)
        ]
    kinds = {column.name: column.kind for column in JUDGMENTS}
    others = [pl.Series(name, values, kinds[name]) for name, values in renamed.items()]
    together = pl.concat([places.filter(~chosen), held.with_columns(others)])
    return together.sort("row").drop("row")


def _names_by_place(judgments: pl.DataFrame) -> dict[tuple[str, str, str], str]:
    """(scenario, rubric, id of an item) → what it is called, in the order of its rubric.

    An action that is only named, since the actions were not judged, comes after those that were.
    """
    items = judgments.group_by("scenario", "rubric", "item").agg(pl.col("position").min())
    known = items.sort("scenario", "rubric", "position", "item")
    found = [row[:3] for row in known.iter_rows()]
    for name in ("of", "excludes"):
        each = judgments.select("scenario", pl.col(name).alias("act")).unique().sort("scenario")
        acts = each.explode("act").drop_nulls().unique().sort("scenario", "act")
        found += [(scenario, Rubric.actions.value, act) for scenario, act in acts.iter_rows()]
    named: dict[tuple[str, str, str], str] = {}
    counts: dict[tuple[str, str], int] = {}
    for scenario, rubric, item in found:
        if (scenario, rubric, item) in named:
            continue
        if rubric == Rubric.ladder.value and BY_POINTS.fullmatch(item):
            named[scenario, rubric, item] = item
            continue
        counts[scenario, rubric] = counts.get((scenario, rubric), 0) + 1
        named[scenario, rubric, item] = f"{PREFIX[Rubric(rubric)]}{counts[scenario, rubric]}"
    return named
