"""95% intervals of scores and rates, clustered by scenario.

Responses to one scenario resemble each other, so ten of them are not ten observations: an interval
that treats them as independent covers the truth about 70% of the time instead of 95%. Here the unit
is the scenario with all its epochs. A base and its twins resemble each other too: where a
number counts both, sum them first (`sum_by_scenario`). The intervals are about scenarios like
these, except `sd_epochs_interval`, which is about asking the same scenarios again.

A system tends to make the same error each time it is asked. So publish rates by `rate_interval`;
`wilson` and `clopper_pearson` are for independent trials only, such as one response per scenario.

Each method was chosen by its coverage in `bench/coverage.py`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from careeval.errors import StatsError
from careeval.stats.score import FloatArray, sd_epochs

MIN_SCENARIOS = 5
"""The fewest scenarios for an interval."""

MAX_TRIALS_PER_SCENARIO = 2.0
"""The most independent yes-or-no trials that a scenario counts for.

If nearly all scenarios score the maximum they vary little, and the few in which everything goes
wrong may not have been drawn, so a small variance is not trusted beyond this limit. Of 2, 2.5, 3, 4
and 5, this value had the best coverage for scores near the maximum (`bench/coverage.py --table
candidates` and, for systems with other kinds of errors, `--table coverage`).
"""

TAIL = 0.025
"""Probability outside a 95% interval on either side."""

Z = float(special.ndtri(1 - TAIL))

# With up to this many open numerators, all combinations of their ends are tried.
_MAX_OPEN = 8

# A width below this fraction of the maximum is rounding error.
_NO_WIDTH = 1e-12


class Interval(NamedTuple):
    """The lower and upper end of a two-sided 95% interval, in the unit of the number."""

    low: float
    high: float


def ratio_interval(
    numerators: FloatArray,
    denominators: FloatArray,
    *,
    lowest: float | None = None,
    highest: FloatArray | None = None,
) -> Interval:
    """Return the interval of a ratio of sums over scenarios, such as the pooled score.

    With `lowest` it is Korn and Graubard's interval: the ratio is moved to a scale from 0 to 1 and
    treated as a share of independent trials, which has an exact interval. There are as many trials
    as would give the ratio its variance, but no more than `MAX_TRIALS_PER_SCENARIO` allows. For a
    ratio at an end of its scale, each scenario counts as one trial. Without `lowest`, for a number
    that has no limits, the interval is t with G - 1 degrees of freedom times the clustered error.

    With `highest` it contains the intervals of all numerators in between. Its ends are those of the
    lowest and the highest ratio, each with the largest error that any such numerators have
    (`largest_error`), since a mix of low and high ones can vary more than either end.

    Args:
        numerators: One number per scenario, already the mean over epochs, shape (n_scenarios,).
        denominators: Positive points or opportunities, shape (n_scenarios,).
        lowest: The lowest possible ratio, such as the sum of the negative points over that of the
            positive; the highest is 1.
        highest: The highest possible numerators, if those given are only the lowest possible, of
            the same shape.

    Returns:
        An interval in the unit of the ratio; within `lowest` and 1 if `lowest` is given.

    Raises:
        StatsError: There are fewer than five scenarios, one has no number, or there are no positive
            points. Also if the scenarios do not vary, and `lowest` is not given or the ratio is
            above it and at most 0: an interval without width would claim certainty.

    Source: Korn and Graubard 1998, Survey Methodology 24:193; Miller 2024, arXiv:2411.00640
    (clustered errors).
    """
    low, high = numerators, numerators if highest is None else highest
    count_scenarios(low, denominators)
    n, total = count_scenarios(high, denominators), float(denominators.sum())
    error = largest_error(low, high, denominators)
    at_low, at_high = float(low.sum()) / total, float(high.sum()) / total
    if lowest is None:
        margin = t_quantile(n) * error
        return with_width(at_low - margin, at_high + margin)
    if lowest >= 1:
        raise StatsError("no variation to take an interval from: the scale has no width")
    scale = TrialScale(lowest, n, total / float(denominators.max()))
    return scale.interval(at_low, at_high, error)


class TrialScale(NamedTuple):
    """The scale of a ratio that is treated as a share of independent trials."""

    lowest: float  # The lowest possible ratio; the highest is 1
    n_scenarios: int
    n_even: float  # Sum of the denominators in units of the largest one
    max_per_scenario: float = MAX_TRIALS_PER_SCENARIO

    @property
    def width(self) -> float:
        """Distance from the lowest to the highest possible ratio."""
        return 1 - self.lowest

    def interval(
        self, low: float, high: float, error: float, max_trials: float = np.inf
    ) -> Interval:
        """Return an interval for all ratios from `low` to `high` with at most this error.

        The exact interval rises with the share and narrows with the number of trials, so both ends
        take the fewest trials that any of these ratios counts for, and at most `max_trials`.

        Raises:
            StatsError: Nothing limits the number of trials, so there is no width.
        """
        shares = [min(max((ratio - self.lowest) / self.width, 0.0), 1.0) for ratio in (low, high)]
        ends = [self._at_end(share) for share in shares if share in (0, 1)]
        if shares[0] not in (0, 1) or shares[1] != shares[0]:
            trials = min(self._effective_trials(share, error) for share in shares)
            trials = min(trials, max_trials)
            if np.isinf(trials):
                raise StatsError("no variation to take an interval from")
            trials *= (Z / t_quantile(self.n_scenarios)) ** 2
            ends += [clopper_pearson(share * trials, trials) for share in shares]
        return Interval(
            self.lowest + self.width * min(end.low for end in ends),
            self.lowest + self.width * max(end.high for end in ends),
        )

    def _at_end(self, share: float) -> Interval:
        """Return the interval at an end of the scale, where each scenario counts as one trial."""
        trials = self.width * self.n_scenarios
        return clopper_pearson(share * trials, trials)

    def _effective_trials(self, share: float, error: float) -> float:
        """Return the number of independent trials that would give a share this error."""
        # values within the scale vary no more than trials do, so there are at least so many
        min_trials = (self.n_scenarios - 1) / self.n_scenarios * self.n_even
        variance = share * (1 - share) * self.width**2
        trials = variance / error**2 if error**2 > 0 else np.inf
        ratio = self.lowest + self.width * share
        if ratio > 0:
            # p (1 - p) w² over R (1 - R) / (c G), without 0 / 0 where R is 1
            trials = min(
                trials, share * self.width / ratio * self.max_per_scenario * self.n_scenarios
            )
        return max(trials, min_trials)


def clopper_pearson(events: float, trials: float) -> Interval:
    """Return the exact interval of a proportion of independent trials.

    Neither number needs to be whole.

    Args:
        events: Events, 0 to `trials`.
        trials: Trials, more than 0.

    Returns:
        Fractions, 0 to 1.

    Source: Clopper and Pearson 1934, Biometrika 26:404, as quantiles of the beta distribution.
    """
    low = special.betaincinv(events, trials - events + 1, TAIL) if events > 0 else 0.0
    high = special.betaincinv(events + 1, trials - events, 1 - TAIL) if events < trials else 1.0
    return Interval(float(low), float(high))


def t_quantile(n_scenarios: int) -> float:
    """Return the 97.5% point of t with `n_scenarios` - 1 degrees of freedom."""
    return float(special.stdtrit(n_scenarios - 1, 1 - TAIL))


def largest_error(low: FloatArray, high: FloatArray, denominators: FloatArray) -> float:
    """Return the largest standard error of a ratio with any numerators from `low` to `high`.

    The error is convex in the numerators, so the largest is at a corner. With up to eight open
    numerators, all corners are tried. With more, this is an upper bound by the triangle inequality:
    the error at the midpoint plus sqrt(G / (G - 1)) ‖P‖ ‖h‖ / Σ m, with h half the widths and
    ‖P‖ = sqrt(G) ‖m‖ / Σ m the norm of the projection from numerators to residuals.

    Args:
        low: The lowest possible numerators, shape (n_scenarios,).
        high: The highest possible numerators, the same shape.
        denominators: Shape (n_scenarios,).

    Raises:
        StatsError: There are no positive points.
    """
    is_open = low != high
    if not is_open.any():
        return linearised_ratio(low, denominators)[1]
    n, total = len(denominators), float(denominators.sum())
    if total <= 0:
        raise StatsError("too few scenarios have positive points")
    if np.count_nonzero(is_open) <= _MAX_OPEN:
        corners = np.tile(low, (2 ** int(is_open.sum()), 1))
        corners[:, is_open] = list(product(*zip(low[is_open], high[is_open], strict=True)))
        return float(ratio_errors(corners, denominators).max())
    _, error = linearised_ratio((low + high) / 2, denominators)
    projection = np.sqrt(n) * np.linalg.norm(denominators) / total
    margin = float(projection * np.linalg.norm((high - low) / 2)) / total
    return error + float(np.sqrt(n / (n - 1))) * margin


def ratio_errors(numerators: FloatArray, denominators: FloatArray) -> FloatArray:
    """Return the standard errors of `linearised_ratio` for many ratios with the same denominators.

    Args:
        numerators: Shape (n_ratios, n_scenarios).
        denominators: Shape (n_scenarios,), with a positive sum.

    Returns:
        Errors, shape (n_ratios,); 0 where nothing varies.
    """
    n, total = len(denominators), denominators.sum()
    residuals = numerators - np.outer(numerators.sum(axis=1) / total, denominators)
    errors = np.sqrt(n / (n - 1) * (residuals**2).sum(axis=1)) / total
    return np.where(errors > _NO_WIDTH, errors, 0.0)


@lru_cache(maxsize=16)
def draw_counts(n_scenarios: int, seed: int, draws: int) -> FloatArray:
    """Return how often each resample contains each scenario, shape (draws, n_scenarios).

    The array is cached, since the intervals of a summary resample the same scenarios, and
    read-only, since they share it.
    """
    drawn = np.random.default_rng(seed).integers(n_scenarios, size=(draws, n_scenarios))
    drawn += n_scenarios * np.arange(draws)[:, np.newaxis]
    flat = np.bincount(drawn.ravel(), minlength=draws * n_scenarios)
    counts = flat.reshape(draws, n_scenarios).astype(np.float64)
    counts.flags.writeable = False
    return counts


def sd_epochs_interval(points: FloatArray, maxima: FloatArray) -> Interval:
    """Return the interval of `sd_epochs`, by chi-squared with n_epochs - 1 degrees of freedom.

    Epochs are independent, and the score of an epoch, a sum over many scenarios, is nearly normal.
    So here the epoch is the unit, and the scenarios are fixed.

    Args:
        points: Points, shape (n_scenarios, n_epochs).
        maxima: Positive points, shape (n_scenarios,).

    Returns:
        Fractions of the maximum, around `sd_epochs`.

    Raises:
        StatsError: As for `sd_epochs`, or there are fewer than five scenarios, or all epochs score
            the same.
    """
    count_scenarios(points, maxima)
    n_epochs = points.shape[1]
    sd = sd_epochs(points, maxima)
    low, high = sd * np.sqrt((n_epochs - 1) / special.chdtri(n_epochs - 1, [TAIL, 1 - TAIL]))
    return with_width(float(low), float(high))


def linearised_ratio(numerators: FloatArray, denominators: FloatArray) -> tuple[float, float]:
    """Return a ratio of sums over scenarios and its standard error.

    The error is sqrt(G / (G - 1) Σ (y - R m)²) / Σ m, over G scenarios with numerators y and
    denominators m.

    Args:
        numerators: One number per scenario, shape (n_scenarios,), for at least two scenarios.
        denominators: Shape (n_scenarios,).

    Returns:
        The ratio R and its error, in the same unit.

    Raises:
        StatsError: There are no positive points.

    Source: Miller 2024, arXiv:2411.00640, with G / (G - 1).
    """
    n_scenarios, total = len(denominators), float(denominators.sum())
    if total <= 0:
        raise StatsError("too few scenarios have positive points")
    ratio = float(numerators.sum()) / total
    squares = float(np.sum((numerators - ratio * denominators) ** 2))
    return ratio, float(np.sqrt(n_scenarios / (n_scenarios - 1) * squares)) / total


def count_scenarios(numerators: FloatArray, denominators: FloatArray) -> int:
    """Return the number of scenarios; raise `StatsError` below five, or if one has no number."""
    if np.isnan(numerators).any() or np.isnan(denominators).any():
        raise StatsError("at least one scenario has no number, so there is no interval or test")
    if len(denominators) < MIN_SCENARIOS:
        raise StatsError("fewer than five scenarios")
    return len(denominators)


def with_width(low: float, high: float) -> Interval:
    """Return an interval; raise `StatsError` if it has no width, which would claim certainty."""
    if not high - low >= _NO_WIDTH:
        raise StatsError("no variation to take an interval from")
    return Interval(low, high)


def rate_interval(
    counts: FloatArray, trials: FloatArray, *, max_per_scenario: float = MAX_TRIALS_PER_SCENARIO
) -> Interval:
    """Return the interval of a rate of clustered events, such as severe errors per response.

    It is the exact interval for the effective number of independent trials: p (1 - p) / SE², at
    most the number of trials and at most `max_per_scenario` per scenario, times (z / t)² with G - 1
    degrees of freedom for the error of SE itself. Without the limit per scenario, a few events in
    different scenarios would not look clustered, and every trial would count.

    With no event, SE would be 0 though it is unknown. Then each scenario counts as one trial, and
    the interval is 0 .. 1 - 0.025^(1 / G). It is two-sided; the one-sided `rule_of_three` is lower.
    The same holds in mirror image if every trial is an event. With one event or more the upper
    limit may be lower than with none, since the clustering of the events is then known.

    Args:
        counts: Events, shape (n_scenarios,), 0 to `trials`.
        trials: Trials, shape (n_scenarios,). A scenario with none is left out.
        max_per_scenario: The most trials that a scenario counts for; infinite if its trials hardly
            resemble each other, such as a grader's judgments of many items.

    Returns:
        Fractions of the trials, 0 to 1.

    Raises:
        StatsError: There is no trial, a number is missing, or fewer than five scenarios have any.

    Source: Korn and Graubard 1998, Survey Methodology 24:193; Clopper and Pearson 1934, Biometrika
    26:404. The limit per scenario is ours.
    """
    tried = trials != 0
    if not tried.any():
        raise StatsError("no opportunity: the rate is 0 of 0")
    counts, trials = counts[tried], trials[tried]
    n, total = count_scenarios(counts, trials), float(trials.sum())
    rate, error = linearised_ratio(counts, trials)
    return TrialScale(0.0, n, total / float(trials.max()), max_per_scenario).interval(
        rate, rate, error, max_trials=total
    )


def drawn_rate_interval(counts: FloatArray, trials: FloatArray) -> Interval:
    """Return the interval of a rate from a stratified sample that is weighted back.

    It is the exact interval for the effective number of trials, p (1 - p) / SE² times (z / t)².
    Stratified trials can count for more than their number, so the limits of `rate_interval` are not
    applied: in simulated audits they made the interval twice as wide as needed.

    Args:
        counts: Weight of the events, shape (n_scenarios,).
        trials: Weight of the trials, shape (n_scenarios,). A scenario with none is left out.

    Returns:
        Fractions of the trials, 0 to 1; as by `rate_interval` without a limit per scenario if every
        trial or none is an event, or if scenarios do not vary.

    Raises:
        StatsError: As for `rate_interval`.

    Source: Korn and Graubard 1998, Survey Methodology 24:193.
    """
    tried = trials != 0
    clustered = rate_interval(counts, trials, max_per_scenario=np.inf)
    rate, standard_error = linearised_ratio(counts[tried], trials[tried])
    if not 0 < rate < 1 or standard_error == 0:
        return clustered
    effective = rate * (1 - rate) / standard_error**2
    effective *= (Z / t_quantile(int(tried.sum()))) ** 2
    return clopper_pearson(rate * effective, effective)


def wilson(events: float, trials: float) -> Interval:
    """Return the score interval of a proportion of independent trials, narrower than the exact one.

    Args:
        events: Events, 0 to `trials`.
        trials: Trials, more than 0.

    Returns:
        Fractions, 0 to 1; from 0 if there is no event, to 1 if there are only events.

    Source: Wilson 1927, doi:10.1080/01621459.1927.10502953; Newcombe 1998,
    doi:10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>3.0.CO;2-E.
    """
    centre = events + Z**2 / 2
    margin = Z * np.sqrt(events * (trials - events) / trials + Z**2 / 4)
    low, high = (centre - margin) / (trials + Z**2), (centre + margin) / (trials + Z**2)
    return Interval(
        float(low) if events > 0 else 0.0,
        float(high) if events < trials else 1.0,
    )


def rule_of_three(n: float) -> float:
    """Return the upper limit, with one-sided 95% confidence, of the rate of an event not seen.

    Args:
        n: Independent trials, more than 0: the scenarios, not their epochs.

    Returns:
        1 - 0.05^(1/n), a little below 3/n.

    Source: Hanley and Lippman-Hand 1983, doi:10.1001/jama.1983.03330370053031.
    """
    return float(-np.expm1(np.log(0.05) / n))


def fisher_interval(r: float, n: int) -> Interval:
    """Return the interval of a correlation, by Fisher's z: tanh(artanh r ± 1.96 / √(n - 3)).

    Args:
        r: Pearson's correlation.
        n: Number of pairs.

    Returns:
        An interval around `r`, within -1 and 1.

    Raises:
        StatsError: There are fewer than four pairs, r is 1 or -1 (an interval without width would
            claim certainty), or r is not a correlation.

    Source: Fisher 1921, Metron 1:3.
    """
    if n < 4:
        raise StatsError("fewer than four pairs: a correlation has no interval")
    if not abs(r) <= 1:
        raise StatsError(f"{r} is not a correlation: it must be from -1 to 1")
    if abs(r) > 1 - _NO_WIDTH:
        raise StatsError("a correlation of 1 or -1 leaves no variation to take an interval from")
    z, margin = math.atanh(r), Z / math.sqrt(n - 3)
    return Interval(math.tanh(z - margin), math.tanh(z + margin))


def sum_by_scenario(rows: FloatArray, scenarios: ArrayLike) -> FloatArray:
    """Return the sum of the rows of each scenario, shape (n_scenarios, n_columns).

    Args:
        rows: Shape (n_rows, n_columns).
        scenarios: A number or name of the scenario of each row, shape (n_rows,).

    Raises:
        StatsError: There are not as many names as rows.
    """
    names, place = np.unique(np.asarray(scenarios), return_inverse=True)
    if len(place) != len(rows):
        raise StatsError(
            f"{len(place)} names of scenarios for {len(rows)} rows: each row needs one"
        )
    totals = np.zeros((len(names), rows.shape[1]))
    np.add.at(totals, place, rows)
    return totals
