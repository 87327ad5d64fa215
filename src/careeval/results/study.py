"""What a study of content validity found: from ratings, views and comments to decisions.

Panels are small, so decisions go by counts, and nothing is decided by one or two raters. A rating
that is missing, by design or not, is left out; how many were asked stands beside how many rated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import comb
from typing import TypeVar

import numpy as np

from careeval.bank.apply import Standing
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
)
from careeval.core.scenario import Evidence, Rubric, Status
from careeval.errors import ReviewError, StatsError
from careeval.stats import Estimate
from careeval.stats.gwet import (
    gwet_ac1,
    gwet_ac1_interval,
    gwet_ac2,
    gwet_ac2_interval,
    identical_pairs,
)
from careeval.stats.intervals import Interval
from careeval.stats.intraclass import icc, icc_interval
from careeval.stats.krippendorff import krippendorff_alpha, krippendorff_interval
from careeval.stats.score import FloatArray
from careeval.stats.validity import (
    AikenV,
    Endorsement,
    Rule,
    aiken_v,
    cut_sensitive,
    i_cvi,
    modified_kappa,
    s_cvi_ave,
    s_cvi_ua,
)

LEVELS = tuple(range(LOWEST, HIGHEST + 1))
OF_SCENARIO = (Scale.realism, Scale.validity)
"""The scales of a scenario; both decide, and they are never averaged."""

LOW = 2
"""A family caregiver's rating up to this is read by somebody, however the others rate."""

SEVERE = -2

LEAST_THERAPISTS, LEAST_OTHERS = 3, 2
"""Raters of the version at hand without whom no scenario is validated."""

PAPER_RATERS = 8
"""How many rated the paper's bank."""

TRUE_SHARES = (0.70, 0.80, 0.90, 0.95)
"""Of all possible raters, for what a panel can show."""

NOBODY = "nobody has rated it"
_DESCRIBES = "it describes these ratings: no interval"


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
class Terms:
    """What decides, stated before the ratings are looked at.

    Attributes:
        rule: How many of the raters must endorse.
        cut: The lowest rating that endorses.
        other_cut: The cut that is reported beside it.

    Raises:
        ReviewError: A cut would call every rating an endorsement, or none, or both are the same.
    """

    rule: Rule = Rule.paper
    cut: int = 4
    other_cut: int = 3

    def __post_init__(self) -> None:
        for cut in (self.cut, self.other_cut):
            if not LOWEST < cut <= HIGHEST:
                raise ReviewError(f"a cut of {cut}: it is from {LOWEST + 1} to {HIGHEST}")
        if self.cut == self.other_cut:
            raise ReviewError(f"both cuts are {self.cut}", hint="the other shows what hangs on it")


PAPER = Terms()
"""As the paper has it, at the cut that the literature takes; ours, since the paper names none."""


@dataclass(frozen=True, slots=True)
class Seated:
    """A rater in a round: what was asked for, and for how much of it somebody else typed."""

    rater: Rater
    scenarios: tuple[str, ...]
    n_typed: int = 0


@dataclass(frozen=True, slots=True)
class RoundSaid:
    """One round as it came in.

    Attributes:
        number: From 1.
        versions: What was rated: scenario → version.
        seats: Who is still in; who has withdrawn is not here, nor in what follows.
        note: What could not be read, as a sentence; empty where all could.
    """

    number: int
    versions: Mapping[str, int]
    seats: tuple[Seated, ...]
    ratings: tuple[Rating, ...]
    views: tuple[PointsView, ...]
    comments: tuple[Comment, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class RoleRatings:
    """What those of one role gave, ascending; with one or two of them, that is all there is.

    Attributes:
        endorsed: Their count at the cut.
        passes: What the rule says of occupational therapists alone, three at least; of any other
            role `None`: a decision is everybody's, or theirs whose profession it is.
    """

    role: Role
    values: tuple[int, ...]
    endorsed: Endorsement
    passes: bool | None

    @property
    def lowest(self) -> int:
        """The lowest."""
        return self.values[0]


@dataclass(frozen=True, slots=True)
class Judged:
    """What raters gave one scenario or item on one scale, and what follows.

    Attributes:
        ratings: At most one a rater.
        n_asked: Raters who were to rate it.
    """

    subject: Subject
    scale: Scale
    ratings: tuple[Rating, ...]
    n_asked: int
    terms: Terms

    @property
    def counts(self) -> tuple[int, ...]:
        """How many gave each category, from the lowest."""
        return tuple(sum(r.value == level for r in self.ratings) for level in LEVELS)

    @property
    def at_cut(self) -> Endorsement | None:
        """The I-CVI at the declared cut; `None` where nobody rated it."""
        return self._at(self.terms.cut)

    @property
    def at_other(self) -> Endorsement | None:
        """The same at the other cut."""
        return self._at(self.terms.other_cut)

    @property
    def strict(self) -> Endorsement | None:
        """The I-CVI if those who were asked and did not rate it had not endorsed it."""
        found = self.at_cut
        return None if found is None else Endorsement(found.k, max(self.n_asked, found.n))

    @property
    def kappa(self) -> float | None:
        """Polit's modified kappa; `None` where nobody rated it."""
        found = self.at_cut
        return None if found is None else modified_kappa(found.k, found.n)

    @property
    def aiken(self) -> AikenV | None:
        """Aiken's V; `None` where nobody rated it."""
        return aiken_v(self._values, LOWEST, HIGHEST) if self.ratings else None

    @property
    def passes(self) -> bool | None:
        """What the rule says; `None` where it says nothing, and `reason` says why."""
        return None if self.reason else bool(self.at_cut and self.at_cut.passes(self.terms.rule))

    @property
    def cut_sensitive(self) -> bool | None:
        """Whether the other cut would decide otherwise; `None` where nothing is decided."""
        if self.reason:
            return None
        return cut_sensitive(self._values, self.terms.rule, (self.terms.cut, self.terms.other_cut))

    @property
    def reason(self) -> str:
        """Why nothing is decided; empty where something is."""
        if not self.ratings:
            return NOBODY
        try:
            self.terms.rule.least(len(self.ratings))
        except StatsError as error:
            return str(error)
        return ""

    @property
    def by_role(self) -> tuple[RoleRatings, ...]:
        """What each role gave, those that gave something, in the order of roles."""
        found = []
        for role in Role:
            values = tuple(sorted(r.value for r in self.ratings if r.rater.role is role))
            if values:
                given = Endorsement(sum(v >= self.terms.cut for v in values), len(values))
                found.append(RoleRatings(role, values, given, self._alone(role, given)))
        return tuple(found)

    def _alone(self, role: Role, given: Endorsement) -> bool | None:
        if role is not Role.occupational_therapist:
            return None
        try:
            return given.passes(self.terms.rule)
        except StatsError:
            return None

    @property
    def _values(self) -> FloatArray:
        return np.array([rating.value for rating in self.ratings], dtype=np.float64)

    def _at(self, cut: int) -> Endorsement | None:
        return i_cvi(self._values, cut) if self.ratings else None


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What raters said of one item.

    Attributes:
        relevance: Their ratings; none of them where it was not asked.
        views: What they think of its points.
        comments: In the order of raters.
    """

    subject: Subject
    relevance: Judged
    views: tuple[PointsView, ...]
    comments: tuple[Comment, ...]

    @property
    def objections(self) -> tuple[PointsView, ...]:
        """Views that would give other points."""
        return tuple(view for view in self.views if view.objects)

    @property
    def name(self) -> str:
        """Rubric and id."""
        return f"{self.subject.rubric}/{self.subject.item}"


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """One version of a scenario in one round.

    Attributes:
        decision: `None` where too few have rated it.
        reasons: Why so: what fails, or what is lacking.
        to_read: What somebody must read before it is accepted, whatever the decision.
        comments: On the scenario itself; those on its items stand with them.
    """

    subject: Subject
    realism: Judged
    validity: Judged
    items: tuple[ItemResult, ...]
    decision: Decision | None
    reasons: tuple[str, ...]
    to_read: tuple[str, ...]
    comments: tuple[Comment, ...]

    @property
    def judged(self) -> tuple[Judged, Judged]:
        """Both scales."""
        return self.realism, self.validity

    @property
    def severe_objections(self) -> tuple[PointsView, ...]:
        """Objections to an item of −2 points: open for as long as this version stands."""
        found = (view for item in self.items for view in item.objections)
        return tuple(view for view in found if view.proposed == SEVERE)


@dataclass(frozen=True, slots=True)
class SCvi:
    """The validity of a scale over scenarios or items, each weighing the same.

    Attributes:
        n: Scenarios, or items, that somebody rated.
        n_pass: Those that the rule keeps.
        ave: Mean of the I-CVIs; `None` where n is 0.
        ua: Share that every rater endorses; it falls as raters are added.
    """

    n: int
    n_pass: int
    ave: float | None
    ua: float | None


@dataclass(frozen=True, slots=True)
class ScaleResult:
    """One scale over the whole bank.

    Attributes:
        before: Round 1, everything in it.
        after: Each scenario as it was last rated, without those dropped: higher by that selection.
    """

    scale: Scale
    before: SCvi
    after: SCvi


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the raters of one round agree on one scale.

    Attributes:
        n_raters: Who rated anything on it.
        identical: Share of pairs of raters of an item who gave it the same rating.
        icc: ICC(2,k), of the mean of all raters, over what every one of them rated.
    """

    round: int
    scale: Scale
    n_subjects: int
    n_raters: int
    identical: Estimate
    ac1: Estimate
    ac2: Estimate
    alpha: Estimate
    icc: Estimate


@dataclass(frozen=True, slots=True)
class StudyResults:
    """All that a study found.

    Attributes:
        rounds: As they came in.
        latest: Each scenario in the newest round that it was in, by id.
        earlier: Each scenario in the rounds before that, by round and id.
        scales: Those on which anything was rated.
    """

    title: str
    bank: str
    bank_version: str
    terms: Terms
    rounds: tuple[RoundSaid, ...]
    n_withdrawn: int
    latest: tuple[ScenarioResult, ...]
    earlier: tuple[ScenarioResult, ...]
    scales: tuple[ScaleResult, ...]
    agreement: tuple[Agreement, ...]

    def decided(self, decision: Decision | None) -> tuple[ScenarioResult, ...]:
        """The scenarios of which that is decided; `None`: nothing."""
        return tuple(each for each in self.latest if each.decision is decision)

    @property
    def raters(self) -> tuple[Rater, ...]:
        """Everybody who is in any round, by role and pseudonym."""
        found = {seat.rater for said in self.rounds for seat in said.seats}
        return tuple(sorted(found, key=lambda rater: (list(Role).index(rater.role), rater.id)))

    @property
    def panel_sizes(self) -> tuple[int, ...]:
        """How many rated a scenario on a scale: every number that occurs, ascending."""
        found = {len(j.ratings) for each in self.latest for j in each.judged}
        return tuple(sorted(found - {0}))


def study_results(
    title: str,
    bank: str,
    bank_version: str,
    rounds: Sequence[RoundSaid],
    *,
    terms: Terms = PAPER,
    n_withdrawn: int = 0,
    seed: int = 0,
) -> StudyResults:
    """What a study found.

    Args:
        title: What the study is called.
        bank: Name of the bank.
        bank_version: Its version in the newest round.
        rounds: From the first, one at least.
        terms: What decides.
        n_withdrawn: Raters who have withdrawn; nothing else is known of them.
        seed: Of the intervals of agreement.
    """
    failed: set[str] = set()
    found: dict[str, ScenarioResult] = {}
    earlier: list[ScenarioResult] = []
    for said in rounds:
        answers = _Found(said)
        for name in said.versions:
            result = _scenario(answers, name, terms, failed_before=name in failed)
            if name in found:
                earlier.append(found[name])
            found[name] = result
            if any(judged.passes is False for judged in result.judged):
                failed.add(name)
    latest = tuple(found[name] for name in sorted(found))
    scales = [scale for scale in Scale if any(r.scale is scale for s in rounds for r in s.ratings)]
    return StudyResults(
        title=title,
        bank=bank,
        bank_version=bank_version,
        terms=terms,
        rounds=tuple(rounds),
        n_withdrawn=n_withdrawn,
        latest=latest,
        earlier=tuple(earlier),
        scales=tuple(_scale(scale, rounds[0], latest, terms) for scale in scales),
        agreement=tuple(_agreement(said, scale, seed) for said in rounds for scale in scales),
    )


def standing(result: ScenarioResult, study: str) -> Standing | None:
    """The status that a result gives its version.

    `validated` needs three occupational therapists and two other stakeholders who rated both
    scales, both passing, and no objection to an item of −2 points. A scenario that is dropped is
    withdrawn. All else that was rated is `reviewed`.

    Args:
        result: Of the newest round, by the paper's terms.
        study: What the study is called.

    Returns:
        `None` where nobody has rated it, or one of its scales: nothing changes.

    Raises:
        ValueError: Other terms decided.
    """
    if result.realism.terms != PAPER:
        raise ValueError(f"a status goes by the paper's rule, not by {result.realism.terms}")
    realism, validity = result.realism.at_cut, result.validity.at_cut
    if realism is None or validity is None:
        return None
    both = {r.rater for r in result.realism.ratings} & {r.rater for r in result.validity.ratings}
    by_role = {role: sum(rater.role is role for rater in both) for role in Role}
    therapists = by_role[Role.occupational_therapist]
    lacking: list[str] = []
    if therapists < LEAST_THERAPISTS:
        lacking.append(f"{therapists} of {LEAST_THERAPISTS} occupational therapists")
    if (others := len(both) - therapists) < LEAST_OTHERS:
        lacking.append(f"{others} of {LEAST_OTHERS} other stakeholders")
    lacking += [_falls_short(judged) for judged in result.judged if judged.passes is not True]
    if n := len(result.severe_objections):
        lacking.append(f"{n} open objection{'s' if n > 1 else ''} to an item of −2 points")
    status = Status.reviewed if lacking else Status.validated
    if result.decision is Decision.drop:
        status, lacking = Status.withdrawn, list(result.reasons)
    evidence = Evidence(
        study=study,
        round=result.subject.round,
        version=result.subject.version,
        raters={role.value: n for role, n in by_role.items() if n},
        realism=_count(realism),
        validity=_count(validity),
        objections=len(result.severe_objections),
    )
    return Standing(
        result.subject.scenario, result.subject.version, status, evidence, tuple(lacking)
    )


def chance_of_passing(n: int, share: float, rule: Rule) -> float:
    """Chance that n raters keep a scenario which that share of all such raters would endorse.

    Args:
        n: Raters, taken as drawn at random and rating on their own.
        share: 0 to 1.
        rule: What keeps it.

    Raises:
        StatsError: As `Rule.least`.
    """
    least = rule.least(n)
    return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(least, n + 1))


# One scenario

T = TypeVar("T", Rating, PointsView, Comment)


class _Found:
    """A round's answers, found by what they are about."""

    def __init__(self, said: RoundSaid) -> None:
        self.said = said
        self.ratings = _by_subject(said.ratings)
        self.views = _by_subject(said.views)
        self.comments = _by_subject(said.comments)
        self.items: defaultdict[str, set[Subject]] = defaultdict(set)
        for subject in (*self.ratings, *self.views, *self.comments):
            if subject.rubric is not None:
                self.items[subject.scenario].add(subject)


def _by_subject(given: Iterable[T]) -> dict[Subject, tuple[T, ...]]:
    found: dict[Subject, list[T]] = {}
    for each in given:
        found.setdefault(each.subject, []).append(each)
    return {subject: tuple(all_of_it) for subject, all_of_it in found.items()}


def _scenario(found: _Found, name: str, terms: Terms, *, failed_before: bool) -> ScenarioResult:
    said = found.said
    subject = Subject(name, said.versions[name], said.number)
    n_asked = sum(name in seat.scenarios for seat in said.seats)
    realism, validity = (_judged(found, subject, scale, n_asked, terms) for scale in OF_SCENARIO)
    items = _items(found, subject, n_asked, terms)
    decision, reasons = _decide((realism, validity), failed_before)
    return ScenarioResult(
        subject,
        realism,
        validity,
        items,
        decision,
        reasons,
        (*_low_ratings((realism, validity)), *_of_items(items)),
        found.comments.get(subject, ()),
    )


def _judged(found: _Found, subject: Subject, scale: Scale, n_asked: int, terms: Terms) -> Judged:
    given = tuple(r for r in found.ratings.get(subject, ()) if r.scale is scale)
    return Judged(subject, scale, given, n_asked, terms)


def _items(found: _Found, subject: Subject, n_asked: int, terms: Terms) -> tuple[ItemResult, ...]:
    """Every item that anybody said anything of; the ladder first, by id."""
    order = list(Rubric)
    return tuple(
        ItemResult(
            item,
            _judged(found, item, Scale.relevance, n_asked, terms),
            found.views.get(item, ()),
            found.comments.get(item, ()),
        )
        for item in sorted(
            found.items[subject.scenario],
            key=lambda item: (order.index(item.rubric or order[0]), item.item),
        )
    )


def _decide(
    judged: Iterable[Judged], failed_before: bool
) -> tuple[Decision | None, tuple[str, ...]]:
    both = tuple(judged)
    failing = [each for each in both if each.passes is False]
    unknown = tuple(f"{each.scale}: {each.reason}" for each in both if each.passes is None)
    if not failing:
        return (None, unknown) if unknown else (Decision.keep, ())
    reasons = [*(_falls_short(each) for each in failing), *unknown]
    few = [each.scale for each in failing if each.at_cut and 2 * each.at_cut.k < each.at_cut.n]
    if few:
        reasons.append(f"fewer than half endorse its {' and its '.join(few)}")
    if failed_before:
        reasons.append("it fell short in an earlier round too")
    return (Decision.drop if few or failed_before else Decision.revise), tuple(reasons)


def _falls_short(judged: Judged) -> str:
    given = judged.at_cut
    if given is None or judged.reason:
        return f"{judged.scale}: {judged.reason}"
    least = judged.terms.rule.least(given.n)
    return f"{judged.scale}: {given.k} of {given.n} endorse it, the rule asks for {least}"


def _low_ratings(judged: Iterable[Judged]) -> tuple[str, ...]:
    return tuple(
        f"a family caregiver rated its {each.scale} {rating.value}"
        for each in judged
        for rating in each.ratings
        if rating.rater.role is Role.family_caregiver and rating.value <= LOW
    )


def _of_items(items: Iterable[ItemResult]) -> tuple[str, ...]:
    found = []
    for item in items:
        if item.relevance.passes is False:
            found.append(f"{item.name}: {_falls_short(item.relevance)}")
        found += [f"{item.name}: {said}" for said in _low_ratings([item.relevance])]
        if item.objections:
            proposed = item.objections[0].proposed
            n, of = len(item.objections), len(item.views)
            found.append(f"{item.name}: {n} of {of} would not give it {signed(proposed)}")
    return tuple(found)


def signed(points: int) -> str:
    """Points as they are printed: with their sign, and a minus that is one."""
    return f"{points:+d}".replace("-", "−") if points else "0"


def _count(given: Endorsement) -> str:
    return f"{given.k}/{given.n}"


# The whole


def _scale(
    scale: Scale, first: RoundSaid, latest: Sequence[ScenarioResult], terms: Terms
) -> ScaleResult:
    answers = _Found(first)
    before = [_scenario(answers, name, terms, failed_before=False) for name in first.versions]
    after = [each for each in latest if each.decision is not Decision.drop]
    return ScaleResult(scale, _s_cvi(scale, before), _s_cvi(scale, after))


def _s_cvi(scale: Scale, results: Iterable[ScenarioResult]) -> SCvi:
    judged = [each for result in results for each in _on(scale, result)]
    given = [each.at_cut for each in judged if each.at_cut is not None]
    if not given:
        return SCvi(0, 0, None, None)
    passing = sum(each.passes is True for each in judged)
    return SCvi(len(given), passing, s_cvi_ave(given), s_cvi_ua(given))


def _on(scale: Scale, result: ScenarioResult) -> tuple[Judged, ...]:
    if scale is Scale.relevance:
        return tuple(item.relevance for item in result.items)
    return tuple(each for each in result.judged if each.scale is scale)


def _agreement(said: RoundSaid, scale: Scale, seed: int) -> Agreement:
    given = [rating for rating in said.ratings if rating.scale is scale]
    subjects = list(dict.fromkeys(rating.subject for rating in given))
    raters = list(dict.fromkeys(rating.rater for rating in given))
    row = {subject: i for i, subject in enumerate(subjects)}
    column = {rater: i for i, rater in enumerate(raters)}
    ratings = np.full((len(subjects), len(raters)), np.nan)
    for rating in given:
        ratings[row[rating.subject], column[rating.rater]] = rating.value
    clusters = np.array([subject.scenario for subject in subjects])

    def made(
        value: Callable[[FloatArray], float], interval: Callable[[FloatArray], Interval] | None
    ) -> Estimate:
        if not given:
            return Estimate.unknown("nothing was rated")
        try:
            found = value(ratings)
        except StatsError as error:
            return Estimate.unknown(str(error))
        if interval is None:
            return Estimate(found, found, found, None, _DESCRIBES)
        try:
            low, high = interval(ratings)
        except StatsError as error:
            return Estimate(found, found, found, None, str(error))
        return Estimate(found, found, found, (low, high))

    return Agreement(
        said.number,
        scale,
        len(subjects),
        len(raters),
        identical=made(identical_pairs, None),
        ac1=made(
            lambda r: gwet_ac1(r, LEVELS).value,
            lambda r: gwet_ac1_interval(r, LEVELS, clusters=clusters, seed=seed),
        ),
        ac2=made(
            lambda r: gwet_ac2(r, LEVELS).value,
            lambda r: gwet_ac2_interval(r, LEVELS, clusters=clusters, seed=seed),
        ),
        alpha=made(
            lambda r: krippendorff_alpha(r, "ordinal"),
            lambda r: krippendorff_interval(r, "ordinal", clusters=clusters, seed=seed),
        ),
        icc=made(
            lambda r: icc(r, "2,k").value,
            lambda r: icc_interval(r, "2,k", clusters=clusters, seed=seed),
        ),
    )
