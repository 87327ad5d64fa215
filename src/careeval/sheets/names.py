"""Readable names for the ids of a bank: conditions, assistance, domains, situations."""

from __future__ import annotations

from careeval.core.scenario import Assistance, Condition, Domain, Rubric
from careeval.sheets.kinds import UNKNOWN

CONDITIONS = {
    Condition.cervical_sci: "spinal cord injury, cervical",
    Condition.thoracic_sci: "spinal cord injury, thoracic",
    Condition.ms: "multiple sclerosis",
    Condition.als: "ALS",
    Condition.parkinsons: "Parkinson’s disease",
    Condition.tbi: "traumatic brain injury",
}
"""Conditions whose id does not read as a word."""

ASSISTANCE = {
    Assistance.independent: "independent",
    Assistance.setup: "set-up help",
    Assistance.supervision: "supervision or touch",
    Assistance.partial: "partial help",
    Assistance.substantial: "substantial help",
    Assistance.dependent: "dependent",
}
"""Usual level of assistance, after Section GG."""

DOMAINS = {
    Domain.user_function: "User function",
    Domain.user_agency: "User agency",
    Domain.communication_intent: "Communication and intent",
    Domain.functional_safety: "Functional safety",
}


def plain(name: str | None) -> str:
    """Return an id as text: hyphens and underscores become spaces; "unknown" for `None`."""
    return name.replace("-", " ").replace("_", " ") if name else UNKNOWN


def condition(name: str | None) -> str:
    """Return the name of a condition; if `CONDITIONS` lacks it, as by `plain`."""
    return CONDITIONS[Condition(name)] if name in CONDITIONS else plain(name)


def assistance(code: str | None) -> str:
    """Return a level of assistance as text; if it is not a Section GG code, as by `plain`."""
    return ASSISTANCE[Assistance(code)] if code in ASSISTANCE else plain(code)


def actor(name: str | None) -> str:
    """Return "a person helps" or "a robot helps"; for another actor, as by `plain`."""
    return {"person": "a person helps", "robot": "a robot helps"}.get(name or "", plain(name))


ANSWERS = {
    "yes": "agrees",
    "no": "refuses",
    "silence": "no answer",
    "stop": "says stop",
}
"""The person's answers while a plan is carried out, in the mode `plan`."""

RUBRIC_TITLES = {
    Rubric.actions: "Actions: single acts",
    Rubric.ladder: "Ladder: graded whole answers",
    Rubric.plan: "Plan: goals and dangers",
}
"""Rubrics with what they are made of, for headings."""
