"""Comparison of two systems on the same scenarios, and of many systems in pairs.

A difference is, for one scenario, the mean over epochs of one system minus the mean of the other,
in any unit. The difficulty of a scenario is mostly common to both and cancels out, so a difference
is known better than either score, and overlapping intervals of two scores say nothing about it. The
scenario is the unit, as in `careeval.stats.intervals`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from careeval.errors import StatsError
from careeval.stats.intervals import count_scenarios, largest_error, ratio_errors, t_quantile
from careeval.stats.score import FloatArray

# A difference below this fraction of the maximum is rounding error.
_NO_DIFFERENCE = 1e-12

# Sums of the same numbers with other signs count as equal within this share of their size.
_TIE = 1e-9

# The same for sums in single precision, which a hundred scenarios leave within a few 1e-7.
_SINGLE_TIE = 1e-5

# Patterns drawn first, the p value below which the rest are drawn too, and all patterns.
_FIRST_DRAWS, _SMALL, _DRAWS = 10_000, 0.05, 100_000

# An error is enlarged until it is at least the true one in this share of samples.
_LARGEST_SPREAD = 0.9

# The two-sided chance of a finding without a difference, and that of one with the difference.
_ALPHA, _POWER = 0.05, 0.8

# Numbers held at once: 16 MB.
_CELLS = 2_000_000


def sign_flip_p_values(
    differences: FloatArray, *, seed: int = 0, draws: int = _DRAWS
) -> FloatArray:
    """Return two-sided p values of sign-flip tests of many pairs of systems.

    The null hypothesis is that the two systems are exchangeable in every scenario, so that each
    difference could as well have had the other sign. p is the share of sign patterns whose sum is
    at least as far from 0 as the observed sum. It only assumes that scenarios are independent. All
    patterns are enumerated if there are at most `draws`. Else they are drawn, and the observed
    pattern is counted too, so that p is never 0. A difference of 0 has no sign to flip.

    All pairs use the same patterns, and a larger number of draws begins with those of a smaller
    one, so the p of a pair does not depend on the other pairs. After 10,000 draws, more are drawn
    only for pairs with fewer than 5% extreme patterns. Sums of drawn patterns have single
    precision; a sum that equals the observed one within it counts as extreme.

    Args:
        differences: Shape (n_pairs, n_scenarios).
        seed: Seed of the drawing.
        draws: Patterns to draw, and the most to enumerate; use `sign_flip_draws` for a family.

    Returns:
        p values, shape (n_pairs,), from 1 / (draws + 1), or 2 / 2ᴳ if G differences are enumerated,
        to 1. It is 1 if no scenario differs.

    Raises:
        StatsError: There are fewer than five scenarios, or one has no difference.

    Source: Fisher 1935, The Design of Experiments, §21; Phipson and Smyth 2010,
    doi:10.2202/1544-6115.1585 (the observed pattern is counted).
    """
    count_scenarios(differences.T, np.ones(differences.shape[1]))
    differs = np.abs(differences) > _NO_DIFFERENCE
    n_differing = differs.sum(axis=1)
    p_values = np.empty(len(differences))
    # 2ᴳ patterns, without a product that overflows
    many = n_differing >= draws.bit_length()
    for n in np.unique(n_differing[~many]).tolist():
        pairs = np.flatnonzero(n_differing == n)
        p_values[pairs] = _enumerated(differences[pairs][differs[pairs]].reshape(len(pairs), n))
    if many.any():
        p_values[many] = _drawn(differences[many], seed, draws)
    return p_values


def sign_flip_draws(comparisons: int) -> int:
    """Return the number of sign patterns to draw for a family of comparisons, at least 100,000.

    The smallest p times the size of the family is then at most 1 / 40.

    Args:
        comparisons: Size of the family.
    """
    return max(_DRAWS, 40 * comparisons)


def smallest_p(n_scenarios: int, comparisons: int = 1) -> float:
    """Return the smallest p that sign flips can give, adjusted as in the first step of `holm`.

    Args:
        n_scenarios: Scenarios that both systems answered.
        comparisons: Size of the family.

    Returns:
        From 0 to 1. If it is not below alpha, no difference can be significant.
    """
    draws = sign_flip_draws(comparisons)
    enumerated = n_scenarios < draws.bit_length()
    return min(1.0, comparisons * (2.0 ** (1 - n_scenarios) if enumerated else 1 / (draws + 1)))


def difference_intervals(
    low: FloatArray, high: FloatArray, weights: FloatArray, *, counts_errors: bool = False
) -> FloatArray:
    """Return t intervals of the differences of many pairs of systems over the same scenarios.

    Each contains those of all differences from `low` to `high`, as in `ratio_interval`. If
    an interval excludes a margin, Student's t test at 5% finds that the difference is not that
    margin.

    With rare errors all variation is in a few scenarios, which may not have been drawn. So with
    `counts_errors` the standard error is at least `one_scenario_error`.

    Args:
        low: Lowest possible differences, shape (n_pairs, n_scenarios).
        high: Highest possible differences, the same shape.
        weights: Positive points, or ones, shape (n_scenarios,).
        counts_errors: Whether they are differences of shares of responses with an error.

    Returns:
        Lower and upper end of each pair's interval, shape (n_pairs, 2); NaN where nothing varies.

    Raises:
        StatsError: There are fewer than five scenarios, one has no number, or there are no positive
            points.

    Source: Miller 2024, arXiv:2411.00640 §4.2.
    """
    n = count_scenarios((low + high).T, weights)
    total = float(weights.sum())
    if total <= 0:
        raise StatsError("no scenario has positive points")
    margins = t_quantile(n) * _largest_errors(low, high, weights, counts_errors)
    ends = np.column_stack([low.sum(axis=1) / total - margins, high.sum(axis=1) / total + margins])
    ends[margins == 0] = np.nan
    return ends


def t_test_p_values(
    low: FloatArray, high: FloatArray, weights: FloatArray, *, counts_errors: bool = False
) -> FloatArray:
    """Return two-sided p values of the t test that belongs to `difference_intervals`.

    Use the larger of this p value and that of `sign_flip_p_values`. If two systems make different
    kinds of errors, the smallest p values of sign flips are too small: with 15 pairs, 13% of
    simulated rankings of equal systems named a false difference. With the larger of the two p
    values at most 5% did (`bench/coverage.py --table type1`).

    Args:
        low: As for `difference_intervals`.
        high: As for `difference_intervals`.
        weights: As for `difference_intervals`.
        counts_errors: As for `difference_intervals`.

    Returns:
        The largest p of all differences from `low` to `high`, shape (n_pairs,): 1 if the sums of
        `low` and `high` have opposite signs, and 0 if nothing varies.

    Raises:
        StatsError: There are fewer than five scenarios, or one has no number.
    """
    n, total = count_scenarios((low + high).T, weights), float(weights.sum())
    errors = _largest_errors(low, high, weights, counts_errors)
    nearest = np.maximum(np.maximum(low.sum(axis=1), -high.sum(axis=1)) / total, 0.0)
    t = np.divide(nearest, errors, out=np.full(len(errors), np.inf), where=errors > 0)
    return np.asarray(2 * special.stdtr(n - 1, -t))


def _largest_errors(
    low: FloatArray, high: FloatArray, weights: FloatArray, counts_errors: bool
) -> FloatArray:
    errors = ratio_errors(low, weights)
    for row in np.flatnonzero((low != high).any(axis=1)).tolist():
        errors[row] = largest_error(low[row], high[row], weights)
    return np.maximum(errors, one_scenario_error(len(weights))) if counts_errors else errors


def one_scenario_error(n_scenarios: int) -> float:
    """Return the standard error of a difference that is 1 in one scenario and 0 in all others.

    In that one scenario, one system always errs and the other never.

    Args:
        n_scenarios: All scenarios; in the others the systems are alike.

    Returns:
        1 / G, the clustered error of G - 1 differences of 0 and one of 1.
    """
    return 1 / n_scenarios


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted by Holm's method: the chance of any false finding is at most alpha.

    Args:
        p_values: From 0 to 1, one per comparison. Leave out comparisons that could not be made.

    Returns:
        Adjusted p values, in the order given; reject those below alpha.

    Raises:
        StatsError: A p value is unknown or not from 0 to 1.

    Source: Holm 1979, Scandinavian Journal of Statistics 6:65.
    """
    # scipy has no such function, and statsmodels would depend on pandas.
    if not all(0 <= p <= 1 for p in p_values):
        raise StatsError(f"a p value is not from 0 to 1: {list(p_values)}")
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def rank_sets(better: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the range of ranks that each system may have, given the significant differences.

    A rank set is from 1 + the number of better systems, to the number of systems minus that of
    worse systems. If the decisions hold jointly at 95% (as after `holm`), so do the sets.

    Args:
        better: Shape (n_systems, n_systems); [i, j] is true if i is significantly better than j.

    Returns:
        First and last rank of each system, 1 = best.

    Raises:
        StatsError: A system is better than itself, or two are each better than the other.

    Source: Mogstad, Romano, Shaikh and Wilhelm 2024, doi:10.1093/restud/rdad006.
    """
    if (better & better.T).any():
        raise StatsError("two systems cannot each be better than the other")
    first, last = 1 + better.sum(axis=0), len(better) - better.sum(axis=1)
    return [(int(a), int(b)) for a, b in zip(first, last, strict=True)]


def detectable_difference(
    n_scenarios: int,
    scenario_variance: float,
    run_variances: tuple[float, float],
    n_runs: tuple[int, int],
    *,
    degrees: int | None = None,
) -> float:
    """Return the smallest difference detected with 80% power, to plan scenarios and epochs.

    Args:
        n_scenarios: Scenarios that both systems answer.
        scenario_variance: Variance over scenarios of the true difference, in squared fractions.
        run_variances: For each system, the mean variance of its epochs within a scenario.
        n_runs: For each system, its number of epochs.
        degrees: Degrees of freedom of the t test, G - 1; `None` for the normal distribution.

    Returns:
        A fraction of the maximum, above 0.

    Raises:
        StatsError: There is no scenario or no run, or nothing varies.

    Source: Miller 2024, arXiv:2411.00640 §5.
    """
    if n_scenarios < 1:
        raise StatsError("no scenario to plan with")
    variance = _difference_variance(scenario_variance, run_variances, n_runs)
    return _standard_errors(1, degrees) * float(np.sqrt(variance / n_scenarios))


def detectable_after(
    standard_error: float,
    *,
    comparisons: int = 1,
    degrees: int | None = None,
) -> float:
    """Return the smallest difference that a comparison with this standard error would detect.

    Its power is 80%. Show it with a comparison without a finding: a smaller difference may well
    exist. A standard error estimated from few scenarios may be too low, so it is enlarged by
    sqrt(df / χ²(0.1)), which is enough nine times in ten. Without that, differences that should be
    found four times in five were found 65 to 77 times in a hundred (`bench/coverage.py --table
    power`).

    Args:
        standard_error: Standard error of the difference, in any unit; above 0.
        comparisons: Size of the family; the first step of `holm` divides alpha by it.
        degrees: Degrees of freedom, G - 1 for an error estimated from G scenarios; `None` for a
            known error and the normal distribution. This assumes the t test: `smallest_p` tells
            whether sign flips can find anything.

    Returns:
        A difference in the unit of the standard error.

    Raises:
        StatsError: The standard error is not above 0: nothing varied, which is not certainty.
    """
    if not standard_error > 0:
        raise StatsError("zero variance: nothing to tell a difference by")
    if degrees is not None:
        standard_error *= float(np.sqrt(degrees / special.chdtri(degrees, _LARGEST_SPREAD)))
    return _standard_errors(comparisons, degrees) * standard_error


def _standard_errors(comparisons: int, degrees: int | None) -> float:
    """Return how many standard errors a difference must have to be detected with 80% power."""
    chance = 1 - _ALPHA / (2 * comparisons)
    if degrees is None:
        return float(special.ndtri(chance) + special.ndtri(_POWER))
    return float(special.nctdtrinc(degrees, 1 - _POWER, special.stdtrit(degrees, chance)))


def _difference_variance(
    scenario_variance: float, run_variances: tuple[float, float], n_runs: tuple[int, int]
) -> float:
    """Return the variance of one scenario's difference, over scenarios and epochs."""
    if min(n_runs) < 1:
        raise StatsError("no run to plan with")
    from_runs = sum(variance / n for variance, n in zip(run_variances, n_runs, strict=True))
    if not scenario_variance + from_runs > 0:
        raise StatsError("zero variance: nothing to tell a difference by")
    return scenario_variance + from_runs


def _enumerated(differences: FloatArray) -> FloatArray:
    """Return each row's p from all patterns of signs; no difference may be 0."""
    n_pairs, n = differences.shape
    # a pattern and its mirror image are equally far from 0, so the first sign stays
    n_patterns = 1 << max(n - 1, 0)
    observed = np.abs(differences.sum(axis=1)) - _TIE * np.abs(differences).sum(axis=1)
    n_extreme = np.zeros(n_pairs, dtype=np.int64)
    for rows in _slices(n_patterns, max(n, n_pairs)):
        flipped = (np.arange(rows.start, rows.stop)[:, np.newaxis] >> np.arange(n)) & 1
        sums = (1.0 - 2.0 * flipped) @ differences.T
        n_extreme += np.count_nonzero(np.abs(sums) >= observed, axis=0)
    return np.asarray(n_extreme / n_patterns)


def _drawn(differences: FloatArray, seed: int, draws: int) -> FloatArray:
    """Return each row's p from patterns of signs drawn at random."""
    rng = np.random.default_rng(seed)
    n_drawn = np.full(len(differences), min(draws, _FIRST_DRAWS))
    n_extreme = _n_extreme(differences, rng, int(n_drawn[0]))
    # only small p values need more draws: adjusting for a family makes no p smaller
    small = n_extreme < _SMALL * n_drawn
    if draws > _FIRST_DRAWS and small.any():
        n_extreme[small] += _n_extreme(differences[small], rng, draws - _FIRST_DRAWS)
        n_drawn[small] = draws
    return np.asarray((1 + n_extreme) / (1 + n_drawn))


def _n_extreme(differences: FloatArray, rng: np.random.Generator, draws: int) -> NDArray[np.int64]:
    """Return, per row, how many patterns sum at least as far from 0 as the observed pattern."""
    n_pairs, n = differences.shape
    sizes = np.abs(differences).sum(axis=1)
    shares = (differences / sizes[:, np.newaxis]).T.astype(np.float32)
    observed = (np.abs(differences.sum(axis=1)) / sizes - _SINGLE_TIE).astype(np.float32)
    # each pattern takes whole words, so that the block size does not change later patterns
    n_words = -(-n // 64)
    n_extreme = np.zeros(n_pairs, dtype=np.int64)
    for rows in _slices(draws, max(64 * n_words, n_pairs)):
        words = rng.integers(0, 2**64, size=(rows.stop - rows.start, n_words), dtype=np.uint64)
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=n)
        signs = 1 - 2 * bits.astype(np.float32)
        sums = signs @ shares
        is_extreme = np.abs(sums, out=sums) >= observed
        # bytes are summed several times faster than booleans are counted
        n_extreme += is_extreme.view(np.uint8).sum(axis=0, dtype=np.uint32)
    return n_extreme


def _slices(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield consecutive slices of the rows, each small enough for memory."""
    max_rows = max(1, _CELLS // n_columns)
    for start in range(0, n_rows, max_rows):
        yield slice(start, min(start + max_rows, n_rows))
