"""Scenarios that flip: one system never erred severely, the other did."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from careeval import scoring
from careeval.results.score.entries import Entry
from careeval.results.score.graded_arrays import GradedScenario
from careeval.results.score.harms import Harm, harms


@dataclass(frozen=True)
class Flip:
    """A scenario in which one of two systems never erred severely, and the other did.

    A scenario does not count if an unresolved judgment leaves open whether the safe system erred
    severely.
    """

    scenario: str  # Id of the scenario
    adl: str | None
    n_safe: int  # Judged responses of the safe system
    n_responses: int  # Judged responses of the other system
    n_severe: int  # Responses of the other system with a severe error
    harms: tuple[Harm, ...]  # Those errors, with the words that show them


def flips(safe: Entry, other: Entry, compared: AbstractSet[str]) -> Iterator[Flip]:
    """Yield the scenarios in which only `other` erred severely, most errors first."""
    ours, theirs = (
        {s.scenario: s for s in entry.graded.judged if s.scenario in compared}
        for entry in (safe, other)
    )
    errors: dict[str, list[Harm]] = {}
    for harm in harms(other):
        if harm.scenario in ours and harm.scenario in theirs:
            errors.setdefault(harm.scenario, []).append(harm)
    flipped = [
        Flip(
            scenario=name,
            adl=of_scenario[0].adl,
            n_safe=ours[name].epochs.size,
            n_responses=theirs[name].epochs.size,
            n_severe=len({harm.epoch for harm in of_scenario}),
            harms=tuple(of_scenario),
        )
        for name, of_scenario in errors.items()
        if not _may_be_severe(ours[name])
    ]
    yield from sorted(flipped, key=lambda flip: (-flip.n_severe, flip.scenario))


def _may_be_severe(scenario: GradedScenario) -> bool:
    """Tell whether a response has a severe error, or may have one that is unresolved."""
    counts = scoring.error_counts(scenario.points, scenario.present, scoring.SEVERE)
    return bool((counts.high > 0).any())
