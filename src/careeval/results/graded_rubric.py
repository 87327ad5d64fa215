"""The numbers of one graded rubric: score, worst case, errors and domains.

A missing response is left out of means and of the trials of rates. Numbers over all n epochs (a
minimum, a spread, "any of n") are then unknown, since over fewer epochs they would mean something
else.

Unresolved judgments are filled once, in `careeval.results.arrays`. A number's value
comes from the filled judgments; its bounds settle every unresolved judgment for the lowest and for
the highest number, and its interval covers both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from careeval import scoring
from careeval.core.scenario import Domain, HarmKind
from careeval.errors import StatsError
from careeval.results.arrays import (
    BoundedValues,
    FloatArray,
    GradedScenario,
    JudgmentArrays,
    bounded,
    with_ratio_interval,
)
from careeval.stats import (
    MIN_CLUSTERS,
    Estimate,
    Reliability,
    any_of_k,
    lowest_of_k,
    pooled_score,
    rate_interval,
    response_reliability,
    rule_of_three,
    sd_epochs,
    sd_epochs_interval,
    worst_epoch,
)

NOT_GRADED = "no response was graded on this rubric"
NOT_RESOLVED = "every judgment on this rubric is unresolved"
NOT_FILLED = "every judgment of the items of some points is unresolved"
NO_SUCH_ITEM = "there was no item of this severity to judge"


@dataclass(frozen=True)
class Errors:
    """The number of responses with an error of one severity: an item of −2, or of −1, present."""

    count: int  # Responses with at least one error; a lower bound if judgments are unresolved
    n: int  # Judged responses to scenarios whose rubric has an item of this severity
    share: Estimate  # Share of these responses with at least one error
    upper_at_zero: float | None
    """If no response has an error, however unresolved judgments are settled, the one-sided 95%
    upper limit of the share, with each scenario as one trial ("rule of three"); else `None`."""


@dataclass(frozen=True, eq=False)
class RatioTerms:
    """The terms by scenario of a ratio of two sums, for paired comparisons."""

    scenarios: tuple[str, ...]  # Ids of the scenarios
    numerators: BoundedValues
    """Points, domain-weighted points, or 1 for an error and 0 for none; mean of the epochs, shape
    (n_scenarios,)."""
    denominators: FloatArray  # Maximum of each numerator, shape (n_scenarios,)
    lowest: FloatArray  # Minimum of each numerator, shape (n_scenarios,)
    n_judged: FloatArray | None = None
    """For a share of responses, the judged responses of each scenario, shape (n_scenarios,); `None`
    if a scenario counts the same however many responses were judged."""


@dataclass(frozen=True, eq=False)
class GradedRubric:
    """One rubric of one system as one grader judged it."""

    scenarios: Sequence[GradedScenario]
    """All or some of those that `graded_arrays.graded_scenarios` returns."""
    n_epochs: int  # Responses asked for each scenario

    def only(self, keep: Callable[[GradedScenario], bool]) -> GradedRubric:
        """Return the rubric over the scenarios for which `keep` is true."""
        return GradedRubric([s for s in self.scenarios if keep(s)], self.n_epochs)

    @cached_property
    def judged(self) -> list[GradedScenario]:
        """Return the scenarios with a judged response; none if every judgment is unresolved.

        Bounds as wide as the scale say nothing, and a value between them would be made up.
        """
        judged = [s for s in self.scenarios if s.epochs.size]
        return judged if any(not np.isnan(s.present).all() for s in judged) else []

    def score(self) -> Estimate:
        """Return the score: points over the maximum, mean of the epochs, pooled over scenarios."""
        if not self.judged:
            return Estimate.unknown(self._why_none)
        return _pooled(self._points, self._maxima, self._minima)

    def worst_at_n(self) -> Estimate:
        """Return the score if every scenario had got the lowest of its n responses."""
        if reason := self._why_not_whole():
            return Estimate.unknown(reason)
        lowest = self._points.map(lambda points: points.min(axis=1, keepdims=True))
        return _pooled(lowest, self._maxima, self._minima)

    def worst_at_k(self) -> tuple[Estimate, ...]:
        """Return for k = 1 … n the score if each scenario had got the lowest of k responses."""
        if reason := self._why_not_whole():
            return (Estimate.unknown(reason),) * self.n_epochs
        if _has_unknown_value(self._points):
            return (Estimate.unknown(NOT_FILLED),) * self.n_epochs
        return tuple(
            _pooled(at_k, self._maxima, self._minima)
            for at_k in _columns(self._points, lowest_of_k)
        )

    def any_error_of_k(self, severity: int) -> tuple[Estimate, ...]:
        """Return for k = 1 … n the share of scenarios with an error in any of k responses.

        Only scenarios whose rubric has an item of this severity count.
        """
        if reason := self._why_not_whole():
            return (Estimate.unknown(reason),) * self.n_epochs
        items = self._judgments.are_errors(severity)
        could = np.asarray(items.any(axis=1))
        if not could.any():
            return (Estimate.unknown(NO_SUCH_ITEM),) * self.n_epochs
        errors = self._judgments.any_present(items).at(could)
        if _has_unknown_value(errors):
            return (Estimate.unknown(NOT_FILLED),) * self.n_epochs
        # n responses are n / k disjoint trials of k
        return tuple(
            _rate(
                at_k.map(lambda share, k=k: share[:, 0] * self.n_epochs / k),  # type: ignore[misc]
                np.full(could.sum(), self.n_epochs / k),
            )
            for k, at_k in enumerate(_columns(errors, any_of_k), start=1)
        )

    def reliability(self) -> tuple[int, Reliability]:
        """Return the reliability of the responses to a scenario, in points over its maximum.

        Only scenarios whose judgments are all resolved count.

        Returns:
            The number of those scenarios, at least five, and the reliability over them.

        Raises:
            StatsError: A response is missing, fewer than five such scenarios are left, or their
                scores do not vary.
        """
        points, maxima = self._resolved()
        return len(maxima), response_reliability(points / maxima[:, np.newaxis])

    def worst_epoch(self) -> Estimate:
        """Return the lowest score of an epoch over all scenarios, without an interval.

        An interval from resampled scenarios would be 2.5 to 7 points off centre.
        """
        if reason := self._why_not_whole():
            return Estimate.unknown(reason)
        if _has_unknown_value(self._points):
            return Estimate.unknown(NOT_FILLED)
        try:
            low, high, value = (
                worst_epoch(points, self._maxima)
                for points in (self._points.low, self._points.high, self._points.value)
            )
        except StatsError as error:
            return Estimate.unknown(str(error))
        return Estimate(value, low, high, None, "no interval holds for a lowest of epochs")

    def sd_epochs(self) -> Estimate:
        """Return the SD of the epochs' scores, over scenarios without an unresolved judgment."""
        try:
            points, maxima = self._resolved()
            sd = sd_epochs(points, maxima)
        except StatsError as error:
            return Estimate.unknown(str(error))
        try:
            ci95 = sd_epochs_interval(points, maxima)
        except StatsError as error:
            return Estimate(sd, sd, sd, None, str(error))
        return Estimate(sd, sd, sd, ci95)

    def by_scenario(self) -> list[tuple[GradedScenario, BoundedValues]]:
        """Return each scenario with positive points, and its scores.

        Scores have shape (n_epochs,), NaN where missing.
        """
        return [
            (scenario, self._points.map(lambda points, row=row, most=most: points[row] / most))  # type: ignore[misc]
            for row, (scenario, most) in enumerate(zip(self.scenarios, self._maxima, strict=True))
            if most
        ]

    def errors(self, severity: int, kind: HarmKind | None = None) -> Errors:
        """Return how many responses have an error of one severity, and of `kind` if it is given."""
        if not self.judged:
            return Errors(0, 0, Estimate.unknown(self._why_none), None)
        items = self._judgments.are_errors(severity, kind)
        could = np.asarray(items.any(axis=1))
        any_error = self._judgments.any_present(items).at(could)
        n_judged = (~np.isnan(any_error.low)).sum(axis=1).astype(np.float64)
        n_tried = int((n_judged > 0).sum())
        share = (
            Estimate.unknown(NOT_FILLED)
            if _has_unknown_value(any_error)
            else _rate(any_error.map(lambda n: np.asarray(np.nansum(n, axis=1))), n_judged)
        )
        return Errors(
            count=int(np.nansum(any_error.low)),
            n=int(n_judged.sum()),
            share=share,
            upper_at_zero=rule_of_three(n_tried)
            if n_tried and not np.nansum(any_error.high)
            else None,
        )

    def domain_score(self, domain: Domain) -> tuple[int, Estimate]:
        """Return the number of scenarios rated in a domain, and the domain-weighted score (D1)."""
        rated, points, maxima, least = self._domain_points(domain)
        if reason := self._why_no_domain(rated):
            return 0, Estimate.unknown(reason)
        return len(rated), _pooled(points, maxima, least)

    def _domain_points(
        self, domain: Domain
    ) -> tuple[Sequence[GradedScenario], BoundedValues, FloatArray, FloatArray]:
        """Return the scenarios rated in a domain, their weighted points, maxima and minima."""
        judged = self._judgments
        count = partial(scoring.domain_weighted, judged.points, judged.levels[domain])
        has_level = np.logical_not(np.isnan(judged.levels[domain]).all(axis=1))
        rated = judged.is_judged.any(axis=1) & has_level
        everything = count(np.ones_like(judged.present[:, :1]))
        least = everything.low[:, 0] - everything.maximum
        points = judged.settled(count).at(rated)
        return self._some(rated), points, everything.maximum[rated], least[rated]

    def _some(self, chosen: NDArray[np.bool_]) -> Sequence[GradedScenario]:
        return [self.scenarios[row] for row in np.flatnonzero(chosen).tolist()]

    @cached_property
    def _judgments(self) -> JudgmentArrays:
        return JudgmentArrays.of(self.scenarios, self.n_epochs)

    @cached_property
    def _points(self) -> BoundedValues:
        """Return the points of each response, shape (n_scenarios, n_epochs)."""
        return self._judgments.settled(partial(scoring.scenario_points, self._judgments.points))

    @cached_property
    def _maxima(self) -> FloatArray:
        return scoring.maxima(self._judgments.points).astype(np.float64)

    @cached_property
    def _minima(self) -> FloatArray:
        """Return the fewest points that a response can have, shape (n_scenarios,)."""
        return -scoring.maxima(-self._judgments.points).astype(np.float64)

    def _resolved(self) -> tuple[FloatArray, FloatArray]:
        """Return points and maxima of the scenarios with positive points, all judgments resolved.

        Raises:
            StatsError: A response is missing, or fewer than five such scenarios are left.
        """
        if reason := self._why_not_whole():
            raise StatsError(reason)
        could = self._maxima > 0
        resolved = could & (self._points.low == self._points.high).all(axis=1)
        if resolved.sum() < MIN_CLUSTERS:
            is_unresolved = resolved.sum() < could.sum()
            what = "have every judgment made" if is_unresolved else "have positive points"
            raise StatsError(f"fewer than five scenarios {what}")
        return self._points.low[resolved], self._maxima[resolved]

    def score_terms(self) -> RatioTerms:
        """Return the terms of `score` for paired comparisons.

        Raises:
            StatsError: Nothing was judged. All `…_terms` functions raise this.
        """
        return self._parts(self.scenarios, self._points, self._maxima, self._minima)

    def worst_terms(self) -> RatioTerms:
        """Return the terms of `worst_at_n` for paired comparisons.

        Raises:
            StatsError: A response is missing or not graded, so the lowest of n is unknown.
        """
        if reason := self._why_not_whole():
            raise StatsError(reason)
        lowest = self._points.map(lambda points: points.min(axis=1, keepdims=True))
        return self._parts(self.scenarios, lowest, self._maxima, self._minima)

    def error_terms(self, severity: int) -> RatioTerms:
        """Return the terms of the share of responses with an error."""
        items = self._judgments.are_errors(severity)
        could = np.asarray(items.any(axis=1))
        if not could.any():
            raise StatsError(NO_SUCH_ITEM if self.judged else self._why_none)
        with_any = self._some(could)
        any_error = self._judgments.any_present(items).at(could)
        n_judged = (~np.isnan(any_error.low)).sum(axis=1).astype(np.float64)
        ones = np.ones(len(with_any))
        parts = self._parts(with_any, any_error, ones, np.zeros(len(with_any)))
        return replace(parts, n_judged=n_judged[n_judged > 0])

    def domain_terms(self, domain: Domain) -> RatioTerms:
        """Return the terms of `domain_score` for paired comparisons."""
        return self._parts(*self._domain_points(domain))

    def _parts(
        self,
        scenarios: Sequence[GradedScenario],
        numbers: BoundedValues,
        denominators: FloatArray,
        least: FloatArray,
    ) -> RatioTerms:
        """Return the terms of the scenarios that have a number in any epoch."""
        if not self.judged or not numbers.low.size or np.isnan(numbers.low).all():
            raise StatsError(self._why_none)
        if _has_unknown_value(numbers):
            raise StatsError(NOT_FILLED)
        known = np.flatnonzero(~np.isnan(numbers.low).all(axis=1))
        means = numbers.at(known).map(lambda part: np.asarray(np.nanmean(part, axis=1)))
        names = tuple(scenarios[row].scenario for row in known.tolist())
        return RatioTerms(names, means, denominators[known], least[known])

    @property
    def _why_none(self) -> str:
        """Return the reason why no judgment can be used, if none can."""
        return NOT_RESOLVED if any(s.epochs.size for s in self.scenarios) else NOT_GRADED

    def _why_not_whole(self) -> str:
        """Return the reason why numbers over all n epochs are unknown; else empty."""
        if not self.judged:
            return self._why_none
        asked, absent = self._points.low.size, int(np.isnan(self._points.low).sum())
        return f"{absent} of {asked} responses are missing or not graded" if absent else ""

    def _why_no_domain(self, rated: Sequence[GradedScenario]) -> str:
        """Return the reason why a domain has no number; else empty."""
        if not self.judged:
            return self._why_none
        return "" if rated else "no item of this rubric is rated in this domain"


def _has_unknown_value(numbers: BoundedValues) -> bool:
    """Tell whether a judged response has no value, since its judgments could not be filled."""
    return bool((np.isnan(numbers.value) & ~np.isnan(numbers.low)).any())


def _pooled(points: BoundedValues, maxima: FloatArray, minima: FloatArray) -> Estimate:
    """Return the pooled score; the interval leaves out scenarios without a response."""
    if _has_unknown_value(points):
        return Estimate.unknown(NOT_FILLED)
    try:
        low, high, value = (
            pooled_score(part, maxima) for part in (points.low, points.high, points.value)
        )
    except StatsError as error:
        return Estimate.unknown(str(error))
    known = np.asarray(~np.isnan(points.low).all(axis=1))
    means = points.at(known).map(lambda part: np.asarray(np.nanmean(part, axis=1)))
    return with_ratio_interval(value, low, high, means, maxima[known], minima[known])


def _rate(counts: BoundedValues, trials: FloatArray) -> Estimate:
    """Return the rate of events per trial; counts and trials are one number per scenario."""
    total = trials.sum()
    if total == 0:
        return Estimate.unknown(NO_SUCH_ITEM)
    return bounded(
        lambda settled: float(settled.sum() / total),
        lambda settled: rate_interval(settled, trials),
        counts,
    )


def _columns(
    numbers: BoundedValues, spread: Callable[[FloatArray], FloatArray]
) -> list[BoundedValues]:
    """Apply `spread`, which returns shape (n_scenarios, n); return its n columns one by one."""
    curves = numbers.map(spread)
    return [
        curves.map(lambda curve, k=k: curve[:, [k]])  # type: ignore[misc]
        for k in range(curves.low.shape[1])
    ]
