"""95% intervals that treat the scenario family as the unit, whatever was sampled inside it.

Responses to one scenario resemble each other, so ten of them are not ten observations: taken as
independent, an interval meant to hold 95% of the time holds about 70%. Here a scenario varies as a
whole, with all its epochs. A base scenario and its twins resemble each other too: sum their numbers
first (`careeval.stats.by_cluster`), and the family is the unit. The intervals are about scenarios
like these, except that of `sd_epochs_interval`, which is about asking these scenarios again.

Each method was chosen by how often it holds the truth in `bench/coverage.py`.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import special

from careeval.errors import StatsError
from careeval.stats.score import FloatArray, sd_epochs

MIN_CLUSTERS = 5
"""Fewer scenarios than this have no interval."""

TRIALS_A_FAMILY = 2.0
"""The most yes-or-no trials that one family of scenarios is worth, however alike the families are.

Families without a fault vary little, and a few in which everything goes wrong may just not have
been drawn. So a small variance is not believed beyond this. Of 2, 2.5, 3, 4 and 5 it is the one
that held scores near the ceiling best (`bench/coverage.py --table candidates` and, for systems
that go wrong in another way, `--table coverage`).
"""

TAIL = 0.025
"""What a 95% interval leaves out on either side."""

Z = float(special.ndtri(1 - TAIL))

# Where no more numerators than this are open, every way to settle them is tried.
_MAX_OPEN = 8

# Below this, in fractions of the maximum, a width is rounding and not variation.
_NO_WIDTH = 1e-12


class Interval(NamedTuple):
    """A two-sided 95% interval, in the unit of the number it is about."""

    low: float
    high: float


def ratio_interval(
    numerators: FloatArray, denominators: FloatArray, *, lowest: float | None = None
) -> Interval:
    """Interval of a ratio of sums over scenarios, such as the pooled score.

    With `lowest` it is Korn and Graubard's: the ratio is put on a scale from 0 to 1, where it is
    taken as the share of so many independent trials as have its variance, and gets their exact
    interval. These trials are at most `TRIALS_A_FAMILY` of a share of the ratio's own size, and as
    many as there are families where the ratio is at an end of its scale. Without `lowest`, for a
    number that has no ends, it is t with G - 1 degrees of freedom times the clustered error.

    Args:
        numerators: One number a family, already the mean over epochs, shape (n_families,).
        denominators: Positive points or opportunities, shape (n_families,).
        lowest: The least that the ratio can be, such as the sum of the negative points over that of
            the positive; the most is 1.

    Returns:
        An interval in the unit of the ratio, within `lowest` and 1 where `lowest` is given.

    Raises:
        StatsError: There are fewer than five scenarios or one has no number, or, without `lowest`
            or at and below 0, they do not vary: no width would claim certainty.

    Source: Korn and Graubard 1998, Survey Methodology 24:193; Miller 2024, arXiv:2411.00640
    (clustered errors).
    """
    return bounded_ratio_interval(numerators, numerators, denominators, lowest=lowest)


def bounded_ratio_interval(
    low: FloatArray, high: FloatArray, denominators: FloatArray, *, lowest: float | None = None
) -> Interval:
    """An interval that holds `ratio_interval` of any numerators from `low` to `high`.

    Its ends are those of the lowest and the highest ratio, each with the largest error that any
    settlement has (`largest_error`): numerators in between, some low and some high, can vary more
    than either end.

    Args:
        low: The least that each may be, shape (n_families,).
        high: The most.
        denominators: Positive points or opportunities, shape (n_families,).
        lowest: As in `ratio_interval`.

    Returns:
        An interval in the unit of the ratio.

    Raises:
        StatsError: As `ratio_interval`.
    """
    count_clusters(low, denominators)
    n, total = count_clusters(high, denominators), float(denominators.sum())
    error = largest_error(low, high, denominators)
    at_low, at_high = float(low.sum()) / total, float(high.sum()) / total
    if lowest is None:
        margin = t_quantile(n) * error
        return with_width(at_low - margin, at_high + margin)
    if lowest >= 1:
        raise StatsError("no variation to take an interval from: the scale has no width")
    scale = Scale(lowest, n, total / float(denominators.max()))
    return scale.interval(at_low, at_high, error)


class Scale(NamedTuple):
    """The scale of a ratio that is taken as a share of trials.

    Attributes:
        lowest: The least that the ratio can be; the most is 1.
        n_families: Families of scenarios.
        n_even: Families of the largest size that would have the same sum of denominators.
        per_family: As `TRIALS_A_FAMILY`.
    """

    lowest: float
    n_families: int
    n_even: float
    per_family: float = TRIALS_A_FAMILY

    @property
    def width(self) -> float:
        """From the least that the ratio can be to the most."""
        return 1 - self.lowest

    def interval(self, low: float, high: float, error: float, most: float = np.inf) -> Interval:
        """The interval of every ratio from `low` to `high` whose error is at most this one.

        The exact interval moves up with the share, and narrows with the trials: the fewest trials
        that any such ratio is worth hold for both ends.
        """
        shares = [min(max((ratio - self.lowest) / self.width, 0.0), 1.0) for ratio in (low, high)]
        ends = [self._of_end(share) for share in shares if share in (0, 1)]
        if shares[0] not in (0, 1) or shares[1] != shares[0]:
            worth = min(self._worth(share, error) for share in shares)
            worth = min(worth, most)
            if np.isinf(worth):
                raise StatsError("no variation to take an interval from")
            worth *= (Z / t_quantile(self.n_families)) ** 2
            ends += [clopper_pearson(share * worth, worth) for share in shares]
        return Interval(
            self.lowest + self.width * min(end.low for end in ends),
            self.lowest + self.width * max(end.high for end in ends),
        )

    def _of_end(self, share: float) -> Interval:
        """Of a ratio at an end of its scale: its variance is unknown, and each family one trial."""
        worth = self.width * self.n_families
        return clopper_pearson(share * worth, worth)

    def _worth(self, share: float, error: float) -> float:
        """How many independent trials have the variance that a share was found with."""
        # values within the scale vary no more than trials do: this many at least
        least = (self.n_families - 1) / self.n_families * self.n_even
        varied = share * (1 - share) * self.width**2
        worth = varied / error**2 if error**2 > 0 else np.inf
        ratio = self.lowest + self.width * share
        if ratio > 0:
            # p (1 - p) w² over R (1 - R) / (c G), without 0 / 0 where R is 1
            worth = min(worth, share * self.width / ratio * self.per_family * self.n_families)
        return max(worth, least)


def clopper_pearson(events: float, trials: float) -> Interval:
    """Exact interval of a proportion of independent trials; neither number needs to be whole.

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


def t_quantile(n_families: int) -> float:
    """The 97.5% point of t with one degree of freedom less than there are families."""
    return float(special.stdtrit(n_families - 1, 1 - TAIL))


def largest_error(low: FloatArray, high: FloatArray, denominators: FloatArray) -> float:
    """The largest standard error of a ratio whose numerators are anything from `low` to `high`.

    The error is convex in the numerators, so the largest is at a corner: all are tried where up to
    eight numerators are open. With more, it is bounded by the triangle inequality: it is that of
    the middle and at most sqrt(G / (G - 1)) ‖P‖ ‖h‖ / Σ m, with h half the widths and
    ‖P‖ = sqrt(G) ‖m‖ / Σ m the norm of the projection that takes numerators to their residuals.

    Args:
        low: The least that each may be, shape (n_families,).
        high: The most.
        denominators: Shape (n_families,).

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
    reach = float(projection * np.linalg.norm((high - low) / 2)) / total
    return error + float(np.sqrt(n / (n - 1))) * reach


def ratio_errors(numerators: FloatArray, denominators: FloatArray) -> FloatArray:
    """The standard error of `linearised_ratio` for many numerators over the same scenarios.

    Args:
        numerators: Shape (n_ratios, n_families).
        denominators: Shape (n_families,), of positive sum.

    Returns:
        Shape (n_ratios,); 0 where nothing varies.
    """
    n, total = len(denominators), denominators.sum()
    left = numerators - np.outer(numerators.sum(axis=1) / total, denominators)
    errors = np.sqrt(n / (n - 1) * (left**2).sum(axis=1)) / total
    return np.where(errors > _NO_WIDTH, errors, 0.0)


@lru_cache(maxsize=16)
def draw_counts(n_scenarios: int, seed: int, draws: int) -> FloatArray:
    """How often each resample holds each scenario, shape (draws, n_scenarios).

    Kept, since every interval of a summary resamples the same scenarios, and those of its parts
    other numbers of them; read-only, since it is shared.
    """
    drawn = np.random.default_rng(seed).integers(n_scenarios, size=(draws, n_scenarios))
    drawn += n_scenarios * np.arange(draws)[:, np.newaxis]
    flat = np.bincount(drawn.ravel(), minlength=draws * n_scenarios)
    counts = flat.reshape(draws, n_scenarios).astype(np.float64)
    counts.flags.writeable = False
    return counts


def sd_epochs_interval(points: FloatArray, maxima: FloatArray) -> Interval:
    """Interval of the run noise, by chi-squared with n_epochs - 1 degrees of freedom.

    Asking the same scenarios again gives independent runs, and a run score, a sum over many
    scenarios, is close to normal. So the run is the unit here; the scenarios are held.

    Args:
        points: Points, shape (n_scenarios, n_epochs).
        maxima: Positive points, shape (n_scenarios,).

    Returns:
        Fractions of the maximum, around `sd_epochs`.

    Raises:
        StatsError: As `sd_epochs`, and where there are fewer than five scenarios or all runs score
            the same.
    """
    count_clusters(points, maxima)
    n_epochs = points.shape[1]
    sd = sd_epochs(points, maxima)
    low, high = sd * np.sqrt((n_epochs - 1) / special.chdtri(n_epochs - 1, [TAIL, 1 - TAIL]))
    return with_width(float(low), float(high))


def linearised_ratio(numerators: FloatArray, denominators: FloatArray) -> tuple[float, float]:
    """A ratio of sums over scenarios and its standard error, sqrt(G / (G - 1) Σ (y - R m)²) / Σ m.

    Args:
        numerators: One number a scenario, shape (n_scenarios,), of at least two scenarios.
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


def count_clusters(numerators: FloatArray, denominators: FloatArray) -> int:
    """Number of scenarios, once there are enough and each has its numbers."""
    if np.isnan(numerators).any() or np.isnan(denominators).any():
        raise StatsError("a scenario has no value")
    if len(denominators) < MIN_CLUSTERS:
        raise StatsError("fewer than five scenarios")
    return len(denominators)


def with_width(low: float, high: float) -> Interval:
    """An interval that has a width: one without would claim certainty, and raises StatsError."""
    if not high - low >= _NO_WIDTH:
        raise StatsError("no variation to take an interval from")
    return Interval(low, high)
