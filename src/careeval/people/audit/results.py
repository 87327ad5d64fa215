"""The results of an audit: a grader's judgments of systems' responses, compared with people's.

There are three results: the agreement between people, which is the most that a grader can reach;
the grader's agreement with people; and each system's score, corrected for the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from careeval import scoring
from careeval.core.rating import Label
from careeval.core.scenario import Rubric
from careeval.people.audit.sample import (
    AuditSample,
    Stratum,
    by_judgment,
    graded_totals,
    truth_of,
    waiting,
    why_not_drawn_from,
)
from careeval.people.audit.sample_estimates import AuditedSample, graded_share
from careeval.results.entries import Entry
from careeval.results.people_audit import CorrectedScore, PeopleAudit, SystemAudit
from careeval.results.probe_check import POINT_CLASSES
from careeval.stats.estimate import Estimate


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


def _is_severe(stratum: Stratum) -> bool:
    return stratum.points == scoring.SEVERE
