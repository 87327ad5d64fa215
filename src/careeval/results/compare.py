"""Two entries side by side: what differs, by how much, and what may be said of it.

The scenario is the unit, and everything is paired: each scenario's two numbers are held against
each other, over the scenarios that both were judged on. Two intervals that overlap say nothing
about a difference; its own interval does.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from careeval import scoring
from careeval.core.scenario import Adl, Domain, Rubric
from careeval.errors import StatsError, UsageError
from careeval.results.entries import Entry
from careeval.results.estimates import GradedRubric, Parts
from careeval.results.harms import Harm, harms
from careeval.results.points import Bounds, FloatArray, GradedScenario
from careeval.results.summary import why_not_ranked
from careeval.results.tables import WITHHELD
from careeval.stats import (
    MIN_CLUSTERS,
    Estimate,
    detectable_after,
    detectable_difference,
    flips_for,
    holm,
    ratio_errors,
    ratio_intervals,
    sign_flip_ps,
    smallest_p,
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
        p_holm: The same, held up against the other numbers of its family (Holm); `None` where `p`
            is.
        detectable: The smallest difference that would be found four times in five with a spread
            like this one, in a family of this size; `None` where it is not known.
        fewer_is_better: Whether it counts errors.
        why_not_detectable: Why `detectable` is not known; empty where it is.
        constant: Where there is no interval because all scenarios differ by the same, that
            difference as an interval, which unresolved items widen; `None` elsewhere.
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
    why_not_detectable: str = ""
    constant: tuple[float, float] | None = None

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
        """The least by which B is worse, as its interval has it, or the difference of them all.

        Negative where the interval reaches the other side. `None` where there is no interval, but
        for scenarios that all differ by the same: a loss that none of them escapes is one.
        """
        reach = self.difference.ci95 or self.constant
        if reach is None:
            return None
        return reach[0] if self.fewer_is_better else -reach[1]


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


K = TypeVar("K")
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
        bank=_known(a, "bank") or UNKNOWN,
        bank_version=_known(a, "bank_version") or UNKNOWN,
        protocol=_known(a, "protocol") or UNKNOWN,
        n_scenarios=len(shared),
        n_epochs=(a.n_epochs, b.n_epochs),
        metrics=differences(metrics, fewer_is_better=fewer),
        by_adl=differences(by_adl),
        by_domain=differences(by_domain),
        detectable_before=_detectable_before(
            len(compared[Rubric.ladder] or compared[Rubric.actions]), (a.n_epochs, b.n_epochs)
        ),
        to_severe=tuple(_flips(a, b, compared)),
        to_safe=tuple(_flips(b, a, compared)),
        notes=tuple(dict.fromkeys(_notes(a, b, asked, compared))),
    )


_OTHER_N = "the worst of n compares only between equal n"


UNKNOWN = "version unknown"
"""Stands for a bank, or a version of it or of the protocol, that no response names."""


def comparable_to(entry: Entry) -> tuple[str, str, str, str]:
    """What two entries must have in common: bank, its version's N, the protocol's N, the grader.

    What no response names is `UNKNOWN`. Two of these need not be the same: `why_unknown`.
    """
    bank, *versions = (_known(entry, name) for name in _SAME)
    bank_n, protocol_n = (UNKNOWN if version is None else _n(version) for version in versions)
    return UNKNOWN if bank is None else bank, bank_n, protocol_n, entry.grader


def why_unknown(entry: Entry) -> str:
    """Why an entry compares with none, since it does not say what it is over; empty if it does."""
    missing = [what for name, what in _SAME.items() if _known(entry, name) is None]
    if not missing:
        return ""
    return f"{UNKNOWN}: its responses do not name the {' and the '.join(missing)}"


_SAME = {
    "bank": "bank",
    "bank_version": "version of the bank",
    "protocol": "version of the protocol",
}
"""Columns that must agree → in words."""


def _known(entry: Entry, column: str) -> str | None:
    """What the responses have there; a missing one may have nothing."""
    known = entry.responses[column].drop_nulls()
    return None if known.is_empty() else str(known[0])


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
        if reason := why_unknown(entry):
            raise UsageError(
                f"{entry.model} compares with nothing: {reason}",
                hint="run it again with this version of careeval, in a new folder",
            )
    ours, theirs = comparable_to(a), comparable_to(b)
    for (name, what), one, other in zip(_SAME.items(), ours, theirs, strict=False):
        if one != other:
            raise UsageError(
                f"{a.model} and {b.model} do not compare: another {what}, "
                f"{_known(a, name)} and {_known(b, name)}",
                hint="run both over the same bank and protocol; of a version N-X, N must be equal",
            )
    if a.grader != b.grader:
        raise UsageError(
            f"{a.model} and {b.model} do not compare: another grader, {a.grader} and {b.grader}",
            hint="grade one of them again: careeval grade FOLDER --grader NAME",
        )


@dataclass(frozen=True, eq=False)
class Paired:
    """One number of two entries, over the scenarios that both have it for.

    Attributes:
        a: Numerators of the one, shape (n_scenarios,).
        b: Of the other.
        weights: The denominators, the same for both, of positive sum.
    """

    a: Bounds
    b: Bounds
    weights: FloatArray

    @staticmethod
    def of(a: Parts, b: Parts, alike: AbstractSet[str]) -> Paired:
        """Both parts over the scenarios in common.

        Args:
            a: The one.
            b: The other.
            alike: Scenarios whose rubric is the same in both; others are left out.

        Raises:
            StatsError: They have no scenario in common, or one has another maximum in each.
        """
        places = {name: row for row, name in enumerate(b.scenarios)}
        rows = [
            (row, places[name])
            for row, name in enumerate(a.scenarios)
            if name in places and name in alike
        ]
        if not rows:
            raise StatsError("there is no scenario in common")
        at = np.array(rows).T
        weights = a.denominators[at[0]]
        others = b.denominators[at[1]]
        if not (np.array_equal(weights, others) or np.allclose(weights, others)):
            raise StatsError("the same scenario has another maximum in each run")
        if not weights.sum() > 0:
            raise StatsError("no positive points: the score has no maximum")
        ours, theirs = (
            Bounds(of.numerators.low[place], of.numerators.high[place])
            for of, place in ((a, at[0]), (b, at[1]))
        )
        return Paired(ours, theirs, weights)

    @property
    def apart(self) -> Bounds:
        """B − A, with the unresolved items of both at their worst."""
        return Bounds(self.b.low - self.a.high, self.b.high - self.a.low)


def differences(
    family: Mapping[K, Paired | str],
    *,
    fewer_is_better: Container[K] = (),
    n_family: int | None = None,
    name: str = "",
) -> dict[K, Difference]:
    """B − A of each, held up against each other by Holm.

    Args:
        family: What is compared → both numbers, or why there are none.
        fewer_is_better: Those that count errors.
        n_family: Comparisons that Holm counts, where some of them could not be made and are no
            evidence; by default those alone that have a test.
        name: Of the number, where all are of one; by default each is named by its key.

    Returns:
        In the order given, by the same names.
    """
    known = {key: found for key, found in family.items() if isinstance(found, Paired)}
    tested = [key for key, found in known.items() if len(found.weights) >= MIN_CLUSTERS]
    n_family = len(tested) if n_family is None else n_family
    # of the same scenarios at once: as a rule they are all
    groups: dict[bytes, list[K]] = {}
    for key, found in known.items():
        groups.setdefault(found.weights.tobytes(), []).append(key)
    seen: dict[K, _Seen] = {}
    for keys in groups.values():
        seen |= zip(keys, _seen([known[key] for key in keys], n_family), strict=True)
    ps = [p for key in tested if (p := seen[key].p) is not None]
    adjusted = dict(zip(tested, holm([*ps, *[1.0] * (n_family - len(ps))]), strict=False))
    return {
        key: _unknown(name or str(key), found, key in fewer_is_better)
        if isinstance(found, str)
        else Difference(
            name=name or str(key),
            n=len(found.weights),
            a=float(found.a.middle.sum() / found.weights.sum()),
            b=float(found.b.middle.sum() / found.weights.sum()),
            difference=seen[key].estimate,
            p=seen[key].p,
            p_holm=adjusted.get(key),
            detectable=seen[key].detectable,
            fewer_is_better=key in fewer_is_better,
            why_not_detectable=seen[key].why_not_detectable,
            constant=seen[key].constant,
        )
        for key, found in family.items()
    }


def _unknown(name: str, reason: str, fewer_is_better: bool) -> Difference:
    unknown = Estimate.unknown(reason)
    return Difference(name, 0, None, None, unknown, None, None, None, fewer_is_better, reason)


class _Seen(NamedTuple):
    """What the fields of a `Difference` of these names are made from."""

    estimate: Estimate
    p: float | None
    detectable: float | None
    why_not_detectable: str
    constant: tuple[float, float] | None


def _seen(pairs: Sequence[Paired], n_family: int) -> list[_Seen]:
    """What is seen of pairs over the same scenarios, all at once.

    Args:
        pairs: Of equal weights.
        n_family: Comparisons in their family.
    """
    weights = pairs[0].weights
    total, n = float(weights.sum()), len(weights)
    apart = [pair.apart for pair in pairs]
    low, high = np.stack([of.low for of in apart]), np.stack([of.high for of in apart])
    at_low, at_high = low.sum(axis=1) / total, high.sum(axis=1) / total
    middles = (at_low + at_high) / 2
    if n < MIN_CLUSTERS:
        reason = "fewer than five scenarios"
        return [
            _Seen(Estimate(m, lo, hi, None, reason), None, None, reason, None)
            for m, lo, hi in zip(middles.tolist(), at_low.tolist(), at_high.tolist(), strict=True)
        ]
    # a second time only for pairs with unresolved items
    (open_,) = np.nonzero((low != high).any(axis=1))
    both = np.concatenate([low, high[open_]])
    ps = sign_flip_ps(both, draws=flips_for(n_family))
    p = ps[: len(pairs)].copy()
    p[open_] = np.maximum(p[open_], ps[len(pairs) :])
    p[(at_low < 0) & (at_high > 0)] = 1
    try:
        intervals, why_none = ratio_intervals(both, weights), _NO_VARIATION
    except StatsError as error:
        intervals, why_none = np.full((len(both), 2), np.nan), str(error)
    # the ends of an interval need not rise with the numbers: its width can grow faster
    ends = intervals[: len(pairs)].copy()
    ends[open_, 0] = np.minimum(ends[open_, 0], intervals[len(pairs) :, 0])
    ends[open_, 1] = np.maximum(ends[open_, 1], intervals[len(pairs) :, 1])
    errors = ratio_errors((low + high) / 2, weights)
    constants = _constants(both, weights, intervals, open_, len(pairs))
    found = []
    for row in range(len(pairs)):
        ci95 = None if np.isnan(ends[row]).any() else (float(ends[row, 0]), float(ends[row, 1]))
        detectable, why_not = _detectable(float(errors[row]), n, n_family)
        estimate = Estimate(
            float(middles[row]),
            float(at_low[row]),
            float(at_high[row]),
            ci95,
            "" if ci95 else why_none,
        )
        constant = None if ci95 else constants.get(row)
        found.append(_Seen(estimate, float(p[row]), detectable, why_not, constant))
    return found


_NO_VARIATION = "no variation to take an interval from"


def _constants(
    both: FloatArray,
    weights: FloatArray,
    intervals: FloatArray,
    open_: NDArray[np.intp],
    n_pairs: int,
) -> dict[int, tuple[float, float]]:
    """Pairs that differ by the same in all scenarios → from where to where, at both bounds."""
    ratios = both.sum(axis=1) / weights.sum()
    still = ratio_errors(both, weights) == 0
    ends = np.where(still[:, np.newaxis], ratios[:, np.newaxis], intervals)
    highs = dict(zip(open_.tolist(), range(n_pairs, len(both)), strict=True))
    found = {}
    for row in range(n_pairs):
        of = ends[[row, highs.get(row, row)]]
        if (still[row] or still[highs.get(row, row)]) and not np.isnan(of).any():
            found[row] = float(of[:, 0].min()), float(of[:, 1].max())
    return found


def _detectable(standard_error: float, n: int, n_family: int) -> tuple[float | None, str]:
    """The difference that would be found four times in five, or why none is known."""
    if smallest_p(n, n_family) >= LEVEL:
        return None, (
            f"{n} scenarios can find no difference, however large, among {n_family} comparisons"
        )
    if standard_error == 0:
        return None, "all scenarios differ by the same"
    return detectable_after(standard_error, comparisons=n_family, degrees=n - 1), ""


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


@dataclass(frozen=True)
class Asked:
    """What an entry's scenarios were: for telling whether two runs were asked the same.

    Attributes:
        rubrics: Rubric and scenario → ids and points of the items, in their order.
        texts: Scenario → its text; one that is not known or withheld is not in it.
    """

    rubrics: Mapping[tuple[Rubric, str], tuple[tuple[str, int], ...]]
    texts: Mapping[str, frozenset[str]]

    @staticmethod
    def of(entry: Entry) -> Asked:
        """Those of one entry, as it was first graded."""
        items = (
            entry.first.select("rubric", "scenario", "position", "item", "points")
            .unique()
            .sort("position", "item", "points")
            .group_by("rubric", "scenario", maintain_order=True)
            .agg("item", "points")
        )
        rubrics = {
            (Rubric(rubric), scenario): tuple(zip(names, points, strict=True))
            for rubric, scenario, names, points in items.iter_rows()
        }
        texts = (
            entry.responses.select("scenario", "scenario_text")
            .filter(pl.col("scenario_text") != WITHHELD)
            .unique()
            .group_by("scenario")
            .agg("scenario_text")
        )
        return Asked(rubrics, {name: frozenset(of) for name, of in texts.iter_rows()})


def alike_scenarios(a: Asked, b: Asked, rubric: Rubric) -> set[str]:
    """Scenarios with the same items and points in both, and the same text as far as it is known."""
    return {
        name
        for (which, name), items in a.rubrics.items()
        if which == rubric and b.rubrics.get((which, name)) == items and not _retold(a, b, name)
    }


def _retold(a: Asked, b: Asked, name: str) -> bool:
    """Whether a scenario's text is known of both and another one."""
    return name in a.texts and name in b.texts and a.texts[name] != b.texts[name]


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


def _flips(
    safe: Entry, other: Entry, compared: Mapping[Rubric, AbstractSet[str]]
) -> Iterator[Flip]:
    """Scenarios in which `safe` never erred severely and `other` did, most errors first."""
    ours, theirs = (
        {
            (rubric, s.scenario): s
            for rubric in Rubric
            for s in entry.rubric(rubric).judged
            if s.scenario in compared[rubric]
        }
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
        retold = {name for name in left if _retold(*asked, name)}
        for found, what in ((retold, "its text is another one"), (left - retold, _OTHER_RUBRIC)):
            if found:
                n, of = len(found), len(found) + len(compared[rubric])
                yield f"{rubric.value}: {n} of {of} scenarios are left out: {what} in each run."
    versions = _known(a, "bank_version"), _known(b, "bank_version")
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


def _n(version: str) -> str:
    """The N of a version N-X: what must be equal for numbers to compare."""
    return version.partition("-")[0]
