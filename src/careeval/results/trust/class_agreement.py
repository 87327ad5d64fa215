"""Agreement on whether an item is present, by point class: between graders, or with people.

A pooled number would hide what matters: most items are absent from most responses, so two graders
can agree on nearly all judgments and yet on hardly any −1 item that is present.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from careeval.core.scenario import Rubric
from careeval.results.score.graded_arrays import FloatArray
from careeval.results.trust.grader_accuracy import settled_estimate
from careeval.stats import (
    Estimate,
    positive_agreement,
    positive_agreement_interval,
    presence_ac1,
    presence_ac1_interval,
)
from careeval.stats.resampling import sum_by_cluster

PointClass = tuple[Rubric, int]
"""A rubric and the points of its items."""


@dataclass(frozen=True, slots=True)
class ClassAgreement:
    """The agreement between readings of the same judgments, over the items of one point class."""

    n: int  # Judgments made by two readers or more
    n_unresolved: int
    """Judgments made by fewer than two readers. The value leaves them out; the bounds settle them
    for disagreement and for agreement."""
    n_both: int  # Judgments of `n` whose item every reader calls present
    n_either: int  # Judgments of `n` whose item any reader calls present
    positive_agreement: Estimate
    """Share of what one reader calls present that another does too; unknown if no reader calls
    anything present."""
    ac1: Estimate  # Gwet's AC1, corrected for chance, which also counts agreement on absent items


def class_agreement(
    classes: Sequence[PointClass],
    verdicts: FloatArray,
    scenarios: Sequence[str],
    *,
    weights: FloatArray | None = None,
    unknown: Mapping[PointClass, str] = {},
) -> dict[PointClass, ClassAgreement]:
    """Return the agreement on each point class: the ladder first, from +2 down to −2.

    Args:
        classes: The point class of each judgment, shape (n_judgments,).
        verdicts: 1 present, 0 absent, NaN unresolved, shape (n_judgments, n_readings). With more
            than two readings every pair counts, and each judgment weighs the same.
        scenarios: The scenario of each judgment.
        weights: Number of judgments that each stands for, above 0; 1 by default.
        unknown: Classes whose agreement cannot be known from these judgments, with the reason;
            their counts are kept.
    """
    names = np.asarray(scenarios)
    agreements = {}
    for key in sorted({*classes, *unknown}, key=_place):
        chosen = np.array([each == key for each in classes], dtype=bool)
        agreements[key] = _agreement(
            verdicts[chosen],
            names[chosen],
            None if weights is None else weights[chosen],
            unknown.get(key, ""),
        )
    return agreements


def _place(key: PointClass) -> tuple[int, int]:
    rubric, points = key
    return list(Rubric).index(rubric), -points


def _agreement(
    verdicts: FloatArray, scenarios: FloatArray, weights: FloatArray | None, unknown: str
) -> ClassAgreement:
    present = np.nansum(verdicts, axis=1)
    readings = (~np.isnan(verdicts)).sum(axis=1)
    made = readings >= 2
    counts = (
        int(made.sum()),
        int((~made).sum()),
        int((made & (present == readings)).sum()),
        int((made & (present > 0)).sum()),
    )
    if unknown or not made.any():
        why = Estimate.unknown(unknown or "no judgment was made by two")
        return ClassAgreement(*counts, why, why)
    rows = np.zeros((len(verdicts), 3))
    rows[made] = _pairs(present[made], readings[made])
    read = None
    if weights is not None:
        read = sum_by_cluster(rows, scenarios)
        rows = rows * weights[:, np.newaxis]
    cells = sum_by_cluster(rows, scenarios)
    settlements = [cells]
    if not made.all():
        settlements = []
        for settled_rows in (
            np.array([0.0, 1.0, 0.0]),  # readings differ: the least agreement
            _alike(present[~made], readings[~made], otherwise=1.0),
            _alike(present[~made], readings[~made], otherwise=0.0),
        ):
            rows[~made] = settled_rows
            settlements.append(sum_by_cluster(rows, scenarios))
    return ClassAgreement(
        *counts,
        settled_estimate(
            cells, settlements, positive_agreement, lambda c: positive_agreement_interval(c, read)
        ),
        settled_estimate(
            cells, settlements, presence_ac1, lambda c: presence_ac1_interval(c, read)
        ),
    )


def _pairs(present: FloatArray, readings: FloatArray) -> FloatArray:
    """Return, per judgment, the shares of pairs of readings: both present, one, neither."""
    absent = readings - present
    pairs = np.stack(
        [present * (present - 1) / 2, present * absent, absent * (absent - 1) / 2], axis=1
    )
    return np.asarray(pairs / pairs.sum(axis=1, keepdims=True))


def _alike(present: FloatArray, readings: FloatArray, otherwise: float) -> FloatArray:
    """Return shares as `_pairs` does, as if all readings were alike.

    `otherwise` is the reading of judgments without any: 1 for present, 0 for absent.
    """
    both = np.where(readings == 0, otherwise, present)
    return np.stack([both, np.zeros(len(both)), 1 - both], axis=1)
