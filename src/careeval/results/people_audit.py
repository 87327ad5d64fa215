"""What people found of a grader when they made a sample of its judgments again: numbers alone.

`careeval.people` draws the sample, asks people, and computes these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from careeval import scoring
from careeval.core.scenario import Rubric
from careeval.core.text import percent
from careeval.results.grader_accuracy import ClassAgreement, GraderAccuracy, PointClass
from careeval.results.probe_check import LabelCounts
from careeval.stats.estimate import Estimate


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
