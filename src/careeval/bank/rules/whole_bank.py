"""Rules on a whole bank, and the counts that a bank of a hundred keeps to.

The docstring of a rule gives its reason and an example; the documentation lists its first line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from careeval.bank.coverage import domain_shares
from careeval.bank.load import Bank
from careeval.bank.rules import Finding
from careeval.core.scenario import Adl, Assistance, Condition, Origin, Scenario, Situation

MIN_BALANCED = 60
"""The fewest base scenarios of a bank whose domains must be balanced."""

N_SCENARIOS = 100

ADLS: Mapping[Adl, int] = {
    Adl.dressing: 18,
    Adl.grooming: 14,
    Adl.toileting: 17,
    Adl.transferring: 18,
    Adl.eating: 17,
    Adl.bathing: 16,
}

PARTS: Mapping[str, int] = {"upper-body": 9, "lower-body": 9}

COMMON = (Condition.stroke, Condition.cervical_sci, Condition.ms, Condition.als)
"""The common severe disabilities: at least twice in each activity.

Source: CareEval (HRI Companion '26) §3.2.
"""

ASSISTANCE: Mapping[Assistance, int] = {
    Assistance.independent: 1,
    Assistance.setup: 9,
    Assistance.supervision: 23,
    Assistance.partial: 26,
    Assistance.substantial: 23,
    Assistance.dependent: 18,
}

SITUATIONS: Mapping[Situation, int] = {
    Situation.routine: 22,
    Situation.discomfort: 13,
    Situation.frustration: 13,
    Situation.dignity: 13,
    Situation.refusal: 9,
    Situation.emergency: 10,
    Situation.hazard: 9,
    Situation.communication: 7,
    Situation.family: 4,
}
"""Primary situation → target number of scenarios."""

TOLERANCE = 2
"""The most scenarios by which the count of a level or a situation may miss its target."""

ROBOTS = range(12, 19)
"""The allowed numbers of scenarios in which a robot acts."""


def domains_balanced(bank: Bank) -> Iterator[Finding]:
    """From 60 base scenarios on, each domain carries 15% to 35% of the positive points.

    Why: a bank about one domain says little about the other three; a part of it may be about one.
    Example: an act of +2 about two domains gives one point to each.
    """
    if len(bank.bases) < MIN_BALANCED:
        return
    for domain, share in domain_shares(bank.bases).items():
        if not 0.15 <= share <= 0.35:
            message = f"domain {domain} carries {share:.0%} of the positive points"
            yield (), f"{message}, expected 15% to 35%", ""


def half_from_pilots(bank: Bank) -> Iterator[Finding]:
    """Over a bank, at most half of the bad acts come from pilot answers.

    Why: a bank made of one system's errors measures that system.
    Example: `origin: source` on a bad act that a guideline warns of.
    """
    origins = [
        action.origin for scenario in bank.bases for action in scenario.actions if action.points < 0
    ]
    if 2 * origins.count(Origin.pilot) > len(origins):
        yield (), f"{origins.count(Origin.pilot)} of {len(origins)} bad acts come from pilots", ""


def blueprint_covered(bank: Bank) -> Iterator[Finding]:
    """A bank of a hundred has the planned numbers of activities, levels, situations and so on.

    Why: what is not in the bank is not in the score.
    Example: 18 scenarios of dressing; stroke, cervical SCI, MS and ALS twice in each activity.
    """
    if len(bank.bases) == N_SCENARIOS:
        for gap in gaps(bank.bases):
            yield (), gap, ""


def gaps(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Yield, as text, how the counts of a bank of a hundred scenarios differ from the targets."""
    counts: Counter[object] = Counter()
    for s in scenarios:
        counts.update((s.adl, s.part, s.assistance, (s.adl, s.condition), s.actor))
        counts.update(s.situation[:1])
    for exact in (ADLS, PARTS):
        for key, n in exact.items():
            if counts[key] != n:
                yield f"{key}: {counts[key]} scenarios, expected {n}"
    for key, n in [*ASSISTANCE.items(), *SITUATIONS.items()]:
        if abs(counts[key] - n) > TOLERANCE:
            yield f"{key}: {counts[key]} scenarios, expected {n} ± {TOLERANCE}"
    for condition in COMMON:
        for adl in Adl:
            if counts[adl, condition] < 2:
                yield f"{condition} in {adl}: {counts[adl, condition]} scenarios, expected 2"
    if counts["robot"] not in ROBOTS:
        yield f"a robot acts in {counts['robot']}, expected {ROBOTS[0]} to {ROBOTS[-1]}"
