"""What becomes of a scenario after a round: keep, revise or drop, and what to read first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from careeval.core.rating import Comment, PointsView, Rater, Role, Scale, Subject, Sufficiency
from careeval.core.text import signed
from careeval.results.study.round_ratings import Answers
from careeval.results.study.scale_ratings import Judged, Terms
from careeval.stats.validity import MIN_RATERS, falls_short_of_excellent

OF_SCENARIO = (Scale.realism, Scale.validity)
"""The scales of a scenario; both decide, and they are never averaged."""

SEVERE = -2


class Decision(StrEnum):
    """What becomes of a scenario.

    `keep`: both scales pass the rule. `revise`: one does not. `drop`: one does not, and either
    fewer than half of its raters endorse it or it failed in an earlier round too. The paper says
    "revised or eliminated" and not when which; where we draw the line is ours.
    """

    keep = "keep"
    revise = "revise"
    drop = "drop"


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What raters said of one item.

    Attributes:
        text: Its words; empty where they may not be shown, or no bank has them.
        relevance: Their ratings; none of them where it was not asked.
        views: What they think of its points.
        comments: In the order of raters.
        rights: Whether the item describes a harm to the person's rights.
    """

    subject: Subject
    text: str
    relevance: Judged
    views: tuple[PointsView, ...]
    comments: tuple[Comment, ...]
    rights: bool = False

    @property
    def objections(self) -> tuple[PointsView, ...]:
        """Views that would give other points."""
        return tuple(view for view in self.views if view.objects)

    @property
    def name(self) -> str:
        """Rubric and id."""
        return f"{self.subject.rubric}/{self.subject.item}"

    @property
    def rejections(self) -> tuple[str, ...]:
        """Why no scenario with this item is validated; empty where raters do not reject it."""
        reasons, given = [], self.relevance.at_cut
        if given and given.n >= MIN_RATERS and (short := falls_short_of_excellent(given)):
            reasons.append(f"relevance: {short}")
        other_sign = [v for v in self.views if v.points and v.points * v.proposed < 0]
        if 2 * len(other_sign) > len(self.views):
            reasons.append(f"{len(other_sign)} of {len(self.views)} would turn its sign")
        against, asked = self._receivers()
        if self.rights and 2 * len(against) > len(asked):
            reasons.append(f"{len(against)} of {len(asked)} who receive care reject it")
        return tuple(reasons)

    def _receivers(self) -> tuple[set[Rater], set[Rater]]:
        """Return who of those who receive care rejects the item, and who of them judged it."""
        cut, receives = self.relevance.terms.cut, Role.person_with_disability
        ratings = [r for r in self.relevance.ratings if r.rater.role is receives]
        views = [v for v in self.views if v.rater.role is receives and v.points is not None]
        against = {r.rater for r in ratings if r.value < cut}
        against |= {v.rater for v in views if v.points is not None and v.points >= 0}
        return against, {r.rater for r in ratings} | {v.rater for v in views}

    @property
    def to_read(self) -> tuple[str, ...]:
        """What somebody must read of it."""
        found = [self.relevance.falls_short] if self.relevance.passes is False else []
        found += [reason for reason in self.rejections if not reason.startswith("relevance")]
        found += self.relevance.low_ratings
        if self.objections:
            n, of = len(self.objections), len(self.views)
            found.append(f"{n} of {of} would not give it {signed(self.objections[0].proposed)}")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """One version of a scenario in one round.

    Attributes:
        text: Its words; empty where they may not be shown, or no bank has them.
        decision: `None` where too few have rated it.
        why_dropped: What makes a failing scenario one to drop; empty where it is not.
        comments: On the scenario itself; those on its items stand with them.
        sufficiency: Who had the information needed to say what is right.
    """

    subject: Subject
    text: str
    realism: Judged
    validity: Judged
    items: tuple[ItemResult, ...]
    decision: Decision | None
    why_dropped: tuple[str, ...]
    comments: tuple[Comment, ...]
    sufficiency: tuple[Sufficiency, ...] = ()

    @property
    def judged(self) -> tuple[Judged, Judged]:
        """Both scales."""
        return self.realism, self.validity

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is so decided: what fails, or what is lacking; none where it is kept."""
        short = sorted((j for j in self.judged if not j.passes), key=lambda j: j.passes is None)
        return (*(judged.falls_short for judged in short), *self.why_dropped)

    @property
    def low_ratings(self) -> tuple[str, ...]:
        """Low ratings of the scenario itself that are read by somebody, and who lacks a fact."""
        lines = [line for judged in self.judged for line in judged.low_ratings]
        if self.n_lacking:
            n = len(self.sufficiency)
            lines.append(f"{self.n_lacking} of {n} lack a fact that would change what is right")
        return tuple(lines)

    @property
    def n_lacking(self) -> int | None:
        """How many lack information that they need; `None` where nobody said."""
        return sum(not s.enough for s in self.sufficiency) if self.sufficiency else None

    @property
    def to_read(self) -> tuple[str, ...]:
        """What somebody must read, whatever the decision: of itself, then of each item."""
        of_items = (f"{item.name}: {line}" for item in self.items for line in item.to_read)
        return (*self.low_ratings, *of_items)

    @property
    def n_comments(self) -> int:
        """On it and its items."""
        return len(self.comments) + sum(len(item.comments) for item in self.items)

    @property
    def severe_objections(self) -> tuple[PointsView, ...]:
        """Objections to an item of −2 points: open for as long as this version stands."""
        found = (view for item in self.items for view in item.objections)
        return tuple(view for view in found if view.proposed == SEVERE)


def scenario_result(
    answers: Answers, name: str, terms: Terms, *, failed_before: bool
) -> ScenarioResult:
    """What a round says of a scenario.

    Args:
        answers: Of the round.
        name: The scenario's id.
        terms: What decides.
        failed_before: Whether a scale of it failed in an earlier round.
    """
    words, subject = answers.said.words, answers.said.subject(name)
    n_asked = answers.n_asked(name)

    def judged(of: Subject, scale: Scale) -> Judged:
        return Judged(of, scale, answers.rated(of, scale), n_asked, terms)

    realism, validity = (judged(subject, scale) for scale in OF_SCENARIO)
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
                judged(item, Scale.relevance),
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
    judged: Iterable[Judged], failed_before: bool
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
