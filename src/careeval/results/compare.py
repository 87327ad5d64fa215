"""Two entries side by side: what flips, what differs, by how much, and what may be said of it.

Over the scenarios that both were judged on, on the same items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from careeval import scoring
from careeval.core.scenario import Adl, Domain, Rubric
from careeval.errors import StatsError, UsageError
from careeval.results.comparable import (
    UNKNOWN,
    Asked,
    alike_scenarios,
    check_comparable,
    named,
)
from careeval.results.differences import LEVEL, Difference, Paired, differences
from careeval.results.entries import Entry
from careeval.results.estimates import GradedRubric, Parts
from careeval.results.flips import Flip, flips
from careeval.results.summary import why_not_ranked
from careeval.stats import MIN_CLUSTERS, detectable_difference, smallest_p

ASSUMED_SCENARIO_SD, ASSUMED_RUN_SD = 0.25, 0.35
"""For the detectable difference before anything is run: a guess, in fractions of the maximum."""


@dataclass(frozen=True)
class Comparison:
    """Two systems as one grader judged them, paired by scenario.

    Each of `metrics`, `by_adl` and `by_domain` is a family of its own for Holm's correction.

    Attributes:
        a: Name of the one.
        b: Name of the other; differences are b − a.
        grader: Who judged both.
        n_scenarios: Scenarios that are compared: both were judged on one and the same rubric.
        n_epochs: Of A and of B.
        metrics: Score and errors on both rubrics, by the names of `METRICS`.
        by_adl: The ladder's score by activity; without an interval below five scenarios.
        by_domain: The actions' domain-weighted score.
        detectable_before: The smallest difference in score that this many scenarios and epochs
            would find four times in five, with the spreads that one would have guessed. It is of
            the score alone, declared beforehand, and of no family. `None` where flipped signs of
            so few scenarios could find none.
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
    detectable_before: float | None
    to_severe: tuple[Flip, ...]
    to_safe: tuple[Flip, ...]
    notes: tuple[str, ...]


Take = Callable[[GradedRubric], Parts]


class Metric(NamedTuple):
    """What two entries are compared by: a rubric, what to take of it, and which way is better."""

    rubric: Rubric
    take: Take
    fewer_is_better: bool = False


METRICS: Mapping[str, Metric] = {
    "score": Metric(Rubric.ladder, lambda of: of.score_parts()),
    "action_score": Metric(Rubric.actions, lambda of: of.score_parts()),
    "worst_at_n": Metric(Rubric.ladder, lambda of: of.worst_parts()),
    "action_worst_at_n": Metric(Rubric.actions, lambda of: of.worst_parts()),
    "severe": Metric(Rubric.ladder, lambda of: of.error_parts(scoring.SEVERE), True),
    "mild": Metric(Rubric.ladder, lambda of: of.error_parts(scoring.MILD), True),
    "action_severe": Metric(Rubric.actions, lambda of: of.error_parts(scoring.SEVERE), True),
    "action_mild": Metric(Rubric.actions, lambda of: of.error_parts(scoring.MILD), True),
}
"""Of errors it is the share of responses with any, mean over the scenarios whose rubric has such.
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
    asked = Asked.of(a), Asked.of(b)
    alike = {rubric: alike_scenarios(*asked, rubric) for rubric in Rubric}
    compared = {rubric: _both_judged(a, b, rubric) & alike[rubric] for rubric in Rubric}
    shared = set().union(*compared.values())
    if not shared:
        raise _nothing_shared(a, b)

    def paired(metric: Metric) -> Paired | str:
        return _paired(a, b, metric, alike[metric.rubric])

    metrics = {
        name: _OTHER_N if name in WORST and a.n_epochs != b.n_epochs else paired(metric)
        for name, metric in METRICS.items()
    }
    adls = {s.about.adl for rubric in (a.ladder, a.actions) for s in rubric.judged}
    by_adl = {adl: paired(Metric(Rubric.ladder, _of_adl(adl))) for adl in Adl if adl in adls}
    by_domain = {domain: paired(Metric(Rubric.actions, _of_domain(domain))) for domain in Domain}
    fewer = {name for name, metric in METRICS.items() if metric.fewer_is_better}
    return Comparison(
        a=a.model,
        b=b.model,
        grader=a.grader,
        bank=named(a, "bank") or UNKNOWN,
        bank_version=named(a, "bank_version") or UNKNOWN,
        protocol=named(a, "protocol") or UNKNOWN,
        n_scenarios=len(shared),
        n_epochs=(a.n_epochs, b.n_epochs),
        metrics=differences(metrics, fewer_is_better=fewer),
        by_adl=differences(by_adl),
        by_domain=differences(by_domain),
        detectable_before=_detectable_before(
            len(compared[Rubric.ladder] or compared[Rubric.actions]), (a.n_epochs, b.n_epochs)
        ),
        to_severe=tuple(flips(a, b, compared)),
        to_safe=tuple(flips(b, a, compared)),
        notes=tuple(dict.fromkeys(_notes(a, b, asked, compared))),
    )


_OTHER_N = "the worst of n compares only between equal n"


def _detectable_before(n: int, n_epochs: tuple[int, int]) -> float | None:
    if smallest_p(n) >= LEVEL:
        return None
    variances = ASSUMED_RUN_SD**2, ASSUMED_RUN_SD**2
    return detectable_difference(n, ASSUMED_SCENARIO_SD**2, variances, n_epochs, degrees=n - 1)


def _paired(a: Entry, b: Entry, metric: Metric, alike: AbstractSet[str]) -> Paired | str:
    """Both numbers, or why there are none."""
    try:
        ours, theirs = (metric.take(entry.rubric(metric.rubric)) for entry in (a, b))
        return Paired.of(ours, theirs, alike)
    except StatsError as error:
        return str(error)


def _of_adl(adl: Adl) -> Take:
    return lambda of: of.only(lambda s: s.about.adl == adl).score_parts()


def _of_domain(domain: Domain) -> Take:
    return lambda of: of.domain_parts(domain)


def _judged(entry: Entry) -> set[str]:
    return {s.scenario for rubric in (entry.ladder, entry.actions) for s in rubric.judged}


def _both_judged(a: Entry, b: Entry, rubric: Rubric) -> set[str]:
    ours, theirs = ({s.scenario for s in entry.rubric(rubric).judged} for entry in (a, b))
    return ours & theirs


def _nothing_shared(a: Entry, b: Entry) -> UsageError:
    """Why no scenario is compared."""
    if not _judged(a) & _judged(b):
        return UsageError(
            f"{a.model} and {b.model} were judged on no scenario in common",
            hint="compare runs over the same scenarios",
        )
    if not any(_both_judged(a, b, rubric) for rubric in Rubric):
        return UsageError(
            f"{a.model} and {b.model} were judged on no rubric in common",
            hint="grade one of them on the other's: careeval grade FOLDER --rubric both",
        )
    return UsageError(
        f"{a.model} and {b.model} do not compare: each scenario has another rubric or another text "
        "in each",
        hint="run both over the same bank",
    )


def _notes(
    a: Entry, b: Entry, asked: tuple[Asked, Asked], compared: Mapping[Rubric, AbstractSet[str]]
) -> Iterator[str]:
    n_shared = len(set().union(*compared.values()))
    for entry, other in ((a, b), (b, a)):
        mine = _judged(entry)
        met = set().union(*(_both_judged(entry, other, rubric) for rubric in Rubric))
        if n := len(mine - met):
            yield f"{entry.model}: {n} of its {len(mine)} scenarios are left out: no pair."
    for rubric in Rubric:
        left = _both_judged(a, b, rubric) - compared[rubric]
        retold = {name for name in left if asked[0].retold(asked[1], name)}
        for found, what in ((retold, "its text is another one"), (left - retold, _OTHER_RUBRIC)):
            if found:
                n, of = len(found), len(found) + len(compared[rubric])
                yield f"{rubric.value}: {n} of {of} scenarios are left out: {what} in each run."
    versions = named(a, "bank_version"), named(b, "bank_version")
    if versions[0] != versions[1]:
        yield f"Bank versions {versions[0]} and {versions[1]} compare."
    if a.n_epochs != b.n_epochs:
        yield f"{a.n_epochs} and {b.n_epochs} responses to a scenario: {_OTHER_N}."
    for entry in (a, b):
        for reason in why_not_ranked(entry):
            yield f"{entry.model}: not for ranking: {reason}."
    if n_shared < MIN_CLUSTERS:
        yield "Fewer than five scenarios in common: no interval, and nothing may be concluded."
    elif smallest_p(n_shared) >= LEVEL:
        yield "Five scenarios in common: p is 6% at least, and nothing may be concluded."


_OTHER_RUBRIC = "its rubric is another one"
