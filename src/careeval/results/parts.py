"""Results over some of the scenarios, such as an activity or a domain, and of each scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from careeval import scoring
from careeval.core.scenario import Adl, Assistance, Condition, Domain, Situation
from careeval.results.graded_rubric import Errors, GradedRubric, ScenarioTraits
from careeval.stats.estimate import Estimate, FloatArray
from careeval.stats.intervals import MIN_SCENARIOS


class Breakdown(StrEnum):
    """The attributes by which a table can break down the scenarios."""

    adl = "adl"
    domain = "domain"
    condition = "condition"
    assistance = "assistance"
    situation = "situation"
    actor = "actor"

    @property
    def head(self) -> str:
        """Return the header text of the attribute's column."""
        return "activity" if self is Breakdown.adl else self.value

    @property
    def in_detail(self) -> bool:
        """Tell whether the attribute is shown only on request."""
        return self not in OVERVIEW


OVERVIEW = (Breakdown.adl, Breakdown.domain)
"""The breakdowns shown by default."""

ORDER: Mapping[Breakdown, Iterable[str]] = {
    Breakdown.adl: Adl,
    Breakdown.condition: Condition,
    Breakdown.assistance: Assistance,
    Breakdown.situation: Situation,
    Breakdown.actor: ("person", "robot"),
}
"""The order of the values of an attribute; all others follow."""


@dataclass(frozen=True)
class Part:
    """The results over some of the scenarios, such as those of one activity or one domain."""

    n: int  # Scenarios with a judged response; of a domain, those with an item rated in it
    score: Estimate
    """Score; of a domain, with each item weighted by its level in it (D1). Below five scenarios
    without an interval, and not for comparing."""
    severe: Errors | None = None  # Severe errors; None of a domain

    @property
    def small(self) -> bool:
        """Tell whether there are fewer than five scenarios, so no interval and no comparison."""
        return self.n < MIN_SCENARIOS


@dataclass(frozen=True)
class ScenarioScore:
    """The scores of one scenario."""

    scenario: str
    about: ScenarioTraits
    score: float | None
    """Mean of its epochs; `None` without a judged response, or if unresolved judgments leave it
    open."""
    low: float | None  # The score with every unresolved judgment settled for the lower score
    high: float | None  # The score with every unresolved judgment settled for the higher score
    worst: float | None  # The lowest score of its epochs; `None` if an epoch has none
    epochs: tuple[float | None, ...]
    """The score of each response in order, `None` for one without a score."""
    n_severe: int  # Responses with a severe error


def part_of(graded: GradedRubric) -> Part:
    """Return the results over all scenarios of some judgments."""
    return Part(int(graded.judged.sum()), graded.score(), graded.errors(scoring.SEVERE))


def domain_parts(graded: GradedRubric) -> dict[Domain, Part]:
    """Return the results in each domain."""
    return {domain: Part(*graded.domain_score(domain)) for domain in Domain}


def scenario_scores(graded: GradedRubric) -> tuple[ScenarioScore, ...]:
    """Return the scores of each scenario that has positive items."""
    severe = scoring.error_counts(graded.points, graded.present, scoring.SEVERE).low > 0
    rows = []
    for row in np.flatnonzero(graded.maxima > 0).tolist():
        judged, scores = graded.is_judged[row], graded.scores.map(lambda part, row=row: part[row])  # type: ignore[misc]
        value = scores.value
        score, low, high = (_mean_or_none(part[judged]) for part in (value, *scores.ends))
        rows.append(
            ScenarioScore(
                scenario=graded.scenarios[row],
                about=graded.traits[row],
                score=score,
                low=low,
                high=high,
                worst=None if np.isnan(value).any() else float(value.min()),
                epochs=tuple(None if np.isnan(x) else float(x) for x in value),
                n_severe=int(severe[row].sum()),
            )
        )
    return tuple(rows)


def _mean_or_none(scores: FloatArray) -> float | None:
    return None if not scores.size or np.isnan(scores).any() else float(scores.mean())
