"""The results of an audit: a grader's judgments of systems' responses, compared with people's.

There are three results: the agreement between people, which is the most that a grader can reach;
the grader's agreement with people; and each system's score, corrected for the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from careeval import scoring
from careeval.core.rating import Label
from careeval.core.scenario import Rubric
from careeval.results.entries import Entry
from careeval.results.grader_accuracy import ClassAgreement, GraderAccuracy, PointClass
from careeval.results.probe_check import POINT_CLASSES, LabelCounts
from careeval.results.trust.audit.audited_entry import graded_totals, why_not_drawn_from
from careeval.results.trust.audit.corrected_score import CorrectedScore, graded_share
from careeval.results.trust.audit.labels import Waiting, by_judgment, truth_of, waiting
from careeval.results.trust.audit.sample import AuditSample, Stratum
from careeval.results.trust.audit.sample_estimates import AuditedSample, RaterPairs
from careeval.stats import Estimate


@dataclass(frozen=True)
class SystemAudit:
    """The audit of a grader on one system's responses."""

    severe: GraderAccuracy  # Accuracy on −2 items
    overall: GraderAccuracy  # Accuracy on all items
    scores: Mapping[Rubric, CorrectedScore]  # Corrected score on each rubric that was graded


@dataclass(frozen=True)
class AuditResults:
    """A grader compared with people who read what it judged.

    The truth of a judgment is the adjudicated one, else what most raters said. A judgment that is
    tied, or of which no rater is sure, has no truth; it is left out and counted.
    """

    sample: AuditSample  # The sample that people read
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
    def grader(self) -> str:
        """Return the grader's name, with its mode and the hash of its prompt."""
        return self.sample.grader

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

    def score_of(self, entry: Entry) -> CorrectedScore | None:
        """Return an entry's score as corrected by people; `None` if it was not audited.

        If the sample was drawn from other responses or judgments of that system, the score is
        unknown, with that reason.
        """
        audit = self.by_system.get(entry.system)
        corrected = audit.scores.get(entry.rubric) if audit else None
        if corrected and (why := why_not_drawn_from(self.sample, entry)):
            return CorrectedScore(
                graded_share(list(graded_totals(entry))), Estimate.unknown(why), 0, 0
            )
        return corrected


def _share(estimate: Estimate) -> str:
    if estimate.value is None:
        return "an unknown share"
    return f"{estimate.value:.0%} ({_interval(estimate)})"


def _interval(estimate: Estimate) -> str:
    if estimate.ci95 is None:
        return "no interval"
    return " to ".join(f"{100 * end:.0f}" for end in estimate.ci95)


def audit_results(sample: AuditSample, labels: Iterable[Label]) -> AuditResults:
    """Return the results of an audit from people's labels.

    Judgments without a truth are represented by the others of their stratum. If a whole stratum has
    no truth, numbers over all systems use the same stratum of other systems. A number is unknown if
    a kind of judgment has no truth at all.

    Args:
        sample: The sample.
        labels: Labels in any order, at most one by each rater for each judgment, and at most one
            adjudication of each judgment.

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
    return AuditResults(
        sample=sample,
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
        people=audit.people(lambda _: True),
        people_severe=audit.people(_is_severe),
        severe=audit.accuracy(_is_severe),
        overall=audit.accuracy(lambda _: True),
        by_points={
            (rubric, points): audit.accuracy(
                lambda s, key=(rubric, points): (s.rubric, s.points) == key  # type: ignore[misc]
            )
            for rubric, points in classes
        },
        agreement_by_points=audit.agreement_by_points(classes),
        people_by_points=audit.people_by_points(classes),
        by_system={
            system: SystemAudit(
                severe=audit.accuracy(
                    lambda s, name=system: s.system == name and _is_severe(s),  # type: ignore[misc]
                    one_system=True,
                ),
                overall=audit.accuracy(
                    lambda s, name=system: s.system == name,  # type: ignore[misc]
                    one_system=True,
                ),
                scores=dict(audit.scores(system)),
            )
            for system in sorted({s.system for s in strata})
        },
    )


def _authors(labelled: Mapping[str, Sequence[Label]], *, adjudicated: bool) -> tuple[str, ...]:
    labels = (label for own in labelled.values() for label in own)
    return tuple(sorted({label.rater for label in labels if label.adjudicated is adjudicated}))


def _is_severe(stratum: Stratum) -> bool:
    return stratum.points == scoring.SEVERE
