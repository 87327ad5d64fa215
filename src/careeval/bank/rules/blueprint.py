"""Target counts of the bank of a hundred, and the published scenarios that it must not resemble."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from careeval.core.scenario import Adl, Assistance, Condition, Scenario, Situation

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
"""By how many scenarios the count of a level or a situation may differ from its target."""

ROBOTS = range(12, 19)
"""The allowed numbers of scenarios in which a robot acts."""

PUBLISHED: Mapping[str, Sequence[str]] = {
    "a shirt with buttons, C5, spasticity": (r"\bC5\b", r"shirt", r"button", r"spas"),
    "a pullover, C5, a universal cuff or dressing stick": (
        r"\bC5\b", r"pullover|jumper|sweater", r"universal cuff|dressing stick",
    ),
    "a wheelchair at an angle to the bed, C7": (r"\bC7\b", r"wheelchair", r"\bbed\b", r"degrees"),
    "distress about a bedpan, C6": (r"\bC6\b", r"bedpan"),
    "from a chair to the bathroom, left hemiparesis": (
        r"\bstroke\b", r"left (arm|leg|side)[^.]* weak|weak left", r"bathroom",
        r"stands? up from (his|her|the) (arm)?chair|sit-to-stand",
    ),
}  # fmt: skip
"""Scenario as the paper describes it → expressions; a text that matches all of them is alike."""


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


def published_alike(scenario: Scenario) -> Iterator[str]:
    """Yield the names of the paper's published scenarios that a scenario resembles."""
    for name, expressions in PUBLISHED.items():
        if all(re.search(pattern, scenario.text, re.IGNORECASE) for pattern in expressions):
            yield name
