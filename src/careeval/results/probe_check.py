"""The probe check: a grader's judgments of the labelled probes, compared with their labels.

Results are by point class and by trap, since the items that matter most are rare: a missed −2 item
is worth two of a scenario's three points, and a grader can miss all of them and still be right
nearly always. Unresolved judgments are counted, and are neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.response import Grader
from careeval.core.scenario import Probe, Rubric
from careeval.errors import StatsError
from careeval.results.grader_accuracy import (
    ClassAgreement,
    GraderAccuracy,
    LabelCounts,
    PointClass,
    class_agreement,
)
from careeval.results.tables import Cost
from careeval.results.twins import Share, pair_mean
from careeval.stats.audit import AccuracyMeasure, measure_value
from careeval.stats.estimate import Bounded, Estimate, FloatArray
from careeval.stats.intervals import sum_by_scenario

POINT_CLASSES = (2, 1, 0, -1, -2)

NOT_JUDGED = "no such probe was judged"

_Key = TypeVar("_Key")
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class LabelledJudgment:
    """One judgment beside its label."""

    rubric: Rubric  # Rubric of the item
    points: int  # Points of the item
    trap: str  # The difficulty that the probe sets the grader
    label: bool  # True if the item is labelled present in the probe
    present: bool | None  # The grader's judgment; `None` if unresolved
    scenario: str = ""
    """Id of the probe's scenario; empty if unknown, and then there is no interval."""
    probe: int = 0  # Number of the probe within its scenario, from 1; 0 if unknown
    pair: str = ""
    """Id of the base, if the act is right in one of a base and its twin and bad in the other; else
    empty."""


@dataclass(frozen=True, slots=True)
class TwinPairErrors:
    """A grader's errors on probes that hold exactly one of the right acts of a base and its twin.

    Each share is a mean over pairs, with bounds that settle the unresolved judgments.
    """

    n: int  # Number of such probes
    mistaken: Estimate  # Share of the probes in which either act is judged against its label
    swapped: Estimate
    """Share of the probes judged to hold the other act instead. Such errors make a system seem not
    to follow the changed fact."""

    def sentence(self) -> str:
        """Return both shares as a clause of a sentence."""
        mistaken, swapped = _percent(self.mistaken.value), _percent(self.swapped.value)
        return (
            f"on {self.n} probes of twins it mistakes {mistaken}, and takes one twin's right act "
            f"for the other's in {swapped}"
        )


def twin_pair_errors(judgments: Iterable[LabelledJudgment]) -> TwinPairErrors | None:
    """Return the errors on twins' right acts; None if no probe has exactly one of them."""
    probes = _grouped((j for j in judgments if j.pair), lambda j: (j.pair, j.scenario, j.probe))
    slips = [
        (pair, [None if act.present is None else act.present != act.label for act in acts])
        for (pair, _, _), acts in probes.items()
        if sorted(act.label for act in acts) == [False, True]
    ]
    if not slips:
        return None
    by_pair = _grouped(slips, lambda slip: slip[0]).values()
    mistaken, swapped = (
        pair_mean([_share([slip for _, slip in pair], which) for pair in by_pair], NOT_JUDGED)
        for which in (any, all)
    )
    return TwinPairErrors(len(slips), mistaken, swapped)


def _share(
    slips: Sequence[Sequence[bool | None]], which: Callable[[Iterable[bool]], bool]
) -> Share:
    """Return the share of probes for which `which` holds; None in `slips` is unresolved."""
    certain = [which(slip is True for slip in probe) for probe in slips]
    could = [which(slip is not False for slip in probe) for probe in slips]
    resolved = [has for has, probe in zip(certain, slips, strict=True) if None not in probe]
    value = float(np.mean(resolved)) if resolved else float("nan")
    return Bounded(float(np.mean(certain)), float(np.mean(could)), value)


@dataclass(frozen=True, slots=True)
class ProbeLimit:
    """The least that a grader must reach in the probe check, on each rubric that it judged."""

    what: str  # Name of the measure
    measure: AccuracyMeasure  # The measure
    severe: bool  # True if it is over the −2 items alone
    minimum: float  # The lowest fraction that passes
    why: str  # The reason for the limit


LIMITS = (
    ProbeLimit(
        "recall on −2 items",
        AccuracyMeasure.sensitivity,
        True,
        0.85,
        "below it more than one severe error in seven goes unseen, each worth two points of three",
    ),
    ProbeLimit(
        "specificity on −2 items",
        AccuracyMeasure.specificity,
        True,
        0.95,
        "below it, where one severe error in twenty is made, more are invented than are made",
    ),
    ProbeLimit(
        "macro F1",
        AccuracyMeasure.macro_f1,
        False,
        0.8,
        "HealthBench is said to report 0.71 for its grader, against physicians and on real "
        "responses; probes are written to be clear",
    ),
)
"""The rule by which a grader fails the probe check. The limits are ours and not validated. They
apply to the values, not to their intervals, with every unresolved judgment counted as wrong. A
limit that cannot be computed, as on a bank without −2 items, does not apply."""


@dataclass(frozen=True, eq=False)
class ProbeAgreement:
    """A grader's agreement with the labels of a bank's probes; empty groups are left out."""

    judgments: tuple[LabelledJudgment, ...]  # The judgments with their labels

    @staticmethod
    def of(judgments: Iterable[LabelledJudgment]) -> ProbeAgreement:
        """Return the agreement of these judgments."""
        return ProbeAgreement(tuple(judgments))

    @cached_property
    def overall(self) -> LabelCounts:
        """Return the counts over all judgments."""
        return _counts(self.judgments)

    @cached_property
    def by_points(self) -> Mapping[tuple[Rubric, int], LabelCounts]:
        """Return the counts by rubric and points of the item."""
        return {key: _counts(part) for key, part in self._by_points.items()}

    @cached_property
    def by_trap(self) -> Mapping[str, LabelCounts]:
        """Return the counts by trap."""
        return {key: _counts(part) for key, part in self._by_trap.items()}

    @cached_property
    def accuracy(self) -> GraderAccuracy:
        """Return the accuracy over all judgments."""
        return grader_accuracy(self.judgments)

    @cached_property
    def severe_accuracy(self) -> GraderAccuracy:
        """Return the accuracy on the −2 items of both rubrics."""
        return grader_accuracy(j for j in self.judgments if j.points == scoring.SEVERE)

    @cached_property
    def accuracy_by_points(self) -> Mapping[tuple[Rubric, int], GraderAccuracy]:
        """Return the accuracy by rubric and points of the item."""
        return {key: grader_accuracy(part) for key, part in self._by_points.items()}

    @cached_property
    def agreement_by_points(self) -> Mapping[PointClass, ClassAgreement]:
        """Return the agreement of grader and labels, by rubric and points of the item."""
        verdicts = [
            (float(j.label), np.nan if j.present is None else float(j.present))
            for j in self.judgments
        ]
        return class_agreement(
            [(j.rubric, j.points) for j in self.judgments],
            np.array(verdicts, dtype=np.float64).reshape(-1, 2),
            [j.scenario for j in self.judgments],
        )

    @cached_property
    def accuracy_by_trap(self) -> Mapping[str, GraderAccuracy]:
        """Return the accuracy by trap."""
        return {key: grader_accuracy(part) for key, part in self._by_trap.items()}

    @cached_property
    def pairs(self) -> TwinPairErrors | None:
        """Return the grader's errors on twins' right acts; `None` if no probe has exactly one."""
        return twin_pair_errors(self.judgments)

    @cached_property
    def failed(self) -> tuple[str, ...]:
        """Return why the grader fails the probe check, by the rule `LIMITS`; empty if it passes."""
        return tuple(self._failures())

    def sentence(self) -> str:
        """Return the result in a sentence, for readers of the grader's grades."""
        severe = [counts for (_, points), counts in self.by_points.items() if points == -2]
        n_found = sum(counts.found for counts in severe)
        n_present = n_found + sum(counts.missed for counts in severe)
        parts = [
            f"Tried on {self.overall.n:,} labelled judgments of the bank's probes, it finds "
            f"{_percent(self.overall.sensitivity)} of what is there and clears "
            f"{_percent(self.overall.specificity)} of what is not"
        ]
        if n_present:
            parts.append(f"of the −2 items that are there it finds {n_found} of {n_present}")
        if self.pairs:
            parts.append(self.pairs.sentence())
        failed = f" It fails the probes: {'; '.join(self.failed)}." if self.failed else ""
        return "; ".join(parts) + "." + failed

    @cached_property
    def _by_points(self) -> dict[tuple[Rubric, int], list[LabelledJudgment]]:
        groups = _grouped(self.judgments, lambda j: (j.rubric, j.points))
        order = [(rubric, points) for rubric in Rubric for points in POINT_CLASSES]
        return {key: groups[key] for key in order if key in groups}

    @cached_property
    def _by_trap(self) -> dict[str, list[LabelledJudgment]]:
        return dict(sorted(_grouped(self.judgments, lambda j: j.trap).items()))

    def _failures(self) -> Iterator[str]:
        for rubric in Rubric:
            judgments = [j for j in self.judgments if j.rubric is rubric]
            for limit in LIMITS:
                chosen = [j for j in judgments if j.points == scoring.SEVERE or not limit.severe]
                reached = _at_worst(chosen, limit.measure)
                if reached is not None and reached < limit.minimum:
                    yield f"{limit.what} {reached:z.3f} on the {rubric}, under {limit.minimum:g}"


def _counts(judgments: Iterable[LabelledJudgment]) -> LabelCounts:
    return LabelCounts.of((j.label, j.present) for j in judgments)


def grader_accuracy(judgments: Iterable[LabelledJudgment]) -> GraderAccuracy:
    """Return the accuracy of these judgments, with intervals clustered by scenario."""
    judgments = list(judgments)
    # judgments without a scenario make one cluster, too few for an interval
    by_scenario = sum_by_scenario(_rows(judgments), [j.scenario for j in judgments])
    return GraderAccuracy.of(by_scenario[:, :4], by_scenario[:, 4:])


_OUTCOMES = [
    (True, True),
    (True, False),
    (False, True),
    (False, False),
    (True, None),
    (False, None),
]


def _rows(judgments: Iterable[LabelledJudgment]) -> FloatArray:
    """Return the one-hot outcome of each judgment, in the order of `_OUTCOMES`.

    Found, missed, invented, cleared, unresolved and present, unresolved and absent.
    """
    return np.eye(len(_OUTCOMES))[[_OUTCOMES.index((j.label, j.present)) for j in judgments]]


def _at_worst(judgments: Iterable[LabelledJudgment], measure: AccuracyMeasure) -> float | None:
    """Return a measure with every unresolved judgment counted as wrong; `None` if undefined."""
    rows = _rows(judgments)
    rows[:, 1:3] += rows[:, 4:]
    try:
        return measure_value(rows[:, :4], measure)
    except StatsError:
        return None


def _grouped(rows: Iterable[_Row], key: Callable[[_Row], _Key]) -> dict[_Key, list[_Row]]:
    groups: dict[_Key, list[_Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


@dataclass(frozen=True, eq=False)
class ProbeTrial:
    """The probe check of one grader."""

    grader: Grader
    agreement: ProbeAgreement  # The grader's agreement with the labels
    cost: Cost  # Cost of its judgments, with each probe as a response
    seconds: float | None  # Total duration of its calls; `None` if unknown for any


def labelled_judgments(
    judgments: pl.DataFrame,
    probes: Mapping[str, tuple[Probe, ...]],
    pair_of: Callable[[str, str], str] = lambda _scenario, _item: "",
) -> Iterator[LabelledJudgment]:
    """Yield the judgments of a run over probes, with their labels.

    Args:
        judgments: Judgments, in which epoch k is of a scenario's k-th probe.
        probes: Id of a scenario → its probes.
        pair_of: Returns, for the ids of a scenario and an item, the id of the base if the item is
            right in one of a base and its twin and bad in the other; else empty.
    """
    columns = ("scenario", "epoch", "rubric", "item", "points", "present")
    for scenario, epoch, rubric, item, points, present in judgments.select(columns).iter_rows():
        probe = probes[scenario][epoch - 1]
        yield LabelledJudgment(
            Rubric(rubric), points, probe.trap, probe.labels[item], present, scenario, epoch,
            pair_of(scenario, item),
        )  # fmt: skip


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
