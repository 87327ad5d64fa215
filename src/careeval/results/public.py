"""The public part of runs, which every report, site and export must use.

Numbers are over everything that was asked. But texts and ids of single responses and scenarios are
only shown as they are here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from careeval.core.scenario import Split
from careeval.results.entries import Entry, Harm, harms
from careeval.results.held_out_words import withhold
from careeval.results.tables import RESPONSE_KEY, Runs

_IS_PUBLIC = (pl.col("split") == Split.public.value).fill_null(value=False)
"""True for rows that are public; false if the split is unknown."""

_ABOUT = ("adl", "condition", "assistance", "situation", "actor", "scenario_text")


class PublicHarms(NamedTuple):
    """An entry's errors in responses that may be shown, and the number of its other errors."""

    shown: tuple[Harm, ...]  # Errors in responses that may be shown
    n_held_out: int  # Errors in held-out responses
    n_unknown: int  # Errors in responses whose split is unknown


@dataclass(frozen=True, eq=False)
class PublicView:
    """The part of runs that may be shown.

    A response may be shown if its own row says that it is public. A scenario of an edition may be
    shown if all responses to it are public: one log in which it is held out hides it.
    """

    runs: Runs  # All runs, for numbers and tables; held-out words are replaced by `WITHHELD`
    responses: pl.DataFrame  # The responses that may be shown, with a column `edition`
    scenarios: tuple[tuple[str, str], ...]
    """Edition and id of the scenarios that may be shown, sorted."""
    hidden: frozenset[str]
    """Ids of scenarios with a response, in any edition or bank, that is not public."""
    n_scenarios_left_out: int  # Scenarios of an edition that may not be shown
    n_held_out: int  # Responses that may not be shown since they are held out
    n_unknown: int
    """Responses that may not be shown since their split is unknown: their scenario never began."""

    @classmethod
    def of(cls, runs: Runs) -> PublicView:
        """Return the public part of runs, after withholding the held-out words."""
        runs = withhold(runs)
        responses = _with_edition(runs.responses)
        is_public = _IS_PUBLIC.all().alias("public")
        by_scenario = responses.group_by("edition", "scenario").agg(is_public).drop_nulls()
        public = by_scenario.filter("public").select("edition", "scenario")
        return cls(
            runs=runs,
            responses=responses.filter(_IS_PUBLIC),
            scenarios=tuple(public.sort("edition", "scenario").iter_rows()),
            hidden=frozenset(responses.filter(~_IS_PUBLIC)["scenario"]),
            n_scenarios_left_out=by_scenario.height - public.height,
            n_held_out=responses.filter(pl.col("split") == Split.held_out.value).height,
            n_unknown=responses["split"].null_count(),
        )

    def scenarios_of(self, entry: Entry) -> frozenset[str]:
        """Return the ids of an entry's scenarios that may be shown.

        Their responses are all of the edition of the entry's bank.
        """
        own = entry.edition
        of_edition = (pl.col("edition") == own).fill_null(value=False)
        is_whole = (_IS_PUBLIC & of_edition).all().alias("whole")
        by_scenario = _with_edition(entry.responses).group_by("scenario").agg(is_whole)
        whole = by_scenario.filter("whole")["scenario"]
        shown = {name for its_edition, name in self.scenarios if its_edition == own}
        return frozenset(whole) & shown

    def harms(self, entry: Entry, severity: int) -> PublicHarms:
        """Return the errors of one severity of an entry: those that may be shown, and counts."""
        by_split: defaultdict[str | None, list[Harm]] = defaultdict(list)
        for harm in harms(entry, severity):
            by_split[self._splits[harm.system, harm.scenario, harm.epoch]].append(harm)
        public = by_split.pop(Split.public.value, [])
        held_out = by_split.pop(Split.held_out.value, [])
        return PublicHarms(tuple(public), len(held_out), sum(map(len, by_split.values())))

    @cached_property
    def _splits(self) -> Mapping[tuple[str, str, int], str | None]:
        rows = self.runs.responses.select(*RESPONSE_KEY, "split").iter_rows()
        return {(system, scenario, epoch): split for system, scenario, epoch, split in rows}

    @cached_property
    def abouts(self) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        """Return (edition, scenario) → attributes and text, from the first response with them."""
        asked = self.responses.group_by("edition", "scenario").agg(
            pl.col(name).drop_nulls().first() for name in _ABOUT
        )
        rows = {(row["edition"], row["scenario"]): row for row in asked.iter_rows(named=True)}
        return {key: rows[key] for key in self.scenarios}

    @cached_property
    def items(self) -> Mapping[tuple[str, str, str], list[dict[str, Any]]]:
        """Return (edition, scenario, rubric) → the items in order, as in their first judgments."""
        keys = ["edition", "scenario", "rubric", "position"]
        public = self.responses.select(*RESPONSE_KEY, "edition")
        judged = self.runs.judgments.select(*RESPONSE_KEY, "rubric", "position")
        judged = judged.with_row_index("row").join(public, on=RESPONSE_KEY, maintain_order="left")
        judged = judged.unique(keys, keep="first", maintain_order=True).sort(keys)
        whole = self.runs.judgments[judged["row"]].with_columns(judged["edition"])
        shown, items = set(self.scenarios), defaultdict(list)
        for row in whole.iter_rows(named=True):
            if (row["edition"], row["scenario"]) in shown:
                items[row["edition"], row["scenario"], row["rubric"]].append(row)
        return items


def _with_edition(responses: pl.DataFrame) -> pl.DataFrame:
    n = pl.col("bank_version").str.split("-").list.first()
    return responses.with_columns(edition=pl.concat_str("bank", pl.lit(" "), n))
