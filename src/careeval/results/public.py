"""The public part of runs, which every report, site and export must use.

Numbers are over everything that was asked. But texts and ids of single responses and scenarios are
only shown as they are here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple, Protocol, TypeVar

import polars as pl

from careeval.core.scenario import Split
from careeval.results.entries import Entry, Harm, harms
from careeval.results.held_out_words import withhold
from careeval.results.tables import RESPONSE_KEY, Runs

_IS_PUBLIC = (pl.col("split") == Split.public.value).fill_null(value=False)
"""True for rows that are public; false if the split is unknown."""

_ABOUT = ("adl", "condition", "assistance", "situation", "actor", "scenario_text")


class _OfScenario(Protocol):
    """An object that belongs to one scenario."""

    @property
    def scenario(self) -> str: ...


T = TypeVar("T", bound=_OfScenario)


class PublicHarms(NamedTuple):
    """An entry's errors in responses that may be shown, and the number of its other errors."""

    shown: tuple[Harm, ...]  # Errors in responses that may be shown
    n_held_out: int  # Errors in held-out responses
    n_unknown: int  # Errors in responses whose split is unknown


@dataclass(frozen=True, eq=False)
class PublicEntry:
    """The part of one entry that may be shown."""

    entry: Entry
    scenarios: frozenset[str]
    """Ids of the scenarios that may be shown and whose responses are all of the edition of the
    entry's bank."""

    def shown(self, parts: Iterable[T]) -> list[T]:
        """Return those of the objects given whose scenario may be shown."""
        return [part for part in parts if part.scenario in self.scenarios]

    def responses(self, *columns: str) -> pl.DataFrame:
        """Return these columns of the responses that may be shown; `scenario` must be included."""
        return self._shown(self.entry.responses.select(columns))

    def judgments(self, *columns: str) -> pl.DataFrame:
        """Return these columns of the judgments that count and may be shown, with `scenario`."""
        return self._shown(self.entry.first_of(*columns))

    def presence(self, scenario: str, item: str) -> float | None:
        """Return the share of responses in which an item is present; `None` if it is unknown."""
        return self._presence.get((scenario, item))

    def response(self, scenario: str, epoch: int) -> Mapping[str, Any]:
        """Return the row of one response, with the columns `_RESPONSE`."""
        return self._responses.of(scenario, epoch).row(0, named=True)

    def judged(self, scenario: str, epoch: int) -> list[dict[str, Any]]:
        """Return the judgments of a response in the order of items; empty if it has none."""
        return self._judged.of(scenario, epoch).rows(named=True)

    def _shown(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.filter(pl.col("scenario").is_in(self.scenarios))

    @cached_property
    def _presence(self) -> Mapping[tuple[str, str], float]:
        judged = self.judgments("scenario", "item", "present")
        shares = judged.group_by("scenario", "item").agg(pl.col("present").mean()).drop_nulls()
        return {(scenario, item): share for scenario, item, share in shares.iter_rows()}

    # rows are only read when a page needs them, since pages show few of the responses

    @cached_property
    def _responses(self) -> _RowsByResponse:
        return _RowsByResponse(self.responses(*_RESPONSE))

    @cached_property
    def _judged(self) -> _RowsByResponse:
        return _RowsByResponse(self.judgments(*_JUDGMENT).sort("scenario", "epoch", "position"))


_RESPONSE = ("scenario", "epoch", "state", "text", "note")
_JUDGMENT = (
    *("scenario", "epoch", "rubric", "position", "item", "points", "present"),
    *("quote", "reason", "item_text"),
)


@dataclass(frozen=True, eq=False)
class _RowsByResponse:
    """A table in which the rows of each response are consecutive."""

    table: pl.DataFrame

    def of(self, scenario: str, epoch: int) -> pl.DataFrame:
        """Return the rows that belong to one response."""
        return self.table.slice(*self._places.get((scenario, epoch), (0, 0)))

    @cached_property
    def _places(self) -> Mapping[tuple[str, int], tuple[int, int]]:
        """Return scenario and epoch → first row and number of rows."""
        key = pl.struct("scenario", "epoch").rle().alias("run")
        runs = self.table.select(key).unnest("run").rows()
        starts = accumulate((length for length, _ in runs), initial=0)
        return {
            (run["scenario"], run["epoch"]): (start, length)
            for (length, run), start in zip(runs, starts, strict=False)
        }


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

    def of_entry(self, entry: Entry) -> PublicEntry:
        """Return the part of an entry of these runs that may be shown."""
        own = edition(entry.run["bank"], entry.run["bank_version"])
        of_edition = (pl.col("edition") == own).fill_null(value=False)
        is_whole = (_IS_PUBLIC & of_edition).all().alias("whole")
        by_scenario = _with_edition(entry.responses).group_by("scenario").agg(is_whole)
        whole = by_scenario.filter("whole")["scenario"]
        shown = {name for its_edition, name in self.scenarios if its_edition == own}
        return PublicEntry(entry, frozenset(whole) & shown)

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


def edition(bank: str, version: str) -> str:
    """Return the bank and the N of its version, within which ids of scenarios are unique."""
    return f"{bank} {version.partition('-')[0]}"


def _with_edition(responses: pl.DataFrame) -> pl.DataFrame:
    n = pl.col("bank_version").str.split("-").list.first()
    return responses.with_columns(edition=pl.concat_str("bank", pl.lit(" "), n))
