"""The results of an audit: a grader's judgments of systems' responses, compared with people's.

There are three results: the agreement between people, which is the most that a grader can reach;
the grader's agreement with people; and each system's score, corrected for the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from careeval import scoring
from careeval.core.rating import Label, Reading
from careeval.core.scenario import Rubric
from careeval.core.text import signed
from careeval.errors import StatsError
from careeval.people.audit.sample import (
    AuditSample,
    DrawnJudgment,
    GradedTotals,
    Stratum,
    Truth,
    by_judgment,
    graded_totals,
    truth_of,
    waiting,
    why_not_drawn_from,
)
from careeval.results.entry import Entry
from careeval.results.grader_accuracy import (
    ClassAgreement,
    CorrectedScore,
    GraderAccuracy,
    LabelCounts,
    PeopleAudit,
    PointClass,
    RaterPairs,
    SystemAudit,
    class_agreement,
)
from careeval.results.probe_check import POINT_CLASSES
from careeval.stats.audit import (
    AccuracyMeasure,
    measure_interval,
    measure_value,
    prediction_powered,
)
from careeval.stats.estimate import Estimate, FloatArray, settled
from careeval.stats.intervals import Interval, rate_interval, sum_by_scenario

MIN_AUDITED = 30
"""Fewest responses of a system that people must read to correct its score; our own limit."""


def corrected_score(
    rows: Sequence[GradedTotals],
    read: Sequence[tuple[DrawnJudgment, bool, Stratum]],
    weights: Mapping[int, float] | str,
) -> CorrectedScore:
    """Return a system's score on one rubric, by the grader and by people.

    Args:
        rows: The grader's totals by scenario.
        read: Judgments of responses that the grader judged completely, with truth and stratum.
        weights: Stratum → sampling weight of its judgments with a truth; or why there is none.
    """
    n_responses = len({each.response for each, _, _ in read})
    if isinstance(weights, str):
        score = Estimate.unknown(weights)
    elif n_responses < MIN_AUDITED:
        reason = f"people read {n_responses} of its responses, fewer than {MIN_AUDITED}"
        score = Estimate.unknown(reason)
    else:
        score = _prediction_powered(rows, read, weights)
    return CorrectedScore(graded_share(rows), score, n_responses, len(read))


def graded_share(rows: Sequence[GradedTotals]) -> float | None:
    """Return the score by the grader alone, as a share of the maximum; `None` if unknown."""
    maximum = sum(row.maximum * row.n_responses for row in rows)
    return sum(row.points for row in rows) / maximum if maximum else None


def _prediction_powered(
    rows: Sequence[GradedTotals],
    read: Sequence[tuple[DrawnJudgment, bool, Stratum]],
    weights: Mapping[int, float],
) -> Estimate:
    """Return the corrected score; each judgment has its points and its part of the maximum.

    So people need not read every item of a response. Judgments of responses without words count as
    read, since no item can be present in them.
    """
    row_of = {row.scenario: k for k, row in enumerate(rows)}
    width = max(row.n_responses * row.n_items for row in rows)
    by_grader, by_people, chances = (np.full((len(rows), width), np.nan) for _ in range(3))
    used = [0] * len(rows)
    for drawn, truth, stratum in read:
        k = row_of[drawn.scenario]
        at = (k, used[k])
        by_grader[at], by_people[at] = stratum.points * stratum.present, stratum.points * truth
        chances[at] = 1 / weights[drawn.stratum]
        used[k] += 1
    for k, row in enumerate(rows):
        wordless = slice(used[k], used[k] + row.n_wordless * row.n_items)
        by_grader[k, wordless] = by_people[k, wordless] = 0
        chances[k, wordless] = 1
        # of the judgments that nobody read only the sum matters
        rest = slice(wordless.stop, row.n_responses * row.n_items)
        left = row.points - np.nansum(by_grader[k, : wordless.stop])
        if rest.stop > rest.start:
            by_grader[k, rest] = left / (rest.stop - rest.start)
    share = np.array([row.maximum / row.n_items for row in rows])
    try:
        mean = prediction_powered(by_grader, by_people, inclusion=chances, maxima=share)
    except StatsError as error:
        return Estimate.unknown(str(error))
    try:
        low, high = mean._replace(n_audited=len({each.scenario for each, _, _ in read})).interval
    except StatsError as error:
        return Estimate(mean.value, mean.value, mean.value, None, str(error))
    return Estimate(mean.value, mean.value, mean.value, (low, high))


_CELLS = [(True, True), (True, False), (False, True), (False, False)]
"""Verdicts of people and grader, or of two raters, in the order of `measure_value`."""


@dataclass(frozen=True)
class AuditedSample:
    """A sample with people's labels."""

    sample: AuditSample
    labels: Mapping[str, Sequence[Label]]  # Judgment → its labels
    truths: Mapping[str, Truth]  # Judgment → its truth

    @property
    def strata(self) -> tuple[Stratum, ...]:
        """The strata of the sample."""
        return self.sample.hidden.strata

    def places(self, **wanted: object) -> list[int]:
        """Return the indices of the strata with these values, as in `points=-2`."""
        return [
            k
            for k, stratum in enumerate(self.strata)
            if all(getattr(stratum, name) == value for name, value in wanted.items())
        ]

    @cached_property
    def settled(self) -> list[tuple[DrawnJudgment, bool]]:
        """Return the judgments that have a truth, each with its truth."""
        return [
            (each, present)
            for each in self.sample.hidden.drawn
            if each.judgment in self.truths
            and (present := self.truths[each.judgment].present) is not None
        ]

    @cached_property
    def read(self) -> Counter[int]:
        """Return stratum → number of its judgments that have a truth."""
        return Counter(each.stratum for each, _ in self.settled)

    def counts(self) -> LabelCounts:
        """Return how often the grader agrees with people where there is a truth; unweighted."""
        return LabelCounts.of(
            (truth, self.strata[each.stratum].present) for each, truth in self.settled
        )

    def accuracy(self, chosen: Sequence[int], *, one_system: bool = False) -> GraderAccuracy:
        """Return the grader's accuracy against people, over the strata at these places."""
        rows = [(each, truth) for each, truth in self.settled if each.stratum in chosen]
        weights = self.weights(chosen, one_system=one_system)
        if isinstance(weights, str):
            return GraderAccuracy.unknown(len(rows), sum(truth for _, truth in rows), weights)
        read = np.eye(4)[
            [_CELLS.index((truth, self.strata[each.stratum].present)) for each, truth in rows]
        ]
        weighted = read * np.array([weights[each.stratum] for each, _ in rows])[:, np.newaxis]
        names = [each.scenario for each, _ in rows]
        return GraderAccuracy.weighted(
            sum_by_scenario(weighted, names), sum_by_scenario(read, names)
        )

    def weights(self, chosen: Sequence[int], *, one_system: bool) -> dict[int, float] | str:
        """Return stratum → weight of its judgments with a truth; or why there are no weights."""
        weights, lacking = self._weights(chosen, self.read, one_system=one_system)
        if lacking:
            return self._why_unknown(lacking, "people settled none", one_system=one_system)
        return weights if weights else "there is no such judgment in the sample"

    def _why_unknown(
        self, lacking: Sequence[Sequence[int]], none_read: str, *, one_system: bool = False
    ) -> str:
        """Return the reason for unknown numbers: the first kind of judgment that nobody read."""
        one, all_of = self.strata[lacking[0][0]], sum(self.strata[k].of for k in lacking[0])
        verdict = "found" if one.present else "called absent"
        whose = f" of {one.system}" if one_system else ""
        return (
            f"of {all_of:,} {one.rubric} judgments{whose} on {signed(one.points)} items that the "
            f"grader {verdict}, {none_read}"
        )

    def _weights(
        self, chosen: Sequence[int], read: Mapping[int, int], *, one_system: bool
    ) -> tuple[dict[int, float], list[list[int]]]:
        """Return the weights of the judgments that were read, and the strata without any.

        Args:
            chosen: Strata to represent.
            read: Stratum → number of its judgments that were read.
            one_system: If false, a stratum without any is represented by those of its kind of other
                systems.

        Returns:
            Stratum → weight of its judgments; and the strata that nothing represents, by kind.
        """
        of = [stratum.of for stratum in self.strata]
        by_kind: dict[object, list[int]] = {}
        for k in chosen:
            by_kind.setdefault(k if one_system else self.strata[k].kind, []).append(k)
        weights: dict[int, float] = {}
        lacking: list[list[int]] = []
        for places in by_kind.values():
            with_read = [k for k in places if read.get(k)]
            if not with_read:
                lacking.append(places)
                continue
            # a stratum that nobody read is assumed to be like the others of its kind
            stretch = sum(of[k] for k in places) / sum(of[k] for k in with_read)
            weights |= {k: stretch * of[k] / read[k] for k in with_read}
        return weights, lacking

    @cached_property
    def read_twice(self) -> list[tuple[DrawnJudgment, list[bool]]]:
        """Return the judgments that two raters or more are sure of, with each one's verdict."""
        twice = []
        for each in self.sample.hidden.drawn:
            sure = sorted(
                (label.rater, label.says is Reading.present)
                for label in self.labels.get(each.judgment, ())
                if not label.adjudicated and label.says is not Reading.unsure
            )
            if len(sure) >= 2:
                twice.append((each, [present for _, present in sure]))
        return twice

    def agreement_by_points(
        self, classes: Sequence[PointClass]
    ) -> dict[PointClass, ClassAgreement]:
        """Return the grader's agreement with people on each point class."""
        rows = [(each, [truth, self.strata[each.stratum].present]) for each, truth in self.settled]
        return self._agreement(classes, rows, "people settled none")

    def people_by_points(self, classes: Sequence[PointClass]) -> dict[PointClass, ClassAgreement]:
        """Return the raters' agreement with each other on each point class."""
        return self._agreement(classes, self.read_twice, "no two raters labelled any")

    def _agreement(
        self,
        classes: Sequence[PointClass],
        rows: Sequence[tuple[DrawnJudgment, Sequence[bool]]],
        none_read: str,
    ) -> dict[PointClass, ClassAgreement]:
        """Return the agreement of two readings or more of each judgment, on each point class.

        Args:
            classes: Point classes of the sample.
            rows: Judgments with the verdict of each reading.
            none_read: Reason to give if a kind of judgment of a class is not among the rows.
        """
        read = Counter(each.stratum for each, _ in rows)
        weights: dict[int, float] = {}
        unknown: dict[PointClass, str] = {}
        for key in classes:
            chosen = self.places(rubric=key[0], points=key[1])
            own_weights, lacking = self._weights(chosen, read, one_system=False)
            weights |= own_weights
            if lacking:
                unknown[key] = self._why_unknown(lacking, none_read)
        width = max((len(readings) for _, readings in rows), default=2)
        verdicts = np.full((len(rows), width), np.nan)
        for row, (_, readings) in enumerate(rows):
            verdicts[row, : len(readings)] = readings
        strata = [self.strata[each.stratum] for each, _ in rows]
        return class_agreement(
            [(stratum.rubric, stratum.points) for stratum in strata],
            verdicts,
            [each.scenario for each, _ in rows],
            weights=np.array([weights.get(each.stratum, 1) for each, _ in rows]),
            unknown=unknown,
        )

    def people(self, chosen: Sequence[int]) -> RaterPairs:
        """Return the agreement of raters, over the strata at these places."""
        rows, drawn = [], []
        for each, readings in self.read_twice:
            if each.stratum in chosen:
                pairs = list(combinations(readings, 2))
                rows.append([pairs.count(way) / len(pairs) for way in _CELLS])
                drawn.append(each)
        read = Counter(each.stratum for each in drawn)
        weights, lacking = self._weights(chosen, read, one_system=False)
        n_left_out = sum(self.strata[k].of for places in lacking for k in places)
        if not rows:
            unknown = Estimate.unknown("no judgment was labelled by two raters")
            return RaterPairs(0, n_left_out, unknown, unknown)
        row_weights = np.array([weights[each.stratum] for each in drawn])
        cells = sum_by_scenario(
            np.array(rows) * row_weights[:, np.newaxis], [each.scenario for each in drawn]
        )
        either_way = cells.copy()
        either_way[:, 1] = either_way[:, 2] = cells[:, 1:3].sum(axis=1) / 2
        scale = (
            len(rows) / cells.sum()
        )  # the interval must rest on the judgments read, not on their weights

        def same_interval(c: FloatArray) -> Interval:
            same, all_ = c[:, [0, 3]].sum(axis=1), c.sum(axis=1)
            return rate_interval(same * scale, all_ * scale, max_per_scenario=np.inf)

        return RaterPairs(
            n=len(rows),
            n_left_out=n_left_out,
            same=settled(
                lambda c: measure_value(c, AccuracyMeasure.accuracy), same_interval, cells, (cells,)
            ),
            macro_f1=settled(
                lambda c: measure_value(c, AccuracyMeasure.macro_f1),
                lambda c: measure_interval(c, AccuracyMeasure.macro_f1),
                either_way,
                (either_way,),
            ),
        )

    def scores(self, system: str) -> Iterator[tuple[Rubric, CorrectedScore]]:
        """Yield a system's score on each rubric, by the grader and as corrected by people."""
        for rubric in Rubric:
            key = (system, rubric)
            rows = [row for row in self.sample.hidden.graded if (row.system, row.rubric) == key]
            if rows:
                chosen = self.places(system=system, rubric=rubric)
                read = [
                    (each, truth, self.strata[each.stratum])
                    for each, truth in self.settled
                    if each.whole and each.stratum in chosen
                ]
                weights = self.weights(chosen, one_system=True)
                yield rubric, corrected_score(rows, read, weights)


def audit_results(
    sample: AuditSample, labels: Iterable[Label], entries: Iterable[Entry] = ()
) -> PeopleAudit:
    """Return the results of an audit from people's labels.

    Judgments without a truth are represented by the others of their stratum. If a whole stratum has
    no truth, numbers over all systems use the same stratum of other systems. A number is unknown if
    a kind of judgment has no truth at all.

    Args:
        sample: The sample.
        labels: Labels in any order, at most one by each rater for each judgment, and at most one
            adjudication of each judgment.
        entries: Entries whose scores are to be corrected. Where the sample was drawn from other
            responses or judgments of such a system, its score is unknown, with that reason.

    Raises:
        ReviewError: A label is for a judgment outside the sample, or is given twice.
    """
    labelled = by_judgment(sample, labels)
    truths = {judgment: truth_of(own) for judgment, own in labelled.items()}
    audit = AuditedSample(sample, labelled, truths)
    settled_by = Counter(truth.how for truth in truths.values())
    strata = sample.hidden.strata
    drawn_from = {(s.rubric, s.points) for s in strata}
    classes = [(r, p) for r in Rubric for p in POINT_CLASSES if (r, p) in drawn_from]
    elsewhere = {
        (entry.system, entry.rubric): CorrectedScore(
            graded_share(list(graded_totals(entry))), Estimate.unknown(why), 0, 0
        )
        for entry in entries
        if entry.grader == sample.grader and (why := why_not_drawn_from(sample, entry))
    }
    return PeopleAudit(
        grader=sample.grader,
        bank=sample.hidden.bank,
        bank_version=sample.hidden.bank_version,
        raters=_authors(labelled, adjudicated=False),
        adjudicators=_authors(labelled, adjudicated=True),
        n_drawn=len(sample.hidden.drawn),
        n_labelled=len(labelled),
        n_settled=len(audit.settled),
        n_adjudicated=sum(t.how == "adjudicated" for t in truths.values()),
        n_single=settled_by["single"],
        n_tied=settled_by["tied"],
        n_unsure=settled_by["unsure"],
        waiting=waiting(labelled, truths),
        counts=audit.counts(),
        people=audit.people(audit.places()),
        people_severe=audit.people(audit.places(points=scoring.SEVERE)),
        severe=audit.accuracy(audit.places(points=scoring.SEVERE)),
        overall=audit.accuracy(audit.places()),
        by_points={
            (rubric, points): audit.accuracy(audit.places(rubric=rubric, points=points))
            for rubric, points in classes
        },
        agreement_by_points=audit.agreement_by_points(classes),
        people_by_points=audit.people_by_points(classes),
        by_system={
            system: SystemAudit(
                severe=audit.accuracy(
                    audit.places(system=system, points=scoring.SEVERE), one_system=True
                ),
                overall=audit.accuracy(audit.places(system=system), one_system=True),
                scores={
                    rubric: elsewhere.get((system, rubric), score)
                    for rubric, score in audit.scores(system)
                },
            )
            for system in sorted({s.system for s in strata})
        },
    )


def _authors(labelled: Mapping[str, Sequence[Label]], *, adjudicated: bool) -> tuple[str, ...]:
    labels = (label for own in labelled.values() for label in own)
    return tuple(sorted({label.rater for label in labels if label.adjudicated is adjudicated}))
