"""The ratings of scenarios and items on each scale, and the decision: keep, revise or drop.

Panels are small, so decisions go by counts, and one or two raters decide nothing. Missing ratings
are left out; the number of raters asked is kept beside the number who rated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from careeval.core.rating import (
    HIGHEST,
    LOWEST,
    Comment,
    PointsView,
    Rater,
    Rating,
    Role,
    Scale,
    Subject,
    Sufficiency,
)
from careeval.core.text import signed
from careeval.errors import ReviewError, StatsError
from careeval.people.study.plan import SEVERE
from careeval.people.study.rounds import AnswersBySubject
from careeval.stats.score import FloatArray
from careeval.stats.validity import (
    MIN_RATERS,
    AikenV,
    Endorsement,
    EndorsementRule,
    aiken_v,
    cut_sensitive,
    falls_short_of_excellent,
    i_cvi,
    modified_kappa,
)

LEVELS = tuple(range(LOWEST, HIGHEST + 1))

LOW = 2
"""A family caregiver's rating up to this must be read, whatever the others rate."""

NOBODY = "nobody has rated it"


@dataclass(frozen=True, slots=True)
class DecisionTerms:
    """The terms of decisions, declared before anybody looks at the ratings.

    Attributes:
        rule: Rule for the number of raters who must endorse.
        cut: Lowest rating that endorses.
        other_cut: Second cut, reported beside the first.

    Raises:
        ReviewError: A cut would make every rating an endorsement, or none, or both cuts are equal.
    """

    rule: EndorsementRule = EndorsementRule.paper
    cut: int = 4
    other_cut: int = 3

    def __post_init__(self) -> None:
        for cut in (self.cut, self.other_cut):
            if not LOWEST < cut <= HIGHEST:
                raise ReviewError(f"a cut of {cut}: it must be from {LOWEST + 1} to {HIGHEST}")
        if self.cut == self.other_cut:
            raise ReviewError(
                f"both cuts are {self.cut}",
                hint="give two different cuts: they show which decisions depend on the cut",
            )

    @property
    def endorsing(self) -> str:
        """Return the ratings that endorse, as text: "4 or 5"."""
        *first, last = map(str, range(self.cut, HIGHEST + 1))
        return f"{', '.join(first)} or {last}" if first else last


PAPER = DecisionTerms()
"""The paper's rule, at the cut usual in the literature, since the paper names no cut."""


@dataclass(frozen=True, slots=True)
class RoleRatings:
    """The ratings by one role."""

    role: Role
    values: tuple[int, ...]  # The ratings, ascending
    endorsed: Endorsement  # Endorsements at the cut
    passes: bool | None
    """Decision by the rule for occupational therapists alone, if at least three rated; else `None`,
    since no other role decides alone."""

    @property
    def lowest(self) -> int:
        """Return the lowest rating by this role."""
        return self.values[0]


@dataclass(frozen=True, slots=True)
class ScaleRatings:
    """The ratings of one scenario or item on one scale, and the decision."""

    subject: Subject
    scale: Scale
    ratings: tuple[Rating, ...]  # The ratings, at most one by each rater
    n_asked: int  # Number of raters who were asked for this rating
    terms: DecisionTerms

    @property
    def counts(self) -> tuple[int, ...]:
        """Return the number of ratings at each level, from the lowest."""
        return tuple(sum(r.value == level for r in self.ratings) for level in LEVELS)

    @property
    def at_cut(self) -> Endorsement | None:
        """Return the I-CVI at the declared cut; `None` without ratings."""
        return self._at(self.terms.cut)

    @property
    def at_other(self) -> Endorsement | None:
        """Return the I-CVI at the other cut; `None` without ratings."""
        return self._at(self.terms.other_cut)

    @property
    def strict(self) -> Endorsement | None:
        """Return the I-CVI with raters who were asked and did not rate counted as not endorsing.

        `None` without ratings.
        """
        at_cut = self.at_cut
        return None if at_cut is None else Endorsement(at_cut.k, max(self.n_asked, at_cut.n))

    @property
    def kappa(self) -> float | None:
        """Return Polit's modified kappa; `None` with fewer than three ratings."""
        at_cut = self.at_cut
        return modified_kappa(at_cut.k, at_cut.n) if at_cut and at_cut.n >= MIN_RATERS else None

    @property
    def aiken(self) -> AikenV | None:
        """Return Aiken's V; `None` with fewer than three ratings."""
        enough = len(self.ratings) >= MIN_RATERS
        return aiken_v(self._values, LOWEST, HIGHEST) if enough else None

    @property
    def min_endorsements(self) -> int | None:
        """Return the number of endorsements that the rule needs; `None` if it decides nothing."""
        return None if self.reason else self.terms.rule.min_endorsements(len(self.ratings))

    @property
    def passes(self) -> bool | None:
        """Return the decision by the rule; `None` if it decides nothing, for `reason`."""
        return None if self.reason else bool(self.at_cut and self.at_cut.passes(self.terms.rule))

    @property
    def falls_short(self) -> str:
        """Return how the scale fails the rule, or why nothing is decided; empty if it passes."""
        if self.passes:
            return ""
        if self.at_cut is None or self.reason:
            return f"{self.scale}: {self.reason}"
        k, n = self.at_cut.k, self.at_cut.n
        # no semicolon: lists of these are joined by one
        return (
            f"{self.scale}: {k} of {n} gave {self.terms.endorsing}, "
            f"where {self.min_endorsements} were needed"
        )

    @property
    def cut_sensitive(self) -> bool | None:
        """Tell whether the other cut would decide otherwise; `None` if nothing is decided."""
        if self.reason:
            return None
        return cut_sensitive(self._values, self.terms.rule, (self.terms.cut, self.terms.other_cut))

    @property
    def reason(self) -> str:
        """Return why the rule decides nothing; empty if it decides."""
        if not self.ratings:
            return NOBODY
        try:
            self.terms.rule.min_endorsements(len(self.ratings))
        except StatsError as error:
            return str(error)
        return ""

    @property
    def by_role(self) -> tuple[RoleRatings, ...]:
        """Return the ratings by each role that rated, in the order of roles."""
        by_role = []
        for role in Role:
            values = tuple(sorted(r.value for r in self.ratings if r.rater.role is role))
            if values:
                endorsed = Endorsement(sum(v >= self.terms.cut for v in values), len(values))
                passes = self._passes_alone(role, endorsed)
                by_role.append(RoleRatings(role, values, endorsed, passes))
        return tuple(by_role)

    @property
    def low_ratings(self) -> tuple[str, ...]:
        """Return a sentence on each low rating by a family caregiver, to be read in any case."""
        return tuple(
            f"a family caregiver rated its {self.scale} {rating.value}"
            for rating in self.ratings
            if rating.rater.role is Role.family_caregiver and rating.value <= LOW
        )

    def _passes_alone(self, role: Role, endorsed: Endorsement) -> bool | None:
        if role is not Role.occupational_therapist:
            return None
        try:
            return endorsed.passes(self.terms.rule)
        except StatsError:
            return None

    @property
    def _values(self) -> FloatArray:
        return np.array([rating.value for rating in self.ratings], dtype=np.float64)

    def _at(self, cut: int) -> Endorsement | None:
        return i_cvi(self._values, cut) if self.ratings else None


OF_SCENARIO = (Scale.realism, Scale.validity)
"""The scales of a scenario; both decide, and they are never averaged."""


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
