"""All that is found in some runs, for whoever draws it: a report, a site, an export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from careeval.results.audit import AuditResults
from careeval.results.details import Detail, detail_of
from careeval.results.entries import Entry, entries
from careeval.results.grader_card import GraderCard, grader_cards
from careeval.results.graders import GraderPair, grader_pairs
from careeval.results.items import ItemStatistic, item_statistics
from careeval.results.probes import ProbeAgreement
from careeval.results.public import Public
from careeval.results.ranking import Ranking, rankings
from careeval.results.summary import Summary, summary_of
from careeval.results.tables import Runs


@dataclass(frozen=True, eq=False)
class Findings:
    """Runs and everything computed from them.

    Nothing in it has a word that is held out; what may be shown of a single response or scenario
    is in `public`. `entries`, `summaries` and `details` run side by side: the k-th of each is of
    the same entry.
    """

    public: Public
    entries: tuple[Entry, ...]
    summaries: tuple[Summary, ...]
    details: tuple[Detail, ...]
    cards: Mapping[str, GraderCard]
    rankings: tuple[Ranking, ...]
    grader_pairs: tuple[GraderPair, ...]
    items: tuple[ItemStatistic, ...]


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
    found = tuple(entries(public.runs))
    summaries = tuple(summary_of(entry) for entry in found)
    return Findings(
        public=public,
        entries=found,
        summaries=summaries,
        details=tuple(detail_of(entry) for entry in found),
        cards=grader_cards(found, probes, audits=audits),
        rankings=tuple(rankings(found, summaries)),
        grader_pairs=tuple(grader_pairs(found)),
        items=tuple(item_statistics(found)),
    )
