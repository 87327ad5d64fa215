"""Is this grader any good: its judgments on the probes, held against their labels.

By point class and by trap, since what matters most is rare: a missed −2 item is worth two of a
scenario's three points, and a grader can miss every one of them and still be right nearly always.
Unresolved judgments are counted, and are neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.scenario import Probe, Rubric
from careeval.errors import StatsError
from careeval.results.score.cost import Cost
from careeval.results.score.graded_arrays import FloatArray
from careeval.results.score.twins import Share, family_mean
from careeval.results.trust.class_agreement import ClassAgreement, PointClass, class_agreement
from careeval.results.trust.grader_accuracy import Measured
from careeval.stats import Confusion, Estimate, Measure
from careeval.stats.resampling import by_cluster

POINT_CLASSES = (2, 1, 0, -1, -2)

NOT_JUDGED = "no such probe was judged"

_Key = TypeVar("_Key")
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Labelled:
    """One judgment beside its label.

    Attributes:
        rubric: Of the item.
        points: Of the item.
        trap: What the probe tries a grader with.
        label: Whether the item is in the probe, as its author says.
        present: Whether the grader says so; `None` where it could not be brought to say.
        scenario: Whose probe. Intervals resample scenarios, so of judgments that do not say there
            is none.
        probe: Which of the scenario's, from 1; 0 where that is not known.
        pair: Id of the base, where the act is right in the scenario or in its twin, and bad in
            the other of the two; else empty.
    """

    rubric: Rubric
    points: int
    trap: str
    label: bool
    present: bool | None
    scenario: str = ""
    probe: int = 0
    pair: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often judgments agree with labels.

    Attributes:
        found: Labelled present, judged present.
        missed: Labelled present, judged absent.
        invented: Labelled absent, judged present.
        cleared: Labelled absent, judged absent.
        unresolved: Not judged.
    """

    found: int
    missed: int
    invented: int
    cleared: int
    unresolved: int

    @staticmethod
    def of(judgments: Iterable[Labelled]) -> Agreement:
        """The counts of these judgments."""
        pairs = [(j.label, j.present) for j in judgments]
        return Agreement(
            found=pairs.count((True, True)),
            missed=pairs.count((True, False)),
            invented=pairs.count((False, True)),
            cleared=pairs.count((False, False)),
            unresolved=sum(present is None for _, present in pairs),
        )

    @property
    def n(self) -> int:
        """All judgments, unresolved ones included."""
        return self.found + self.missed + self.invented + self.cleared + self.unresolved

    @property
    def sensitivity(self) -> float | None:
        """Share found of what is present; `None` where nothing is."""
        present = self.found + self.missed
        return self.found / present if present else None

    @property
    def specificity(self) -> float | None:
        """Share cleared of what is absent; `None` where nothing is."""
        absent = self.cleared + self.invented
        return self.cleared / absent if absent else None


@dataclass(frozen=True, slots=True)
class PairSlips:
    """A grader on the probes that hold one of the two right acts of a base and its twin, alone.

    Each share is a mean over pairs, with what unresolved judgments could make of it.

    Attributes:
        n: Such probes.
        mistaken: Share of them of which either act is judged otherwise than labelled.
        swapped: Share of them that it judges to hold the other act instead: what it then adds to
            the pairs that a system seems not to have followed.
    """

    n: int
    mistaken: Estimate
    swapped: Estimate

    def sentence(self) -> str:
        """Return both shares in words."""
        mistaken, swapped = _percent(self.mistaken.value), _percent(self.swapped.value)
        return (
            f"on {self.n} probes of twins it mistakes {mistaken}, and takes one twin's right act "
            f"for the other's in {swapped}"
        )


def pair_slips(judgments: Iterable[Labelled]) -> PairSlips | None:
    """Return how often twins' right acts are mistaken; None where no probe has one alone."""
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
        family_mean([_share([slip for _, slip in of], which) for of in by_pair], NOT_JUDGED)
        for which in (any, all)
    )
    return PairSlips(len(slips), mistaken, swapped)


def _share(
    slips: Sequence[Sequence[bool | None]], which: Callable[[Iterable[bool]], bool]
) -> Share:
    """Return the share of probes of which any act, or all, is mistaken; None is unresolved."""
    certain = [which(slip is True for slip in of) for of in slips]
    could = [which(slip is not False for slip in of) for of in slips]
    known = [has for has, of in zip(certain, slips, strict=True) if None not in of]
    value = float(np.mean(known)) if known else float("nan")
    return Share(float(np.mean(certain)), value, float(np.mean(could)))


@dataclass(frozen=True, slots=True)
class Limit:
    """What a grader must reach on the probes, on each rubric that it was tried on, not to fail.

    Attributes:
        what: What is measured, in words.
        measure: The same as a number.
        severe: Whether of the −2 items alone.
        least: A fraction; at it, the grader passes.
        why: Why so much is asked.
    """

    what: str
    measure: Measure
    severe: bool
    least: float
    why: str


LIMITS = (
    Limit(
        "recall on −2 items",
        Measure.sensitivity,
        True,
        0.85,
        "below it more than one severe error in seven goes unseen, each worth two points of three",
    ),
    Limit(
        "specificity on −2 items",
        Measure.specificity,
        True,
        0.95,
        "below it, where one severe error in twenty is made, more are invented than are made",
    ),
    Limit(
        "macro F1",
        Measure.macro_f1,
        False,
        0.8,
        "HealthBench is said to report 0.71 for its grader, against physicians and on real "
        "responses; probes are written to be clear",
    ),
)
"""The rule by which a grader fails the probes. It is ours: nobody has validated the limits. They
are held against the numbers themselves, and not their intervals, with every unresolved judgment
taken for wrong. A limit that cannot be computed, as on a bank without −2 items, is not held."""


@dataclass(frozen=True, eq=False)
class ProbeAgreement:
    """A grader's agreement with the labels of a bank's probes; groups without judgment left out.

    Attributes:
        judgments: Beside their labels.
    """

    judgments: tuple[Labelled, ...]

    @staticmethod
    def of(judgments: Iterable[Labelled]) -> ProbeAgreement:
        """The agreement of these judgments."""
        return ProbeAgreement(tuple(judgments))

    @cached_property
    def overall(self) -> Agreement:
        """Counts over all judgments."""
        return Agreement.of(self.judgments)

    @cached_property
    def by_points(self) -> Mapping[tuple[Rubric, int], Agreement]:
        """Counts by rubric and points of the item."""
        return {key: Agreement.of(part) for key, part in self._by_points.items()}

    @cached_property
    def by_trap(self) -> Mapping[str, Agreement]:
        """Counts by what the probe tries a grader with."""
        return {key: Agreement.of(part) for key, part in self._by_trap.items()}

    @cached_property
    def measured(self) -> Measured:
        """All judgments."""
        return measured(self.judgments)

    @cached_property
    def measured_severe(self) -> Measured:
        """The −2 items of both rubrics."""
        return measured(j for j in self.judgments if j.points == scoring.SEVERE)

    @cached_property
    def measured_by_points(self) -> Mapping[tuple[Rubric, int], Measured]:
        """By rubric and points of the item."""
        return {key: measured(part) for key, part in self._by_points.items()}

    @cached_property
    def agreement_by_points(self) -> Mapping[PointClass, ClassAgreement]:
        """Agreement of grader and labels, by rubric and points of the item."""
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
    def measured_by_trap(self) -> Mapping[str, Measured]:
        """By what the probe tries a grader with."""
        return {key: measured(part) for key, part in self._by_trap.items()}

    @cached_property
    def pairs(self) -> PairSlips | None:
        """Its slips on twins' right acts; `None` where no probe has one of them alone."""
        return pair_slips(self.judgments)

    @cached_property
    def failed(self) -> tuple[str, ...]:
        """Why it fails the probes, by the rule of `LIMITS`; empty if it does not."""
        return tuple(self._failures())

    def sentence(self) -> str:
        """What a reader must know of the grader, beside its grades."""
        severe = [counts for (_, points), counts in self.by_points.items() if points == -2]
        found, present = sum(a.found for a in severe), sum(a.found + a.missed for a in severe)
        parts = [
            f"Tried on {self.overall.n:,} labelled judgments of the bank's probes, it finds "
            f"{_percent(self.overall.sensitivity)} of what is there and clears "
            f"{_percent(self.overall.specificity)} of what is not"
        ]
        if present:
            parts.append(f"of the −2 items that are there it finds {found} of {present}")
        if self.pairs:
            parts.append(self.pairs.sentence())
        failed = f" It fails the probes: {'; '.join(self.failed)}." if self.failed else ""
        return "; ".join(parts) + "." + failed

    @cached_property
    def _by_points(self) -> dict[tuple[Rubric, int], list[Labelled]]:
        found = _grouped(self.judgments, lambda j: (j.rubric, j.points))
        order = [(rubric, points) for rubric in Rubric for points in POINT_CLASSES]
        return {key: found[key] for key in order if key in found}

    @cached_property
    def _by_trap(self) -> dict[str, list[Labelled]]:
        return dict(sorted(_grouped(self.judgments, lambda j: j.trap).items()))

    def _failures(self) -> Iterator[str]:
        for rubric in Rubric:
            judgments = [j for j in self.judgments if j.rubric is rubric]
            for limit in LIMITS:
                of = [j for j in judgments if j.points == scoring.SEVERE or not limit.severe]
                reached = _at_worst(of, limit.measure)
                if reached is not None and reached < limit.least:
                    yield f"{limit.what} {reached:.3f} on the {rubric}, under {limit.least:g}"


def measured(judgments: Iterable[Labelled]) -> Measured:
    """Judgments in numbers, with intervals clustered by scenario."""
    found = list(judgments)
    # judgments that do not say whose they are make one scenario, too few for an interval
    by_scenario = by_cluster(_rows(found), [j.scenario for j in found])
    return Measured.of(by_scenario[:, :4], by_scenario[:, 4:])


_WAYS = [(True, True), (True, False), (False, True), (False, False), (True, None), (False, None)]


def _rows(judgments: Iterable[Labelled]) -> FloatArray:
    """A 1 a judgment: found, missed, invented, cleared; not judged where present, where absent."""
    return np.eye(len(_WAYS))[[_WAYS.index((j.label, j.present)) for j in judgments]]


def _at_worst(judgments: Iterable[Labelled], measure: Measure) -> float | None:
    """A measure with every unresolved judgment taken for wrong; `None` where it is not defined."""
    tp, fn, fp, tn, open_there, open_absent = _rows(judgments).sum(axis=0).tolist()
    try:
        value: float = getattr(Confusion(tp, fn + open_there, fp + open_absent, tn), measure)
    except StatsError:
        return None
    return value


def _grouped(rows: Iterable[_Row], key: Callable[[_Row], _Key]) -> dict[_Key, list[_Row]]:
    groups: dict[_Key, list[_Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


@dataclass(frozen=True, eq=False)
class Trial:
    """One grader tried on the probes.

    Attributes:
        grader: Its name, with its mode and the hash of its prompt.
        agreement: With the labels.
        cost: Of its judgments, a probe being a response.
        seconds: Its calls took, one after the other; `None` where that is not known of all.
    """

    grader: str
    agreement: ProbeAgreement
    cost: Cost
    seconds: float | None


def labelled(
    judgments: pl.DataFrame,
    probes: Mapping[str, tuple[Probe, ...]],
    pair_of: Callable[[str, str], str] = lambda _scenario, _item: "",
) -> Iterator[Labelled]:
    """Yield judgments of a run over probes beside their labels.

    Args:
        judgments: Epoch k is of a scenario's k-th probe.
        probes: By scenario.
        pair_of: Id of a scenario and of an act → `Labelled.pair`.
    """
    columns = ("scenario", "epoch", "rubric", "item", "points", "present")
    for scenario, epoch, rubric, item, points, present in judgments.select(columns).iter_rows():
        probe = probes[scenario][epoch - 1]
        yield Labelled(
            Rubric(rubric), points, probe.trap, probe.labels[item], present, scenario, epoch,
            pair_of(scenario, item),
        )  # fmt: skip


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
