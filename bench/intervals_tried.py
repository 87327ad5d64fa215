"""The intervals of a ratio of sums that were tried, and the one that was chosen among them.

Each takes the numerators and denominators of many banks, shape (n_banks, n_scenarios), and the
least that each bank's ratio can be, shape (n_banks,), and gives the low and the high ends. They are
written for many banks at once; the chosen one is measured in `bench/coverage.py` as the package
has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import special

from drawn_banks import FloatArray

TAIL = 0.025
DRAWS = 1_000

Ends = tuple[FloatArray, FloatArray]
Tried = Callable[[FloatArray, FloatArray, FloatArray], Ends]


def intervals(y: FloatArray, m: FloatArray, lowest: FloatArray) -> Iterator[tuple[str, Ends]]:
    """Each interval's name, and what it gives."""
    for name, tried in CLOSED.items():
        yield name, tried(y, m, lowest)
    yield from resampled(y, m, lowest)


def linearised(y: FloatArray, m: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Ratios, their errors, and the residuals of the scenarios."""
    n, total = y.shape[1], m.sum(axis=1)
    ratio = y.sum(axis=1) / total
    left = y - ratio[:, np.newaxis] * m
    return ratio, np.sqrt(n / (n - 1) * (left**2).sum(axis=1)) / total, left


def t_quantile(y: FloatArray) -> float:
    """The 97.5% point of t with one degree of freedom less than there are scenarios."""
    return float(special.stdtrit(y.shape[1] - 1, 1 - TAIL))


def t(y: FloatArray, m: FloatArray, lowest: FloatArray) -> Ends:
    """t, cut off at the ends of the scale."""
    ratio, error, _ = linearised(y, m)
    margin = t_quantile(y) * error
    return np.clip(ratio - margin, lowest, 1), np.clip(ratio + margin, lowest, 1)


def t_of_log(y: FloatArray, m: FloatArray, lowest: FloatArray) -> Ends:
    """T on the logarithm of what is lost."""
    ratio, error, _ = linearised(y, m)
    lost = np.maximum(1 - ratio, 1e-12)
    factor = np.exp(t_quantile(y) * error / lost)
    return np.clip(1 - lost * factor, lowest, 1), 1 - lost / factor


def hall(y: FloatArray, m: FloatArray, lowest: FloatArray) -> Ends:
    """t, corrected for skewness (Hall 1992, doi:10.1111/j.2517-6161.1992.tb01872.x)."""
    ratio, error, left = linearised(y, m)
    n = y.shape[1]
    skew = (left**3).mean(axis=1) / np.maximum((left**2).mean(axis=1), 1e-12) ** 1.5
    skew = np.where(np.abs(skew) < 1e-6, 1e-6, skew)

    def undone(q: float) -> FloatArray:
        return 3 / skew * (np.cbrt(1 + skew * (q / np.sqrt(n) - skew / (6 * n))) - 1)

    q = t_quantile(y)
    spread = error * np.sqrt(n)
    return (
        np.clip(ratio - undone(q) * spread, lowest, 1),
        np.clip(ratio - undone(-q) * spread, lowest, 1),
    )


def korn_graubard(max_trials: float | None, *, from_zero: bool = False) -> Tried:
    """Korn and Graubard on the scale of the ratio, or from 0; at most so many trials a scenario."""

    def ends(y: FloatArray, m: FloatArray, lowest: FloatArray) -> Ends:
        ratio, error, _ = linearised(y, m)
        lowest = np.where(from_zero & (ratio > 0), 0.0, lowest)
        width, share = 1 - lowest, np.clip(ratio, 0, 1)
        variance = error**2
        if max_trials is not None:
            variance = np.maximum(variance, share * (1 - share) / (max_trials * y.shape[1]))
        p = np.clip((ratio - lowest) / width, 0, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            n = p * (1 - p) * width**2 / variance
        n = np.where(variance > 0, n, y.shape[1] * width)
        n *= (special.ndtri(1 - TAIL) / t_quantile(y)) ** 2
        x = p * n
        low = np.where(x > 0, special.betaincinv(np.maximum(x, 1e-9), n - x + 1, TAIL), 0)
        high = np.where(x < n, special.betaincinv(x + 1, np.maximum(n - x, 1e-9), 1 - TAIL), 1)
        return lowest + width * low, lowest + width * high

    return ends


CLOSED: dict[str, Tried] = {
    "t": t,
    "t of the log": t_of_log,
    "Hall's t": hall,
    "KG, 0 to 1": korn_graubard(None, from_zero=True),
    "KG": korn_graubard(None),
    **{
        f"KG, {max_trials:g} a scenario": korn_graubard(max_trials)
        for max_trials in (5, 4, 3, 2.5, 2)
    },
}


def resampled(y: FloatArray, m: FloatArray, lowest: FloatArray) -> Iterator[tuple[str, Ends]]:
    """Percentiles, BCa, and the bootstrap's t, all of the same resamples."""
    n_banks, n = y.shape
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS)
    total = counts @ m.T
    drawn = (counts @ y.T) / total
    squares = counts @ (y**2).T - 2 * drawn * (counts @ (y * m).T) + drawn**2 * (counts @ (m**2).T)
    errors = np.sqrt(n / (n - 1) * np.maximum(squares, 0)) / total
    ratio, error, left = linearised(y, m)
    in_order = np.sort(drawn, axis=0)
    first, last = int(TAIL * DRAWS), int((1 - TAIL) * DRAWS)
    yield "percentiles", (in_order[first], in_order[last])

    ties = np.abs(drawn - ratio) < 1e-9
    below = ((drawn < ratio) & ~ties).mean(axis=0) + ties.mean(axis=0) / 2
    centre = special.ndtri(np.clip(below, 1 / DRAWS, 1 - 1 / DRAWS))
    faster = (left**3).sum(axis=1) / (6 * np.maximum((left**2).sum(axis=1), 1e-12) ** 1.5)

    def moved(tail: float) -> FloatArray:
        z = centre + special.ndtri(tail)
        place = (special.ndtr(centre + z / (1 - faster * z)) * DRAWS).astype(int)
        return np.asarray(in_order[np.clip(place, 0, DRAWS - 1), np.arange(n_banks)])

    yield "BCa", (moved(TAIL), moved(1 - TAIL))

    with np.errstate(divide="ignore", invalid="ignore"):
        studentised = np.nan_to_num((drawn - ratio) / errors, nan=0, posinf=50, neginf=-50)
    in_order = np.sort(studentised, axis=0)
    yield (
        "bootstrap t",
        (
            np.clip(ratio - in_order[last] * error, lowest, 1),
            np.clip(ratio - in_order[first] * error, lowest, 1),
        ),
    )
