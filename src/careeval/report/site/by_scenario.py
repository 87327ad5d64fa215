"""What each entry has on each public scenario, looked up once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import polars as pl

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.report.site.contents import Contents, Listed
from careeval.results.details import ScenarioScore


class ByScenario:
    """The site's public rows by entry, scenario and response."""

    def __init__(self, site: Contents) -> None:
        self.site = site

    def entries(self, edition: str) -> list[Listed]:
        """Entries over one edition of a bank."""
        return [listed for listed in self.site.listed if listed.edition == edition]

    def first_board(self, edition: str) -> tuple[Listed, ...]:
        """Entries of the first board over it, ranked or not."""
        boards = (b.listed for b in self.site.boards if b.listed)
        return next((listed for listed in boards if listed[0].edition == edition), ())

    def score(self, listed: Listed, scenario: str) -> ScenarioScore | None:
        """An entry's score; `None` where nothing was judged."""
        return self._scores[id(listed)].get(scenario)

    def severe(self, listed: Listed, scenario: str) -> tuple[int, int] | None:
        """Responses with a severe error, and all judged; `None` without an item of −2 points."""
        return self._severe[id(listed)].get(scenario)

    def presence(self, listed: Listed, scenario: str, item: str) -> float | None:
        """Share of an entry's responses in which an item was found; `None` where not judged."""
        return self._presence[id(listed)].get((scenario, item))

    def response(self, listed: Listed, scenario: str, epoch: int) -> Mapping[str, Any]:
        """The row of a response."""
        rows, places = self._responses[id(listed)]
        start, _ = places[scenario, epoch]
        return rows.row(start, named=True)

    def judged(self, listed: Listed, scenario: str, epoch: int) -> list[dict[str, Any]]:
        """The judgments of a response in the order of items; none where it was not judged."""
        rows, places = self._judged[id(listed)]
        return rows.slice(*places.get((scenario, epoch), (0, 0))).rows(named=True)

    @cached_property
    def _scores(self) -> dict[int, dict[str, ScenarioScore]]:
        return {
            id(listed): {s.scenario: s for s in listed.public.shown(listed.detail.scenarios)}
            for listed in self.site.listed
        }

    @cached_property
    def _severe(self) -> dict[int, dict[str, tuple[int, int]]]:
        return {
            id(listed): {
                s.scenario: (self._scores[id(listed)][s.scenario].n_severe, s.epochs.size)
                for s in listed.public.shown(listed.entry.graded.judged)
                if scoring.SEVERE in s.points
            }
            for listed in self.site.listed
        }

    @cached_property
    def _presence(self) -> dict[int, dict[tuple[str, str], float]]:
        """Entry → (scenario, item) → share of its responses in which it was found."""
        return {
            id(listed): {
                (scenario, item): share
                for scenario, item, share in listed.public.judgments("scenario", "item", "present")
                .group_by("scenario", "item")
                .agg(pl.col("present").mean())
                .iter_rows()
                if share is not None
            }
            for listed in self.site.listed
        }

    # rows stay in their tables until one is asked for: of most responses no page shows any

    @cached_property
    def _responses(self) -> dict[int, _Placed]:
        columns = ("scenario", "epoch", "state", "text")
        return {
            id(listed): _placed(listed.public.responses(*columns)) for listed in self.site.listed
        }

    @cached_property
    def _judged(self) -> dict[int, _Placed]:
        columns = (
            "scenario",
            "epoch",
            "rubric",
            "position",
            "points",
            "present",
            "quote",
            "reason",
            "item_text",
        )
        return {
            id(listed): _placed(
                listed.public.judgments(*columns).sort("scenario", "epoch", "position")
            )
            for listed in self.site.listed
        }


_Placed = tuple[pl.DataFrame, dict[tuple[str, int], tuple[int, int]]]
"""A table, and where in it the rows of each (scenario, epoch) begin, and how many they are."""


def _placed(table: pl.DataFrame) -> _Placed:
    """A table whose rows of one response stand together."""
    runs = table.select(pl.struct("scenario", "epoch").rle().alias("run")).unnest("run")
    places = {}
    start = 0
    for length, key in runs.rows():
        places[key["scenario"], key["epoch"]] = start, length
        start += length
    return table, places


def label(row: Mapping[str, Any]) -> str:
    """How a page names an item: an act by its number, a rung by a letter."""
    position = int(row["position"])
    return (
        str(position + 1)
        if row["rubric"] == Rubric.actions.value
        else chr(ord("A") + position % 26)
    )
