"""All results of a set of runs, for reports, sites and exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from careeval import scoring
from careeval.results.entry_numbers import EntryNumbers
from careeval.results.public import PublicEntry, PublicView, edition
from careeval.results.score.entries import Entry, entries
from careeval.results.score.entry_details import Detail, ScenarioScore, detail_of
from careeval.results.score.summary import Summary, summary_of
from careeval.results.tables import Runs
from careeval.results.trust.audit.results import AuditResults
from careeval.results.trust.grader_card import GraderCard, grader_cards
from careeval.results.trust.grader_pairs import GraderPair, grader_pairs
from careeval.results.trust.item_statistics import ItemStatistic, item_statistics
from careeval.results.trust.probe_check import ProbeAgreement
from careeval.results.versus.ranking import Ranking, rankings


@dataclass(frozen=True, eq=False, kw_only=True)
class EntryFindings(EntryNumbers):
    """One entry, and all numbers computed from it."""

    detail: Detail  # The detailed numbers, which are always present here
    entry: Entry  # The entry
    public: PublicEntry  # The part of the entry that may be shown

    @property
    def edition(self) -> str:
        """Return the entry's bank and the N of its version: see `results.public.edition`."""
        return edition(self.summary.bank, self.summary.bank_version)

    @cached_property
    def scores(self) -> Mapping[str, ScenarioScore]:
        """Return scenario → score, for scenarios that may be shown and have a judged response."""
        return {s.scenario: s for s in self.public.shown(self.detail.scenarios)}

    @cached_property
    def severe(self) -> Mapping[str, tuple[int, int]]:
        """Return scenario → number of responses with a severe error, number of judged responses.

        The scenarios are those that may be shown and whose rubric has an item of −2 points.
        """
        return {
            s.scenario: (self.scores[s.scenario].n_severe, s.epochs.size)
            for s in self.public.shown(self.entry.graded.judged)
            if scoring.SEVERE in s.points
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
    audits: Mapping[str, AuditResults] = {},
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
            public=public.of_entry(entry),
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
