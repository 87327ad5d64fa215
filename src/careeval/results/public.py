"""What may be shown of runs: one view, made once, that every report, site and export reads.

Numbers are over everything that was asked. What is shown of a single response or scenario, a word
of it or its id, is taken from here.
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
from careeval.results.score.entries import Entry
from careeval.results.score.harms import Harm, harms
from careeval.results.tables import RESPONSE_KEY, Runs
from careeval.results.withheld import withhold

_IS_PUBLIC = (pl.col("split") == Split.public.value).fill_null(value=False)
"""Whether a row says that it is public; one whose split is not known does not."""

_ABOUT = ("adl", "condition", "assistance", "situation", "actor", "scenario_text")


class _OfScenario(Protocol):
    """Something of one scenario of an entry."""

    @property
    def scenario(self) -> str: ...


T = TypeVar("T", bound=_OfScenario)


class PublicHarms(NamedTuple):
    """Errors of an entry in responses that may be shown, and how many there are in others.

    Attributes:
        n_held_out: In responses that are held out.
        n_unknown: In responses whose split is not known.
    """

    shown: tuple[Harm, ...]
    n_held_out: int
    n_unknown: int


@dataclass(frozen=True, eq=False)
class PublicEntry:
    """What may be shown of one entry where it stands beside others, scenario by scenario.

    Attributes:
        scenarios: Ids of those that may be shown, all of whose responses of this entry are of the
            edition of the bank that it stands for.
    """

    entry: Entry
    scenarios: frozenset[str]

    def shown(self, each: Iterable[T]) -> list[T]:
        """Return those that are of scenarios that may be shown."""
        return [one for one in each if one.scenario in self.scenarios]

    def responses(self, *columns: str) -> pl.DataFrame:
        """Return columns of its responses, `scenario` among them."""
        return self._shown(self.entry.responses.select(columns))

    def judgments(self, *columns: str) -> pl.DataFrame:
        """Return columns of the judgments that count, `scenario` among them."""
        return self._shown(self.entry.first_of(*columns))

    def presence(self, scenario: str, item: str) -> float | None:
        """Return the share of responses in which an item was found; `None` where not judged."""
        return self._presence.get((scenario, item))

    def response(self, scenario: str, epoch: int) -> Mapping[str, Any]:
        """Return the row of a response, columns `_SAID`."""
        return self._responses.of(scenario, epoch).row(0, named=True)

    def judged(self, scenario: str, epoch: int) -> list[dict[str, Any]]:
        """Return the judgments of a response in the order of items; none where it has none."""
        return self._judged.of(scenario, epoch).rows(named=True)

    def _shown(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.filter(pl.col("scenario").is_in(self.scenarios))

    @cached_property
    def _presence(self) -> Mapping[tuple[str, str], float]:
        judged = self.judgments("scenario", "item", "present")
        shares = judged.group_by("scenario", "item").agg(pl.col("present").mean()).drop_nulls()
        return {(scenario, item): share for scenario, item, share in shares.iter_rows()}

    # rows stay in their tables until one is asked for: of most responses no page shows any

    @cached_property
    def _responses(self) -> _Placed:
        return _Placed(self.responses(*_SAID))

    @cached_property
    def _judged(self) -> _Placed:
        return _Placed(self.judgments(*_JUDGED).sort("scenario", "epoch", "position"))


_SAID = ("scenario", "epoch", "state", "text")
_JUDGED = (
    *("scenario", "epoch", "rubric", "position", "points", "present"),
    *("quote", "reason", "item_text"),
)


@dataclass(frozen=True, eq=False)
class _Placed:
    """A table in which the rows of one response stand together."""

    table: pl.DataFrame

    def of(self, scenario: str, epoch: int) -> pl.DataFrame:
        """Return the rows of a response."""
        return self.table.slice(*self._places.get((scenario, epoch), (0, 0)))

    @cached_property
    def _places(self) -> Mapping[tuple[str, int], tuple[int, int]]:
        """Scenario and epoch → where its rows begin, and how many they are."""
        key = pl.struct("scenario", "epoch").rle().alias("run")
        runs = self.table.select(key).unnest("run").rows()
        starts = accumulate((length for length, _ in runs), initial=0)
        return {
            (run["scenario"], run["epoch"]): (start, length)
            for (length, run), start in zip(runs, starts, strict=False)
        }


@dataclass(frozen=True, eq=False)
class Public:
    """What may be shown of runs.

    A response may be shown where it says itself that it is public. A scenario may, as one of an
    edition of its bank, where every response to it does: one log that holds it out is enough.

    Attributes:
        runs: All of them, for numbers and for files of tables; held-out words are `WITHHELD`.
        responses: Those that may be shown, with the `edition` of their bank.
        scenarios: Edition and id of those that may be shown, in order.
        hidden: Ids of scenarios that some response, to whichever edition or bank, holds out.
        n_scenarios_left_out: Scenarios of an edition that may not be shown.
        n_held_out: Responses that may not be shown because they are held out.
        n_unknown: Responses that may not be shown because their split is not known: their scenario
            never began.
    """

    runs: Runs
    responses: pl.DataFrame
    scenarios: tuple[tuple[str, str], ...]
    hidden: frozenset[str]
    n_scenarios_left_out: int
    n_held_out: int
    n_unknown: int

    @classmethod
    def of(cls, runs: Runs) -> Public:
        """Return what may be shown of runs, whose held-out words may still be there."""
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
        """Return what may be shown of an entry of these runs."""
        of = edition(entry.run["bank"], entry.run["bank_version"])
        of_edition = (pl.col("edition") == of).fill_null(value=False)
        is_whole = (_IS_PUBLIC & of_edition).all().alias("whole")
        by_scenario = _with_edition(entry.responses).group_by("scenario").agg(is_whole)
        whole = by_scenario.filter("whole")["scenario"]
        shown = {name for each, name in self.scenarios if each == of}
        return PublicEntry(entry, frozenset(whole) & shown)

    def harms(self, entry: Entry, severity: int) -> PublicHarms:
        """Return the errors of one severity of an entry, response by response."""
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
        """Edition and scenario → what is known of it and its text, as it was asked first."""
        asked = self.responses.group_by("edition", "scenario").agg(
            pl.col(name).drop_nulls().first() for name in _ABOUT
        )
        rows = {(row["edition"], row["scenario"]): row for row in asked.iter_rows(named=True)}
        return {key: rows[key] for key in self.scenarios}

    @cached_property
    def items(self) -> Mapping[tuple[str, str, str], list[dict[str, Any]]]:
        """Edition, scenario and rubric → its items in order, as they were judged first."""
        keys = ["edition", "scenario", "rubric", "position"]
        public = self.responses.select(*RESPONSE_KEY, "edition")
        judged = self.runs.judgments.select(*RESPONSE_KEY, "rubric", "position")
        judged = judged.with_row_index("row").join(public, on=RESPONSE_KEY, maintain_order="left")
        judged = judged.unique(keys, keep="first", maintain_order=True).sort(keys)
        whole = self.runs.judgments[judged["row"]].with_columns(judged["edition"])
        known, items = set(self.scenarios), defaultdict(list)
        for row in whole.iter_rows(named=True):
            if (row["edition"], row["scenario"]) in known:
                items[row["edition"], row["scenario"], row["rubric"]].append(row)
        return items


def edition(bank: str, version: str) -> str:
    """Return a bank and the N of its version: within it a scenario's id means one scenario."""
    return f"{bank} {version.partition('-')[0]}"


def _with_edition(responses: pl.DataFrame) -> pl.DataFrame:
    n = pl.col("bank_version").str.split("-").list.first()
    return responses.with_columns(edition=pl.concat_str("bank", pl.lit(" "), n))
