"""A grader audited by people: its judgments of what systems really say, held against theirs.

What people say of a sample of judgments becomes: how far they agree with each other, which is the
most that a grader can reach; how far the grader agrees with them; and each system's score,
corrected for the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from careeval import scoring
from careeval.core.label import Label
from careeval.core.scenario import Rubric
from careeval.results.score.entries import Entry
from careeval.results.trust.audit.audited_entry import graded, other_than
from careeval.results.trust.audit.corrected_score import Corrected, graded_share
from careeval.results.trust.audit.labels import Waiting, by_judgment, truth_of, waiting
from careeval.results.trust.audit.sample import Sample, Stratum
from careeval.results.trust.audit.sample_estimates import AuditedSample, People
from careeval.results.trust.class_agreement import ClassAgreement, PointClass
from careeval.results.trust.grader_accuracy import Measured
from careeval.results.trust.probe_check import POINT_CLASSES, Agreement
from careeval.stats import Estimate


@dataclass(frozen=True)
class SystemAudit:
    """The grader on one system's responses.

    Attributes:
        severe: On −2 items.
        overall: On all items.
        scores: On each rubric that was graded.
    """

    severe: Measured
    overall: Measured
    scores: Mapping[Rubric, Corrected]


@dataclass(frozen=True)
class AuditResults:
    """A grader held against people who read what it judged.

    The truth of a judgment is what was adjudicated; else what most raters said, present or absent.
    One that is tied, or that nobody is sure of, has none: it is left out, and counted.

    Attributes:
        sample: What they read, and where it was drawn from.
        raters: Pseudonyms of those who labelled, in order.
        adjudicators: Of those who settled what was said, in order; they may be raters too.
        n_drawn: Judgments of the sample.
        n_labelled: Those that somebody labelled.
        n_settled: Those that have a truth.
        n_adjudicated: Those whose truth was adjudicated.
        n_single: Those whose truth is one rater's: nobody else read it, or nobody else was sure.
        n_tied: Left without a truth: as many say present as absent.
        n_unsure: Left without a truth: nobody is sure, or whoever adjudicated is not.
        waiting: Those that wait for somebody to adjudicate.
        counts: Judgments with a truth, as they were drawn: they are not weighted, and shares of
            them mislead.
        people: Raters against each other; `people_severe` on −2 items.
        severe: The grader on −2 items of both rubrics.
        overall: The grader on all items.
        by_points: The grader by rubric and points of the item.
        agreement_by_points: How far grader and people agree, likewise.
        people_by_points: How far raters agree with each other, likewise.
        by_system: The grader by system.
    """

    sample: Sample
    raters: tuple[str, ...]
    adjudicators: tuple[str, ...]
    n_drawn: int
    n_labelled: int
    n_settled: int
    n_adjudicated: int
    n_single: int
    n_tied: int
    n_unsure: int
    waiting: Waiting
    counts: Agreement
    people: People
    people_severe: People
    severe: Measured
    overall: Measured
    by_points: Mapping[PointClass, Measured]
    agreement_by_points: Mapping[PointClass, ClassAgreement]
    people_by_points: Mapping[PointClass, ClassAgreement]
    by_system: Mapping[str, SystemAudit]

    @property
    def grader(self) -> str:
        """Its name, with its mode and the hash of its prompt."""
        return self.sample.grader

    @property
    def n_alone(self) -> int:
        """Judgments with a truth that one rater alone read."""
        return self.n_single - self.waiting.one_sure

    def sentence(self) -> str:
        """Return what a reader must know of the grader, beside its grades."""
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

    def score_of(self, entry: Entry) -> Corrected | None:
        """Return an entry's score as people correct it; `None` where it was not audited.

        Where people read other answers of that system, the score is not corrected, and says why.
        """
        audit = self.by_system.get(entry.system)
        corrected = audit.scores.get(entry.rubric) if audit else None
        if corrected and (why := other_than(self.sample, entry)):
            return Corrected(graded_share(list(graded(entry))), Estimate.unknown(why), 0, 0)
        return corrected


def _share(estimate: Estimate) -> str:
    if estimate.value is None:
        return "an unknown share"
    return f"{estimate.value:.0%} ({_interval(estimate)})"


def _interval(estimate: Estimate) -> str:
    if estimate.ci95 is None:
        return "no interval"
    return " to ".join(f"{100 * end:.0f}" for end in estimate.ci95)


def audit_results(sample: Sample, labels: Iterable[Label]) -> AuditResults:
    """Return what people's labels say of the grader.

    Where labels are lacking, those of the stratum that have a truth stand for it; where a whole
    stratum has none, for numbers over all systems, the strata of other systems do. A number that
    some kind of judgment has no truth for is unknown.

    Args:
        sample: What was drawn.
        labels: In any order, a rater's and a judgment's at most one that is not adjudicated.

    Raises:
        ReviewError: A label is of no judgment of this sample, or there are two where there is to be
            one.
    """
    labelled = by_judgment(sample, labels)
    truths = {judgment: truth_of(given) for judgment, given in labelled.items()}
    audit = AuditedSample(sample, labelled, truths)
    ends = Counter(truth.how for truth in truths.values())
    strata = sample.hidden.strata
    drawn_from = {(s.rubric, s.points) for s in strata}
    classes = [(r, p) for r in Rubric for p in POINT_CLASSES if (r, p) in drawn_from]
    return AuditResults(
        sample=sample,
        raters=_who(labelled, adjudicated=False),
        adjudicators=_who(labelled, adjudicated=True),
        n_drawn=len(sample.hidden.drawn),
        n_labelled=len(labelled),
        n_settled=len(audit.settled),
        n_adjudicated=sum(t.how == "adjudicated" for t in truths.values()),
        n_single=ends["single"],
        n_tied=ends["tied"],
        n_unsure=ends["unsure"],
        waiting=waiting(labelled, truths),
        counts=audit.counts(),
        people=audit.people(lambda _: True),
        people_severe=audit.people(_is_severe),
        severe=audit.measured(_is_severe),
        overall=audit.measured(lambda _: True),
        by_points={
            (rubric, points): audit.measured(
                lambda s, of=(rubric, points): (s.rubric, s.points) == of  # type: ignore[misc]
            )
            for rubric, points in classes
        },
        agreement_by_points=audit.agreement_by_points(classes),
        people_by_points=audit.people_by_points(classes),
        by_system={
            system: SystemAudit(
                severe=audit.measured(
                    lambda s, of=system: s.system == of and _is_severe(s),  # type: ignore[misc]
                    one_system=True,
                ),
                overall=audit.measured(
                    lambda s, of=system: s.system == of,  # type: ignore[misc]
                    one_system=True,
                ),
                scores=dict(audit.scores(system)),
            )
            for system in sorted({s.system for s in strata})
        },
    )


def _who(labelled: Mapping[str, Sequence[Label]], *, adjudicated: bool) -> tuple[str, ...]:
    labels = (each for given in labelled.values() for each in given)
    return tuple(sorted({each.rater for each in labels if each.adjudicated is adjudicated}))


def _is_severe(stratum: Stratum) -> bool:
    return stratum.points == scoring.SEVERE
