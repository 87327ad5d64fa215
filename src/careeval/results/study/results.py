"""What a study of content validity found: from rounds of ratings to results and a status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb

from careeval.bank.evidence_changes import Standing, too_few, unmet
from careeval.core.rating import Rater, Role, Scale
from careeval.core.scenario import Evidence, Status
from careeval.results.study.panel import RolePanel, panel
from careeval.results.study.rater_agreement import Agreement, rater_agreement
from careeval.results.study.round_ratings import Answers, RoundSaid
from careeval.results.study.scale_ratings import PAPER, Judged, Terms
from careeval.results.study.scenario_decisions import (
    SEVERE,
    Decision,
    ScenarioResult,
    scenario_result,
)
from careeval.stats.validity import MIN_RATERS, Endorsement, Rule, s_cvi_ave, s_cvi_ua

PAPER_RATERS = 8
"""How many rated the paper's bank."""

TRUE_SHARES = (0.70, 0.80, 0.90, 0.95)
"""Of all possible raters, for what a panel can show."""


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
class StudyResults:
    """All that a study found.

    Attributes:
        rounds: As they came in.
        latest: Each scenario in the newest round that it was in, by id.
        earlier: Each scenario in the rounds before that, by round and id.
        scales: Those on which anything was rated.
        panel: Who was invited and who rated, a role at a time.
        study_id: Which study it is, since titles are shared; `None` where that is not known.
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
    panel: tuple[RolePanel, ...]
    study_id: str | None = None

    def decided(self, decision: Decision | None) -> tuple[ScenarioResult, ...]:
        """The scenarios of which that is decided; `None`: nothing."""
        return tuple(each for each in self.latest if each.decision is decision)

    @property
    def worst_first(self) -> tuple[ScenarioResult, ...]:
        """Each scenario in its newest round: dropped, revised, undecided, kept; then by id."""
        decisions = (Decision.drop, Decision.revise, None, Decision.keep)
        return tuple(each for decision in decisions for each in self.decided(decision))

    @property
    def n_invited(self) -> int:
        """Who has a place in the study, over all rounds."""
        return sum(role.n_invited for role in self.panel)

    @property
    def n_rated(self) -> int:
        """Of them, who rated anything."""
        return sum(role.n_rated for role in self.panel)

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
    study_id: str | None = None,
) -> StudyResults:
    """What a study found.

    Args:
        title: What the study is called.
        bank: Name of the bank.
        bank_version: Its version in the newest round.
        rounds: From the first, one at least.
        terms: What decides.
        n_withdrawn: Raters who have withdrawn; nothing else is known of them.
        study_id: Which study it is.
    """
    failed: set[str] = set()
    found: dict[str, ScenarioResult] = {}
    earlier: list[ScenarioResult] = []
    for said in rounds:
        answers = Answers(said)
        for name in said.versions:
            result = scenario_result(answers, name, terms, failed_before=name in failed)
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
        agreement=tuple(rater_agreement(said, scale) for said in rounds for scale in scales),
        panel=panel(rounds),
        study_id=study_id,
    )


def standings(found: StudyResults) -> tuple[Standing, ...]:
    """The status of each scenario that was rated, by id; raises as `standing`."""
    rounds = {said.number: said for said in found.rounds}
    title, name = found.title, found.study_id
    each = (standing(r, rounds[r.subject.round], title, name) for r in found.latest)
    return tuple(stands for stands in each if stands is not None)


def standing(
    result: ScenarioResult, said: RoundSaid, study: str, study_id: str | None = None
) -> Standing | None:
    """The status that a result gives its version.

    `validated` needs three occupational therapists and two other stakeholders who rated both
    scales, both passing; no objection to an item of −2 points where as many were asked, and said,
    of each; and no item that its raters reject, where three or more rated each. A scenario that is
    dropped by such a panel is `withdrawn`. All else that was rated is `reviewed`.

    Args:
        result: Of the newest round, by the paper's terms.
        said: That round.
        study: What the study is called.
        study_id: Which study it is.

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
    raters, n_open = _by_role(both), len(result.severe_objections)
    evidence = Evidence(
        study=study,
        round=result.subject.round,
        version=result.subject.version,
        raters=raters,
        realism=_count(realism),
        validity=_count(validity),
        objections=n_open if _asked_of_severe(result, said) else None,
        rejected=_rejected(result, said),
        study_id=study_id,
    )
    lacking = unmet(evidence)
    if evidence.objections is None and n_open:
        lacking += (f"{n_open} of those who were asked object to an item of −2 points",)
    status = Status.reviewed if lacking else Status.validated
    if result.decision is Decision.drop:
        if absent := too_few(raters):
            lacking = (*result.reasons, f"too few to withdraw it: {' and '.join(absent)}")
        else:
            status, lacking = Status.withdrawn, result.reasons
    name, version = result.subject.scenario, result.subject.version
    return Standing(name, version, said.hashes[name], status, evidence, lacking)


def _asked_of_severe(result: ScenarioResult, said: RoundSaid) -> bool:
    """Tell whether enough said what each item of −2 points deserves."""
    items = said.items.get(result.subject.scenario)
    if items is None:
        return False
    who = {item.subject: {view.rater for view in item.views} for item in result.items}
    severe = (item for item, proposed in items.items() if proposed.points == SEVERE)
    return not any(too_few(_by_role(who.get(item, ()))) for item in severe)


def _rejected(result: ScenarioResult, said: RoundSaid) -> tuple[str, ...] | None:
    """Return the items that raters reject; `None` where fewer than three rated any of them.

    An item of 0 points is not asked for relevance, and lacks no rating.
    """
    items = said.items.get(result.subject.scenario)
    if items is None:
        return None
    rated = {item.subject: len(item.relevance.ratings) for item in result.items}
    asked = (item for item, proposed in items.items() if proposed.points)
    rejected = tuple(item.name for item in result.items if item.rejections)
    if not rejected and any(rated.get(item, 0) < MIN_RATERS for item in asked):
        return None
    return rejected


def _by_role(raters: Iterable[Rater]) -> dict[str, int]:
    """How many of each role; a role that nobody has is no key."""
    return dict(Counter(role.value for role in Role for rater in raters if rater.role is role))


def chance_of_passing(n: int, share: float, rule: Rule) -> float:
    """Chance that a scale passes with n raters, if that share of all such raters would endorse it.

    A scenario is kept only if both its scales pass: with the same chance on each, at most that
    often, where the same raters endorse both, and its square where the scales are independent.

    Args:
        n: Raters, taken as drawn at random and rating on their own.
        share: 0 to 1.
        rule: What keeps it.

    Raises:
        StatsError: As `Rule.least`.
    """
    least = rule.least(n)
    return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(least, n + 1))


def _count(given: Endorsement) -> str:
    return f"{given.k}/{given.n}"


# The whole


def _scale(
    scale: Scale, first: RoundSaid, latest: Sequence[ScenarioResult], terms: Terms
) -> ScaleResult:
    answers = Answers(first)
    before = [scenario_result(answers, name, terms, failed_before=False) for name in first.versions]
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
