"""The decision on a scenario after a round, keep, revise or drop, and the answers to read first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from careeval.core.rating import Comment, PointsView, Rater, Role, Scale, Subject, Sufficiency
from careeval.core.text import signed
from careeval.people.study.round_ratings import AnswersBySubject
from careeval.people.study.scale_ratings import DecisionTerms, ScaleRatings
from careeval.stats.validity import MIN_RATERS, falls_short_of_excellent

OF_SCENARIO = (Scale.realism, Scale.validity)
"""The scales of a scenario; both decide, and they are never averaged."""

SEVERE = -2


class Decision(StrEnum):
    """The decision on a scenario.

    `keep`: both scales pass the rule. `revise`: a scale fails. `drop`: a scale fails, and either
    fewer than half of its raters endorse it or a scale failed in an earlier round too. The paper
    says "revised or eliminated" without a criterion; this one is ours.
    """

    keep = "keep"
    revise = "revise"
    drop = "drop"


@dataclass(frozen=True, slots=True)
class ItemResult:
    """The raters' answers on one item."""

    subject: Subject
    text: str  # Text of the item; empty if it may not be shown, or no bank has it
    relevance: ScaleRatings  # Ratings of its relevance; empty if relevance was not asked
    views: tuple[PointsView, ...]  # Raters' views of its points
    comments: tuple[Comment, ...]  # Comments in the order of raters
    rights: bool = False  # True if the item describes a harm to the person's rights

    @property
    def objections(self) -> tuple[PointsView, ...]:
        """Return the views that would give other points."""
        return tuple(view for view in self.views if view.objects)

    @property
    def name(self) -> str:
        """Return rubric and id of the item."""
        return f"{self.subject.rubric}/{self.subject.item}"

    @property
    def rejections(self) -> tuple[str, ...]:
        """Return why raters reject the item; a scenario with such an item is not validated."""
        reasons, at_cut = [], self.relevance.at_cut
        if at_cut and at_cut.n >= MIN_RATERS and (shortfall := falls_short_of_excellent(at_cut)):
            reasons.append(f"relevance: {shortfall}")
        other_sign = [v for v in self.views if v.points and v.points * v.proposed < 0]
        if 2 * len(other_sign) > len(self.views):
            reasons.append(f"{len(other_sign)} of {len(self.views)} would turn its sign")
        against, asked = self._receivers()
        if self.rights and 2 * len(against) > len(asked):
            reasons.append(f"{len(against)} of {len(asked)} who receive care reject it")
        return tuple(reasons)

    def _receivers(self) -> tuple[set[Rater], set[Rater]]:
        """Return the care receivers who reject the item, and all who judged it."""
        cut, receives = self.relevance.terms.cut, Role.person_with_disability
        ratings = [r for r in self.relevance.ratings if r.rater.role is receives]
        views = [v for v in self.views if v.rater.role is receives and v.points is not None]
        against = {r.rater for r in ratings if r.value < cut}
        against |= {v.rater for v in views if v.points is not None and v.points >= 0}
        return against, {r.rater for r in ratings} | {v.rater for v in views}

    @property
    def to_read(self) -> tuple[str, ...]:
        """Return sentences on the answers about the item that somebody must read."""
        lines = [self.relevance.falls_short] if self.relevance.passes is False else []
        lines += [reason for reason in self.rejections if not reason.startswith("relevance")]
        lines += self.relevance.low_ratings
        if self.objections:
            n, n_views = len(self.objections), len(self.views)
            lines.append(
                f"{n} of {n_views} would not give it {signed(self.objections[0].proposed)}"
            )
        return tuple(lines)


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """The result of one version of a scenario in one round."""

    subject: Subject
    text: str  # Text of the scenario; empty if it may not be shown, or no bank has it
    realism: ScaleRatings
    validity: ScaleRatings
    items: tuple[ItemResult, ...]
    decision: Decision | None  # The decision; `None` if too few have rated it
    why_dropped: tuple[str, ...]
    """Reasons to drop rather than revise it; empty if it is not dropped."""
    comments: tuple[Comment, ...]  # Comments on the scenario itself, without those on its items
    sufficiency: tuple[Sufficiency, ...] = ()
    """Raters' answers on whether they had the information to say what is right."""

    @property
    def judged(self) -> tuple[ScaleRatings, ScaleRatings]:
        """Return the ratings on both scales."""
        return self.realism, self.validity

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the reasons for the decision, or for having none; empty if it is kept."""
        failing = sorted((j for j in self.judged if not j.passes), key=lambda j: j.passes is None)
        return (*(judged.falls_short for judged in failing), *self.why_dropped)

    @property
    def low_ratings(self) -> tuple[str, ...]:
        """Return sentences on low ratings of the scenario and on missing facts, to be read."""
        lines = [line for judged in self.judged for line in judged.low_ratings]
        if self.n_lacking:
            n = len(self.sufficiency)
            lines.append(f"{self.n_lacking} of {n} lack a fact that would change what is right")
        return tuple(lines)

    @property
    def n_lacking(self) -> int | None:
        """Return the number of raters who lack information; `None` if none answered."""
        return sum(not s.enough for s in self.sufficiency) if self.sufficiency else None

    @property
    def to_read(self) -> tuple[str, ...]:
        """Return what must be read whatever the decision is: on the scenario, then on each item."""
        item_lines = (f"{item.name}: {line}" for item in self.items for line in item.to_read)
        return (*self.low_ratings, *item_lines)

    @property
    def n_comments(self) -> int:
        """Return the number of comments on the scenario and its items."""
        return len(self.comments) + sum(len(item.comments) for item in self.items)

    @property
    def severe_objections(self) -> tuple[PointsView, ...]:
        """Return the objections to items of −2 points, which stay open for this version."""
        objections = (view for item in self.items for view in item.objections)
        return tuple(view for view in objections if view.proposed == SEVERE)


def scenario_result(
    answers: AnswersBySubject, name: str, terms: DecisionTerms, *, failed_before: bool
) -> ScenarioResult:
    """Return the result of a scenario in a round.

    Args:
        answers: Answers of the round.
        name: Id of the scenario.
        terms: Rule and cuts for the decision.
        failed_before: True if one of its scales failed in an earlier round.
    """
    words, subject = answers.round.words, answers.round.subject(name)
    n_asked = answers.n_asked(name)

    def ratings(subject: Subject, scale: Scale) -> ScaleRatings:
        return ScaleRatings(subject, scale, answers.rated(subject, scale), n_asked, terms)

    realism, validity = (ratings(subject, scale) for scale in OF_SCENARIO)
    decision, why_dropped = _decide((realism, validity), failed_before)
    return ScenarioResult(
        subject,
        words.get(subject, ""),
        realism,
        validity,
        tuple(
            ItemResult(
                item,
                words.get(item, ""),
                ratings(item, Scale.relevance),
                answers.views.get(item, ()),
                answers.comments.get(item, ()),
                bool((proposed := answers.proposed(item)) and proposed.rights),
            )
            for item in answers.items(name)
        ),
        decision,
        why_dropped,
        answers.comments.get(subject, ()),
        answers.sufficiency.get(subject, ()),
    )


def _decide(
    judged: Iterable[ScaleRatings], failed_before: bool
) -> tuple[Decision | None, tuple[str, ...]]:
    both = tuple(judged)
    failing = [each for each in both if each.passes is False]
    if not failing:
        unknown = any(each.passes is None for each in both)
        return (None if unknown else Decision.keep), ()
    few = [each for each in failing if each.at_cut and 2 * each.at_cut.k < each.at_cut.n]
    why = []
    if few:
        scales = " and its ".join(each.scale for each in few)
        why.append(f"fewer than half gave its {scales} {few[0].terms.endorsing}")
    if failed_before:
        why.append("it fell short in an earlier round too")
    return (Decision.drop if why else Decision.revise), tuple(why)
