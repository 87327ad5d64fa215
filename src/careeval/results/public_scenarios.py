"""The scenarios that may be shown, with the results of systems on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from careeval.core.scenario import Rubric
from careeval.results.findings import EntryFindings


@dataclass(frozen=True, eq=False)
class ShownScenario:
    """One scenario that may be shown."""

    edition: str  # Edition of its bank
    id: str  # Id of the scenario
    about: Mapping[str, Any]  # Attributes and text of the scenario
    rubric: Rubric | None  # Rubric of the numbers; `None` without entries
    scores: tuple[float, ...]  # Scores of the scenario by those entries that have one
    severe: tuple[int, int] | None
    """Numbers of responses with a severe error and of judged responses, over all entries; `None` if
    the rubric has no item of −2 points, or nothing was judged."""

    @property
    def mean(self) -> float | None:
        """Return the mean score of the entries; `None` if none is known."""
        return mean(self.scores) if self.scores else None


def shown_scenario(
    edition: str, name: str, about: Mapping[str, Any], entries: Sequence[EntryFindings]
) -> ShownScenario:
    """Return a scenario with the results of entries on it.

    Args:
        edition: Edition of the bank.
        name: Id of the scenario.
        about: Attributes and text of the scenario.
        entries: Entries on one rubric, over that edition.
    """
    scores = [each.scores[name].score for each in entries if name in each.scores]
    severe = [each.severe[name] for each in entries if name in each.severe]
    return ShownScenario(
        edition=edition,
        id=name,
        about=about,
        rubric=entries[0].summary.rubric if entries else None,
        scores=tuple(score for score in scores if score is not None),
        severe=(sum(n for n, _ in severe), sum(n for _, n in severe)) if severe else None,
    )
