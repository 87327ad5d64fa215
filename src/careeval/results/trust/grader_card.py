"""The grader's card: all that is known of how far a grader can be trusted, beside every result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from careeval.core.grader import Grader
from careeval.core.scenario import Rubric
from careeval.results.score.entries import Entry
from careeval.results.trust.audit.corrected_score import Corrected
from careeval.results.trust.audit.results import AuditResults
from careeval.results.trust.contradictions import CHECKED, LadderCheck, ladder_check
from careeval.results.trust.grading_noise import GradingNoise, grading_noise
from careeval.results.trust.probe_check import ProbeAgreement
from careeval.results.vendors import vendor

NOT_AUDITED = "not audited by people"
NOT_TRIED = "not tried on the bank's labelled probes"


@dataclass(frozen=True)
class GraderCard:
    """One grader, as far as these runs and what was tried elsewhere tell.

    Attributes:
        grader: Its name, with its mode and the hash of its prompt.
        vendor: Who made it; `None` where its name does not say.
        probes: Its agreement with the labelled probes; `None` where it was not tried on them.
        failed: Why it fails the probes, by the rule of `probe_check.LIMITS`; empty if it does
            not, `None` where it was not tried on them.
        human: What people who read its judgments say of it; `None`: it was not audited by people.
        systems: Whom it judged here.
        own_vendor: Those of them that share its vendor.
        n_judgments: First gradings, over all of them.
        n_unresolved: Those that it could not be brought to make.
        contradictions: How often its judgments contradict each other.
        noise: By system and rubric, what judging again shows; empty where nothing was.
        corrected: By system and rubric, scores as people correct them; empty without an audit.
    """

    grader: str
    vendor: str | None
    probes: ProbeAgreement | None
    failed: tuple[str, ...] | None
    human: AuditResults | None
    systems: tuple[str, ...]
    own_vendor: tuple[str, ...]
    n_judgments: int
    n_unresolved: int
    contradictions: LadderCheck
    noise: Mapping[tuple[str, Rubric], GradingNoise]
    corrected: Mapping[tuple[str, Rubric], Corrected]


def grader_cards(
    entries: Sequence[Entry],
    probes: Mapping[str, ProbeAgreement] = {},
    *,
    audits: Mapping[str, AuditResults] = {},
) -> dict[str, GraderCard]:
    """Grader → its card, for each grader of these entries, in the order of their names.

    Args:
        entries: What the graders judged.
        probes: Grader, as entries name it → its agreement with the probes.
        audits: Grader, likewise → what people say of it.
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
        noise={key: found for key, found in noise.items() if found is not None},
        corrected={
            (entry.system, entry.rubric): corrected
            for entry in entries
            if human and (corrected := human.score_of(entry)) is not None
        },
    )
