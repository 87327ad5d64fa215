"""Intraclass correlations: the share of the ratings' variance that is between items.

If nearly all items are rated high they hardly vary, and the correlation is low though the raters
agree, so never publish it without `identical_pairs`.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from careeval.errors import StatsError
from careeval.stats.agreement.jackknife import jackknife_interval
from careeval.stats.intervals import Interval
from careeval.stats.resampling import sum_if_clustered
from careeval.stats.score import FloatArray

IccForm = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]
"""A form of the correlation: of which raters, and whose reliability.

Before the comma: 1 for other raters of each item, 2 for one sample of raters of all items, 3 for
these raters alone. After it: 1 for the reliability of one rater, k for that of the raters' mean.
"""

# A mean square below this share of the variance of all ratings is rounding error.
_NO_VARIANCE = 1e-12


class Icc(NamedTuple):
    """An intraclass correlation.

    Attributes:
        value: At most 1; below 0 if ratings vary more within items than between them.
        n_items: The items used: those that every rater rated.
    """

    value: float
    n_items: int


def icc(ratings: FloatArray, form: IccForm) -> Icc:
    """Return the intraclass correlation: absolute agreement in forms 1 and 2, consistency in 3.

    Args:
        ratings: Shape (n_items, n_raters). Only items that every rater rated are used; a column
            without ratings is dropped. Incomplete block designs have no such item and no ICC.
        form: A form of `IccForm`.

    Returns:
        The correlation, and the number of items used.

    Raises:
        StatsError: The form is not in `IccForm`, there are fewer than two raters or complete
            items, the items' means do not vary, or the raters differ so much that the form has no
            positive denominator.

    Source: Shrout and Fleiss 1979, doi:10.1037/0033-2909.86.2.420.
    """
    _check_form(form)
    complete, _ = _complete(ratings)
    value = float(_iccs(_square_sums(complete).sum(axis=0, keepdims=True), form)[0])
    if np.isnan(value):
        raise StatsError(f"ICC({form}) is not defined: the items' means hardly vary")
    return Icc(value, len(complete))


def icc_interval(
    ratings: FloatArray,
    form: IccForm,
    *,
    clusters: ArrayLike | None = None,
) -> Interval:
    """Return the interval of `icc`, by a jackknife over items with the raters fixed.

    Args:
        ratings: As for `icc`.
        form: As for `icc`.
        clusters: The scenario of each item, shape (n_items,), if several share one.

    Raises:
        StatsError: As for `icc`, and for `jackknife_interval` with the clusters that have a
            complete item.
    """
    _check_form(form)
    complete, rows = _complete(ratings)
    sums = sum_if_clustered(_square_sums(complete), clusters, rows)
    raters = 1 if form[2] == "k" else complete.shape[1]
    return jackknife_interval(partial(_iccs, form=form), sums, raters)


def _check_form(form: str) -> None:
    forms = get_args(IccForm)
    if form not in forms:
        names = ", ".join(repr(name) for name in forms)
        raise StatsError(
            f"{form!r} is no form of the intraclass correlation: expected one of {names}"
        )


def _complete(ratings: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the ratings of the items that all raters rated, and a mask of these items."""
    is_rated = ~np.isnan(ratings)
    panel = is_rated.any(axis=0)
    rows = np.asarray(is_rated[:, panel].all(axis=1))
    complete = ratings[rows][:, panel]
    if complete.shape[1] < 2:
        raise StatsError("fewer than two raters: no agreement to measure")
    if len(complete) < 2:
        raise StatsError("fewer than two items that every rater rated")
    return complete, rows


def _square_sums(complete: FloatArray) -> FloatArray:
    """Return, for each item: 1, squared mean, sum of squares, ratings; all standardised."""
    spread = float(complete.std())
    if spread <= _NO_VARIANCE * max(1.0, float(np.abs(complete).max())):
        raise StatsError("all ratings are the same: there is nothing to tell apart")
    x = (complete - complete.mean()) / spread
    return np.column_stack([np.ones(len(x)), x.mean(axis=1) ** 2, (x**2).sum(axis=1), x])


def _iccs(sums: FloatArray, form: IccForm) -> FloatArray:
    """Return the correlation of each row of sums; NaN where it is not defined."""
    n, squared_means, squares, by_rater = sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3:]
    k = by_rater.shape[1]
    centre = n * k * (by_rater.sum(axis=1) / (n * k)) ** 2
    of_items, total = k * squared_means - centre, squares - centre
    of_raters = (by_rater**2).sum(axis=1) / n - centre
    between, raters = of_items / (n - 1), of_raters / (k - 1)
    error = (total - of_items - of_raters) / ((n - 1) * (k - 1))
    within = (total - of_items) / (n * (k - 1))
    noise = within if form[0] == "1" else error
    shift = (raters - error) / n if form[0] == "2" else np.zeros_like(n)
    of_one = between + (k - 1) * noise + k * shift
    denominator = between + shift if form[2] == "k" else of_one
    values = np.full(len(sums), np.nan)
    defined = (between > _NO_VARIANCE) & (denominator > _NO_VARIANCE)
    return np.asarray(np.divide(between - noise, denominator, out=values, where=defined))
