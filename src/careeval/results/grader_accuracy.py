"""A grader's accuracy against the truth, agreement between readers, and audits by people.

The truth comes from the authors of probes, or from people who read the same responses. Cells are
counts by scenario, shape (n_scenarios, 4): `tp`, `fn`, `fp`, `tn`, as in
`careeval.stats.audit.measure_value`.

A pooled number would hide what matters: most items are absent from most responses, so two graders
can agree on nearly all judgments and yet on hardly any −1 item that is present.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.core.text import percent
from careeval.stats.agreement import (
    positive_agreement,
    positive_agreement_interval,
    presence_ac1,
    presence_ac1_interval,
)
from careeval.stats.audit import AccuracyMeasure, measure_interval, measure_value, sensitivity_range
from careeval.stats.estimate import Estimate, FloatArray, settled
from careeval.stats.intervals import Interval, drawn_rate_interval, rate_interval, sum_by_scenario

_TP, _FN, _FP, _TN = range(4)

_Ways = Sequence[FloatArray]
"""Cells, for each way to settle the unresolved judgments."""

# verdicts on the many items of a scenario count as more than a few trials
_rate_interval = partial(rate_interval, max_per_scenario=np.inf)


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Counts of judgments that agree or disagree with labels."""

    found: int  # Labelled present, judged present
    missed: int  # Labelled present, judged absent
    invented: int  # Labelled absent, judged present
    cleared: int  # Labelled absent, judged absent
    unresolved: int  # Not resolved by the grader

    @staticmethod
    def of(judgments: Iterable[tuple[bool, bool | None]]) -> LabelCounts:
        """Return the counts of judgments, each as its label and what the grader says."""
        pairs = list(judgments)
        return LabelCounts(
            found=pairs.count((True, True)),
            missed=pairs.count((True, False)),
            invented=pairs.count((False, True)),
            cleared=pairs.count((False, False)),
            unresolved=sum(present is None for _, present in pairs),
        )

    @property
    def n(self) -> int:
        """Return the number of judgments, unresolved ones included."""
        return self.found + self.missed + self.invented + self.cleared + self.unresolved

    @property
    def sensitivity(self) -> float | None:
        """Return the share found of the present items; `None` if no item is present."""
        present = self.found + self.missed
        return self.found / present if present else None

    @property
    def specificity(self) -> float | None:
        """Return the share cleared of the absent items; `None` if no item is absent."""
        absent = self.cleared + self.invented
        return self.cleared / absent if absent else None


@dataclass(frozen=True)
class GraderAccuracy:
    """The accuracy of a grader over some judgments with a known truth.

    The value leaves unresolved judgments out. The bounds settle them for wrong and for right, and
    the interval covers both.
    """

    n: int  # Judgments with a truth, including unresolved ones
    n_present: int  # Judgments whose item is present
    n_unresolved: int  # Judgments that the grader failed to make
    sensitivity: Estimate  # Share of the present items that it calls present; also called recall
    specificity: Estimate  # Share of the absent items that it calls absent
    ppv: Estimate  # Share of the items that it calls present that are present
    macro_f1: Estimate  # Mean of the F1 of present and that of absent

    @property
    def miss_rate(self) -> Estimate:
        """Return the share of present items that it misses: 1 - sensitivity."""
        s = self.sensitivity
        if s.value is None or s.low is None or s.high is None:
            return s
        ci95 = s.ci95 and (1 - s.ci95[1], 1 - s.ci95[0])
        return replace(s, value=1 - s.value, low=1 - s.high, high=1 - s.low, ci95=ci95)

    @staticmethod
    def of(cells: FloatArray, unresolved: FloatArray | None = None) -> GraderAccuracy:
        """Return the accuracy over judgments that each count once.

        Args:
            cells: Cells of the resolved judgments.
            unresolved: Unresolved judgments by scenario, of items present and of items absent,
                shape (n_scenarios, 2). None if there are none.
        """
        open_ = np.zeros((len(cells), 2)) if unresolved is None else unresolved
        wrong, right = cells.copy(), cells.copy()
        wrong[:, [_FN, _FP]] += open_
        right[:, [_TP, _TN]] += open_
        settlements = (wrong, right) if open_.any() else (cells,)

        def rate(measure: AccuracyMeasure, part: int, rest: int, ways: _Ways) -> Estimate:
            def interval(c: FloatArray) -> Interval:
                return _rate_interval(c[:, part], c[:, [part, rest]].sum(axis=1))

            return _estimate(cells, ways, measure, interval)

        return GraderAccuracy(
            n=int(cells.sum() + open_.sum()),
            n_present=int(cells[:, [_TP, _FN]].sum() + open_[:, 0].sum()),
            n_unresolved=int(open_.sum()),
            sensitivity=rate(AccuracyMeasure.sensitivity, _TP, _FN, settlements),
            specificity=rate(AccuracyMeasure.specificity, _TN, _FP, settlements),
            # an unresolved judgment may turn out present or absent: no useful bound on the ppv
            ppv=rate(AccuracyMeasure.ppv, _TP, _FP, (cells,)),
            macro_f1=_macro_f1(cells, settlements),
        )

    @staticmethod
    def weighted(weighted: FloatArray, read: FloatArray) -> GraderAccuracy:
        """Return the accuracy from judgments drawn by verdict, weighted back to all judgments.

        Args:
            weighted: Cells in which each judgment has its sampling weight.
            read: Cells in which each judgment counts once.
        """
        settlements = (weighted,)

        def drawn(measure: AccuracyMeasure, right: int, wrong: int, opposite: int) -> Estimate:
            """Return the share of the present items, or of the absent ones, that was judged right.

            `opposite` is the cell of the other truth with the same verdict as `wrong`.
            """

            def interval(c: FloatArray) -> Interval:
                if read[:, wrong].any() and not np.allclose(c, read):
                    return drawn_rate_interval(c[:, right], c[:, [right, wrong]].sum(axis=1))
                low, high = _rate(c, read, right, wrong)
                confirmed = float(c[:, right].sum())
                n_other_verdict = round(c[:, [wrong, opposite]].sum())
                n_read = int(read[:, [wrong, opposite]].sum())
                if confirmed and 0 < n_read < n_other_verdict and not read[:, wrong].any():
                    # no verdict read was wrong, so scenarios do not vary; but verdicts that were
                    # not read may be wrong
                    unread = sensitivity_range(confirmed, n_other_verdict, 0, n_read)
                    low, high = min(low, unread.low), max(high, unread.high)
                return Interval(low, high)

            return _estimate(weighted, settlements, measure, interval)

        return GraderAccuracy(
            n=int(read.sum()),
            n_present=int(read[:, [_TP, _FN]].sum()),
            n_unresolved=0,
            sensitivity=drawn(AccuracyMeasure.sensitivity, _TP, _FN, _TN),
            specificity=drawn(AccuracyMeasure.specificity, _TN, _FP, _TP),
            ppv=_estimate(
                weighted, settlements, AccuracyMeasure.ppv, lambda c: _rate(c, read, _TP, _FP)
            ),
            macro_f1=_macro_f1(weighted, settlements),
        )

    @staticmethod
    def unknown(n: int, n_present: int, reason: str) -> GraderAccuracy:
        """Return the counts alone, with the reason why all else is unknown."""
        return GraderAccuracy(n, n_present, 0, *[Estimate.unknown(reason)] * 4)


def _rate(weighted: FloatArray, read: FloatArray, part: int, rest: int) -> Interval:
    """Return the interval of a weighted share, scaled to the number of judgments read."""
    trials = weighted[:, [part, rest]].sum(axis=1)
    scale = read[:, [part, rest]].sum() / trials.sum()
    return _rate_interval(weighted[:, part] * scale, trials * scale)


def _macro_f1(cells: FloatArray, settlements: _Ways) -> Estimate:
    measure = AccuracyMeasure.macro_f1
    return _estimate(cells, settlements, measure, lambda c: measure_interval(c, measure))


def _estimate(
    cells: FloatArray,
    settlements: _Ways,
    measure: AccuracyMeasure,
    interval: Callable[[FloatArray], Interval],
) -> Estimate:
    return settled(lambda c: measure_value(c, measure), interval, cells, settlements)


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
        read = sum_by_scenario(rows, scenarios)
        rows = rows * weights[:, np.newaxis]
    cells = sum_by_scenario(rows, scenarios)
    settlements = [cells]
    if not made.all():
        settlements = []
        for settled_rows in (
            np.array([0.0, 1.0, 0.0]),  # readings differ: the least agreement
            _alike(present[~made], readings[~made], otherwise=1.0),
            _alike(present[~made], readings[~made], otherwise=0.0),
        ):
            rows[~made] = settled_rows
            settlements.append(sum_by_scenario(rows, scenarios))
    return ClassAgreement(
        *counts,
        settled(
            positive_agreement, lambda c: positive_agreement_interval(c, read), cells, settlements
        ),
        settled(presence_ac1, lambda c: presence_ac1_interval(c, read), cells, settlements),
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


@dataclass(frozen=True)
class CorrectedScore:
    """A system's score, by the grader and by people, over public scenarios."""

    graded: float | None
    """Score by the grader alone, over responses that it judged completely; `None` without any."""
    corrected: Estimate  # Score by the grader, corrected by people (prediction-powered)
    n_responses: int  # Responses with a judgment that people settled
    n_judgments: int  # Judgments that people settled

    @property
    def people_give(self) -> str:
        """Return `more` or `less` if the interval excludes the grader's score, else `as much`.

        Empty if unknown.
        """
        interval = self.corrected.ci95
        if interval is None or self.graded is None:
            return ""
        low, high = interval
        return "less" if high < self.graded else "more" if low > self.graded else "as much"

    def sentence(self) -> str:
        """Return the result as one sentence that can be read alone."""
        value, interval = self.corrected.value, self.corrected.ci95
        if value is None or self.graded is None:
            reason = self.corrected.reason or "the grader judged none of its responses whole"
            return f"Not corrected: {reason}."
        estimate = f"it would be about {percent(value)}% if people had judged every answer"
        if interval is None:
            reason = self.corrected.reason
            return f"By what people read, {estimate}; how sure that is cannot be said: {reason}."
        low, high = interval
        with_interval = (
            f"{estimate}, with 95% confidence between {percent(low)} and {percent(high)}%."
        )
        if self.people_give == "as much":
            return f"What people read does not show the grader to be off: {with_interval}"
        return f"People give {self.people_give} than the grader: {with_interval}"


@dataclass(frozen=True)
class RaterPairs:
    """The agreement of raters with each other, which is the most that a grader can reach.

    Over every two raters who labelled a judgment present or absent, before adjudication, with the
    same sampling weights as the grader's numbers. A judgment counts once, however many labelled it.
    """

    n: int  # Judgments that two raters or more labelled present or absent
    n_left_out: int
    """Judgments of the runs that these do not represent, since no judgment of their kind was
    labelled by two raters."""
    same: Estimate  # Share of judgments on which two raters say the same
    macro_f1: Estimate  # Macro F1 of one rater against the other, mean of both directions


@dataclass(frozen=True, slots=True)
class Waiting:
    """Counts of the judgments that wait for adjudication: raters differ, or one is unsure."""

    tied: int  # As many raters say present as absent; left out until adjudicated
    unsure: int  # No rater is sure; left out until adjudicated
    one_sure: int  # One rater is sure and the others are not; counts as that one says
    outvoted: int  # Raters differ, and a majority decides; counts as most say

    @property
    def n(self) -> int:
        """Return the number of judgments that wait for adjudication."""
        return self.tied + self.unsure + self.one_sure + self.outvoted

    @property
    def left_out(self) -> int:
        """Return the number of judgments that have no truth until adjudicated."""
        return self.tied + self.unsure

    def kinds(self) -> str:
        """Return the number of each kind as text; empty if no judgment waits."""
        kinds = (
            (self.tied, "tied and left out"),
            (self.unsure, "unsure to all and left out"),
            (self.one_sure, "with one sure rater, others being unsure"),
            (self.outvoted, "decided by most until then"),
        )
        return "; ".join(f"{n:,} {what}" for n, what in kinds if n)


@dataclass(frozen=True)
class SystemAudit:
    """The audit of a grader on one system's responses."""

    severe: GraderAccuracy  # Accuracy on −2 items
    overall: GraderAccuracy  # Accuracy on all items
    scores: Mapping[Rubric, CorrectedScore]
    """Corrected score on each graded rubric; unknown, with the reason, where people did not read
    what was graded."""


@dataclass(frozen=True)
class PeopleAudit:
    """A grader compared with people who read what it judged.

    The truth of a judgment is the adjudicated one, else what most raters said. A judgment that is
    tied, or of which no rater is sure, has no truth; it is left out and counted.
    """

    grader: str  # Its name, with its mode and the hash of its prompt
    bank: str
    bank_version: str
    raters: tuple[str, ...]  # Pseudonyms of the raters, sorted
    adjudicators: tuple[str, ...]  # Pseudonyms of the adjudicators, sorted; they may be raters too
    n_drawn: int  # Judgments in the sample
    n_labelled: int  # Judgments with a label
    n_settled: int  # Judgments with a truth
    n_adjudicated: int  # Judgments whose truth was adjudicated
    n_single: int  # Judgments whose truth is one rater's: no other read it, or no other was sure
    n_tied: int  # Judgments without a truth since as many say present as absent
    n_unsure: int  # Judgments without a truth since no rater, or not the adjudicator, is sure
    waiting: Waiting  # Judgments that wait for adjudication
    counts: LabelCounts  # Judgments with a truth as drawn; not weighted, so shares of them mislead
    people: RaterPairs  # Agreement of raters with each other; `people_severe` on −2 items
    people_severe: RaterPairs
    severe: GraderAccuracy  # Accuracy of the grader on −2 items of both rubrics
    overall: GraderAccuracy  # Accuracy of the grader on all items
    by_points: Mapping[PointClass, GraderAccuracy]
    """Accuracy of the grader by rubric and points of the item."""
    agreement_by_points: Mapping[PointClass, ClassAgreement]
    """Agreement of the grader with people, by rubric and points."""
    people_by_points: Mapping[PointClass, ClassAgreement]
    """Agreement of raters with each other, by rubric and points."""
    by_system: Mapping[str, SystemAudit]  # Audit of the grader on each system

    @property
    def n_alone(self) -> int:
        """Return the number of judgments whose truth is the label of their only rater."""
        return self.n_single - self.waiting.one_sure

    def sentence(self) -> str:
        """Return the result in a sentence, for readers of the grader's grades."""
        people = f"{len(self.raters)} {'person' if len(self.raters) == 1 else 'people'}"
        about = [f"Audited by {people} on {self.n_settled:,} judgments"]
        if self.n_alone:
            rest = "rests" if self.n_alone == 1 else "rest"
            about.append(f"{self.n_alone:,} {rest} on one person alone")
        if self.n_adjudicated:
            about.append(f"{self.n_adjudicated:,} settled by adjudication")
        clauses = [
            f"{', '.join(about)}: it finds {_share(self.severe.sensitivity)} of the −2 items that "
            f"are there, {_share(self.overall.sensitivity)} of all that is there, and clears "
            f"{_share(self.overall.specificity)} of what is not"
        ]
        for (rubric, points), agreement in self.agreement_by_points.items():
            with_people = agreement.positive_agreement
            among_people = self.people_by_points[rubric, points].positive_agreement
            if points == scoring.SEVERE and None not in (with_people.value, among_people.value):
                clauses.append(
                    f"positive agreement with people on −2 items of the {rubric} "
                    f"{_share(with_people)}, of people with each other {_share(among_people)}"
                )
        if self.waiting.n:
            are = "is" if self.waiting.n == 1 else "are"
            line = f"{self.waiting.n:,} on which they disagree or are unsure {are} not settled yet"
            better = ", so that it looks better than it is" if self.waiting.left_out else ""
            clauses.append(f"{line} ({self.waiting.kinds()}){better}")
        return f"{'; '.join(clauses)}. In brackets: 95% intervals."

    def score_of(self, system: str, rubric: Rubric) -> CorrectedScore | None:
        """Return a system's score as corrected by people; `None` if it was not audited."""
        audit = self.by_system.get(system)
        return audit.scores.get(rubric) if audit else None


def _share(estimate: Estimate) -> str:
    if estimate.value is None:
        return "an unknown share"
    return f"{estimate.value:.0%} ({_interval(estimate)})"


def _interval(estimate: Estimate) -> str:
    if estimate.ci95 is None:
        return "no interval"
    return " to ".join(f"{100 * end:.0f}" for end in estimate.ci95)
