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
from numpy.typing import NDArray

from careeval import scoring
from careeval.core.scenario import Domain
from careeval.errors import StatsError
from careeval.results.points import Bounds, FloatArray, GradedScenario, Judged
from careeval.stats import (
    MIN_CLUSTERS,
    Estimate,
    Interval,
    Reliability,
    any_of_k,
    beta_binomial_interval,
    bootstrap_interval,
    bounded_ratio_interval,
    lowest_of_k,
    pooled_score,
    rate_interval,
    rule_of_three,
    run_reliability,
    sd_runs,
    sd_runs_interval,
    worst_at_n,
    worst_run,
)

NOT_GRADED = "no response was graded on this rubric"
NOT_RESOLVED = "every judgment on this rubric is unresolved"
NO_SUCH_ITEM = "there was no item of this severity to judge"


@dataclass(frozen=True)
class Errors:
    """How often items of one severity were present.

    Attributes:
        count: Present items of that severity over all responses; an unresolved one is not counted.
        opportunities: Items of that severity × responses judged.
        per_opportunity: Share of the opportunities taken.
        per_response: Share with at least one of the responses to scenarios whose rubric has any.
        per_scenario: Share of those scenarios with at least one in any epoch.
        upper_at_zero: Where `count` is 0 for certain, the one-sided 95% upper limit of the share of
            responses with any, each scenario taken as one trial ("rule of three"); else `None`.
            The intervals beside it are two-sided, and reach higher.
    """

    count: int
    opportunities: int
    per_opportunity: Estimate
    per_response: Estimate
    per_scenario: Estimate
    upper_at_zero: float | None


@dataclass(frozen=True, eq=False)
class Parts:
    """A ratio of two sums over scenarios, before the sums: what a paired comparison needs.

    Attributes:
        scenarios: Their ids.
        numerators: Points, errors or levels, mean of the epochs, shape (n_scenarios,).
        denominators: What each could have had, shape (n_scenarios,).
    """

    scenarios: tuple[str, ...]
    numerators: Bounds
    denominators: FloatArray


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
        """The scenarios with a judged response; none where every judgment is unresolved.

        Bounds as wide as the scale tell nothing, and their middle would be a made-up number.
        """
        found = [s for s in self.scenarios if s.epochs.size]
        return found if any(not np.isnan(s.present).all() for s in found) else []

    def score(self) -> Estimate:
        """The points over the most points, mean of epochs, pooled over scenarios."""
        return (
            _pooled(self._points, self._maxima) if self.judged else Estimate.unknown(self._why_none)
        )

    def scenario_mean(self) -> Estimate:
        """Mean over scenarios of each one's own score; one without positive points is left out."""
        with_ratio = self.only(lambda s: bool(scoring.maximum(s.points)))
        if not with_ratio.judged:
            return Estimate.unknown(self._why_none if not self.judged else "no positive points")
        maxima = with_ratio._maxima
        scores = Bounds(*(b / maxima[:, np.newaxis] for b in with_ratio._points.both))
        return _pooled(scores, np.ones(len(maxima)))

    def best_rung(self) -> Estimate:
        """The score if of the positive items present only the best one counted (C24).

        For a ladder read as options of which an answer is one, though its rungs are nested. It
        stands beside the score, to show how much of it hangs on how the grader reads the nesting.
        """
        if not self.judged:
            return Estimate.unknown(self._why_none)
        points, present = self._judgments.points, self._judgments.present
        most = points.max(axis=1, initial=0).astype(np.float64)
        return _pooled(self._judgments.bounds(scoring.best_rung(points, present)), most)

    def worst_at_k(self) -> tuple[Estimate, ...]:
        """For k = 1 … n, the score if every scenario had got the lowest of k of its n responses."""
        if reason := self._why_not_whole():
            return (Estimate.unknown(reason),) * self.n_epochs
        lowest = (lowest_of_k(part) for part in self._points.both)
        return tuple(_pooled(at_k, self._maxima) for at_k in _columns(*lowest))

    def any_error_of_k(self, severity: int) -> tuple[Estimate, ...]:
        """For k = 1 … n, the share of scenarios with an error in at least one of k responses.

        Over the scenarios whose rubric has such an item.
        """
        if reason := self._why_not_whole():
            return (Estimate.unknown(reason),) * self.n_epochs
        could = (self._judgments.points == severity).any(axis=1)
        if not could.any():
            return (Estimate.unknown(NO_SUCH_ITEM),) * self.n_epochs
        counts = self._error_counts(severity).of(could)
        with_any = (np.minimum(part, 1).sum(axis=1) for part in counts.both)
        chances = (any_of_k(events, self.n_epochs) for events in with_any)
        # n responses are n / k disjoint trials of k: so k = 1 has the interval of `per_response`,
        # and k = n that of `per_scenario`
        return tuple(
            _rate(
                Bounds(at_k.low[:, 0] * self.n_epochs / k, at_k.high[:, 0] * self.n_epochs / k),
                np.full(could.sum(), self.n_epochs / k),
            )
            for k, at_k in enumerate(_columns(*chances), start=1)
        )

    def reliability(self) -> tuple[int, Reliability]:
        """How far the responses to a scenario resemble each other, in points over its maximum.

        Taken over the scenarios all of whose judgments were made: an item taken for half present
        is alike in every response.

        Returns:
            The number of those scenarios, five at least, and the reliability over them.

        Raises:
            StatsError: A response is missing, they are fewer, or the scores do not vary.
        """
        if reason := self._why_not_whole():
            raise StatsError(reason)
        could = self._maxima > 0
        made = could & (self._points.low == self._points.high).all(axis=1)
        n = int(made.sum())
        if n < MIN_CLUSTERS:
            of = "have every judgment made" if n < could.sum() else "have positive points"
            raise StatsError(f"fewer than five scenarios {of}")
        return n, run_reliability(self._points.low[made] / self._maxima[made, np.newaxis])

    def by_scenario(self) -> list[tuple[GradedScenario, Bounds]]:
        """Each scenario with a maximum, and its scores, NaN where missing, shape (n_epochs,)."""
        scores = [
            Bounds(*(part[row] / most for part in self._points.both)) if most else None
            for row, most in enumerate(self._maxima)
        ]
        return [(s, found) for s, found in zip(self.scenarios, scores, strict=True) if found]

    def worst_at_n(self) -> Estimate:
        """The score if every scenario had got the lowest of its n responses."""
        if reason := self._why_not_whole():
            return Estimate.unknown(reason)
        try:
            low, high = (worst_at_n(points, self._maxima) for points in self._points.both)
        except StatsError as error:
            return Estimate.unknown(str(error))
        lowest = Bounds(*(points.min(axis=1) for points in self._points.both))
        return with_ratio_interval(low, high, lowest, self._maxima)

    def worst_run(self) -> Estimate:
        """The lowest score of an epoch over all scenarios."""
        if reason := self._why_not_whole():
            return Estimate.unknown(reason)
        return bounded(
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
        """Errors of one severity; `None` where nothing was judged, or nothing resolved."""
        if not self.judged:
            return None
        counts = self._error_counts(severity)
        items = (self._judgments.points == severity).sum(axis=1).astype(np.float64)
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
            upper_at_zero=rule_of_three(n_tried)
            if (n_tried := int((judged[could] > 0).sum())) and not np.nansum(counts.high)
            else None,
        )

    def error_beta_binomial(self, severity: int) -> Estimate:
        """`Errors.per_response`, with the interval of a beta-binomial: a second opinion (C12).

        It takes in those of both ends, every unresolved item settled for the lower and the higher.
        It is unknown, with its reason, where a response is missing or there is no error.
        """
        errors = self.errors(severity)
        if errors is None:
            return Estimate.unknown(self._why_none)
        share = errors.per_response
        if share.value is None:
            return share
        if reason := self._why_not_whole():
            return Estimate(share.value, share.low, share.high, None, reason)
        could = (self._judgments.points == severity).any(axis=1)
        counts = self._error_counts(severity).of(could)
        return bounded(
            lambda with_any: float(with_any.sum()) / (len(with_any) * self.n_epochs),
            lambda with_any: beta_binomial_interval(with_any, self.n_epochs),
            Bounds(*(np.minimum(part, 1).sum(axis=1) for part in counts.both)),
        )

    def error_count(self, severity: int) -> int | None:
        """Present items of one severity; `None` where nothing was judged."""
        return int(np.nansum(self._error_counts(severity).low)) if self.judged else None

    def domain_score(self, domain: Domain) -> tuple[int, Estimate]:
        """The domain-weighted score (D1), and the number of scenarios that it is over."""
        rated, points, maxima = self._domain_points(domain)
        if reason := self._why_no_domain(rated):
            return 0, Estimate.unknown(reason)
        return len(rated), _pooled(points, maxima)

    def domain_level(self, domain: Domain) -> tuple[int, Estimate]:
        """The mean domain level (D2), and the number of scenarios that it is over."""
        rated, levels, ones = self._domain_levels(domain)
        if reason := self._why_no_domain(rated):
            return 0, Estimate.unknown(reason)
        return len(rated), _pooled(levels, ones)

    def _domain_points(self, domain: Domain) -> tuple[Sequence[GradedScenario], Bounds, FloatArray]:
        """The scenarios rated in a domain, their weighted points and maxima."""
        of = self._judgments
        low, high, most = scoring.domain_weighted(of.points, of.levels[domain], of.present)
        has_level = np.logical_not(np.isnan(of.levels[domain]).all(axis=1))
        rated = of.is_judged.any(axis=1) & has_level
        return self._some(rated), of.bounds((low, high)).of(rated), most[rated]

    def _domain_levels(self, domain: Domain) -> tuple[Sequence[GradedScenario], Bounds, FloatArray]:
        """The scenarios with an item that can raise the level in a domain, and their levels."""
        of = self._judgments
        levels = of.bounds(scoring.domain_level(of.points, of.levels[domain], of.present))
        # an error can only lower a level: without an item that can raise it there is none
        rated = np.logical_not(np.isnan(levels.low).all(axis=1))
        return self._some(rated), levels.of(rated), np.ones(int(rated.sum()))

    def _some(self, chosen: NDArray[np.bool_]) -> Sequence[GradedScenario]:
        return [self.scenarios[row] for row in np.flatnonzero(chosen).tolist()]

    @cached_property
    def _judgments(self) -> Judged:
        return Judged.of(self.scenarios, self.n_epochs)

    @cached_property
    def _points(self) -> Bounds:
        """Points, shape (n_scenarios, n_epochs)."""
        of = self._judgments
        return of.bounds(scoring.scenario_points(of.points, of.present))

    @cached_property
    def _maxima(self) -> FloatArray:
        return scoring.maxima(self._judgments.points).astype(np.float64)

    def score_parts(self) -> Parts:
        """What `score` is the ratio of.

        Raises:
            StatsError: Nothing was judged. So do the other parts.
        """
        return self._parts(self.scenarios, self._points, self._maxima)

    def worst_parts(self) -> Parts:
        """What `worst_at_n` is the ratio of.

        Raises:
            StatsError: A response is missing or not graded, so that the lowest of n is not known.
        """
        if reason := self._why_not_whole():
            raise StatsError(reason)
        lowest = Bounds(*(part.min(axis=1, keepdims=True) for part in self._points.both))
        return self._parts(self.scenarios, lowest, self._maxima)

    def error_parts(self, severity: int) -> Parts:
        """Of each scenario whose rubric has such items, the share of responses with any."""
        counts = self._error_counts(severity)
        could = (self._judgments.points == severity).any(axis=1)
        if not could.any():
            raise StatsError(NO_SUCH_ITEM if self.judged else self._why_none)
        any_error = Bounds(*(np.minimum(part, 1) for part in counts.of(could).both))
        with_any = self._some(could)
        return self._parts(with_any, any_error, np.ones(len(with_any)))

    def domain_parts(self, domain: Domain) -> Parts:
        """What `domain_score` is the ratio of."""
        return self._parts(*self._domain_points(domain))

    def _parts(
        self, scenarios: Sequence[GradedScenario], numbers: Bounds, denominators: FloatArray
    ) -> Parts:
        """The parts of the scenarios that have a number in any epoch."""
        if not self.judged or not numbers.low.size or np.isnan(numbers.low).all():
            raise StatsError(self._why_none)
        known = np.flatnonzero(~np.isnan(numbers.low).all(axis=1))
        return Parts(
            tuple(scenarios[row].scenario for row in known.tolist()),
            Bounds(*(np.nanmean(part[known], axis=1) for part in numbers.both)),
            denominators[known],
        )

    def _error_counts(self, severity: int) -> Bounds:
        of = self._judgments
        return of.bounds(scoring.error_counts(of.points, of.present, severity))

    @property
    def _why_none(self) -> str:
        """Why nothing was judged, where nothing was."""
        return NOT_RESOLVED if any(s.epochs.size for s in self.scenarios) else NOT_GRADED

    def _why_not_whole(self) -> str:
        """Why nothing can be taken over all n epochs; empty if it can."""
        if not self.judged:
            return self._why_none
        asked, absent = self._points.low.size, int(np.isnan(self._points.low).sum())
        return f"{absent} of {asked} responses are missing or not graded" if absent else ""

    def _why_no_domain(self, rated: Sequence[GradedScenario]) -> str:
        """Why a domain has no number; empty if it has one."""
        if not self.judged:
            return self._why_none
        return "" if rated else "no item of this rubric is rated in this domain"


def _pooled(points: Bounds, maxima: FloatArray) -> Estimate:
    """The pooled score; a scenario without a response is no cluster of its interval."""
    try:
        low, high = (pooled_score(settled, maxima) for settled in points.both)
    except StatsError as error:
        return Estimate.unknown(str(error))
    known = ~np.isnan(points.low).all(axis=1)
    means = Bounds(*(np.nanmean(settled[known], axis=1) for settled in points.both))
    return with_ratio_interval(low, high, means, maxima[known])


def _rate(counts: Bounds, trials: FloatArray) -> Estimate:
    """Events per trial; counts and trials by scenario."""
    total = trials.sum()
    if total == 0:
        return Estimate.unknown(NO_SUCH_ITEM)
    return bounded(
        lambda settled: float(settled.sum() / total),
        lambda settled: rate_interval(settled, trials),
        counts,
    )


def bounded_ratio(numerators: Bounds, denominators: FloatArray) -> Estimate:
    """A ratio of sums over scenarios; its interval holds that of every settlement.

    Args:
        numerators: One number a scenario, shape (n_scenarios,).
        denominators: Shape (n_scenarios,), with a sum above 0.
    """
    total = float(denominators.sum())
    low, high = (float(settled.sum()) / total for settled in numerators.both)
    return with_ratio_interval(low, high, numerators, denominators)


def with_ratio_interval(
    low: float, high: float, numerators: Bounds, denominators: FloatArray
) -> Estimate:
    """A ratio whose bounds are known already, with `careeval.stats.bounded_ratio_interval`."""
    value = (low + high) / 2
    try:
        ci95 = bounded_ratio_interval(*numerators.both, denominators)
    except StatsError as error:
        return Estimate(value, low, high, None, str(error))
    return Estimate(value, low, high, (ci95.low, ci95.high))


def bounded(
    statistic: Callable[[FloatArray], float],
    interval: Callable[[FloatArray], Interval],
    numbers: Bounds,
) -> Estimate:
    """A statistic that no number lowers by rising: its bounds, and the interval that covers both's.

    The value is halfway between the bounds. Where either bound has no interval, there is none. What
    is settled partly low and partly high may have an interval that reaches beyond: only of a
    percentile of resamples, which rises with each number as the statistic does, it never does. For
    a ratio of sums see `bounded_ratio`.
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


def _columns(low: FloatArray, high: FloatArray) -> list[Bounds]:
    """Numbers of shape (n_scenarios, n) as n columns of shape (n_scenarios, 1)."""
    return [Bounds(low[:, [k]], high[:, [k]]) for k in range(low.shape[1])]


def _by_scenario(reduce: Callable[..., FloatArray], counts: Bounds) -> Bounds:
    """Counts of each scenario, over its epochs."""
    return Bounds(reduce(counts.low, axis=1), reduce(counts.high, axis=1))
