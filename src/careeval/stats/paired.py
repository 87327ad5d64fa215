"""Two systems on the same scenarios, and many systems two by two.

Everything here is made from `differences`, shape (n_scenarios,): of each scenario, the mean over
epochs of one system minus that of the other, in any unit. Most of what makes a scenario hard is
common to both and falls out, so a difference is known better than either score, and overlapping
intervals of two scores say nothing about it. The scenario is the unit, as in
`careeval.stats.intervals`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from careeval.errors import StatsError
from careeval.stats.intervals import count_clusters
from careeval.stats.score import FloatArray

# Below this, in fractions of the maximum, a difference is rounding.
_NO_DIFFERENCE = 1e-12

# Two sums of the same numbers with other signs are taken as equal within this share of them.
_TIE = 1e-9

# Numbers drawn at once: 32 MB.
_CELLS = 4_000_000


class PairedT(NamedTuple):
    """The mean difference, its standard error, their ratio, and the two-sided p value of that."""

    mean: float
    se: float
    t: float
    p: float


def sign_flip_p(differences: FloatArray, *, seed: int = 0, draws: int = 10_000) -> float:
    """Two-sided p value of "the two systems are exchangeable in every scenario".

    If they are, each difference could as well have had the other sign. p is the share of all sign
    patterns whose sum is at least as far from 0 as the one seen. It assumes no distribution, and
    nothing about the scenarios beyond their independence.

    All patterns are counted where there are no more than `draws`; else `draws` are drawn, and the
    pattern seen is counted among them, so that p is never 0. A difference of 0 has no sign to flip.

    Args:
        differences: Shape (n_scenarios,).
        seed: Seed of the drawing.
        draws: Number of patterns to draw, and the most to enumerate.

    Returns:
        From 1 / (draws + 1), or 2 / 2ᴳ where G differences are enumerated, to 1. It is 1 where no
        scenario differs.

    Raises:
        StatsError: There are fewer than five scenarios, or one has no difference.

    Source: Fisher 1935, The Design of Experiments, §21; Phipson and Smyth 2010,
    doi:10.2202/1544-6115.1585 (the pattern seen is counted).
    """
    _count_scenarios(differences)
    moved = differences[np.abs(differences) > _NO_DIFFERENCE]
    n_patterns = 1 << len(moved)
    if n_patterns <= draws:
        patterns = (np.arange(n_patterns)[:, np.newaxis] >> np.arange(len(moved))) & 1
        return _n_extreme(patterns, moved) / n_patterns
    rng = np.random.default_rng(seed)
    n_extreme = sum(
        _n_extreme(rng.integers(0, 2, size=(n_rows, len(moved)), dtype=np.bool_), moved)
        for n_rows in _blocks(draws, len(moved))
    )
    return (1 + n_extreme) / (1 + draws)


def paired_t(differences: FloatArray) -> PairedT:
    """Student's t of the mean difference, with G - 1 degrees of freedom over G scenarios.

    Args:
        differences: Shape (n_scenarios,).

    Returns:
        In the unit of the differences. Where no scenario differs, t is 0 and p is 1: nothing speaks
        against equality.

    Raises:
        StatsError: There are fewer than five scenarios, one has no difference, or all differ by the
            same: the standard error would be 0, and p with it.

    Source: Miller 2024, arXiv:2411.00640 §4.2.
    """
    n_scenarios = _count_scenarios(differences)
    if (np.abs(differences) <= _NO_DIFFERENCE).all():
        return PairedT(mean=0.0, se=0.0, t=0.0, p=1.0)
    _require_variation(differences)
    mean = float(differences.mean())
    se = float(differences.std(ddof=1) / np.sqrt(n_scenarios))
    p = 2 * float(special.stdtr(n_scenarios - 1, -abs(mean / se)))
    return PairedT(mean, se, mean / se, p)


def chance_above_zero(differences: FloatArray, *, seed: int = 0, draws: int = 10_000) -> float:
    """Posterior chance that the mean difference over scenarios like these is above 0.

    By the Bayesian bootstrap, which weighs the scenarios seen in every possible way and imagines no
    other: where all differences have one sign, the chance is 1 or 0 by construction.

    Args:
        differences: Shape (n_scenarios,).
        seed: Seed of the drawing.
        draws: Number of weightings.

    Returns:
        From 0 to 1, in steps of 1 / draws.

    Raises:
        StatsError: There are fewer than five scenarios, one has no difference, or they do not vary.

    Source: Rubin 1981, doi:10.1214/aos/1176345338.
    """
    n_scenarios = _count_scenarios(differences)
    _require_variation(differences)
    rng = np.random.default_rng(seed)
    # Exponential draws over their sum are uniform weights; their sum changes no sign.
    n_above = sum(
        int(np.count_nonzero(rng.standard_exponential((n_rows, n_scenarios)) @ differences > 0))
        for n_rows in _blocks(draws, n_scenarios)
    )
    return n_above / draws


def bayesian_bootstrap_variance(differences: FloatArray) -> float:
    """Variance of the mean difference under the Bayesian bootstrap, Σ(d - d̄)² / (G (G + 1)).

    Args:
        differences: Shape (n_scenarios,).

    Returns:
        In the squared unit of the differences; (G - 1) / (G + 1) of the squared standard error of
        `paired_t`.

    Raises:
        StatsError: As `chance_above_zero`.

    Source: Rubin 1981, doi:10.1214/aos/1176345338.
    """
    n_scenarios = _count_scenarios(differences)
    _require_variation(differences)
    squares = float(np.sum((differences - differences.mean()) ** 2))
    return squares / (n_scenarios * (n_scenarios + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values adjusted for being one family: any false finding stays as rare as alpha.

    Args:
        p_values: From 0 to 1, one a comparison. A comparison that could not be made is not in it.

    Returns:
        Adjusted p values, in the order given; reject where one is at most alpha.

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

    Returns:
        A fraction of the maximum, above 0.

    Raises:
        StatsError: There is no scenario or no run, or nothing varies.

    Source: Miller 2024, arXiv:2411.00640 §5.
    """
    if n_scenarios < 1:
        raise StatsError("no scenario to plan with")
    variance = _difference_variance(scenario_variance, run_variances, n_runs)
    se = float(np.sqrt(variance / n_scenarios))
    return detectable_after(se, comparisons=comparisons, alpha=alpha, power=power)


def scenarios_needed(
    difference: float,
    scenario_variance: float,
    run_variances: tuple[float, float],
    n_runs: tuple[int, int],
    *,
    comparisons: int = 1,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Scenarios that show a difference with the power asked: `detectable_difference` turned round.

    Args:
        difference: The difference to show, of either sign.
        scenario_variance: As in `detectable_difference`, and so are the others.
        run_variances: Of each system.
        n_runs: Of each system.
        comparisons: Size of the family.
        alpha: Two-sided.
        power: Chance of a finding.

    Returns:
        A number of scenarios, to be rounded up.

    Raises:
        StatsError: The difference is 0, there is no run, or nothing varies.

    Source: Miller 2024, arXiv:2411.00640 §5.
    """
    if difference == 0:
        raise StatsError("no number of scenarios shows a difference of 0")
    variance = _difference_variance(scenario_variance, run_variances, n_runs)
    return variance * (_reach(comparisons, alpha, power) / difference) ** 2


def detectable_after(
    standard_error: float, *, comparisons: int = 1, alpha: float = 0.05, power: float = 0.8
) -> float:
    """The difference that a comparison of this standard error would have shown.

    Said beside a comparison without a finding: a difference below this could well be there.

    Args:
        standard_error: Of the difference, in any unit, as `paired_t` gives it; above 0.
        comparisons: Size of the family; the first step of `holm` divides alpha by it.
        alpha: Two-sided.
        power: Chance of a finding where there is this difference.

    Returns:
        In the unit of the standard error.

    Raises:
        StatsError: The standard error is not above 0: nothing varied, which is not certainty.
    """
    if not standard_error > 0:
        raise StatsError("zero variance: nothing to tell a difference by")
    return _reach(comparisons, alpha, power) * standard_error


def _reach(comparisons: int, alpha: float, power: float) -> float:
    """How many standard errors from 0 a true difference is found with the power asked."""
    return float(special.ndtri(1 - alpha / (2 * comparisons)) + special.ndtri(power))


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


def _n_extreme(flipped: NDArray[np.integer] | NDArray[np.bool_], differences: FloatArray) -> int:
    """Number of sign patterns, one a row, whose sum is as far from 0 as that of no flip."""
    total, size = float(differences.sum()), float(np.abs(differences).sum())
    sums = total - 2 * (flipped.astype(np.float64) @ differences)
    return int(np.count_nonzero(np.abs(sums) >= abs(total) - _TIE * size))


def _blocks(draws: int, n_columns: int) -> Iterator[int]:
    """Numbers of rows that sum to `draws`, each small enough to be held."""
    most = max(1, _CELLS // n_columns)
    for done in range(0, draws, most):
        yield min(most, draws - done)


def _count_scenarios(differences: FloatArray) -> int:
    """Number of scenarios, once there are enough and each has its difference."""
    return count_clusters(differences, np.ones(len(differences)))


def _require_variation(differences: FloatArray) -> None:
    if np.ptp(differences) <= _NO_DIFFERENCE:
        raise StatsError("zero variance: all scenarios differ by the same")
