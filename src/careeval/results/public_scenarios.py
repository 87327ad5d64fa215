"""The scenarios that may be shown, and how systems do on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from careeval.core.scenario import Rubric
from careeval.results.findings import Graded


@dataclass(frozen=True, eq=False)
class ShownScenario:
    """One scenario that may be shown.

    Attributes:
        edition: Of the bank that it is of.
        id: Its id.
        about: What is known of it, and its text.
        rubric: That the numbers are on; `None` where there is no entry.
        scores: Of the entries, those that are known.
        severe: Their responses with a severe error, and all that were judged; `None` where the
            rubric has no such item, or nothing was judged.
    """

    edition: str
    id: str
    about: Mapping[str, Any]
    rubric: Rubric | None
    scores: tuple[float, ...]
    severe: tuple[int, int] | None

    @property
    def mean(self) -> float | None:
        """Mean score of the entries; `None` where none is known."""
        return mean(self.scores) if self.scores else None


def shown_scenario(
    edition: str, name: str, about: Mapping[str, Any], entries: Sequence[Graded]
) -> ShownScenario:
    """Return a scenario with how entries do on it.

    Args:
        edition: Of the bank.
        name: Id of the scenario.
        about: What is known of it.
        entries: On one rubric, over that edition.
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
