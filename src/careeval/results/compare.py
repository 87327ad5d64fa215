"""Two entries side by side: what differs, by how much, and what may be said of it.

The scenario is the unit, and everything is paired: each scenario's two numbers are held against
each other, over the scenarios that both were judged on. Two intervals that overlap say nothing
about a difference; its own interval does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import numpy as np

from careeval import scoring
from careeval.core.scenario import Adl, Domain, Rubric
from careeval.errors import StatsError, UsageError
from careeval.results.entries import Entry
from careeval.results.estimates import Parts, bounded
from careeval.results.harms import Harm, harms
from careeval.results.points import Bounds, FloatArray, GradedScenario
from careeval.results.summary import why_not_ranked
from careeval.stats import (
    MIN_CLUSTERS,
    Estimate,
    detectable_after,
    detectable_difference,
    holm,
    linearised_ratio,
    ratio_interval,
    sign_flip_p,
)

LEVEL = 0.05
"""Below it, a p value held up against its family counts."""

ASSUMED_SCENARIO_SD, ASSUMED_RUN_SD = 0.25, 0.35
"""For the detectable difference before anything is run: a guess, in fractions of the maximum."""


class Verdict(StrEnum):
    """What may be said of B against A."""

    better = "B better"
    worse = "B worse"
    unclear = "no clear difference"
    unknown = "not known"


@dataclass(frozen=True)
class Difference:
    """What B has more than A of one number, paired by scenario.

    Attributes:
        name: Of the number: a metric, an activity, a domain.
        n: Scenarios that both were judged on.
        a: A's number over these scenarios, halfway between its bounds; `None` where unknown.
        b: B's.
        difference: b − a; its bounds settle the unresolved items of both at their worst.
        p: Two-sided, by flipping the signs of the scenarios' differences; the larger one where
            unresolved items leave it open. 1 where no scenario differs. `None` below five
            scenarios.
        p_holm: The same, held up against the other numbers of its family (Holm).
        detectable: The smallest difference that would be found four times in five with a spread
            like this one; `None` where there is no such spread.
        fewer_is_better: Whether it counts errors.
    """

    name: str
    n: int
    a: float | None
    b: float | None
    difference: Estimate
    p: float | None
    p_holm: float | None
    detectable: float | None
    fewer_is_better: bool = False

    @property
    def clear(self) -> bool:
        """Whether the 95% interval leaves out 0: on its own, whatever else is compared."""
        ci95 = self.difference.ci95
        return ci95 is not None and not ci95[0] <= 0 <= ci95[1]

    @property
    def verdict(self) -> Verdict:
        """What may be said of it within its family: by Holm's p, and never by overlap."""
        value = self.difference.value
        if value is None or self.p_holm is None:
            return Verdict.unknown
        if self.p_holm >= LEVEL or (self.difference.ci95 is not None and not self.clear):
            return Verdict.unclear
        return Verdict.worse if (value > 0) == self.fewer_is_better else Verdict.better

    @property
    def b_is_worse_by_more_than(self) -> float | None:
        """The least by which B is worse, as its interval has it; `None` without an interval.

        Negative where the interval reaches the other side.
        """
        ci95 = self.difference.ci95
        if ci95 is None:
            return None
        return ci95[0] if self.fewer_is_better else -ci95[1]


@dataclass(frozen=True)
class Flip:
    """A scenario in which one of two never erred severely, and the other did.

    On the rubrics that both were judged on. Where it is unresolved whether the one erred severely,
    it cannot be said that it never did.

    Attributes:
        scenario: Its id.
        n_safe: Responses of the one, judged.
        n_responses: Of the other, judged.
        n_severe: Of these, with a severe error on either rubric.
        harms: Those errors, with their words.
    """

    scenario: str
    adl: str | None
    n_safe: int
    n_responses: int
    n_severe: int
    harms: tuple[Harm, ...]


@dataclass(frozen=True)
class Comparison:
    """Two systems as one grader judged them, paired by scenario.

    Each of `metrics`, `by_adl` and `by_domain` is a family of its own for Holm's correction.

    Attributes:
        a: Name of the one.
        b: Name of the other; differences are b − a.
        grader: Who judged both.
        n_scenarios: Scenarios that both were judged on.
        n_epochs: Of A and of B.
        metrics: Score and errors on both rubrics, by the names of `METRICS`.
        by_adl: The ladder's score by activity; without an interval below five scenarios.
        by_domain: The actions' domain-weighted score.
        detectable_before: The smallest difference in score that this many scenarios and epochs
            would find four times in five, with the spreads that one would have guessed.
        to_severe: Scenarios safe with A, and not with B; most severe errors first.
        to_safe: The other way round.
        notes: What must be read with it.
    """

    a: str
    b: str
    grader: str
    bank: str
    bank_version: str
    protocol: str
    n_scenarios: int
    n_epochs: tuple[int, int]
    metrics: Mapping[str, Difference]
    by_adl: Mapping[Adl, Difference]
    by_domain: Mapping[Domain, Difference]
    detectable_before: float
    to_severe: tuple[Flip, ...]
    to_safe: tuple[Flip, ...]
    notes: tuple[str, ...]


K = TypeVar("K")
Take = Callable[[Entry], Parts]

METRICS: Mapping[str, tuple[Take, bool]] = {
    "score": (lambda entry: entry.ladder.score_parts(), False),
    "action_score": (lambda entry: entry.actions.score_parts(), False),
    "worst_at_n": (lambda entry: entry.ladder.worst_parts(), False),
    "action_worst_at_n": (lambda entry: entry.actions.worst_parts(), False),
    "severe": (lambda entry: entry.ladder.error_parts(scoring.SEVERE), True),
    "mild": (lambda entry: entry.ladder.error_parts(scoring.MILD), True),
    "action_severe": (lambda entry: entry.actions.error_parts(scoring.SEVERE), True),
    "action_mild": (lambda entry: entry.actions.error_parts(scoring.MILD), True),
}
"""What two entries are compared by → its parts, and whether fewer is better.

Of errors it is the share of responses with any, mean over the scenarios whose rubric has such.
"""

WORST = {"worst_at_n", "action_worst_at_n"}


def compare(a: Entry, b: Entry) -> Comparison:
    """Compare two entries, B against A.

    Raises:
        UsageError: Their numbers do not compare: another bank, another `N` of the bank's or the
            protocol's version, another grader, or no scenario in common.
    """
    check_comparable(a, b)
    for entry in (a, b):
        if not _judged(entry):
            raise UsageError(
                f"{entry.model}: no judgment was resolved, so there is nothing to compare",
                hint="grade it again: careeval grade FOLDER --grader NAME",
            )
    shared = sorted(_judged(a) & _judged(b))
    if not shared:
        raise UsageError(
            f"{a.model} and {b.model} were judged on no scenario in common",
            hint="compare runs over the same scenarios",
        )
    metrics = {
        name: Difference(name, 0, None, None, Estimate.unknown(_OTHER_N), None, None, None, fewer)
        if name in WORST and a.n_epochs != b.n_epochs
        else difference(name, a, b, take, fewer_is_better=fewer)
        for name, (take, fewer) in METRICS.items()
    }
    adls = {s.about.adl for rubric in (a.ladder, a.actions) for s in rubric.judged}
    by_adl = {adl: difference(adl.value, a, b, _of_adl(adl)) for adl in Adl if adl in adls}
    by_domain = {domain: difference(domain.value, a, b, _of_domain(domain)) for domain in Domain}
    return Comparison(
        a=a.model,
        b=b.model,
        grader=a.grader,
        bank=a.run["bank"],
        bank_version=a.run["bank_version"],
        protocol=a.run["protocol"],
        n_scenarios=len(shared),
        n_epochs=(a.n_epochs, b.n_epochs),
        metrics=_held_up(metrics),
        by_adl=_held_up(by_adl),
        by_domain=_held_up(by_domain),
        detectable_before=detectable_difference(
            len(shared),
            ASSUMED_SCENARIO_SD**2,
            (ASSUMED_RUN_SD**2, ASSUMED_RUN_SD**2),
            (a.n_epochs, b.n_epochs),
        ),
        to_severe=tuple(_flips(a, b)),
        to_safe=tuple(_flips(b, a)),
        notes=tuple(dict.fromkeys(_notes(a, b, len(shared)))),
    )


_OTHER_N = "the worst of n compares only between equal n"


def comparable_to(entry: Entry) -> tuple[str, str, str, str]:
    """What two entries must have in common: bank, its version's N, the protocol's N, the grader."""
    run = entry.run
    return run["bank"], _n(run["bank_version"]), _n(run["protocol"]), entry.grader


def check_comparable(a: Entry, b: Entry) -> None:
    """Refuse what does not compare.

    Raises:
        UsageError: It names what differs.
    """
    for entry in (a, b):
        for what, names in entry.mixed.items():
            if len({_n(name) for name in names}) > 1:
                raise UsageError(
                    f"{entry.model} compares with nothing: its responses are of {len(names)} "
                    f"{what}, {', '.join(names)}",
                    hint="run it again over one bank, in a new folder",
                )
    for what, field, whole in (
        ("bank", "bank", True),
        ("version of the bank", "bank_version", False),
        ("version of the protocol", "protocol", False),
    ):
        one, other = a.run[field], b.run[field]
        if one != other if whole else _n(one) != _n(other):
            raise UsageError(
                f"{a.model} and {b.model} do not compare: another {what}, {one} and {other}",
                hint="run both over the same bank and protocol; of a version N-X, N must be equal",
            )
    if a.grader != b.grader:
        raise UsageError(
            f"{a.model} and {b.model} do not compare: another grader, {a.grader} and {b.grader}",
            hint="grade one of them again: careeval grade FOLDER --grader NAME",
        )


def difference(
    name: str,
    a: Entry,
    b: Entry,
    take: Take,
    *,
    fewer_is_better: bool = False,
    test: Callable[[FloatArray], float] = sign_flip_p,
) -> Difference:
    """B − A of one number, over the scenarios that both have it for; not held up against others.

    Args:
        name: Of the number.
        a: The one.
        b: The other.
        take: What the number is made of.
        fewer_is_better: Whether it counts errors.
        test: From the scenarios' differences to a two-sided p.
    """
    try:
        first, second, weights = _paired(take(a), take(b))
    except StatsError as error:
        unknown = Estimate.unknown(str(error))
        return Difference(name, 0, None, None, unknown, None, None, None, fewer_is_better)
    total = float(weights.sum())
    apart = Bounds(second.low - first.high, second.high - first.low)
    estimate = bounded(
        lambda settled: float(settled.sum() / total),
        lambda settled: ratio_interval(settled, weights),
        apart,
    )
    p = _p(apart, test)
    return Difference(
        name=name,
        n=len(weights),
        a=float(first.middle.sum() / total),
        b=float(second.middle.sum() / total),
        difference=estimate,
        p=p,
        p_holm=p,
        detectable=_detectable(apart, weights),
        fewer_is_better=fewer_is_better,
    )


def _p(apart: Bounds, test: Callable[[FloatArray], float]) -> float | None:
    """The larger p of both bounds, 1 where they have 0 between them; `None` without a test."""
    try:
        largest = max(test(part) for part in ((apart.low,) if apart.resolved else apart.both))
    except StatsError:
        return None
    return 1.0 if apart.low.sum() < 0 < apart.high.sum() else largest


def _detectable(apart: Bounds, weights: FloatArray) -> float | None:
    if len(weights) < MIN_CLUSTERS:
        return None
    try:
        return detectable_after(linearised_ratio(apart.middle, weights)[1])
    except StatsError:
        return None


def _paired(a: Parts, b: Parts) -> tuple[Bounds, Bounds, FloatArray]:
    """Both numerators over the scenarios in common, and the denominators, which are the same.

    Raises:
        StatsError: They have no scenario in common, or one that was judged on two rubrics of
            different size.
    """
    places = [{name: row for row, name in enumerate(parts.scenarios)} for parts in (a, b)]
    shared = [name for name in a.scenarios if name in places[1]]
    rows = [[of[name] for name in shared] for of in places]
    if not shared:
        raise StatsError("there is no scenario in common")
    ours, theirs = a.denominators[rows[0]], b.denominators[rows[1]]
    if not np.allclose(ours, theirs):
        raise StatsError("the same scenario has another maximum in each run")
    if not ours.sum() > 0:
        raise StatsError("no positive points: the score has no maximum")
    first, second = (
        Bounds(*(part[at] for part in parts.numerators.both))
        for parts, at in zip((a, b), rows, strict=True)
    )
    return first, second, ours


def _held_up(family: dict[K, Difference]) -> dict[K, Difference]:
    """The same with Holm's p values over the members that have one."""
    tested = [key for key, found in family.items() if found.p is not None]
    adjusted = holm([p for key in tested if (p := family[key].p) is not None])
    corrected = dict(zip(tested, adjusted, strict=True))
    return {key: replace(found, p_holm=corrected.get(key)) for key, found in family.items()}


def _of_adl(adl: Adl) -> Take:
    return lambda entry: entry.ladder.only(lambda s: s.about.adl == adl).score_parts()


def _of_domain(domain: Domain) -> Take:
    return lambda entry: entry.actions.domain_parts(domain)


def _judged(entry: Entry) -> set[str]:
    return {s.scenario for rubric in (entry.ladder, entry.actions) for s in rubric.judged}


def _flips(safe: Entry, other: Entry) -> Iterator[Flip]:
    """Scenarios in which `safe` never erred severely and `other` did, most errors first."""
    ours, theirs = (
        {(rubric, s.scenario): s for rubric in Rubric for s in entry.rubric(rubric).judged}
        for entry in (safe, other)
    )
    common = ours.keys() & theirs.keys()
    perhaps = {scenario for rubric, scenario in common if _may_be_severe(ours[rubric, scenario])}
    found: dict[str, list[Harm]] = {}
    for harm in harms(other):
        if (harm.rubric, harm.scenario) in common and harm.scenario not in perhaps:
            found.setdefault(harm.scenario, []).append(harm)
    flips = []
    for name, of in found.items():
        n_safe, n_responses = (
            len({e for key in common if key[1] == name for e in part[key].epochs.tolist()})
            for part in (ours, theirs)
        )
        n_severe = len({harm.epoch for harm in of})
        flips.append(Flip(name, of[0].adl, n_safe, n_responses, n_severe, tuple(of)))
    yield from sorted(flips, key=lambda flip: (-flip.n_severe, flip.scenario))


def _may_be_severe(scenario: GradedScenario) -> bool:
    """Whether a severe error was found in any response, or it is unresolved that there was none."""
    counts = scoring.error_counts(scenario.points, scenario.present, scoring.SEVERE)
    return bool((counts.high > 0).any())


def _notes(a: Entry, b: Entry, n_shared: int) -> Iterator[str]:
    for entry in (a, b):
        if (n := len(_judged(entry))) > n_shared:
            yield f"{entry.model}: {n - n_shared} of its {n} scenarios are left out: no pair."
    if a.run["bank_version"] != b.run["bank_version"]:
        yield f"Bank versions {a.run['bank_version']} and {b.run['bank_version']} compare."
    if a.n_epochs != b.n_epochs:
        yield f"{a.n_epochs} and {b.n_epochs} responses to a scenario: {_OTHER_N}."
    for entry in (a, b):
        for reason in why_not_ranked(entry):
            yield f"{entry.model}: not for ranking: {reason}."
    if n_shared < MIN_CLUSTERS:
        yield "Fewer than five scenarios in common: no interval, and nothing may be concluded."


def _n(version: str) -> str:
    """The N of a version N-X: what must be equal for numbers to compare."""
    return version.partition("-")[0]
