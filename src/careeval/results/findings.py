"""All results of a set of runs, for reports, sites and exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

from careeval.core.scenario import Rubric
from careeval.results.entries import Entry, entries
from careeval.results.graders import GraderCard, GraderPair, grader_cards, grader_pairs
from careeval.results.item_statistics import ItemStatistic, item_statistics
from careeval.results.people_audit import PeopleAudit
from careeval.results.probe_check import ProbeAgreement
from careeval.results.public import PublicView
from careeval.results.ranking import Ranking, rankings
from careeval.results.tables import Runs


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
