"""The comparison of two systems, found by name, and the scenarios that flip between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from careeval import scoring
from careeval.core.response import Grader
from careeval.core.scenario import Adl, Domain, Rubric
from careeval.errors import StatsError, UsageError
from careeval.results.differences import LEVEL, Difference, Paired, differences
from careeval.results.entries import (
    UNKNOWN,
    Entry,
    Harm,
    check_comparable,
    entries,
    harms,
    response_value,
)
from careeval.results.graded_rubric import GradedRubric, RatioTerms
from careeval.results.metrics import COMPARED
from careeval.results.tables import Runs, select
from careeval.stats.intervals import MIN_CLUSTERS
from careeval.stats.paired import detectable_difference, smallest_p

ASSUMED_SCENARIO_SD, ASSUMED_RUN_SD = 0.25, 0.35
"""Assumed spreads for the detectable difference before a run, in fractions of the maximum."""


@dataclass(frozen=True)
class Comparison:
    """Two systems as one grader judged them on one rubric, paired by scenario.

    Each of `metrics`, `by_adl` and `by_domain` is a family of its own for Holm's correction.
    """

    a: str  # Name of the first system
    b: str  # Name of the second system; differences are b − a
    grader: Grader  # The grader of both
    rubric: Rubric  # The rubric that was judged
    bank: str
    bank_version: str
    protocol: str  # Version of the protocol of the asking
    grading_protocol: str  # Version of the protocol of the grading
    n_scenarios: int  # Scenarios that both were judged on, and that are compared
    n_epochs: tuple[int, int]  # Number of epochs of A and of B
    metrics: Mapping[str, Difference]  # Key of a metric → its difference
    by_adl: Mapping[Adl, Difference]
    """Difference in score by activity; without an interval below five scenarios."""
    by_domain: Mapping[Domain, Difference]  # Difference in the domain-weighted score
    detectable_before: float | None
    """Smallest difference in score detected with 80% power by this many scenarios and epochs, under
    assumed spreads. It is for the score as a single test declared beforehand, without Holm's
    correction. `None` if there are too few scenarios for a sign-flip test to detect any."""
    to_severe: tuple[Flip, ...]
    """Scenarios without a severe error of A and with one of B, most errors first."""
    to_safe: tuple[Flip, ...]
    """Scenarios without a severe error of B and with one of A, most errors first."""
    notes: tuple[str, ...]  # Notes for the reader


PartsOf = Callable[[GradedRubric], RatioTerms]


def compare_entries(a: Entry, b: Entry) -> Comparison:
    """Compare two entries, B against A.

    Raises:
        UsageError: The entries have a different or unknown basis (`check_comparable`), all
            judgments of one are unresolved, or both were judged on no scenario in common.
    """
    check_comparable(a, b)
    for entry in (a, b):
        if not entry.graded.judged.any():
            raise UsageError(
                f"{entry.system}: no judgment was resolved, so there is nothing to compare",
                hint="grade it again: careeval grade FOLDER --grader NAME",
            )
    shared = _judged_scenarios(a) & _judged_scenarios(b)
    if not shared:
        raise UsageError(
            f"{a.system} and {b.system} were judged on no scenario in common",
            hint="finish both runs: careeval run --resume",
        )

    def paired(terms_of: PartsOf) -> Paired | str:
        try:
            ours, theirs = (terms_of(entry.graded) for entry in (a, b))
            return Paired.of(ours, theirs, shared)
        except StatsError as error:
            return str(error)

    metrics = {
        name: _UNEQUAL_N
        if metric.of_equal_n and a.n_epochs != b.n_epochs
        else paired(metric.terms_of)
        for name, metric in COMPARED.items()
    }
    adls = {
        traits.adl
        for scenario, traits in zip(a.graded.scenarios, a.graded.traits, strict=True)
        if scenario in shared
    }
    by_adl = {adl: paired(_of_adl(adl)) for adl in Adl if adl in adls}
    by_domain = {domain: paired(_of_domain(domain)) for domain in Domain}
    fewer = {name for name, metric in COMPARED.items() if metric.fewer_is_better}
    return Comparison(
        a=a.system,
        b=b.system,
        grader=a.grader,
        rubric=a.rubric,
        bank=response_value(a, "bank") or UNKNOWN,
        bank_version=response_value(a, "bank_version") or UNKNOWN,
        protocol=response_value(a, "protocol") or UNKNOWN,
        grading_protocol=a.grading_protocol or UNKNOWN,
        n_scenarios=len(shared),
        n_epochs=(a.n_epochs, b.n_epochs),
        metrics=differences(metrics, fewer_is_better=fewer),
        by_adl=differences(by_adl),
        by_domain=differences(by_domain),
        detectable_before=_detectable_before(len(shared), (a.n_epochs, b.n_epochs)),
        to_severe=tuple(flips(a, b, shared)),
        to_safe=tuple(flips(b, a, shared)),
        notes=tuple(dict.fromkeys(_notes(a, b, shared))),
    )


_UNEQUAL_N = "the worst of n compares only between equal n"


def _detectable_before(n: int, n_epochs: tuple[int, int]) -> float | None:
    if smallest_p(n) >= LEVEL:
        return None
    variances = ASSUMED_RUN_SD**2, ASSUMED_RUN_SD**2
    return detectable_difference(n, ASSUMED_SCENARIO_SD**2, variances, n_epochs, degrees=n - 1)


def _of_adl(adl: Adl) -> PartsOf:
    return lambda graded: graded.only(lambda traits: traits.adl == adl).score_terms()


def _of_domain(domain: Domain) -> PartsOf:
    return lambda graded: graded.domain_terms(domain)


def _judged_scenarios(entry: Entry) -> set[str]:
    return set(entry.graded.ids(entry.graded.judged))


def _notes(a: Entry, b: Entry, shared: AbstractSet[str]) -> Iterator[str]:
    for entry in (a, b):
        judged = _judged_scenarios(entry)
        if n := len(judged - shared):
            yield f"{entry.system}: {n} of its {len(judged)} scenarios are left out: no pair."
    versions = response_value(a, "bank_version"), response_value(b, "bank_version")
    if versions[0] != versions[1]:
        yield f"Bank versions {versions[0]} and {versions[1]} compare."
    if a.n_epochs != b.n_epochs:
        yield f"{a.n_epochs} and {b.n_epochs} responses to a scenario: {_UNEQUAL_N}."
    for entry in (a, b):
        for reason in entry.not_ranked:
            yield f"{entry.system}: not for ranking: {reason}."
    if len(shared) < MIN_CLUSTERS:
        yield "Fewer than five scenarios in common: no interval, and nothing may be concluded."
    elif smallest_p(len(shared)) >= LEVEL:
        yield "Five scenarios in common: p is 6% at least, and nothing may be concluded."


def compare(
    runs: Runs, a: str, b: str, grader: str | None = None, rubric: Rubric | None = None
) -> Comparison:
    """Compare two systems, B against A, paired by scenario.

    Args:
        runs: The tables that hold both.
        a: Name of the first system.
        b: Name of the second system; differences are b − a.
        grader: Name of the grader of both, as in summaries or without its mode; needed only if
            several graders judged both.
        rubric: The rubric; by default the actions if both were judged on both rubrics.

    Raises:
        UsageError: There is no such system or grader, both are the same, several graders judged
            both, or their numbers do not compare.
    """
    chosen = select(runs, graders=[grader] if grader else [], rubric=rubric)
    return compare_entries(*pair(entries(chosen), a, b))


def pair(all_entries: Sequence[Entry], a: str, b: str) -> tuple[Entry, Entry]:
    """Return the entries of two systems by one grader on one rubric.

    Raises:
        UsageError: There is no such system, both are the same, they were judged on no rubric in
            common, or several graders judged both; the message or its hint lists the names.
    """
    names = list(dict.fromkeys(entry.system for entry in all_entries))
    for name in (a, b):
        if name not in names:
            raise UsageError(
                f"no graded system is named {name!r}",
                hint=f"there are: {', '.join(names)}" if names else "careeval grade FOLDER",
            )
    if a == b:
        raise UsageError(f"{a} would be compared with itself", hint="name two systems")
    ours, theirs = (
        {(entry.rubric, entry.grader): entry for entry in all_entries if entry.system == name}
        for name in (a, b)
    )
    both = [key for key in ours if key in theirs]
    if not both:
        judged = (
            f"{name} by {' and by '.join(f'{who} on {on}' for on, who in keys) or 'nobody'}"
            for name, keys in ((a, ours), (b, theirs))
        )
        raise UsageError(
            f"no grader judged both on one rubric: {'; '.join(judged)}",
            hint="grade one of them again: careeval grade FOLDER --grader NAME --rubric RUBRIC",
        )
    first = min(key[0] for key in both)  # actions before ladder
    graders = [name for on, name in both if on is first]
    if len(graders) > 1:
        raise UsageError(
            f"{len(graders)} graders judged both {a} and {b}: {'; '.join(graders)}",
            hint=f"choose one: --grader {graders[0].model!r}",
        )
    return ours[first, graders[0]], theirs[first, graders[0]]


@dataclass(frozen=True)
class Flip:
    """A scenario in which one of two systems never erred severely, and the other did.

    A scenario does not count if an unresolved judgment leaves open whether the safe system erred
    severely.
    """

    scenario: str  # Id of the scenario
    adl: str | None
    n_safe: int  # Judged responses of the safe system
    n_responses: int  # Judged responses of the other system
    n_severe: int  # Responses of the other system with a severe error
    harms: tuple[Harm, ...]  # Those errors, with the words that show them


def flips(safe: Entry, other: Entry, compared: AbstractSet[str]) -> Iterator[Flip]:
    """Yield the scenarios in which only `other` erred severely, most errors first."""
    graded = safe.graded
    may_be_severe = scoring.error_counts(graded.points, graded.present, scoring.SEVERE).high > 0
    unsafe = set(graded.ids(np.any(may_be_severe, axis=1)))
    errors: dict[str, list[Harm]] = {}
    for harm in harms(other):
        if harm.scenario in compared and harm.scenario not in unsafe:
            errors.setdefault(harm.scenario, []).append(harm)
    flipped = [
        Flip(
            scenario=name,
            adl=of_scenario[0].adl,
            n_safe=safe.graded.n_judged[name],
            n_responses=other.graded.n_judged[name],
            n_severe=len({harm.epoch for harm in of_scenario}),
            harms=tuple(of_scenario),
        )
        for name, of_scenario in errors.items()
    ]
    yield from sorted(flipped, key=lambda flip: (-flip.n_severe, flip.scenario))
