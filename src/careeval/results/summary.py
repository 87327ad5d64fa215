"""What a run comes to: its score, its worst case, its errors, each with its uncertainty.

One entry for each (system, grader). Every number is computed from the judgments table by the pure
functions of `careeval.scoring` and `careeval.stats`; nothing is taken from what Inspect computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.response import ResponseState
from careeval.core.scenario import Adl, Domain, Rubric
from careeval.errors import StatsError
from careeval.results.points import Bounds, FloatArray, GradedScenario, graded_scenarios, grid
from careeval.results.tables import Runs
from careeval.stats import (
    MIN_CLUSTERS,
    Estimate,
    Interval,
    bootstrap_interval,
    pooled_score,
    rate_interval,
    ratio_interval,
    sd_runs,
    sd_runs_interval,
    worst_at_n,
    worst_run,
)

SCHEMA = "careeval.summary/1"

UNRESOLVED_LIMIT = 0.02
"""Share of unresolved judgments above which a run is not ranked."""

EMBEDDED_MODEL = "gguf/"
LEXICAL_GRADER = "careeval/lexical"
"""What is for seeing everything work, and never enters a ranking."""

NOT_COMPARABLE = (
    "Scores on this bank do not compare with those of the CareEval paper, which are over other scenarios."
)


@dataclass(frozen=True)
class Errors:
    """How often items of one severity were present.

    Attributes:
        count: Present items of that severity over all responses.
        opportunities: Items of that severity × responses judged.
        per_opportunity: Share of the opportunities taken.
        per_response: Share of responses with at least one.
        per_scenario: Share of scenarios with at least one in any epoch.
    """

    count: int
    opportunities: int
    per_opportunity: Estimate
    per_response: Estimate
    per_scenario: Estimate


@dataclass(frozen=True)
class Cell:
    """A part of the scenarios: those of one activity.

    Attributes:
        n: Scenarios in it.
        small: Fewer than five: no interval, and not for comparing.
    """

    n: int
    small: bool
    score: Estimate
    worst_at_n: Estimate
    action_score: Estimate
    severe: int | None
    mild: int | None


@dataclass(frozen=True)
class DomainCell:
    """One domain of caregiving competence.

    Attributes:
        n: Scenarios with an action rated in it.
        action_score: Points of the actions, weighted by how far each is about the domain (D1).
        n_ladder: Scenarios with a rung rated in it.
        ladder_level: Mean level that the answers reach on the ladder, capped by their worst error (D2).
    """

    n: int
    action_score: Estimate
    n_ladder: int
    ladder_level: Estimate


@dataclass(frozen=True)
class Summary:
    """One system as one grader judged it.

    `score`, `worst_at_n`, `worst_run`, `sd_runs`, `severe` and `mild` are of the ladder, the paper's
    instrument; those that begin with `action_` are of the actions. Scores are fractions of the
    maximum: 1 is expert practice, and they can be negative.

    Attributes:
        model: Name of the system.
        asked: Inspect's name of the model that was asked; `None` for recorded answers.
        grader: Name of the grader, with its mode and the hash of its prompt.
        n_gradings: How often this grader judged these responses; the first time counts.
        n_missing: Responses that there are none of: no score, never 0.
        n_empty: Responses without a word, 0 points.
        n_refused: Responses that the provider refused, 0 points.
        n_cut: Responses cut off at the token limit, graded as they are.
        n_ungraded: Answered responses that this grader has not judged.
        n_unresolved: Judgments that the grader could not be brought to make.
        not_ranked: Why this entry may not stand in a ranking; empty if it may.
        warnings: What a reader must know.
    """

    model: str
    asked: str | None
    grader: str
    n_gradings: int
    bank: str
    bank_version: str
    bank_hash: str
    bank_provenance: str
    protocol: str
    n_scenarios: int
    n_epochs: int
    n_responses: int
    n_missing: int
    n_empty: int
    n_refused: int
    n_cut: int
    n_ungraded: int
    n_judgments: int
    n_unresolved: int
    score: Estimate
    worst_at_n: Estimate
    worst_run: Estimate
    sd_runs: Estimate
    action_score: Estimate
    action_worst_at_n: Estimate
    severe: Errors | None
    mild: Errors | None
    action_severe: Errors | None
    action_mild: Errors | None
    by_adl: Mapping[Adl, Cell]
    by_domain: Mapping[Domain, DomainCell]
    not_ranked: tuple[str, ...]
    warnings: tuple[str, ...]


def summarise(runs: Runs) -> list[Summary]:
    """A summary for each (system, grader), in the order of their names; empty without judgments."""
    if runs.judgments.is_empty():
        return []
    return [
        _summary(runs.responses.filter(pl.col("system") == system), judgments)
        for (system, _), judgments in runs.judgments.group_by("system", "grader", maintain_order=True)
    ]


@dataclass(frozen=True)
class _RubricPoints:
    """One rubric of one system: its scenarios, and their points by epoch."""

    scenarios: Sequence[GradedScenario]
    points: Bounds
    maxima: FloatArray

    @staticmethod
    def of(judgments: pl.DataFrame, responses: pl.DataFrame, rubric: Rubric, n_epochs: int) -> _RubricPoints:
        scenarios = graded_scenarios(judgments.filter(pl.col("rubric") == rubric.value), responses)
        points = grid(scenarios, n_epochs, lambda s: scoring.scenario_points(s.points, s.present))
        return _RubricPoints(scenarios, points, np.array([float(scoring.maximum(s.points)) for s in scenarios]))

    def only(self, keep: Callable[[GradedScenario], bool]) -> _RubricPoints:
        chosen = np.array([keep(s) for s in self.scenarios], dtype=bool)
        kept = [s for s in self.scenarios if keep(s)]
        return _RubricPoints(kept, self.points.of(chosen), self.maxima[chosen])

    def __len__(self) -> int:
        return len(self.scenarios)

    def score(self) -> Estimate:
        return _bounded(lambda p: pooled_score(p, self.maxima), self.points, lambda p: _ratio(p, self.maxima))

    def worst_at_n(self) -> Estimate:
        return _bounded(
            lambda p: worst_at_n(p, self.maxima), self.points, lambda p: ratio_interval(p.min(axis=1), self.maxima)
        )

    def worst_run(self) -> Estimate:
        return _bounded(
            lambda p: worst_run(p, self.maxima),
            self.points,
            lambda p: bootstrap_interval(lambda scores: scores.min(axis=1), p, self.maxima),
        )

    def sd_runs(self) -> Estimate:
        """The run noise; settling unresolved items can move it either way, by no more than their reach."""
        try:
            value = sd_runs(self.points.middle, self.maxima)
        except StatsError as error:
            return Estimate.unknown(str(error))
        reach = (self.points.high - self.points.low).sum(axis=0) / self.maxima.sum() / 2
        most = float(np.sqrt((reach**2).sum() / (len(reach) - 1)))
        interval, reason = _or_reason(lambda: sd_runs_interval(self.points.middle, self.maxima))
        return Estimate(value, max(0.0, value - most), value + most, interval, reason)

    def errors(self, severity: int) -> Errors | None:
        """Errors of one severity; `None` where nothing was judged on this rubric."""
        if not self.scenarios:
            return None
        n_epochs = self.points.low.shape[1]
        counts = grid(self.scenarios, n_epochs, lambda s: scoring.error_counts(s.points, s.present, severity))
        items = np.array([float((s.points == severity).sum()) for s in self.scenarios])
        judged = (~np.isnan(counts.low)).sum(axis=1).astype(np.float64)
        with_any = items > 0
        any_in = Bounds(np.minimum(counts.low, 1), np.minimum(counts.high, 1)).of(with_any)
        return Errors(
            count=int(np.nansum(counts.low)),
            opportunities=int((items * judged).sum()),
            per_opportunity=_rate(Bounds(_sum(counts.low), _sum(counts.high)), items * judged),
            per_response=_rate(Bounds(_sum(any_in.low), _sum(any_in.high)), judged[with_any]),
            per_scenario=_rate(Bounds(_max(any_in.low), _max(any_in.high)), np.minimum(judged[with_any], 1)),
        )

    def error_count(self, severity: int) -> int | None:
        return errors.count if (errors := self.errors(severity)) else None

    def domain_score(self, domain: Domain) -> tuple[int, Estimate]:
        """D1 and the number of scenarios with an item rated in the domain."""
        rated = self.only(lambda s: not np.isnan(s.levels[domain]).all())
        weighted = [scoring.domain_weighted(s.points, s.levels[domain], s.present) for s in rated.scenarios]
        by_id = {s.scenario: (w.low, w.high) for s, w in zip(rated.scenarios, weighted, strict=True)}
        points = grid(rated.scenarios, self.points.low.shape[1], lambda s: by_id[s.scenario])
        return len(rated), _RubricPoints(rated.scenarios, points, np.array([w.maximum for w in weighted])).score()

    def domain_level(self, domain: Domain) -> tuple[int, Estimate]:
        """D2 and the number of scenarios with an item rated in the domain."""
        rated = self.only(lambda s: not np.isnan(s.levels[domain]).all())
        levels = grid(
            rated.scenarios,
            self.points.low.shape[1],
            lambda s: scoring.domain_level(s.points, s.levels[domain], s.present),
        )
        return len(rated), _RubricPoints(rated.scenarios, levels, np.ones(len(rated))).score()


def _summary(responses: pl.DataFrame, judgments: pl.DataFrame) -> Summary:
    first = judgments.filter(pl.col("grading") == 1)
    n_epochs = int(responses["epoch"].max() or 0)  # type: ignore[arg-type]
    ladder, actions = (_RubricPoints.of(first, responses, rubric, n_epochs) for rubric in (Rubric.ladder, Rubric.actions))
    run = responses.row(0, named=True)
    states = dict(responses["state"].value_counts().iter_rows())
    judged = first.select("scenario", "epoch").unique().height
    n_missing = states.get(ResponseState.missing, 0)
    n_unresolved = first["present"].null_count()
    answered_ungraded = responses.height - n_missing - judged
    grader = first["grader"][0]
    adls = [adl for adl in Adl if adl in {s.adl for s in (*ladder.scenarios, *actions.scenarios)}]
    return Summary(
        model=run["system"],
        asked=run["model"],
        grader=grader,
        n_gradings=judgments["grading"].n_unique(),
        **{name: run[name] for name in ("bank", "bank_version", "bank_hash", "bank_provenance", "protocol")},
        n_scenarios=max(len(ladder), len(actions)),
        n_epochs=n_epochs,
        n_responses=responses.height,
        n_missing=n_missing,
        n_empty=states.get(ResponseState.empty, 0),
        n_refused=states.get(ResponseState.refused, 0),
        n_cut=int(responses["cut"].sum()),
        n_ungraded=answered_ungraded,
        n_judgments=first.height,
        n_unresolved=n_unresolved,
        score=ladder.score(),
        worst_at_n=ladder.worst_at_n(),
        worst_run=ladder.worst_run(),
        sd_runs=ladder.sd_runs(),
        action_score=actions.score(),
        action_worst_at_n=actions.worst_at_n(),
        severe=ladder.errors(scoring.SEVERE),
        mild=ladder.errors(scoring.MILD),
        action_severe=actions.errors(scoring.SEVERE),
        action_mild=actions.errors(scoring.MILD),
        by_adl={adl: _cell(adl, ladder, actions) for adl in adls},
        by_domain={domain: _domain_cell(domain, ladder, actions) for domain in Domain},
        not_ranked=tuple(_not_ranked(run["model"], grader, n_missing, answered_ungraded, n_unresolved / first.height)),
        warnings=tuple(_warnings(responses)),
    )


def _cell(adl: Adl, ladder: _RubricPoints, actions: _RubricPoints) -> Cell:
    rungs, acts = ladder.only(lambda s: s.adl == adl), actions.only(lambda s: s.adl == adl)
    n = max(len(rungs), len(acts))
    return Cell(
        n=n,
        small=n < MIN_CLUSTERS,
        score=rungs.score(),
        worst_at_n=rungs.worst_at_n(),
        action_score=acts.score(),
        severe=rungs.error_count(scoring.SEVERE),
        mild=rungs.error_count(scoring.MILD),
    )


def _domain_cell(domain: Domain, ladder: _RubricPoints, actions: _RubricPoints) -> DomainCell:
    n, action_score = actions.domain_score(domain)
    n_ladder, level = ladder.domain_level(domain)
    return DomainCell(n=n, action_score=action_score, n_ladder=n_ladder, ladder_level=level)


def _not_ranked(asked: str | None, grader: str, n_missing: int, n_ungraded: int, unresolved: float) -> list[str]:
    reasons = []
    if (asked or "").startswith(EMBEDDED_MODEL):
        reasons.append("an embedded model: for seeing everything work")
    if grader.startswith(LEXICAL_GRADER):
        reasons.append("the lexical grader compares words: for seeing everything work")
    elif grader.startswith(EMBEDDED_MODEL):
        reasons.append("graded by an embedded model: for seeing everything work")
    if n_missing:
        reasons.append(f"{n_missing} responses are missing")
    if n_ungraded:
        reasons.append(f"{n_ungraded} responses are not graded")
    if unresolved > UNRESOLVED_LIMIT:
        reasons.append(f"{unresolved:.1%} of the judgments are unresolved, more than {UNRESOLVED_LIMIT:.0%}")
    return reasons


def _warnings(responses: pl.DataFrame) -> list[str]:
    found = []
    names = sorted(responses["model_returned"].drop_nulls().unique().to_list())
    if len(names) > 1:
        found.append(f"the provider answered with {len(names)} models: {', '.join(names)}")
    if cut := int(responses["cut"].sum()):
        found.append(f"{cut} responses were cut off at the token limit, and graded as they are")
    return found


def _bounded(
    statistic: Callable[[FloatArray], float], points: Bounds, interval: Callable[[FloatArray], Interval]
) -> Estimate:
    """A statistic that no point can lower by rising, at both bounds, with the interval that covers both."""
    try:
        low, high = statistic(points.low), statistic(points.high)
    except StatsError as error:
        return Estimate.unknown(str(error))
    ci95, reason = _or_reason(lambda: Interval(interval(points.low).low, interval(points.high).high))
    return Estimate((low + high) / 2, low, high, ci95, reason)


def _ratio(points: FloatArray, maxima: FloatArray) -> Interval:
    """The interval of a pooled score; a scenario without a response is no cluster."""
    known = ~np.isnan(points).all(axis=1)
    return ratio_interval(np.nanmean(points[known], axis=1), maxima[known])


def _rate(counts: Bounds, trials: FloatArray) -> Estimate:
    total = trials.sum()
    if total == 0:
        return Estimate.unknown("there is nothing of this severity to find")
    low, high = float(counts.low.sum() / total), float(counts.high.sum() / total)
    ci95, reason = _or_reason(
        lambda: Interval(rate_interval(counts.low, trials).low, rate_interval(counts.high, trials).high)
    )
    return Estimate((low + high) / 2, low, high, ci95, reason)


def _or_reason(interval: Callable[[], Interval]) -> tuple[tuple[float, float] | None, str]:
    try:
        found = interval()
    except StatsError as error:
        return None, str(error)
    return (found.low, found.high), ""


def _sum(counts: FloatArray) -> FloatArray:
    return np.asarray(np.nansum(counts, axis=1))


def _max(counts: FloatArray) -> FloatArray:
    """The highest of each row; 0 where a row has no number, whose trials are 0 too."""
    return np.nan_to_num(counts, nan=0.0).max(axis=1, initial=0.0)

