"""Results of a content validity study: the panel and its agreement, decisions, status changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from careeval.bank import Bank
from careeval.bank.evidence import Evidence
from careeval.bank.evidence_changes import ProposedStatus, missing_raters, unmet_conditions
from careeval.core.rating import Rater, Role, Scale
from careeval.core.scenario import Status
from careeval.core.text import counted
from careeval.errors import StatsError
from careeval.people.store import Store
from careeval.people.study.decisions import (
    LEVELS,
    PAPER,
    Decision,
    DecisionTerms,
    ScaleRatings,
    ScenarioResult,
    scenario_result,
)
from careeval.people.study.plan import SEVERE, StudyPlan
from careeval.people.study.rounds import (
    AnswersBySubject,
    RoundAnswers,
    read_rounds,
    without_fast_answers,
)
from careeval.stats.agreement import (
    LOWEST_END,
    gwet_ac1,
    gwet_ac1_interval,
    gwet_ac2,
    gwet_ac2_interval,
    icc,
    icc_interval,
    identical_pairs,
    krippendorff_alpha,
    krippendorff_interval,
)
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import MIN_SCENARIOS, Interval
from careeval.stats.score import FloatArray
from careeval.stats.validity import MIN_RATERS, Endorsement, EndorsementRule, s_cvi_ave, s_cvi_ua

MIN_FOR_RANGE = 5
"""Fewest people for a range of years: with three, range and mean would reveal all three."""


@dataclass(frozen=True, slots=True)
class Years:
    """Years of experience of those raters of a role who gave them."""

    n: int  # Number of these raters, at least three, since the years could identify one or two
    mean: float
    low: int | None = None
    """Fewest years; `None` for three or four raters, whose years it could reveal."""
    high: int | None = None  # Most years; likewise


@dataclass(frozen=True, slots=True)
class RolePanel:
    """The people of one role over all rounds, without those who have withdrawn."""

    role: Role
    n_invited: int  # People who have a place in the study
    n_rated: int  # People who rated anything
    n_agreed: int  # Raters who agreed to the terms
    n_asked: int  # Scenarios given to them, counted in each round
    n_ratings: int  # Ratings that they gave
    n_typed: int  # Answers that somebody else typed for them
    n_too_fast: int  # Scenarios that they answered about too fast, counted in each round
    n_untimed: int  # Scenarios that they answered about in an unknown time, counted in each round
    years: Years | None  # Years of experience; `None` if fewer than three raters gave them

    @property
    def why_no_years(self) -> str:
        """Return why there are no years; else empty."""
        return "" if self.years else "fewer than three of this role rated and said"

    @property
    def why_no_range(self) -> str:
        """Return why the range is withheld; empty if it is not, or if there are no years."""
        if self.years is None or self.years.low is not None:
            return ""
        return "fewer than five of this role: a range would tell their years"


def panel(rounds: Sequence[RoundAnswers]) -> tuple[RolePanel, ...]:
    """Return the panel of each role that was invited, in the order of roles."""
    panels = (_role(rounds, role) for role in Role)
    return tuple(each for each in panels if each.n_invited)


def _role(rounds: Sequence[RoundAnswers], role: Role) -> RolePanel:
    seats = [seat for round_ in rounds for seat in round_.seats if seat.rater.role is role]
    authors = [r.rater for round_ in rounds for r in round_.ratings if r.rater.role is role]
    rated = set(authors)
    # one person may be in two rounds; the last years given count
    years = {s.rater: s.years for s in seats if s.rater in rated and s.years is not None}
    return RolePanel(
        role,
        n_invited=len({seat.rater for seat in seats}),
        n_rated=len(rated),
        n_agreed=len({seat.rater for seat in seats if seat.agreed} & rated),
        n_asked=sum(len(seat.scenarios) for seat in seats),
        n_ratings=len(authors),
        n_typed=sum(seat.n_typed for seat in seats),
        n_too_fast=sum(len(seat.too_fast) for seat in seats),
        n_untimed=sum(len(seat.untimed) for seat in seats),
        years=_years(list(years.values())),
    )


def _years(years: Sequence[int]) -> Years | None:
    if len(years) < MIN_RATERS:
        return None
    mean = float(np.mean(years))
    if len(years) < MIN_FOR_RANGE:
        return Years(len(years), mean)
    return Years(len(years), mean, min(years), max(years))


DESCRIBES = "it describes these ratings: no interval"

COEFFICIENTS = ("identical", "ac1", "ac2", "alpha", "icc")
"""Coefficients of `RaterAgreement`, in the order printed."""


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """The agreement of the raters of one round on one scale."""

    round: int
    scale: Scale
    n_subjects: int  # Scenarios or items rated
    n_raters: int  # Raters who rated anything on the scale
    n_complete: int  # Scenarios or items that every one of these raters rated
    identical: Estimate
    """Share of pairs of raters who gave a scenario or item the same rating, mean over the scenarios
    or items with two ratings or more."""
    ac1: Estimate
    ac2: Estimate
    alpha: Estimate
    icc: Estimate
    """ICC(2,k), of the mean of all raters, over the complete scenarios or items; unknown if these
    are of fewer than five scenarios."""


def any_cut(agreements: Iterable[RaterAgreement]) -> bool:
    """Tell whether an interval is cut at its lower end."""
    ends = (getattr(each, name).ci95 for each in agreements for name in COEFFICIENTS)
    return any(ci95 is not None and ci95[0] <= LOWEST_END for ci95 in ends)


def rater_agreement(round_: RoundAnswers, scale: Scale) -> RaterAgreement:
    """Return the raters' agreement; an undefined coefficient is unknown, with the reason."""
    own = [rating for rating in round_.ratings if rating.scale is scale]
    subjects = list(dict.fromkeys(rating.subject for rating in own))
    raters = list(dict.fromkeys(rating.rater for rating in own))
    row = {subject: i for i, subject in enumerate(subjects)}
    column = {rater: i for i, rater in enumerate(raters)}
    ratings = np.full((len(subjects), len(raters)), np.nan)
    for rating in own:
        ratings[row[rating.subject], column[rating.rater]] = rating.value
    scenarios = np.array([subject.scenario for subject in subjects])
    complete = ~np.isnan(ratings).any(axis=1)

    def estimate(
        value: Callable[[FloatArray], float], interval: Callable[[FloatArray], Interval] | None
    ) -> Estimate:
        if not own:
            return Estimate.unknown("nothing was rated")
        try:
            coefficient = value(ratings)
        except StatsError as error:
            return Estimate.unknown(str(error))
        if interval is None:
            return Estimate(coefficient, coefficient, coefficient, None, DESCRIBES)
        try:
            low, high = interval(ratings)
        except StatsError as error:
            return Estimate(coefficient, coefficient, coefficient, None, str(error))
        return Estimate(coefficient, coefficient, coefficient, (low, high))

    def icc_of_mean(ratings: FloatArray) -> float:
        n = len(set(scenarios[complete]))
        if n < MIN_SCENARIOS:
            raise StatsError(
                f"only {counted(n, 'scenario has', 'scenarios have')} anything that every rater "
                f"rated; at least {MIN_SCENARIOS} are needed"
            )
        return icc(ratings)

    return RaterAgreement(
        round_.number,
        scale,
        len(subjects),
        len(raters),
        int(complete.sum()),
        identical=estimate(identical_pairs, None),
        ac1=estimate(
            lambda r: gwet_ac1(r, LEVELS),
            lambda r: gwet_ac1_interval(r, LEVELS, scenarios=scenarios),
        ),
        ac2=estimate(
            lambda r: gwet_ac2(r, LEVELS),
            lambda r: gwet_ac2_interval(r, LEVELS, scenarios=scenarios),
        ),
        alpha=estimate(
            krippendorff_alpha,
            lambda r: krippendorff_interval(r, scenarios=scenarios),
        ),
        icc=estimate(icc_of_mean, lambda r: icc_interval(r, scenarios=scenarios)),
    )


PAPER_RATERS = 8
"""Number of raters of the paper's bank."""

TRUE_SHARES = (0.70, 0.80, 0.90, 0.95)
"""Assumed shares of all possible raters who would endorse, for the chances of passing."""


@dataclass(frozen=True, slots=True)
class SCvi:
    """The content validity of a scale (S-CVI) over scenarios or items, each weighing the same."""

    n: int  # Scenarios or items with a rating
    n_pass: int  # Scenarios or items that pass the rule
    ave: float | None  # Mean of the I-CVIs; `None` if n is 0
    ua: float | None
    """Share that every rater endorses, which falls as raters are added; `None` if n is 0."""


@dataclass(frozen=True, slots=True)
class ScaleResult:
    """One scale over the whole bank."""

    scale: Scale
    before: SCvi  # Over all scenarios or items of round 1
    after: SCvi
    """Over all scenarios or items as last rated, without those of dropped scenarios. Leaving these
    out raises the numbers."""


@dataclass(frozen=True, slots=True)
class StudyResults:
    """All results of a study."""

    title: str
    bank: str
    bank_version: str
    terms: DecisionTerms
    rounds: tuple[RoundAnswers, ...]  # The rounds as they came in
    n_withdrawn: int
    latest: tuple[ScenarioResult, ...]  # Result of each scenario in its newest round, by id
    earlier: tuple[ScenarioResult, ...]  # Results of scenarios in earlier rounds, by round and id
    scales: tuple[ScaleResult, ...]  # Results by scale, for scales with a rating
    agreement: tuple[RaterAgreement, ...]
    panel: tuple[RolePanel, ...]  # People who were invited and who rated, by role
    study_id: str  # Id of the study, since titles are not unique
    without_fast: bool = False  # True if answers that were given too fast are left out

    def with_decision(self, decision: Decision | None) -> tuple[ScenarioResult, ...]:
        """Return the scenarios with this decision; with `None`, those without a decision."""
        return tuple(each for each in self.latest if each.decision is decision)

    @property
    def worst_first(self) -> tuple[ScenarioResult, ...]:
        """Return the latest results: dropped, revised, undecided, kept; then by id."""
        decisions = (Decision.drop, Decision.revise, None, Decision.keep)
        return tuple(each for decision in decisions for each in self.with_decision(decision))

    @property
    def n_invited(self) -> int:
        """Return the number of people with a place in the study, over all rounds."""
        return sum(role.n_invited for role in self.panel)

    @property
    def n_rated(self) -> int:
        """Return the number of people who rated anything."""
        return sum(role.n_rated for role in self.panel)

    @property
    def n_too_fast(self) -> int:
        """Return how often a rater answered about a scenario too fast, over all rounds."""
        return sum(role.n_too_fast for role in self.panel)

    @property
    def n_untimed(self) -> int:
        """Return how often a rater answered about a scenario in an unknown time."""
        return sum(role.n_untimed for role in self.panel)

    @property
    def panel_sizes(self) -> tuple[int, ...]:
        """Return the different numbers of raters that a scenario had on a scale, ascending."""
        sizes = {len(j.ratings) for each in self.latest for j in each.judged}
        return tuple(sorted(sizes - {0}))


def study_results(
    title: str,
    study_id: str,
    bank: str,
    bank_version: str,
    rounds: Sequence[RoundAnswers],
    *,
    terms: DecisionTerms = PAPER,
    n_withdrawn: int = 0,
    without_fast: bool = False,
) -> StudyResults:
    """Return the results of a study.

    Args:
        title: Title of the study.
        study_id: Id of the study, since titles are not unique.
        bank: Name of the bank.
        bank_version: Version of the bank in the newest round.
        rounds: The rounds in order, at least one.
        terms: Rule and cuts for decisions.
        n_withdrawn: Raters who have withdrawn; nothing else is known of them.
        without_fast: Whether to leave out what raters answered too fast to have read it.
    """
    if without_fast:
        rounds = [without_fast_answers(each) for each in rounds]
    failed: set[str] = set()
    newest: dict[str, ScenarioResult] = {}
    earlier: list[ScenarioResult] = []
    for round_ in rounds:
        answers = AnswersBySubject(round_)
        for name in round_.versions:
            result = scenario_result(answers, name, terms, failed_before=name in failed)
            if name in newest:
                earlier.append(newest[name])
            newest[name] = result
            if any(judged.passes is False for judged in result.judged):
                failed.add(name)
    latest = tuple(newest[name] for name in sorted(newest))
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
        agreement=tuple(rater_agreement(round_, scale) for round_ in rounds for scale in scales),
        panel=panel(rounds),
        study_id=study_id,
        without_fast=without_fast,
    )


def read_results(
    store: Store,
    banks: Sequence[Bank],
    *,
    terms: DecisionTerms = PAPER,
    without_fast: bool = False,
) -> StudyResults:
    """Return the results of a study as its file has them now; see `read_rounds` for `banks`."""
    plan = StudyPlan.read(store.plans("study")[-1])
    return study_results(
        plan.title,
        plan.study_id,
        plan.bank,
        plan.bank_version,
        read_rounds(store, banks),
        terms=terms,
        n_withdrawn=store.withdrawals(),
        without_fast=without_fast,
    )


def status_changes(results: StudyResults) -> tuple[ProposedStatus, ...]:
    """Return the status of each scenario that was rated on both scales, by id.

    Raises:
        ValueError: As `status_change`.
    """
    rounds = {round_.number: round_ for round_ in results.rounds}
    title, study_id = results.title, results.study_id
    changes = (status_change(r, rounds[r.subject.round], title, study_id) for r in results.latest)
    return tuple(change for change in changes if change is not None)


def status_change(
    result: ScenarioResult, round_: RoundAnswers, study: str, study_id: str
) -> ProposedStatus | None:
    """Return the status that a result gives to its version of a scenario.

    For `validated`, a panel of at least three occupational therapists and two other stakeholders
    must have rated both scales, and both scales must pass. As large a panel must have given its
    view of the points of each −2 item, without an objection. At least three must have rated each
    item, and no item may be rejected. A scenario that such a panel drops is `withdrawn`. All others
    that were rated are `reviewed`.

    Args:
        result: Result in the newest round, by the paper's terms.
        round_: That round.
        study: Title of the study.
        study_id: Id of the study.

    Returns:
        `None` if one of its scales has no rating: nothing changes.

    Raises:
        ValueError: The result was decided by other terms.
    """
    if result.realism.terms != PAPER:
        raise ValueError(f"a status is given by the paper's rule, not by {result.realism.terms}")
    realism, validity = result.realism.at_cut, result.validity.at_cut
    if realism is None or validity is None:
        return None
    both = {r.rater for r in result.realism.ratings} & {r.rater for r in result.validity.ratings}
    raters, n_open = _by_role(both), len(result.severe_objections)
    evidence = Evidence(
        study=study,
        round=result.subject.round,
        version=result.subject.version,
        raters=raters,
        realism=_count(realism),
        validity=_count(validity),
        objections=n_open if _severe_points_viewed(result, round_) else None,
        rejected=_rejected(result, round_),
        study_id=study_id,
    )
    lacking = unmet_conditions(evidence)
    if evidence.objections is None and n_open:
        lacking += (f"{n_open} of those who were asked object to an item of −2 points",)
    status = Status.reviewed if lacking else Status.validated
    if result.decision is Decision.drop:
        if absent := missing_raters(raters):
            lacking = (*result.reasons, f"too few to withdraw it: {' and '.join(absent)}")
        else:
            status, lacking = Status.withdrawn, result.reasons
    name, version = result.subject.scenario, result.subject.version
    return ProposedStatus(name, version, round_.hashes[name], status, evidence, lacking)


def _severe_points_viewed(result: ScenarioResult, round_: RoundAnswers) -> bool:
    """Tell whether enough raters gave a view of the points of each item of −2 points."""
    items = round_.items.get(result.subject.scenario)
    if items is None:
        return False
    authors = {item.subject: {view.rater for view in item.views} for item in result.items}
    severe = (item for item, proposed in items.items() if proposed.points == SEVERE)
    return not any(missing_raters(_by_role(authors.get(item, ()))) for item in severe)


def _rejected(result: ScenarioResult, round_: RoundAnswers) -> tuple[str, ...] | None:
    """Return the items that raters reject.

    `None` if the text that was rated is lost, or if none is rejected and an item has fewer than
    three ratings. Items of 0 points need no ratings, since their relevance is not asked for.
    """
    items = round_.items.get(result.subject.scenario)
    if items is None:
        return None
    rated = {item.subject: len(item.relevance.ratings) for item in result.items}
    asked = (item for item, proposed in items.items() if proposed.points)
    rejected = tuple(item.name for item in result.items if item.rejections)
    if not rejected and any(rated.get(item, 0) < MIN_RATERS for item in asked):
        return None
    return rejected


def _by_role(raters: Iterable[Rater]) -> dict[str, int]:
    """Return role → number of raters; roles without a rater are left out."""
    return dict(Counter(role.value for role in Role for rater in raters if rater.role is role))


def chance_of_passing(n: int, share: float, rule: EndorsementRule) -> float:
    """Return the chance that a scale passes with n raters, if `share` of all raters endorse it.

    A scenario is kept only if both its scales pass. With chance p on each scale, both pass with
    chance p if the same raters endorse both, and p² if the scales are independent.

    Args:
        n: Number of raters, drawn at random and rating independently.
        share: Share of all raters who would endorse, 0 to 1.
        rule: Rule by which the scale passes.

    Raises:
        StatsError: As `EndorsementRule.min_endorsements`.
    """
    passing = range(rule.min_endorsements(n), n + 1)
    return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in passing)


def _count(endorsement: Endorsement) -> str:
    return f"{endorsement.k}/{endorsement.n}"


def _scale(
    scale: Scale, first: RoundAnswers, latest: Sequence[ScenarioResult], terms: DecisionTerms
) -> ScaleResult:
    answers = AnswersBySubject(first)
    before = [scenario_result(answers, name, terms, failed_before=False) for name in first.versions]
    after = [each for each in latest if each.decision is not Decision.drop]
    return ScaleResult(scale, _s_cvi(scale, before), _s_cvi(scale, after))


def _s_cvi(scale: Scale, results: Iterable[ScenarioResult]) -> SCvi:
    judged = [each for result in results for each in _on(scale, result)]
    endorsements = [each.at_cut for each in judged if each.at_cut is not None]
    if not endorsements:
        return SCvi(0, 0, None, None)
    passing = sum(each.passes is True for each in judged)
    return SCvi(len(endorsements), passing, s_cvi_ave(endorsements), s_cvi_ua(endorsements))


def _on(scale: Scale, result: ScenarioResult) -> tuple[ScaleRatings, ...]:
    if scale is Scale.relevance:
        return tuple(item.relevance for item in result.items)
    return tuple(each for each in result.judged if each.scale is scale)
