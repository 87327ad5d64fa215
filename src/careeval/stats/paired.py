"""Two systems on the same scenarios, and many systems two by two.

Everything here is made from `differences`, shape (n_scenarios,): of each scenario, the mean over
epochs of one system minus that of the other, in any unit. Most of what makes a scenario hard is
common to both and falls out, so a difference is known better than either score, and overlapping
intervals of two scores say nothing about it. The scenario is the unit, as in
`careeval.stats.intervals`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from careeval.errors import StatsError
from careeval.stats.intervals import count_clusters, largest_error, ratio_errors, t_quantile
from careeval.stats.score import FloatArray

# Below this, in fractions of the maximum, a difference is rounding.
_NO_DIFFERENCE = 1e-12

# Two sums of the same numbers with other signs are taken as equal within this share of them.
_TIE = 1e-9

# The same for sums in single precision, which a hundred scenarios leave within a few 1e-7.
_SINGLE_TIE = 1e-5

# Patterns drawn for each pair; what is below this share after them gets all the others.
_FIRST_DRAWS, _SMALL, _DRAWS = 10_000, 0.05, 100_000

# An error is taken so much larger that it covers the true one in this share of samples.
_LARGEST_SPREAD = 0.9

# Numbers held at once: 16 MB.
_CELLS = 2_000_000


def sign_flip_ps(differences: FloatArray, *, seed: int = 0, draws: int = _DRAWS) -> FloatArray:
    """Two-sided p values of "the two systems are exchangeable in every scenario", of many pairs.

    If they are, each difference could as well have had the other sign. p is the share of all sign
    patterns whose sum is at least as far from 0 as the one seen. It assumes no distribution, and
    nothing about the scenarios beyond their independence. All patterns are counted where there are
    no more than `draws`; else they are drawn, and the pattern seen is counted among them, so that p
    is never 0. A difference of 0 has no sign to flip.

    All pairs are tried with the same patterns, and more draws begin with those of fewer: the p of a
    pair does not hang on which others are there. Where more than 10,000 are to be drawn, they are
    for the pairs of which fewer than 5% of the first 10,000 are extreme. Sums of drawn patterns are
    taken in single precision; what is nearer than that to being as extreme counts as extreme.

    Args:
        differences: Shape (n_pairs, n_scenarios).
        seed: Seed of the drawing.
        draws: Number of patterns to draw, and the most to enumerate; `flips_for` of the family.

    Returns:
        Shape (n_pairs,), each from 1 / (draws + 1), or 2 / 2ᴳ where G differences are enumerated,
        to 1. It is 1 where no scenario differs.

    Raises:
        StatsError: There are fewer than five scenarios, or one has no difference.

    Source: Fisher 1935, The Design of Experiments, §21; Phipson and Smyth 2010,
    doi:10.2202/1544-6115.1585 (the pattern seen is counted).
    """
    count_clusters(differences.T, np.ones(differences.shape[1]))
    moved = np.abs(differences) > _NO_DIFFERENCE
    n_moved = moved.sum(axis=1)
    found = np.empty(len(differences))
    # 2ᴳ patterns, without a product that overflows
    many = n_moved >= draws.bit_length()
    for n in np.unique(n_moved[~many]).tolist():
        of = np.flatnonzero(n_moved == n)
        found[of] = _enumerated(differences[of][moved[of]].reshape(len(of), n))
    if many.any():
        found[many] = _drawn(differences[many], seed, draws)
    return found


def flips_for(comparisons: int) -> int:
    """Patterns of signs to draw for a family: 100,000, or as many as its size asks for.

    The smallest p, times the size of the family, is at most 1 / 40.

    Args:
        comparisons: Size of the family.
    """
    return max(_DRAWS, 40 * comparisons)


def smallest_p(n_scenarios: int, comparisons: int = 1) -> float:
    """The smallest p that sign flips can give, held up against a family: its first step in `holm`.

    Args:
        n_scenarios: That both systems answered.
        comparisons: Size of the family.

    Returns:
        From 0 to 1. Where it is not below alpha, no difference whatever can be found.
    """
    draws = flips_for(comparisons)
    enumerated = n_scenarios < draws.bit_length()
    return min(1.0, comparisons * (2.0 ** (1 - n_scenarios) if enumerated else 1 / (draws + 1)))


def difference_intervals(
    low: FloatArray, high: FloatArray, weights: FloatArray, *, counts_errors: bool = False
) -> FloatArray:
    """T intervals of the differences of many pairs of systems over the same scenarios.

    Each holds those of all numerators from `low` to `high`, as `bounded_ratio_interval` does. That
    such an interval leaves out a margin is Student's t test of the difference at 5%.

    Of rare errors a few scenarios hold all that varies, and they may just not have been drawn. So
    their standard error is never below `least_error`.

    Args:
        low: Differences, the least that each may be, shape (n_pairs, n_families).
        high: The most.
        weights: Positive points, or ones, shape (n_families,).
        counts_errors: Whether they are differences of shares of responses with an error.

    Returns:
        Low and high, shape (n_pairs, 2); NaN where nothing varies.

    Raises:
        StatsError: There are fewer than five scenarios, one has no number, or there are no positive
            points.

    Source: Miller 2024, arXiv:2411.00640 §4.2.
    """
    n = count_clusters((low + high).T, weights)
    total = float(weights.sum())
    if total <= 0:
        raise StatsError("too few scenarios have positive points")
    margins = t_quantile(n) * _largest_errors(low, high, weights, counts_errors)
    ends = np.column_stack([low.sum(axis=1) / total - margins, high.sum(axis=1) / total + margins])
    ends[margins == 0] = np.nan
    return ends


def t_ps(
    low: FloatArray, high: FloatArray, weights: FloatArray, *, counts_errors: bool = False
) -> FloatArray:
    """Two-sided p values of the t test that `difference_intervals` carries out at 5%.

    In a family the smallest p values count, and where two systems go wrong in different ways those
    of flipped signs are too small there: held up against 15 pairs they made 13% of rankings of
    equal systems false. The larger of both made at most 5% (`bench/coverage.py --table type1`).

    Args:
        low: As of `difference_intervals`, and so are the others.
        high: The most.
        weights: Positive points, or ones.
        counts_errors: Whether they are differences of shares of responses with an error.

    Returns:
        Shape (n_pairs,), the largest of all settlements: 1 where they lie on either side of 0, and
        0 where nothing varies.

    Raises:
        StatsError: As `difference_intervals`, for fewer than five scenarios or a missing number.
    """
    n, total = count_clusters((low + high).T, weights), float(weights.sum())
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
    return np.maximum(errors, least_error(len(weights))) if counts_errors else errors


def least_error(n_families: int) -> float:
    """The standard error that one family makes in which one system always errs, the other never.

    Args:
        n_families: Of all families; in the others the systems are alike.

    Returns:
        1 / G, the clustered error of G - 1 differences of 0 and one of 1.
    """
    return 1 / n_families


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values adjusted for being one family: any false finding stays as rare as alpha.

    Args:
        p_values: From 0 to 1, one a comparison. A comparison that could not be made is not in it.

    Returns:
        Adjusted p values, in the order given; reject where one is below alpha.

    Raises:
        StatsError: A p value is unknown or not from 0 to 1.

    Source: Holm 1979, Scandinavian Journal of Statistics 6:65.
    """
    # Written here since scipy has none, and statsmodels would bring pandas.
    if not all(0 <= p <= 1 for p in p_values):
        raise StatsError(f"a p value is not from 0 to 1: {list(p_values)}")
    adjusted, so_far = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        so_far = max(so_far, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = so_far
    return adjusted


def rank_sets(better: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The ranks that each system may have, given which differences are significant.

    Each rank set is from 1 + the number of systems that are better, to the number of systems less
    those that are worse. If the decisions hold together at 95% (as after `holm`), so do the sets.

    Args:
        better: Shape (n_systems, n_systems); [i, j] where i is significantly better than j.

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
    comparisons: int = 1,
    alpha: float = 0.05,
    power: float = 0.8,
    degrees: int | None = None,
) -> float:
    """The difference that so many scenarios and runs would show with the power asked: planning.

    Args:
        n_scenarios: Scenarios that both systems answer.
        scenario_variance: Variance over scenarios of the true difference, in squared fractions.
        run_variances: Of each system, the mean variance of its runs within a scenario.
        n_runs: Of each system, its runs.
        comparisons: Size of the family; the first step of `holm` divides alpha by it.
        alpha: Two-sided chance of a finding where there is no difference.
        power: Chance of a finding where there is this difference.
        degrees: Of freedom of the t test, G - 1; `None` for the normal distribution.

    Returns:
        A fraction of the maximum, above 0.

    Raises:
        StatsError: There is no scenario or no run, or nothing varies.

    Source: Miller 2024, arXiv:2411.00640 §5.
    """
    if n_scenarios < 1:
        raise StatsError("no scenario to plan with")
    variance = _difference_variance(scenario_variance, run_variances, n_runs)
    return _reach(comparisons, alpha, power, degrees) * float(np.sqrt(variance / n_scenarios))


def detectable_after(
    standard_error: float,
    *,
    comparisons: int = 1,
    alpha: float = 0.05,
    power: float = 0.8,
    degrees: int | None = None,
) -> float:
    """The difference that a comparison of this standard error would have shown.

    Said beside a comparison without a finding: a difference below this could well be there. An
    error found over few scenarios may be too low, and nine times in ten the spread is no larger
    than the one that is taken here, sqrt(df / χ²(0.1)) times as large as the one found. Without
    that, differences said to be found four times in five were found 65 to 77 times in a hundred
    (`bench/coverage.py --table power`).

    Args:
        standard_error: Of the difference, in any unit; above 0.
        comparisons: Size of the family; the first step of `holm` divides alpha by it.
        alpha: Two-sided.
        power: Chance of a finding where there is this difference.
        degrees: Of freedom, G - 1 for an error found over G scenarios; `None` for one that is
            known, and so for the normal distribution. It takes the test to be as fine as t: whether
            flipped signs can find anything at all, `smallest_p` says.

    Returns:
        In the unit of the standard error.

    Raises:
        StatsError: The standard error is not above 0: nothing varied, which is not certainty.
    """
    if not standard_error > 0:
        raise StatsError("zero variance: nothing to tell a difference by")
    if degrees is not None:
        standard_error *= float(np.sqrt(degrees / special.chdtri(degrees, _LARGEST_SPREAD)))
    return _reach(comparisons, alpha, power, degrees) * standard_error


def _reach(comparisons: int, alpha: float, power: float, degrees: int | None = None) -> float:
    """How many standard errors from 0 a true difference is found with the power asked."""
    chance = 1 - alpha / (2 * comparisons)
    if degrees is None:
        return float(special.ndtri(chance) + special.ndtri(power))
    return float(special.nctdtrinc(degrees, 1 - power, special.stdtrit(degrees, chance)))


def _difference_variance(
    scenario_variance: float, run_variances: tuple[float, float], n_runs: tuple[int, int]
) -> float:
    """Variance of one scenario's difference: of the scenario, and of the runs that measure it."""
    if min(n_runs) < 1:
        raise StatsError("no run to plan with")
    of_runs = sum(variance / n for variance, n in zip(run_variances, n_runs, strict=True))
    if not scenario_variance + of_runs > 0:
        raise StatsError("zero variance: nothing to tell a difference by")
    return scenario_variance + of_runs


def _enumerated(differences: FloatArray) -> FloatArray:
    """Each row's p, none of whose differences is 0, by all patterns of signs."""
    n_pairs, n = differences.shape
    # a pattern and its mirror are as far from 0: the first sign stays
    n_patterns = 1 << max(n - 1, 0)
    most = np.abs(differences.sum(axis=1)) - _TIE * np.abs(differences).sum(axis=1)
    n_extreme = np.zeros(n_pairs, dtype=np.int64)
    for rows in _slices(n_patterns, max(n, n_pairs)):
        flipped = (np.arange(rows.start, rows.stop)[:, np.newaxis] >> np.arange(n)) & 1
        sums = (1.0 - 2.0 * flipped) @ differences.T
        n_extreme += np.count_nonzero(np.abs(sums) >= most, axis=0)
    return np.asarray(n_extreme / n_patterns)


def _drawn(differences: FloatArray, seed: int, draws: int) -> FloatArray:
    """Each row's p by patterns of signs drawn at random."""
    rng = np.random.default_rng(seed)
    n_drawn = np.full(len(differences), min(draws, _FIRST_DRAWS))
    n_extreme = _n_extreme(differences, rng, int(n_drawn[0]))
    # only a small p is asked for more finely: no family makes the others smaller
    small = n_extreme < _SMALL * n_drawn
    if draws > _FIRST_DRAWS and small.any():
        n_extreme[small] += _n_extreme(differences[small], rng, draws - _FIRST_DRAWS)
        n_drawn[small] = draws
    return np.asarray((1 + n_extreme) / (1 + n_drawn))


def _n_extreme(differences: FloatArray, rng: np.random.Generator, draws: int) -> NDArray[np.int64]:
    """Of each row, the number of drawn patterns whose sum is as far from 0 as the one seen."""
    n_pairs, n = differences.shape
    sizes = np.abs(differences).sum(axis=1)
    shares = (differences / sizes[:, np.newaxis]).T.astype(np.float32)
    most = (np.abs(differences.sum(axis=1)) / sizes - _SINGLE_TIE).astype(np.float32)
    # whole words: a block of bits, ended anywhere, would shift those of the next
    n_words = -(-n // 64)
    n_extreme = np.zeros(n_pairs, dtype=np.int64)
    for rows in _slices(draws, max(64 * n_words, n_pairs)):
        words = rng.integers(0, 2**64, size=(rows.stop - rows.start, n_words), dtype=np.uint64)
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=n)
        signs = 1 - 2 * bits.astype(np.float32)
        sums = signs @ shares
        is_extreme = np.abs(sums, out=sums) >= most
        # as bytes, which sum several times faster than truths count
        n_extreme += is_extreme.view(np.uint8).sum(axis=0, dtype=np.uint32)
    return n_extreme


def _slices(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Rows in order, as many at once as may be held."""
    most = max(1, _CELLS // n_columns)
    for start in range(0, n_rows, most):
        yield slice(start, min(start + most, n_rows))
