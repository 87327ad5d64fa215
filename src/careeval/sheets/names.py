"""How people read the ids of a bank: conditions, levels of assistance, domains, situations."""

from __future__ import annotations

from careeval.core.scenario import Assistance, Condition, Domain
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
    """An id as words: hyphens and underscores become spaces; `unknown` for `None`."""
    return name.replace("-", " ").replace("_", " ") if name else UNKNOWN


def condition(name: str | None) -> str:
    """What the person lives with, in words; a condition of another bank as it stands there."""
    return CONDITIONS[Condition(name)] if name in CONDITIONS else plain(name)


def assistance(code: str | None) -> str:
    """The usual level of assistance in words; a code of another bank as it stands there."""
    return ASSISTANCE[Assistance(code)] if code in ASSISTANCE else plain(code)


def actor(name: str | None) -> str:
    """Who helps."""
    return {"person": "a person helps", "robot": "a robot helps"}.get(name or "", plain(name))
