"""All results of a set of runs, for reports, sites and exports, and what may be shown of them.

Numbers are over everything that was asked. But texts and ids of single responses and scenarios are
only shown as they are in `PublicView`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import mean
from typing import Any, NamedTuple

import polars as pl

from careeval.core.scenario import Rubric, Split
from careeval.results.compare import Ranking, rankings
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.grader_accuracy import PeopleAudit
from careeval.results.graders import GraderCard, GraderPair, grader_cards, grader_pairs
from careeval.results.harms import Harm, harms
from careeval.results.held_out_words import withhold
from careeval.results.item_statistics import ItemStatistic, item_statistics
from careeval.results.probe_check import ProbeAgreement
from careeval.results.tables import RESPONSE_KEY, SYSTEM_KEY, Runs, system_keys, system_names


@dataclass(frozen=True, eq=False)
class Findings:
    """A set of runs and everything computed from them.

    It contains no held-out words. Show single responses and scenarios only as `public` has them.
    """

    public: PublicView
    entries: tuple[Entry, ...]
    cards: Mapping[str, GraderCard]
    rankings: tuple[Ranking, ...]
    grader_pairs: tuple[GraderPair, ...]
    items: tuple[ItemStatistic, ...]


def findings(
    runs: Runs,
    probes: Mapping[str, ProbeAgreement] = {},
    *,
    audits: Mapping[str, PeopleAudit] = {},
) -> Findings:
    """Return all results of these runs.

    Args:
        runs: The tables.
        probes: Name of a grader → result of its probe check.
        audits: Name of a grader → result of its audit.
    """
    public = PublicView.of(runs)
    all_entries = tuple(entries(public.runs))
    cards = grader_cards(all_entries, probes, audits=audits)
    all_entries = tuple(
        replace(
            entry,
            corrected=cards[entry.grader].corrected.get((entry.system, entry.rubric)),
            public=public.scenarios_of(entry),
        )
        for entry in all_entries
    )
    return Findings(
        public=public,
        entries=all_entries,
        cards=cards,
        rankings=tuple(rankings(all_entries)),
        grader_pairs=tuple(grader_pairs(all_entries)),
        items=tuple(item_statistics(all_entries)),
    )


@dataclass(frozen=True, eq=False)
class ShownScenario:
    """One scenario that may be shown."""

    edition: str  # Edition of its bank
    id: str  # Id of the scenario
    about: Mapping[str, Any]  # Attributes and text of the scenario
    rubric: Rubric | None  # Rubric of the numbers; `None` without entries
    scores: tuple[float, ...]  # Scores of the scenario by those entries that have one
    severe: tuple[int, int] | None
    """Numbers of responses with a severe error and of judged responses, over all entries; `None` if
    the rubric has no item of −2 points, or nothing was judged."""

    @property
    def mean(self) -> float | None:
        """Return the mean score of the entries; `None` if none is known."""
        return mean(self.scores) if self.scores else None


def shown_scenario(
    edition: str, name: str, about: Mapping[str, Any], entries: Sequence[Entry]
) -> ShownScenario:
    """Return a scenario with the results of entries on it.

    Args:
        edition: Edition of the bank.
        name: Id of the scenario.
        about: Attributes and text of the scenario.
        entries: Entries on one rubric, over that edition.
    """
    scores = [each.public_scores[name].score for each in entries if name in each.public_scores]
    severe = [each.public_severe[name] for each in entries if name in each.public_severe]
    return ShownScenario(
        edition=edition,
        id=name,
        about=about,
        rubric=entries[0].rubric if entries else None,
        scores=tuple(score for score in scores if score is not None),
        severe=(sum(n for n, _ in severe), sum(n for _, n in severe)) if severe else None,
    )


_IS_PUBLIC = (pl.col("split") == Split.public.value).fill_null(value=False)
"""True for rows that are public; false if the split is unknown."""

_ABOUT = (
    *("adl", "condition", "assistance", "situation", "actor", "scenario_text"),
    *("picture", "picture_alt"),
)


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
    responses: pl.DataFrame
    """The responses that may be shown, with the columns `edition` and `name`, as `Entry.name`."""
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
            responses=_with_names(responses).filter(_IS_PUBLIC),
            scenarios=tuple(public.sort("edition", "scenario").iter_rows()),
            hidden=frozenset(responses.filter(~_IS_PUBLIC)["scenario"]),
            n_scenarios_left_out=by_scenario.height - public.height,
            n_held_out=responses.filter(pl.col("split") == Split.held_out.value).height,
            n_unknown=responses["split"].null_count(),
        )

    def picture(self, about: Mapping[str, Any]) -> str:
        """Return the picture of a row or of `abouts`, as a data URI; empty if there is none."""
        return self.runs.pictures.get(about["picture"] or "", "")

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
        rows = entry.responses.select("scenario", "epoch", "split").iter_rows()
        splits = {(scenario, epoch): split for scenario, epoch, split in rows}
        by_split: defaultdict[str | None, list[Harm]] = defaultdict(list)
        for harm in harms(entry, severity):
            by_split[splits[harm.scenario, harm.epoch]].append(harm)
        public = by_split.pop(Split.public.value, [])
        held_out = by_split.pop(Split.held_out.value, [])
        return PublicHarms(tuple(public), len(held_out), sum(map(len, by_split.values())))

    @cached_property
    def abouts(self) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        """Return (edition, scenario) → attributes and text, and the picture if it was shown one.

        Of a world that was asked in several conditions, text and rules not told are those of its
        shortest text without a picture.
        """
        by_length = self.responses.sort(
            pl.col("picture").is_not_null(),
            pl.col("scenario_text").str.len_bytes(),
            nulls_last=True,
            maintain_order=True,
        )
        asked = by_length.group_by("edition", "scenario").agg(
            *(pl.col(name).drop_nulls().first() for name in _ABOUT), pl.col("untold").first()
        )
        rows = {(row["edition"], row["scenario"]): row for row in asked.iter_rows(named=True)}
        return {key: rows[key] for key in self.scenarios}

    @cached_property
    def items(self) -> Mapping[tuple[str, str, str], list[dict[str, Any]]]:
        """Return (edition, scenario, rubric) → the items in order, as in their first judgments."""
        keys = ["edition", "scenario", "rubric", "position"]
        public = self.responses.select(*RESPONSE_KEY, "edition")
        judged = self.runs.judgments.select(*RESPONSE_KEY, "rubric", "position")
        judged = judged.with_row_index("row").join(
            public, on=RESPONSE_KEY, nulls_equal=True, maintain_order="left"
        )
        judged = judged.unique(keys, keep="first", maintain_order=True).sort(keys)
        whole = self.runs.judgments[judged["row"]].with_columns(judged["edition"])
        shown, items = set(self.scenarios), defaultdict(list)
        for row in whole.iter_rows(named=True):
            if (row["edition"], row["scenario"]) in shown:
                items[row["edition"], row["scenario"], row["rubric"]].append(row)
        return items


def _with_names(responses: pl.DataFrame) -> pl.DataFrame:
    names = system_names(system_keys(responses))
    kinds = {**{key: responses.schema[key] for key in SYSTEM_KEY}, "name": pl.String()}
    frame = pl.DataFrame([(*key, name) for key, name in names.items()], kinds, orient="row")
    return responses.join(frame, on=SYSTEM_KEY, how="left", nulls_equal=True, maintain_order="left")


def _with_edition(responses: pl.DataFrame) -> pl.DataFrame:
    n = pl.col("bank_version").str.split("-").list.first()
    return responses.with_columns(edition=pl.concat_str("bank", pl.lit(" "), n))
