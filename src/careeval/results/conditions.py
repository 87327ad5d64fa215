"""Compare one system in two conditions, paired by world: told − facts, and steps − whole plans.

One difference is named beforehand, that of severe errors between `told` and `facts`; it alone is
tested. The others describe. Answers to closed questions are no plans; they part what a system knows
from what its plans do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from careeval import scoring
from careeval.errors import StatsError
from careeval.results.compare import basis
from careeval.results.differences import Difference, Paired, differences
from careeval.results.entry import Entry
from careeval.results.graded_rubric import GradedRubric
from careeval.results.metrics import BETWEEN_CONDITIONS, SEVERE
from careeval.results.plans import ANY, PlanCourses
from careeval.stats.estimate import Bounded, Estimate, scenario_rate

FIRST = "facts"
"""The condition that the others are compared with."""

QUESTIONS = "questions"
"""The condition in which closed questions are asked in place of a plan."""

PRIMARY = ("told", SEVERE.key)
"""The condition and the number of the one difference that is tested."""


@dataclass(frozen=True, eq=False)
class ConditionPair:
    """A system in two conditions as one grader judged it."""

    a: Entry  # The entry in `facts`, or with whole plans
    b: Entry  # The entry in the other condition, or one act at a time
    differences: Mapping[str, Difference]
    """Key of a number → its difference b − a; only the primary one has a p."""


def condition_pairs(entries: Sequence[Entry]) -> Iterator[ConditionPair]:
    """Yield pairs: each other condition with `facts`, and single acts with whole plans."""
    by_key = _by_key(entries)
    for (*rest, given, step), b in by_key.items():
        a = by_key.get((*rest, given, False) if step else (*rest, FIRST, False))
        if a is not None and a is not b and given != QUESTIONS:
            yield ConditionPair(a, b, _differences(a, b))


def _by_key(entries: Sequence[Entry]) -> Mapping[tuple[Any, ...], Entry]:
    return {(*_rest(entry), entry.given, entry.step): entry for entry in entries if entry.given}


def _rest(entry: Entry) -> tuple[str, ...]:
    """Return what both entries of a pair share; the texts, and so their hash, differ."""
    same = basis(entry)
    return entry.system, same.bank, same.bank_n, same.protocol_n, same.grading_n, same.grader


def _differences(a: Entry, b: Entry) -> Mapping[str, Difference]:
    shared = {*a.graded.scenarios} & {*b.graded.scenarios}

    def paired(key: str) -> Paired | str:
        terms = BETWEEN_CONDITIONS[key].terms
        assert terms is not None
        try:
            return Paired.of(terms(_courses(a)), terms(_courses(b)), shared)
        except StatsError as error:
            return str(error)

    fewer = {key for key, metric in BETWEEN_CONDITIONS.items() if metric.fewer_is_better}
    listed: dict[str, Difference] = {}
    for key in BETWEEN_CONDITIONS:
        is_primary = (b.given, key) == PRIMARY and not b.step
        one = differences({key: paired(key)}, fewer_is_better=fewer, n_family=1)[key]
        listed[key] = one if is_primary else one.untested
    return listed


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Shares of acts that a system knows in closed questions, and does right in its plans."""

    plans: Entry  # The entry of its plans, given facts
    points: int  # Points of the acts: +2 for what is needed, −2 for what is wrong
    n: int  # Acts, over the worlds that have both
    applies: Estimate  # Share of the acts that it knows, and does right
    only_knows: Estimate  # Share that it knows, and does wrong
    unaware: Estimate  # Share that it does not know, right or wrong in its plans


def knowledge(entries: Sequence[Entry]) -> Iterator[Knowledge]:
    """Yield for each entry of answers to questions what its system knows and does, by points.

    Each response to the questions of a world is paired with each plan for it.
    """
    by_key = _by_key(entries)
    for (*rest, given, _), asked in by_key.items():
        plans = by_key.get((*rest, FIRST, False))
        if given != QUESTIONS or plans is None:
            continue
        known, applied = _right(asked.graded), _right(plans.graded)
        for points in (scoring.BEST, scoring.SEVERE):
            acts = [
                key
                for key, (its_points, _) in known.items()
                if its_points == points and key in applied
            ]
            shares = [(known[key][1], applied[key][1]) for key in acts]
            worlds = [key[0] for key in acts]
            yield Knowledge(
                plans,
                points,
                len(shares),
                _share(worlds, [knows * does for knows, does in shares]),
                _share(worlds, [knows * (1 - does) for knows, does in shares]),
                _share(worlds, [1 - knows for knows, _ in shares]),
            )


def _right(graded: GradedRubric) -> Mapping[tuple[str, str], tuple[int, float]]:
    """Return world and item → points, and the share of plans or answers that are right in it.

    Responses that are neither plans nor answers, which show nothing, are left out.
    """
    right = {}
    for row in np.flatnonzero(graded.can_err.any(axis=1)).tolist():
        present = graded.present[row, graded.can_err[row]]
        for column, item in enumerate(graded.items["item"][row, : graded.n_items[row]]):
            points = int(graded.points[row, column])
            wanted = present[:, column] == (points > 0)
            right[graded.scenarios[row], item] = points, float(wanted.mean())
    return right


def _share(worlds: Sequence[str], shares: Sequence[float]) -> Estimate:
    """Return the mean over acts, with an interval over worlds."""
    if not worlds:
        return Estimate.unknown("no act of these points was asked about and judged in plans")
    names, at = np.unique(worlds, return_inverse=True)
    counts = np.bincount(at, weights=shares, minlength=len(names)).astype(np.float64)
    return scenario_rate(Bounded.exact(counts), np.bincount(at).astype(np.float64), "worlds")


def _courses(entry: Entry) -> PlanCourses:
    return PlanCourses(ANY, entry.graded, entry.responses, entry.first)
