"""What one rubric comes to over a run: its score, its worst case, its errors, its domains.

A missing response is left out of a mean and of a rate's trials. Whatever is taken over all n epochs
(a minimum, a spread, "ever in n") is unknown then: over the epochs that happen to be there it would
be another number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from careeval import scoring
from careeval.core.scenario import Domain
from careeval.errors import StatsError
from careeval.results.points import Bounds, FloatArray, GradedScenario, grid
from careeval.stats import (
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

NOT_GRADED = "no response was graded on this rubric"


@dataclass(frozen=True)
class Errors:
    """How often items of one severity were present.

    Attributes:
        count: Present items of that severity over all responses; an unresolved one is not counted.
        opportunities: Items of that severity × responses judged.
        per_opportunity: Share of the opportunities taken.
        per_response: Share with at least one of the responses to scenarios whose rubric has any.
        per_scenario: Share of those scenarios with at least one in any epoch.
    """

    count: int
    opportunities: int
    per_opportunity: Estimate
    per_response: Estimate
    per_scenario: Estimate


@dataclass(frozen=True, eq=False)
class GradedRubric:
    """One rubric of one system as one grader judged it.

    Attributes:
        scenarios: As `careeval.results.points.graded_scenarios` gives them, or some of them.
        n_epochs: Responses asked for a scenario.
    """

    scenarios: Sequence[GradedScenario]
    n_epochs: int

    def only(self, keep: Callable[[GradedScenario], bool]) -> GradedRubric:
        """The same of some scenarios."""
        return GradedRubric([s for s in self.scenarios if keep(s)], self.n_epochs)

    @cached_property
    def judged(self) -> list[GradedScenario]:
        """The scenarios with a judged response."""
        return [s for s in self.scenarios if s.epochs.size]

    def score(self) -> Estimate:
        """The points over the most points, mean of epochs, pooled over scenarios."""
        return _pooled(self._points, self._maxima) if self.judged else Estimate.unknown(NOT_GRADED)

    def worst_at_n(self) -> Estimate:
        """The score if every scenario had got the lowest of its n responses."""
        if reason := self._why_not_whole():
            return Estimate.unknown(reason)
        return _bounded(
            lambda points: worst_at_n(points, self._maxima),
            lambda points: ratio_interval(points.min(axis=1), self._maxima),
            self._points,
        )

    def worst_run(self) -> Estimate:
        """The lowest score of an epoch over all scenarios."""
        if reason := self._why_not_whole():
            return Estimate.unknown(reason)
        return _bounded(
            lambda points: worst_run(points, self._maxima),
            lambda points: bootstrap_interval(lambda runs: runs.min(axis=1), points, self._maxima),
            self._points,
        )

    def sd_runs(self) -> Estimate:
        """The run noise, taken with each unresolved item half present.

        Settling the items can move it either way: its bounds are no further than the items reach,
        since sd(x + e) is within sd(x) ± sqrt(Σ e² / (n - 1)).
        """
        if reason := self._why_not_whole():
            return Estimate.unknown(reason)
        middle = self._points.middle
        try:
            sd = sd_runs(middle, self._maxima)
        except StatsError as error:
            return Estimate.unknown(str(error))
        reach = (self._points.high - middle).sum(axis=0) / self._maxima.sum()
        most = float(np.sqrt((reach**2).sum() / (self.n_epochs - 1)))
        low, high = max(0.0, sd - most), sd + most
        try:
            interval = sd_runs_interval(middle, self._maxima)
        except StatsError as error:
            return Estimate(sd, low, high, None, str(error))
        # the interval is proportional to the spread that it is about
        return Estimate(sd, low, high, (interval.low * low / sd, interval.high * high / sd))

    def errors(self, severity: int) -> Errors | None:
        """Errors of one severity; `None` where nothing was judged."""
        if not self.judged:
            return None
        counts = self._error_counts(severity)
        items = np.array([float((s.points == severity).sum()) for s in self.scenarios])
        judged = (~np.isnan(counts.low)).sum(axis=1).astype(np.float64)
        could = items > 0
        any_error = Bounds(np.minimum(counts.low, 1), np.minimum(counts.high, 1)).of(could)
        reason = self._why_not_whole()
        return Errors(
            count=int(np.nansum(counts.low)),
            opportunities=int((items * judged).sum()),
            per_opportunity=_rate(_by_scenario(np.nansum, counts), items * judged),
            per_response=_rate(_by_scenario(np.nansum, any_error), judged[could]),
            per_scenario=Estimate.unknown(reason)
            if reason
            else _rate(_by_scenario(np.max, any_error), np.ones(could.sum())),
        )

    def error_count(self, severity: int) -> int | None:
        """Present items of one severity; `None` where nothing was judged."""
        return int(np.nansum(self._error_counts(severity).low)) if self.judged else None

    def domain_score(self, domain: Domain) -> tuple[int, Estimate]:
        """The domain-weighted score (D1), and the number of scenarios that it is over."""
        rated = self.only(lambda s: bool(s.epochs.size and not np.isnan(s.levels[domain]).all()))
        if reason := self._why_no_domain(rated.scenarios):
            return 0, Estimate.unknown(reason)
        weighted = {
            s.scenario: scoring.domain_weighted(s.points, s.levels[domain], s.present)
            for s in rated.scenarios
        }
        points = grid(rated.scenarios, self.n_epochs, lambda s: weighted[s.scenario][:2])
        maxima = np.array([weighted[s.scenario].maximum for s in rated.scenarios])
        return len(maxima), _pooled(points, maxima)

    def domain_level(self, domain: Domain) -> tuple[int, Estimate]:
        """The mean domain level (D2), and the number of scenarios that it is over."""
        # an error can only lower a level: without an item that can raise it there is none
        rated = self.only(
            lambda s: bool(s.epochs.size and not np.isnan(s.levels[domain][s.points >= 0]).all())
        )
        if reason := self._why_no_domain(rated.scenarios):
            return 0, Estimate.unknown(reason)
        levels = grid(
            rated.scenarios,
            self.n_epochs,
            lambda s: scoring.domain_level(s.points, s.levels[domain], s.present),
        )
        return len(rated.scenarios), _pooled(levels, np.ones(len(rated.scenarios)))

    @cached_property
    def _points(self) -> Bounds:
        """Points, shape (n_scenarios, n_epochs)."""
        return grid(
            self.scenarios, self.n_epochs, lambda s: scoring.scenario_points(s.points, s.present)
        )

    @cached_property
    def _maxima(self) -> FloatArray:
        return np.array([float(scoring.maximum(s.points)) for s in self.scenarios])

    def _error_counts(self, severity: int) -> Bounds:
        return grid(
            self.scenarios,
            self.n_epochs,
            lambda s: scoring.error_counts(s.points, s.present, severity),
        )

    def _why_not_whole(self) -> str:
        """Why nothing can be taken over all n epochs; empty if it can."""
        if not self.judged:
            return NOT_GRADED
        asked, absent = self._points.low.size, int(np.isnan(self._points.low).sum())
        return f"{absent} of {asked} responses are missing or not graded" if absent else ""

    def _why_no_domain(self, rated: Sequence[GradedScenario]) -> str:
        """Why a domain has no number; empty if it has one."""
        if not self.judged:
            return NOT_GRADED
        return "" if rated else "no item of this rubric is rated in this domain"


def _pooled(points: Bounds, maxima: FloatArray) -> Estimate:
    """The pooled score; a scenario without a response is no cluster of its interval."""

    def interval(settled: FloatArray) -> Interval:
        known = ~np.isnan(settled).all(axis=1)
        return ratio_interval(np.nanmean(settled[known], axis=1), maxima[known])

    return _bounded(lambda settled: pooled_score(settled, maxima), interval, points)


def _rate(counts: Bounds, trials: FloatArray) -> Estimate:
    """Events per trial; counts and trials by scenario."""
    total = trials.sum()
    if total == 0:
        return Estimate.unknown("there was no item of this severity to judge")
    return _bounded(
        lambda settled: float(settled.sum() / total),
        lambda settled: rate_interval(settled, trials),
        counts,
    )


def _bounded(
    statistic: Callable[[FloatArray], float],
    interval: Callable[[FloatArray], Interval],
    numbers: Bounds,
) -> Estimate:
    """A statistic that no number lowers by rising: its bounds, and the interval that covers both's.

    The value is halfway between the bounds. Where either bound has no interval, there is none.
    """
    try:
        low, high = statistic(numbers.low), statistic(numbers.high)
    except StatsError as error:
        return Estimate.unknown(str(error))
    value = (low + high) / 2
    try:
        at_low = interval(numbers.low)
        at_high = at_low if numbers.resolved else interval(numbers.high)
    except StatsError as error:
        return Estimate(value, low, high, None, str(error))
    # the ends of an interval need not rise with the numbers: its width can grow faster
    ci95 = min(at_low.low, at_high.low), max(at_low.high, at_high.high)
    return Estimate(value, low, high, ci95)


def _by_scenario(reduce: Callable[..., FloatArray], counts: Bounds) -> Bounds:
    """Counts of each scenario, over its epochs."""
    return Bounds(reduce(counts.low, axis=1), reduce(counts.high, axis=1))
