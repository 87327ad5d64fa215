"""Errors that graders found, arranged for reading: by scenario and by passage of a response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from careeval.results.harms import Harm

Passage = tuple[Harm, ...]
"""Errors of one response in which one grader quoted the same words."""


@dataclass(frozen=True)
class ScenarioErrors:
    """Errors in responses to one scenario."""

    scenario: str
    text: str  # Text of the scenario; empty if the page does not show it
    passages: tuple[Passage, ...]


def passages(harms: Iterable[Harm]) -> tuple[Passage, ...]:
    """Return the errors by passage, in the order of their first errors."""
    by_words: dict[tuple[object, ...], list[Harm]] = {}
    for h in harms:
        key = h.entry.name, h.scenario, h.epoch, h.entry.grader, h.quote
        by_words.setdefault(key, []).append(h)
    return tuple(map(tuple, by_words.values()))


def by_scenario(
    harms: Iterable[Harm], texts: Mapping[tuple[str, str], str] = {}
) -> list[ScenarioErrors]:
    """Return the errors by scenario, in the order of their first errors.

    Args:
        harms: The errors.
        texts: (name of an entry, scenario) → text of the scenario as that system was asked.
    """
    groups: dict[tuple[str, str], list[Harm]] = {}
    for h in harms:
        key = (h.scenario, texts.get((h.entry.name, h.scenario), ""))
        groups.setdefault(key, []).append(h)
    return [ScenarioErrors(*key, passages(group)) for key, group in groups.items()]
