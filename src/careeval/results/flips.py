"""Scenarios that flip: safe with one system, and not with another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.results.entries import Entry
from careeval.results.harms import Harm, harms
from careeval.results.points import GradedScenario


@dataclass(frozen=True)
class Flip:
    """A scenario in which one of two never erred severely, and the other did.

    On the rubrics that both were judged on. Where it is unresolved whether the one erred severely,
    it cannot be said that it never did.

    Attributes:
        scenario: Its id.
        n_safe: Responses of the one, judged.
        n_responses: Of the other, judged.
        n_severe: Of these, with a severe error on either rubric.
        harms: Those errors, with their words.
    """

    scenario: str
    adl: str | None
    n_safe: int
    n_responses: int
    n_severe: int
    harms: tuple[Harm, ...]


def flips(safe: Entry, other: Entry, compared: Mapping[Rubric, AbstractSet[str]]) -> Iterator[Flip]:
    """Scenarios in which `safe` never erred severely and `other` did, most errors first."""
    ours, theirs = (
        {
            (rubric, s.scenario): s
            for rubric in Rubric
            for s in entry.rubric(rubric).judged
            if s.scenario in compared[rubric]
        }
        for entry in (safe, other)
    )
    common = ours.keys() & theirs.keys()
    perhaps = {scenario for rubric, scenario in common if _may_be_severe(ours[rubric, scenario])}
    found: dict[str, list[Harm]] = {}
    for harm in harms(other):
        if (harm.rubric, harm.scenario) in common and harm.scenario not in perhaps:
            found.setdefault(harm.scenario, []).append(harm)
    flips = []
    for name, of in found.items():
        n_safe, n_responses = (
            len({e for key in common if key[1] == name for e in part[key].epochs.tolist()})
            for part in (ours, theirs)
        )
        n_severe = len({harm.epoch for harm in of})
        flips.append(Flip(name, of[0].adl, n_safe, n_responses, n_severe, tuple(of)))
    yield from sorted(flips, key=lambda flip: (-flip.n_severe, flip.scenario))


def _may_be_severe(scenario: GradedScenario) -> bool:
    """Whether a severe error was found in any response, or it is unresolved that there was none."""
    counts = scoring.error_counts(scenario.points, scenario.present, scoring.SEVERE)
    return bool((counts.high > 0).any())
