"""What each entry has on each public scenario, looked up once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import polars as pl

from careeval.core.scenario import Rubric
from careeval.report.site.contents import Contents, Listed, public_rows
from careeval.results.details import ScenarioScore


class ByScenario:
    """The site's public rows by entry, scenario and response."""

    def __init__(self, site: Contents) -> None:
        self.site = site

    def entries(self, edition: str) -> list[Listed]:
        """Entries over one edition of a bank."""
        return [listed for listed in self.site.listed if listed.edition == edition]

    def first_entries(self, edition: str) -> list[Listed]:
        """One entry for each system over it."""
        return [each for each in self.site.first_of.values() if each.edition == edition]

    def first_board(self, edition: str) -> tuple[Listed, ...]:
        """Entries of the first board over it, ranked or not."""
        boards = (b.listed for b in self.site.boards if b.listed)
        return next((listed for listed in boards if listed[0].edition == edition), ())

    def score(self, listed: Listed, rubric: Rubric, scenario: str) -> ScenarioScore | None:
        """An entry's score; `None` where nothing was judged."""
        return self._scores[id(listed), rubric].get(scenario)

    def presence(self, listed: Listed, scenario: str, rubric: str, item: str) -> float | None:
        """Share of an entry's responses in which an item was found; `None` where not judged."""
        return self._presence[id(listed)].get((scenario, rubric, item))

    def response(self, listed: Listed, scenario: str, epoch: int) -> Mapping[str, Any]:
        """The row of a response of an entry that stands for its system."""
        return self._responses[id(listed)][scenario, epoch]

    def judged(self, listed: Listed, scenario: str, epoch: int) -> list[dict[str, Any]]:
        """The judgments of such a response, the ladder's first; none where it was not judged."""
        return self._judged[id(listed)].get((scenario, epoch), [])

    @cached_property
    def _scores(self) -> dict[tuple[int, Rubric], dict[str, ScenarioScore]]:
        return {
            (id(listed), rubric): {
                s.scenario: s
                for s in listed.detail.scenarios[rubric]
                if self.site.page_of(listed, s.scenario)
            }
            for listed in self.site.listed
            for rubric in Rubric
        }

    @cached_property
    def items(self) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
        """Edition, scenario and rubric → its items in order, as they were judged first."""
        runs = self.site.found.runs
        of_response = ["system", "scenario", "epoch"]
        public = public_rows(runs.responses).select(*of_response, "edition")
        keys = ["edition", "scenario", "rubric", "position"]
        judged = runs.judgments.join(public, on=of_response, maintain_order="left")
        judged = judged.unique(keys, keep="first", maintain_order=True).sort(keys)
        items: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
        for row in judged.iter_rows(named=True):
            if (row["edition"], row["scenario"]) in self.site.scenarios:
                items[row["edition"], row["scenario"], row["rubric"]].append(row)
        return items

    @cached_property
    def _presence(self) -> dict[int, dict[tuple[str, str, str], float]]:
        """Entry → (scenario, rubric, item) → share of its responses in which it was found."""
        keys = ("scenario", "rubric", "item")
        return {
            id(listed): {
                (scenario, rubric, item): found
                for scenario, rubric, item, found in listed.entry.first.group_by(keys)
                .agg(pl.col("present").mean())
                .iter_rows()
                if found is not None and self.site.page_of(listed, scenario)
            }
            for listed in self.site.listed
        }

    @cached_property
    def _responses(self) -> dict[int, dict[tuple[str, int], dict[str, Any]]]:
        columns = ("scenario", "epoch", "state", "text")
        return {
            id(listed): {
                (row["scenario"], row["epoch"]): row
                for row in _public(listed.entry.responses, listed, self.site)
                .select(columns)
                .iter_rows(named=True)
            }
            for listed in self.site.first_of.values()
        }

    @cached_property
    def _judged(self) -> dict[int, dict[tuple[str, int], list[dict[str, Any]]]]:
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
        found: dict[int, dict[tuple[str, int], list[dict[str, Any]]]] = {}
        for listed in self.site.first_of.values():
            of: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
            # the ladder first, as it is everywhere
            rows = _public(listed.entry.first, listed, self.site).select(columns)
            for row in rows.sort("rubric", "position", descending=[True, False]).iter_rows(
                named=True
            ):
                of[row["scenario"], row["epoch"]].append(row)
            found[id(listed)] = of
        return found


def _public(table: pl.DataFrame, listed: Listed, site: Contents) -> pl.DataFrame:
    public = [name for of, name in site.scenarios if site.page_of(listed, name)]
    return table.filter(pl.col("scenario").is_in(public))


def label(row: Mapping[str, Any]) -> str:
    """How a page names an item: an act by its number, a rung by a letter."""
    position = int(row["position"])
    return (
        str(position + 1)
        if row["rubric"] == Rubric.actions.value
        else chr(ord("A") + position % 26)
    )
