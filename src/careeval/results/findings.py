"""All results of a set of runs, for reports, sites and exports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean
from typing import Any, Protocol, TypeVar

import polars as pl

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.results.details import Detail, EntryNumbers, ScenarioScore, detail_of
from careeval.results.entries import Entry, entries
from careeval.results.graders import GraderCard, GraderPair, grader_cards, grader_pairs
from careeval.results.item_statistics import ItemStatistic, item_statistics
from careeval.results.people_audit import PeopleAudit
from careeval.results.probe_check import ProbeAgreement
from careeval.results.public import PublicView, edition
from careeval.results.ranking import Ranking, rankings
from careeval.results.summary import Summary, summary_of
from careeval.results.tables import Runs


class _OfScenario(Protocol):
    """An object that belongs to one scenario."""

    @property
    def scenario(self) -> str: ...


T = TypeVar("T", bound=_OfScenario)


@dataclass(frozen=True, eq=False, kw_only=True)
class EntryFindings(EntryNumbers):
    """One entry, all numbers computed from it, and the part of it that may be shown."""

    detail: Detail  # The detailed numbers, which are always present here
    entry: Entry  # The entry
    scenarios: frozenset[str]
    """Ids of the scenarios that may be shown."""

    @property
    def edition(self) -> str:
        """Return the entry's bank and the N of its version: see `results.public.edition`."""
        return edition(self.summary.bank, self.summary.bank_version)

    def shown(self, parts: Iterable[T]) -> list[T]:
        """Return those of the objects given whose scenario may be shown."""
        return [part for part in parts if part.scenario in self.scenarios]

    def presence(self, scenario: str, item: str) -> float | None:
        """Return the share of responses in which an item is present; `None` if it is unknown."""
        return self._presence.get((scenario, item))

    @cached_property
    def _presence(self) -> Mapping[tuple[str, str], float]:
        judged = self.entry.first_of("scenario", "item", "present")
        shown = judged.filter(pl.col("scenario").is_in(self.scenarios))
        shares = shown.group_by("scenario", "item").agg(pl.col("present").mean()).drop_nulls()
        return {(scenario, item): share for scenario, item, share in shares.iter_rows()}

    @cached_property
    def scores(self) -> Mapping[str, ScenarioScore]:
        """Return scenario → score, for scenarios that may be shown and have a judged response."""
        return {s.scenario: s for s in self.shown(self.detail.scenarios)}

    @cached_property
    def severe(self) -> Mapping[str, tuple[int, int]]:
        """Return scenario → number of responses with a severe error, number of judged responses.

        The scenarios are those that may be shown and whose rubric has an item of −2 points.
        """
        graded = self.entry.graded
        with_severe = graded.judged & (graded.points == scoring.SEVERE).any(axis=1)
        return {
            name: (self.scores[name].n_severe, graded.n_judged[name])
            for name in graded.ids(with_severe)
            if name in self.scenarios
        }


@dataclass(frozen=True, eq=False)
class Findings:
    """A set of runs and everything computed from them.

    It contains no held-out words. Show single responses and scenarios only as `public` has them.
    """

    public: PublicView
    graded: tuple[EntryFindings, ...]
    cards: Mapping[str, GraderCard]
    rankings: tuple[Ranking, ...]
    grader_pairs: tuple[GraderPair, ...]
    items: tuple[ItemStatistic, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return the entry of each of the findings."""
        return tuple(graded.entry for graded in self.graded)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """Return the summaries, in the order of the entries."""
        return tuple(graded.summary for graded in self.graded)


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
    graded = tuple(
        EntryFindings(
            summary=summary_of(entry),
            detail=detail_of(entry),
            corrected=cards[entry.grader].corrected.get((entry.system, entry.rubric)),
            entry=entry,
            scenarios=public.scenarios_of(entry),
        )
        for entry in all_entries
    )
    return Findings(
        public=public,
        graded=graded,
        cards=cards,
        rankings=tuple(rankings(all_entries, [each.summary for each in graded])),
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
    edition: str, name: str, about: Mapping[str, Any], entries: Sequence[EntryFindings]
) -> ShownScenario:
    """Return a scenario with the results of entries on it.

    Args:
        edition: Edition of the bank.
        name: Id of the scenario.
        about: Attributes and text of the scenario.
        entries: Entries on one rubric, over that edition.
    """
    scores = [each.scores[name].score for each in entries if name in each.scores]
    severe = [each.severe[name] for each in entries if name in each.severe]
    return ShownScenario(
        edition=edition,
        id=name,
        about=about,
        rubric=entries[0].summary.rubric if entries else None,
        scores=tuple(score for score in scores if score is not None),
        severe=(sum(n for n, _ in severe), sum(n for _, n in severe)) if severe else None,
    )
