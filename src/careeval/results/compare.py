"""Comparisons of entries: two side by side, with the scenarios that flip, and rankings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from careeval import scoring
from careeval.core.response import Grader
from careeval.core.scenario import Adl, Domain, Rubric
from careeval.errors import StatsError, UsageError
from careeval.results.differences import LEVEL, Difference, Paired, Verdict, differences
from careeval.results.entries import entries
from careeval.results.entry import Entry
from careeval.results.graded_rubric import GradedRubric, RatioTerms
from careeval.results.harms import Harm, harms
from careeval.results.metrics import COMPARED, SCORE, SEVERE, Metric, Number
from careeval.results.tables import Runs, condition_text, select
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import MIN_SCENARIOS
from careeval.stats.paired import detectable_difference, rank_sets, smallest_p
from careeval.stats.score import pooled_score

UNKNOWN = "version unknown"
"""Stands for a bank or version that no response or judgment names."""


class Basis(NamedTuple):
    """The values that entries must share to be compared or ranked."""

    bank: str  # Name of the bank
    bank_n: str  # The N of its version N-X
    bank_hash: str  # Hash of the scenarios that were asked
    protocol_n: str  # The N of the version of the protocol of the asking
    grading_n: str  # The N of the version of the protocol of the grading
    grader: Grader
    rubric: Rubric  # The rubric that was judged
    given: str | None = None  # What a system is given of a world; `None` for a bank of words
    step: bool = False  # Whether it acts one act at a time

    @property
    def condition(self) -> str:
        """Return the condition in words; empty for a bank of words."""
        return condition_text(self.given, step=self.step)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the values as texts, the condition last, to sort and name by."""
        return (*self[:-2], self.condition)


_WORDS = {
    "bank": "bank",
    "bank_n": "version of the bank",
    "bank_hash": "choice of scenarios",
    "protocol_n": "version of the protocol that asked",
    "grading_n": "version of the protocol that judged",
}


def basis(entry: Entry) -> Basis:
    """Return the basis of an entry; values that it does not name are `UNKNOWN`."""
    return Basis(
        response_value(entry, "bank") or UNKNOWN,
        _n(response_value(entry, "bank_version")),
        response_value(entry, "bank_hash") or UNKNOWN,
        _n(response_value(entry, "protocol")),
        _n(entry.grading_protocol),
        entry.grader,
        entry.rubric,
        entry.given,
        entry.step,
    )


def why_unknown(entry: Entry) -> str:
    """Return why an entry without a bank or version cannot be compared; else empty."""
    own = basis(entry)._asdict()
    missing = [what for name, what in _WORDS.items() if own[name] == UNKNOWN]
    if not missing:
        return ""
    return f"{UNKNOWN}: it does not name the {' and the '.join(missing)}"


def response_value(entry: Entry, column: str) -> str | None:
    """Return the first value of a column of the responses; `None` if all are null."""
    values = entry.responses[column].drop_nulls()
    return None if values.is_empty() else str(values[0])


def check_comparable(a: Entry, b: Entry) -> None:
    """Raise an error if two entries cannot be compared.

    Raises:
        UsageError: The entries have a different basis, or one has an unknown basis or several. The
            message says which.
    """
    for entry in (a, b):
        for what, names in entry.mixed.items():
            if len({_n(name) for name in names}) > 1:
                raise UsageError(
                    f"{entry.name} cannot be compared: its responses are of {len(names)} "
                    f"{what}, {', '.join(names)}",
                    hint="run it again over one bank, in a new folder",
                )
        if reason := why_unknown(entry):
            raise UsageError(
                f"{entry.name} cannot be compared: {reason}",
                hint="run it again with this version of careeval, in a new folder",
            )
    if a.rubric != b.rubric:
        raise UsageError(
            f"{a.name} and {b.name} cannot be compared: one was judged on the {a.rubric}, the "
            f"other on the {b.rubric}",
            hint=f"grade one of them again: careeval grade FOLDER --rubric {b.rubric}",
        )
    ours, theirs = basis(a), basis(b)
    for name, what in _WORDS.items():
        one, other = getattr(ours, name), getattr(theirs, name)
        if one != other:
            raise UsageError(
                f"{a.name} and {b.name} cannot be compared: the {what} differs, {one} and {other}",
                hint="run both over the same scenarios of one bank, by one version of the protocol",
            )
    if ours.condition != theirs.condition:
        raise UsageError(
            f"{a.name} and {b.name} cannot be compared: the condition differs, "
            f"{ours.condition or 'none'!r} and {theirs.condition or 'none'!r}",
            hint="run both in one condition",
        )
    if a.grader != b.grader:
        raise UsageError(
            f"{a.name} and {b.name} cannot be compared: the grader differs, {a.grader} and "
            f"{b.grader}",
            hint="grade one of them again: careeval grade FOLDER --grader NAME",
        )


def _n(version: str | None) -> str:
    """Return the N of a version N-X, which must be equal for numbers to compare."""
    return UNKNOWN if version is None else version.partition("-")[0]


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
    given: str | None  # What both were given of a world; `None` for a bank of words
    step: bool  # Whether both acted one act at a time
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
                f"{entry.name}: no judgment was resolved, so there is nothing to compare",
                hint="grade it again: careeval grade FOLDER --grader NAME",
            )
    shared = _judged_scenarios(a) & _judged_scenarios(b)
    if not shared:
        raise UsageError(
            f"{a.name} and {b.name} were judged on no scenario in common",
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
        given=a.given,
        step=a.step,
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
    return lambda graded: graded.only(graded.has("adl", adl)).score_terms()


def _of_domain(domain: Domain) -> PartsOf:
    return lambda graded: graded.domain_terms(domain)


def _judged_scenarios(entry: Entry) -> set[str]:
    return set(entry.graded.ids(entry.graded.judged))


def _notes(a: Entry, b: Entry, shared: AbstractSet[str]) -> Iterator[str]:
    for entry in (a, b):
        judged = _judged_scenarios(entry)
        if n := len(judged - shared):
            yield f"{entry.name}: {n} of its {len(judged)} scenarios are left out: no pair."
    versions = response_value(a, "bank_version"), response_value(b, "bank_version")
    if versions[0] != versions[1]:
        yield f"Bank versions {versions[0]} and {versions[1]} compare."
    if a.n_epochs != b.n_epochs:
        yield f"{a.n_epochs} and {b.n_epochs} responses to a scenario: {_UNEQUAL_N}."
    for entry in (a, b):
        for reason in entry.not_ranked:
            yield f"{entry.name}: not for ranking: {reason}."
    if len(shared) < MIN_SCENARIOS:
        yield "Fewer than five scenarios in common: no interval, and nothing may be concluded."
    elif smallest_p(len(shared)) >= LEVEL:
        yield "Five scenarios in common: p is 6% at least, and nothing may be concluded."


def compare(
    runs: Runs, a: str, b: str, grader: str | None = None, rubric: Rubric | None = None
) -> Comparison:
    """Compare two systems, B against A, paired by scenario.

    Args:
        runs: The tables that hold both.
        a: Name of the first system, with its condition where `Entry.name` has it.
        b: Name of the second system, likewise; differences are b − a.
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
    """Return the entries of these two names by one grader on one rubric.

    Raises:
        UsageError: There is no such system, both are the same, they were judged on no rubric in
            common, or several graders judged both; the message or its hint lists the names.
    """
    names = list(dict.fromkeys(entry.name for entry in all_entries))
    for name in (a, b):
        if name not in names:
            raise UsageError(
                f"no graded system is named {name!r}",
                hint=f"there are: {', '.join(names)}" if names else "careeval grade FOLDER",
            )
    if a == b:
        raise UsageError(f"{a} would be compared with itself", hint="name two systems")
    ours, theirs = (
        {(entry.rubric, entry.grader): entry for entry in all_entries if entry.name == name}
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


@dataclass(frozen=True)
class Ranked:
    """One entry in a ranking."""

    place: int  # Index among the entries, from 0
    system: str  # Name of the system
    score: float  # Score of the entry
    ranks: tuple[int, int]
    """Best and worst rank that it may have by score, from 1: one more than the number of
    significantly better entries, and the number of entries without the significantly worse."""
    severe_ranks: tuple[int, int] | None
    """Best and worst rank by the share of responses with a severe error; `None` if unknown."""
    bank_maker: str | None = None
    """The system's vendor if it is one of the bank's makers; else `None`."""


@dataclass(frozen=True)
class Ranking:
    """Entries that compare with each other, ranked by score and by severe errors."""

    basis: Basis  # Bank, protocols, grader and rubric that they share
    ranked: tuple[Ranked, ...]  # The entries, highest score first
    pairs: Mapping[tuple[str, str], Difference]
    """B − A in score for each two names (A, B). `p_holm` is over all pairs, also those without a p.
    The ranks follow from the verdicts."""
    severe_pairs: Mapping[tuple[str, str], Difference]
    """B − A in the share of responses with a severe error, likewise."""
    left_out: Mapping[str, str]  # Name → why it may not be ranked
    notes: tuple[str, ...] = ()  # Notes for the reader

    def difference(self, metric: str, a: str, b: str) -> Difference:
        """Return B − A of two systems in a metric of `RANKED_BY`; unknown if not computed."""
        pairs = {SCORE.key: self.pairs, SEVERE.key: self.severe_pairs}[metric]
        if (a, b) in pairs:
            return pairs[a, b]
        if (b, a) in pairs:
            return pairs[b, a].reversed
        unknown = Estimate.unknown(f"{metric} is not known for one of them")
        return Difference(metric, 0, None, None, unknown, None, None, None)


RANKED_BY = (SEVERE.key, SCORE.key)
"""Metrics by which a ranking compares each two systems."""


def rankings(entries: Sequence[Entry]) -> list[Ranking]:
    """Return one ranking for each set of entries that can be compared with each other."""
    groups: dict[Basis, dict[str, int]] = {}
    for place, entry in enumerate(entries):
        groups.setdefault(basis(entry), {})[entry.system] = place
    return [_ranking(key, places, entries) for key, places in groups.items()]


def _ranking(key: Basis, places: Mapping[str, int], entries: Sequence[Entry]) -> Ranking:
    by_name = {name: entries[place] for name, place in places.items()}
    reasons = {name: "; ".join(e.not_ranked) or why_unknown(e) for name, e in by_name.items()}
    rankable = {name: entry for name, entry in by_name.items() if not reasons[name]}
    by_score = _MetricRanks.of(rankable, SCORE)
    by_severe = _MetricRanks.of({name: rankable[name] for name in by_score.values}, SEVERE)
    ranked = [
        Ranked(
            places[name],
            name,
            value,
            by_score.ranks[name],
            by_severe.ranks.get(name),
            rankable[name].bank_maker,
        )
        for name, value in sorted(by_score.values.items(), key=lambda each: -each[1])
    ]
    return Ranking(
        key,
        tuple(ranked),
        by_score.pairs,
        by_severe.pairs,
        {name: reason for name, reason in reasons.items() if reason} | dict(by_score.unknown),
        (*_ranking_notes(by_score.pairs.values()), *_maker_notes(ranked)),
    )


@dataclass(frozen=True)
class _MetricRanks:
    """The ranks of entries by one metric, by the names of their systems."""

    values: Mapping[str, float]  # The metric of each entry
    unknown: Mapping[str, str]  # For entries without a number, the reason
    pairs: Mapping[tuple[str, str], Difference]  # B − A for each two
    ranks: Mapping[str, tuple[int, int]]  # Best and worst rank that each may have

    @classmethod
    def of(cls, entries: Mapping[str, Entry], metric: Metric[GradedRubric, Number]) -> _MetricRanks:
        """Compare each two entries by a metric."""
        parts: dict[str, RatioTerms] = {}
        values: dict[str, float] = {}
        unknown: dict[str, str] = {}
        for name, entry in entries.items():
            try:
                parts[name] = metric.terms_of(entry.graded)
                numerators = parts[name].numerators.value[:, np.newaxis]
                values[name] = pooled_score(numerators, parts[name].denominators)
            except StatsError as error:
                unknown[name] = f"no {metric.key}: {error}"
        couples = list(combinations(values, 2))
        family: dict[tuple[str, str], Paired | str] = {}
        for a, b in couples:
            try:
                family[a, b] = Paired.of(parts[a], parts[b], set(parts[a].scenarios))
            except StatsError as error:
                family[a, b] = str(error)
        # a difference without a test is no evidence, but still counts in the size of the family
        pairs = differences(
            family,
            fewer_is_better=couples if metric.fewer_is_better else (),
            n_family=len(couples),
            name=metric.key,
        )
        rows = {name: row for row, name in enumerate(values)}
        better = np.zeros((len(rows), len(rows)), dtype=bool)
        for (a, b), difference in pairs.items():
            if difference.verdict is Verdict.better:
                better[rows[b], rows[a]] = True
            elif difference.verdict is Verdict.worse:
                better[rows[a], rows[b]] = True
        return cls(values, unknown, pairs, dict(zip(values, rank_sets(better), strict=True)))


def _ranking_notes(pairs: Iterable[Difference]) -> Iterator[str]:
    """Yield a note if no pair has enough scenarios for a difference to be found."""
    sizes = [d.n for d in pairs]
    max_n = max(sizes, default=0)
    if sizes and max_n < MIN_SCENARIOS:
        yield "Fewer than five scenarios in common: nothing is tested."
    elif sizes and smallest_p(max_n, len(sizes)) >= LEVEL:
        yield (
            f"{max_n} scenarios are too few to tell any of {len(sizes)} pairs apart: corrected for "
            "so many pairs, even the smallest possible p is not below 5%. Ask more scenarios, or "
            "compare fewer systems."
        )


MAKER_MARK = "†"
"""Marks a system whose vendor is one of its bank's makers."""


def _maker_notes(ranked: Sequence[Ranked]) -> Iterator[str]:
    """Yield a note on the systems whose vendor is one of the bank's makers."""
    if marked := [each for each in ranked if each.bank_maker]:
        makers = ", ".join(dict.fromkeys(str(each.bank_maker) for each in marked))
        names = ", ".join(each.system for each in marked)
        yield (
            f"{MAKER_MARK} {names}: AI of the same vendor ({makers}) wrote this bank or answered "
            "its pilot, which may help or hinder."
        )
