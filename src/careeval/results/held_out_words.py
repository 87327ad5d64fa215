"""Replacements for held-out words: a mark for texts, and positions for ids of items.

Items of held-out scenarios are named by position, since their ids may reveal words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from careeval.core.plan_reasons import without_words
from careeval.core.scenario import Rubric, Scenario, Split
from careeval.results.tables import JUDGMENTS, NOT_ASKED, Runs

WITHHELD = "(held out)"
"""Replaces words of the held-out split."""

BY_POINTS = re.compile(r"[+-]?[0-9]")
"""Pattern of rung ids that are points, which are not secret."""

PREFIX: Mapping[Rubric, str] = {
    Rubric.ladder: "r",
    Rubric.actions: "a",
    Rubric.plan: "p",
}


def names_by_place(scenario: Scenario) -> dict[tuple[Rubric, str], str]:
    """Return (rubric, id of an item) → a1, a2 … for actions, r1, r2 … for rungs, p1 … of plans.

    Rungs named by their points keep their ids.
    """
    items = ((scenario.id, r.value, item.id) for r in Rubric for item in scenario.rubric(r))
    return {
        (Rubric(rubric), item): name for (_, rubric, item), name in _numbered(items, {}).items()
    }


_TEXTS = ("text", "scenario_text", "untold", "picture_alt")
"""Columns of responses that are words of a scenario or of a response to it."""


def withhold(runs: Runs) -> Runs:
    """Return the runs without the words of the held-out split and of the responses to it.

    Ids of scenarios stay, since those of held-out ones reveal nothing. Ids of items may reveal
    words, so they are replaced by position: a1, a2 … for actions, r1 … for rungs whose id is more
    than their points, and p1 … for goals and dangers. Of the reasons of plans the names of courses
    stay, and in how many an item is present.
    """
    ids = pl.col("scenario").is_in(_held_out(runs.responses))
    if _is_withheld(runs, ids):
        return runs
    mark = pl.lit(WITHHELD)
    # our own notes stay, since costs depend on them; a provider's may quote the words
    ours = pl.col("note").is_in(["", NOT_ASKED])
    responses = runs.responses.with_columns(
        *(pl.when(ids).then(mark).otherwise(pl.col(name)).alias(name)
          for name in _TEXTS),
        pl.when(ids & ~ours).then(mark).otherwise(pl.col("note")).alias("note"),
        # a server may repeat what it is asked in place of its model's name, which is one word
        pl.when(ids & pl.col("model_returned").str.contains(r"\s")).then(mark)
        .otherwise(pl.col("model_returned")).alias("model_returned"),
    )  # fmt: skip
    is_plan = pl.col("rubric") == Rubric.plan.value
    courses = pl.when(is_plan).then(
        pl.col("reason").map_elements(_courses_alone, return_dtype=pl.String)
    )
    judgments = runs.judgments.with_columns(
        pl.when(ids).then(None).otherwise(pl.col("quote")).alias("quote"),
        pl.when(ids).then(courses).otherwise(pl.col("reason")).alias("reason"),
        pl.when(ids).then(mark).otherwise(pl.col("item_text")).alias("item_text"),
    )  # fmt: skip
    twins = runs.responses.select("scenario", "twin_of").drop_nulls().unique().rows()
    judgments = _items_by_place(judgments, ids, dict(twins))
    return replace(runs, responses=responses, judgments=judgments)


def _courses_alone(reason: str) -> str | None:
    return without_words(reason, WITHHELD)


def _is_withheld(runs: Runs, ids: pl.Expr) -> bool:
    """Tell whether every word of the chosen scenarios is withheld; true if none is chosen."""
    texts = runs.responses.filter(ids).select(_TEXTS)
    items = runs.judgments.filter(ids).select("item_text")
    return all(column.eq_missing(WITHHELD).all() for column in (*texts, *items))


def _held_out(responses: pl.DataFrame) -> list[str]:
    """Return the ids of the held-out scenarios.

    A response that never began may not say its split. Then another response to its scenario
    decides; if none says it either, the scenario counts as held out if a system that was asked it
    was also asked one that is held out.
    """
    is_secret = pl.col("split") == Split.held_out.value
    secret = responses.filter(is_secret)
    with_split = responses.filter(pl.col("split").is_not_null())["scenario"].unique()
    presumed = responses.filter(
        pl.col("system").is_in(secret["system"].unique().implode()),
        ~pl.col("scenario").is_in(with_split.implode()),
    )
    return sorted({*secret["scenario"], *presumed["scenario"]})


def _items_by_place(
    judgments: pl.DataFrame, chosen: pl.Expr, bases: Mapping[str, str]
) -> pl.DataFrame:
    """Return the judgments with the items of the chosen scenarios named by position.

    `bases` has the base of each twin.
    """
    places = judgments.with_row_index("row")
    held = places.filter(chosen)
    names = _names_by_place(held, bases)
    by_row = held.select("scenario", "rubric", "item", "of", "excludes").rows()
    renamed: dict[str, Any] = {
        "item": [names[scenario, rubric, item] for scenario, rubric, item, _, _ in by_row]
    }
    for name, lists in (
        ("of", [row[3] for row in by_row]),
        ("excludes", [row[4] for row in by_row]),
    ):
        renamed[name] = [
            None if acts is None else [names[row[0], Rubric.actions.value, act] for act in acts]
            for row, acts in zip(by_row, lists, strict=True)
        ]
    kinds = {column.name: column.kind for column in JUDGMENTS}
    others = [pl.Series(name, values, kinds[name]) for name, values in renamed.items()]
    together = pl.concat([places.filter(~chosen), held.with_columns(others)])
    return together.sort("row").drop("row")


def _names_by_place(
    judgments: pl.DataFrame, bases: Mapping[str, str]
) -> dict[tuple[str, str, str], str]:
    """Return names as `_numbered`, in the order of the rubric.

    Actions that are only mentioned, and were not judged, come after those that were.
    """
    items = judgments.group_by("scenario", "rubric", "item").agg(pl.col("position").min())
    in_order = items.sort("scenario", "rubric", "position", "item")
    keys = [row[:3] for row in in_order.iter_rows()]
    for name in ("of", "excludes"):
        lists = judgments.select("scenario", pl.col(name).alias("act")).unique().sort("scenario")
        acts = lists.explode("act").drop_nulls().unique().sort("scenario", "act")
        keys += [(scenario, Rubric.actions.value, act) for scenario, act in acts.iter_rows()]
    return _numbered(keys, bases)


def _numbered(
    items: Iterable[tuple[str, str, str]], bases: Mapping[str, str]
) -> dict[tuple[str, str, str], str]:
    """Return (scenario, rubric, id of an item) → its name, numbered in this order.

    Rungs named by their points keep their ids, and have no number. A goal or danger that a world
    shares with its twin has one name in both; `bases` has the base of each twin.
    """
    names: dict[tuple[str, str, str], str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for scenario, rubric, item in dict.fromkeys(items):
        base = bases.get(scenario, scenario) if rubric == Rubric.plan.value else scenario
        if rubric == Rubric.ladder.value and BY_POINTS.fullmatch(item):
            names[scenario, rubric, item] = item
        elif (base, rubric, item) in names:
            names[scenario, rubric, item] = names[base, rubric, item]
        else:
            counts[base, rubric] += 1
            names[scenario, rubric, item] = f"{PREFIX[Rubric(rubric)]}{counts[base, rubric]}"
    return names
