"""All that is found in some runs, for whoever draws it: a report, a site, an export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from careeval import scoring
from careeval.results.entry_numbers import EntryNumbers
from careeval.results.public import Public, PublicEntry, edition
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
class Graded(EntryNumbers):
    """One entry, and everything that is computed from it.

    Attributes:
        detail: Its numbers in full, always.
        entry: The system as one grader judged it on one rubric.
        public: What may be shown of it.
    """

    detail: Detail
    entry: Entry
    public: PublicEntry

    @property
    def edition(self) -> str:
        """The edition of the bank that it was asked."""
        return edition(self.summary.bank, self.summary.bank_version)

    @cached_property
    def scores(self) -> Mapping[str, ScenarioScore]:
        """Scenario that may be shown → its score; nothing where no response was judged."""
        return {s.scenario: s for s in self.public.shown(self.detail.scenarios)}

    @cached_property
    def severe(self) -> Mapping[str, tuple[int, int]]:
        """Scenario that may be shown → responses with a severe error, and all that were judged.

        Nothing where the rubric has no item of −2 points.
        """
        return {
            s.scenario: (self.scores[s.scenario].n_severe, s.epochs.size)
            for s in self.public.shown(self.entry.graded.judged)
            if scoring.SEVERE in s.points
        }


@dataclass(frozen=True, eq=False)
class Findings:
    """Runs and everything computed from them.

    Nothing in it has a word that is held out; what may be shown of a single response or scenario
    is in `public`.
    """

    public: Public
    graded: tuple[Graded, ...]
    cards: Mapping[str, GraderCard]
    rankings: tuple[Ranking, ...]
    grader_pairs: tuple[GraderPair, ...]
    items: tuple[ItemStatistic, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries alone."""
        return tuple(graded.entry for graded in self.graded)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """Their numbers, in the same order."""
        return tuple(graded.summary for graded in self.graded)


def findings(
    runs: Runs,
    probes: Mapping[str, ProbeAgreement] = {},
    *,
    audits: Mapping[str, AuditResults] = {},
) -> Findings:
    """Everything that can be found in these runs.

    Args:
        runs: The tables.
        probes: Grader, as summaries name it → its agreement with the labelled probes.
        audits: Grader, likewise → what people who read its judgments say of it.
    """
    public = Public.of(runs)
    known = tuple(entries(public.runs))
    cards = grader_cards(known, probes, audits=audits)
    graded = tuple(
        Graded(
            summary=summary_of(entry),
            detail=detail_of(entry),
            corrected=cards[entry.grader].corrected.get((entry.system, entry.rubric)),
            entry=entry,
            public=public.of_entry(entry),
        )
        for entry in known
    )
    return Findings(
        public=public,
        graded=graded,
        cards=cards,
        rankings=tuple(rankings(known, [each.summary for each in graded])),
        grader_pairs=tuple(grader_pairs(known)),
        items=tuple(item_statistics(known)),
    )
