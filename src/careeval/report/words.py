"""How values are said on the page. Nothing is computed here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from careeval.core.grader import Grader
from careeval.core.scenario import Assistance, Condition, Domain
from careeval.results.exports import percent
from careeval.results.summary import Summary
from careeval.stats import Estimate

UNKNOWN = "unknown"

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

# C0 and C1 controls but tab and newline, and what turns the direction of the text around it.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def visible(text: str) -> str:
    """The text without control characters; newlines and tabs stay."""
    # most texts have nothing of the sort, and saying so is far quicker than looking for it
    return text if text.isprintable() else _INVISIBLE.sub("", text)


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


def signed(points: int) -> str:
    """Points with their sign, a true minus; 0 has none."""
    return f"{points:+d}".replace("-", "−") if points else "0"


def points(number: float) -> str:
    """A number of points, without a needless decimal."""
    return f"{number:g}".replace("-", "−")


def value(estimate: Estimate) -> str:
    """The percentage, or `unknown`."""
    return UNKNOWN if estimate.value is None else f"{percent(estimate.value)}%"


def worst_of(summaries: Iterable[Summary]) -> str:
    """The worst case with its number; `Worst of n` where entries have different ones."""
    found = {s.n_epochs for s in summaries}
    return f"Worst of {found.pop() if len(found) == 1 else 'n'}"


def uncertainty(estimate: Estimate) -> str:
    """Its 95% interval, or the reason why it, or the value, is unknown."""
    if estimate.ci95 is None:
        return estimate.reason if estimate.value is None else f"no interval: {estimate.reason}"
    return f"95% interval {percent(estimate.ci95[0])} to {percent(estimate.ci95[1])}"


def bounds(estimate: Estimate) -> str:
    """What unresolved judgments could make of the value; empty where there are none."""
    if estimate.low == estimate.high:
        return ""
    return f"{percent(estimate.low)} to {percent(estimate.high)}, as the unresolved judgments fall"


def in_full(estimate: Estimate) -> str:
    """The percentage with all that is known about how sure it is, in one line."""
    return ", ".join(
        part for part in (value(estimate), bounds(estimate), uncertainty(estimate)) if part
    )


def score_name(summaries: Iterable[Summary]) -> str:
    """The score with the name of its rubric; of entries on several, their own names have it."""
    rubrics = {s.rubric for s in summaries}
    return f"Score, {rubrics.pop()}" if len(rubrics) == 1 else "Score"


def entry_names(summaries: Sequence[Summary]) -> list[str]:
    """A name for each entry: its system, and what else tells it from the others.

    That is the rubric where there are several, the grader where one system has several, and the
    protocol where even that is the same.
    """
    graders = grader_names(s.grader for s in summaries)
    several = len({s.rubric for s in summaries}) > 1
    named = []
    for s in summaries:
        alike = [other for other in summaries if other.system == s.system]
        parts = [s.system]
        if several:
            parts.append(s.rubric.value)
        if len({other.grader for other in alike}) > 1:
            parts.append(graders[s.grader])
        if [(other.grader, other.rubric) for other in alike].count((s.grader, s.rubric)) > 1:
            parts.append(f"protocol {s.grading_protocol}")
        named.append(" · ".join(parts))
    return named


def grader_names(graders: Iterable[str]) -> dict[str, str]:
    """Grader → the shortest part of its name that tells it from the others.

    Mode and prompt's hash go first, then whoever made or hosts it.
    """
    whole = list(dict.fromkeys(graders))
    without_mode = [Grader.parse(name).model for name in whole]
    shortest = [name.rpartition("/")[2] or name for name in without_mode]
    for short in (shortest, without_mode):
        if len(set(short)) == len(whole):
            return dict(zip(whole, short, strict=True))
    return {name: name for name in whole}
