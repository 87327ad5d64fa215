"""Item statistics over systems, to choose items for experts to review, never items to drop.

The respondents are systems, and few: with nine of them a correlation of 0 has an interval of
± 0.66. So each correlation is shown with its interval, and no ability or difficulty is estimated.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from careeval.errors import StatsError
from careeval.stats.intervals import TAIL, Interval
from careeval.stats.score import FloatArray

_Z = float(special.ndtri(1 - TAIL))

_MIN_RESPONDENTS = 3

# A spread below this share of the numbers (or of 1, if they are smaller) is rounding error.
_NO_SPREAD = 1e-12


def item_rest(present: FloatArray) -> FloatArray:
    """Return the correlation of each item with the sum of the other items, over respondents.

    The item itself is left out of the sum, or it would correlate with its own noise. If `present`
    holds contributions to the score (points × share present), the correlation is above 0 for a good
    item, and for an error that better systems make less often.

    Args:
        present: Value of each item for each respondent: present or not, the share of epochs in
            which it was, or its points; shape (n_respondents, n_items). A respondent with an
            unresolved (NaN) item is left out.

    Returns:
        Correlations from -1 to 1, shape (n_items,). NaN where not defined: fewer than three
        respondents are left, or the item or the sum of the others is the same for all.

    Source: Henrysson 1963, Psychometrika 28:211.
    """
    resolved = present[~np.isnan(present).any(axis=1)]
    if len(resolved) < _MIN_RESPONDENTS:
        return np.full(present.shape[1], np.nan)
    return _correlations(resolved, resolved.sum(axis=1, keepdims=True) - resolved)


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
    if abs(r) > 1 - _NO_SPREAD:
        raise StatsError("a correlation of 1 or -1 leaves no variation to take an interval from")
    z, margin = math.atanh(r), _Z / math.sqrt(n - 3)
    return Interval(math.tanh(z - margin), math.tanh(z + margin))


def _correlations(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the correlation of each column of `x` with its column of `y`; NaN if constant."""
    varies = _varies(x) & _varies(y)
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    products, scale = (x * y).sum(axis=0), np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    r = np.divide(products, scale, out=np.full(len(varies), np.nan), where=varies)
    return np.asarray(np.clip(r, -1, 1))


def _varies(columns: FloatArray) -> NDArray[np.bool_]:
    size = np.maximum(1, np.abs(columns).max(axis=0))
    return np.asarray(np.ptp(columns, axis=0) > _NO_SPREAD * size)
