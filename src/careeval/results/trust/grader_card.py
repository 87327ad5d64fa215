"""Grader cards: everything known about the reliability of a grader, shown with its results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from careeval.core.response import Grader
from careeval.core.scenario import Rubric
from careeval.results.score.entries import Entry
from careeval.results.trust.audit.corrected_score import CorrectedScore
from careeval.results.trust.audit.results import AuditResults
from careeval.results.trust.contradictions import CHECKED, LadderCheck, ladder_check
from careeval.results.trust.grading_noise import GradingNoise, grading_noise
from careeval.results.trust.probe_check import ProbeAgreement
from careeval.results.vendors import vendor

NOT_AUDITED = "not audited by people"
NOT_TRIED = "not tried on the bank's labelled probes"


@dataclass(frozen=True)
class GraderCard:
    """The reliability of one grader, from these runs, the probe check and the audit."""

    grader: str  # Name of the grader, with its mode and the hash of its prompt
    vendor: str | None  # Vendor of the grader; `None` if its name does not say
    probes: ProbeAgreement | None  # Result of the probe check; `None` if there was none
    failed: tuple[str, ...] | None
    """Reasons why it fails the probe check, by the rule `probe_check.LIMITS`; empty if it passes,
    `None` if there was no probe check."""
    human: AuditResults | None  # Result of the audit by people; `None` if there was none
    systems: tuple[str, ...]  # Systems that it judged in these runs
    own_vendor: tuple[str, ...]  # Systems of its own vendor
    n_judgments: int  # Judgments that count, over all systems
    n_unresolved: int  # Judgments that it failed to make
    contradictions: LadderCheck  # Contradictions among its judgments
    noise: Mapping[tuple[str, Rubric], GradingNoise]
    """Noise of its grading by system and rubric; empty if nothing was graded twice."""
    corrected: Mapping[tuple[str, Rubric], CorrectedScore]
    """Scores corrected by people, by system and rubric; empty without an audit."""


def grader_cards(
    entries: Sequence[Entry],
    probes: Mapping[str, ProbeAgreement] = {},
    *,
    audits: Mapping[str, AuditResults] = {},
) -> dict[str, GraderCard]:
    """Return name of grader → its card, which says how far its judgments can be trusted; sorted.

    Args:
        entries: Entries that these graders judged.
        probes: Name of a grader → result of its probe check.
        audits: Name of a grader → result of its audit.
    """
    by_grader: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_grader[entry.grader].append(entry)
    return {
        grader: _card(grader, by_grader[grader], probes.get(grader), audits.get(grader))
        for grader in sorted(by_grader)
    }


def _card(
    grader: str,
    entries: Sequence[Entry],
    probes: ProbeAgreement | None,
    human: AuditResults | None,
) -> GraderCard:
    maker = vendor(Grader.parse(grader).model)
    first = pl.concat(entry.first_of(*CHECKED) for entry in entries)
    noise = {(entry.system, entry.rubric): grading_noise(entry) for entry in entries}
    return GraderCard(
        grader=grader,
        vendor=maker,
        probes=probes,
        failed=None if probes is None else probes.failed,
        human=human,
        systems=tuple(dict.fromkeys(entry.system for entry in entries)),
        own_vendor=tuple(
            dict.fromkeys(
                entry.system
                for entry in entries
                if maker is not None and vendor(entry.asked) == maker
            )
        ),
        n_judgments=first.height,
        n_unresolved=first["present"].null_count(),
        contradictions=ladder_check(first),
        noise={key: value for key, value in noise.items() if value is not None},
        corrected={
            (entry.system, entry.rubric): corrected
            for entry in entries
            if human and (corrected := human.score_of(entry)) is not None
        },
    )
