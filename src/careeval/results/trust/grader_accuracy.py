"""How good a grader is, in numbers: its verdicts held against the truth, clustered by scenario.

The truth is what authors of probes say, or what people say who read the same responses. Cells are
counts by scenario, shape (n_scenarios, 4): `tp`, `fn`, `fp`, `tn`, as `careeval.stats.Confusion`
has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from careeval.errors import StatsError
from careeval.results.score.graded_arrays import FloatArray
from careeval.stats import (
    Confusion,
    Estimate,
    Interval,
    Measure,
    drawn_rate_interval,
    measure_interval,
    rate_interval,
    sensitivity_range,
)

_TP, _FN, _FP, _TN = range(4)

# verdicts on many items of a scenario are worth more than a few trials
_rate_interval = partial(rate_interval, most_a_family=np.inf)


@dataclass(frozen=True)
class Measured:
    """A grader against the truth, over some judgments.

    Bounds settle every unresolved judgment for wrong and for right; the value leaves them out, and
    the interval takes in either way they fall.

    Attributes:
        n: Judgments with a truth, unresolved ones among them.
        n_present: Those whose item is there.
        n_unresolved: Those that the grader could not be brought to make.
        sensitivity: Share that it finds of what is there; also recall.
        specificity: Share that it clears of what is not.
        ppv: Share that is there of what it finds.
        macro_f1: Mean of the F1 of present and that of absent.
    """

    n: int
    n_present: int
    n_unresolved: int
    sensitivity: Estimate
    specificity: Estimate
    ppv: Estimate
    macro_f1: Estimate

    @property
    def miss_rate(self) -> Estimate:
        """Share that it misses of what is there: 1 - sensitivity."""
        of = self.sensitivity
        if of.value is None or of.low is None or of.high is None:
            return of
        ci95 = of.ci95 and (1 - of.ci95[1], 1 - of.ci95[0])
        return replace(of, value=1 - of.value, low=1 - of.high, high=1 - of.low, ci95=ci95)

    @staticmethod
    def of(cells: FloatArray, unresolved: FloatArray | None = None) -> Measured:
        """Where every judgment counts once.

        Args:
            cells: Of the judgments that were made.
            unresolved: Judgments that were not, by scenario: item there, item not there; shape
                (n_scenarios, 2). None where all were.
        """
        open_ = np.zeros((len(cells), 2)) if unresolved is None else unresolved
        wrong, right = cells.copy(), cells.copy()
        wrong[:, [_FN, _FP]] += open_
        right[:, [_TP, _TN]] += open_
        ways = (wrong, right) if open_.any() else (cells,)

        def rate(measure: Measure, right: int, wrong: int) -> Estimate:
            def interval(of: FloatArray) -> Interval:
                return _rate_interval(of[:, right], of[:, [right, wrong]].sum(axis=1))

            return _estimate(cells, ways, measure, interval)

        def resampled(measure: Measure) -> Estimate:
            return _estimate(cells, ways, measure, lambda of: measure_interval(of, measure))

        return Measured(
            n=int(cells.sum() + open_.sum()),
            n_present=int(cells[:, [_TP, _FN]].sum() + open_[:, 0].sum()),
            n_unresolved=int(open_.sum()),
            sensitivity=rate(Measure.sensitivity, _TP, _FN),
            specificity=rate(Measure.specificity, _TN, _FP),
            # what it did not judge may be found or not: there is no bound on it that says much
            ppv=_estimate(
                cells,
                (cells,),
                Measure.ppv,
                lambda of: _rate_interval(of[:, _TP], of[:, [_TP, _FP]].sum(1)),
            ),
            macro_f1=resampled(Measure.macro_f1),
        )

    @staticmethod
    def weighted(weighted: FloatArray, read: FloatArray) -> Measured:
        """Where judgments were drawn by what the grader had said, weighted back to all of them.

        Args:
            weighted: Cells in which each judgment counts for those that it was drawn from.
            read: The same judgments counted once each.
        """
        ways = (weighted,)

        def drawn(measure: Measure, right: int, wrong: int, opposite: int) -> Estimate:
            """The share got right of one truth; `opposite` is right too, with the wrong verdict."""

            def interval(of: FloatArray) -> Interval:
                if read[:, wrong].any() and not np.allclose(of, read):
                    return drawn_rate_interval(of[:, right], of[:, [right, wrong]].sum(axis=1))
                low, high = _rate(of, read, right, wrong)
                confirmed = float(of[:, right].sum())
                said_otherwise = round(of[:, [wrong, opposite]].sum())
                n_read = int(read[:, [wrong, opposite]].sum())
                if confirmed and 0 < n_read < said_otherwise and not read[:, wrong].any():
                    # none of those read is wrong, so scenarios do not vary, and yet any of those
                    # that nobody read may be
                    left = sensitivity_range(confirmed, said_otherwise, 0, n_read)
                    low, high = min(low, left.low), max(high, left.high)
                return Interval(low, high)

            return _estimate(weighted, ways, measure, interval)

        return Measured(
            n=int(read.sum()),
            n_present=int(read[:, [_TP, _FN]].sum()),
            n_unresolved=0,
            sensitivity=drawn(Measure.sensitivity, _TP, _FN, _TN),
            specificity=drawn(Measure.specificity, _TN, _FP, _TP),
            ppv=_estimate(weighted, ways, Measure.ppv, lambda of: _rate(of, read, _TP, _FP)),
            macro_f1=_estimate(
                weighted, ways, Measure.macro_f1, lambda of: measure_interval(of, Measure.macro_f1)
            ),
        )

    @staticmethod
    def unknown(n: int, n_present: int, reason: str) -> Measured:
        """Counts alone, and why there is no more."""
        return Measured(n, n_present, 0, *[Estimate.unknown(reason)] * 4)


def _rate(weighted: FloatArray, read: FloatArray, part: int, rest: int) -> Interval:
    """Of a share of weighted counts that come of so many judgments and no more."""
    trials = weighted[:, [part, rest]].sum(axis=1)
    scale = read[:, [part, rest]].sum() / trials.sum()
    return _rate_interval(weighted[:, part] * scale, trials * scale)


def _estimate(
    cells: FloatArray,
    ways: Sequence[FloatArray],
    measure: Measure,
    interval: Callable[[FloatArray], Interval],
) -> Estimate:
    return settled(cells, ways, lambda of: _value(of, measure), interval)


def settled(
    cells: FloatArray,
    ways: Sequence[FloatArray],
    value: Callable[[FloatArray], float],
    interval: Callable[[FloatArray], Interval],
) -> Estimate:
    """A number of the cells, its bounds and interval over the ways in which they may be settled.

    Args:
        cells: Of the judgments that were made.
        ways: The same with the unresolved judgments settled, in each way; the cells alone where
            there are none. A number may rise with either way, so the value is among its bounds.
        value: The number of some cells.
        interval: Its interval.
    """
    try:
        known, *ends = (value(each) for each in (cells, *ways))
    except StatsError as error:
        return Estimate.unknown(str(error))
    low, high = min(known, *ends), max(known, *ends)
    try:
        found = [interval(each) for each in ways]
    except StatsError as error:
        return Estimate(known, low, high, None, str(error))
    return Estimate(known, low, high, (min(i.low for i in found), max(i.high for i in found)))


def _value(cells: FloatArray, measure: Measure) -> float:
    value: float = getattr(Confusion(*cells.sum(axis=0).tolist()), measure)
    return value
