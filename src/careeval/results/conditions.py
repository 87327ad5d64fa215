"""One system in two conditions, paired by world: told − facts, and one act at a time − whole plans.

One difference is named beforehand, that of severe errors between `told` and `facts`; it alone is
tested. The others describe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from careeval.errors import StatsError
from careeval.results.compare import basis
from careeval.results.differences import Difference, Paired, differences
from careeval.results.entry import Entry
from careeval.results.metrics import BETWEEN_CONDITIONS, SEVERE
from careeval.results.plans import ANY, PlanCourses

FIRST = "facts"
"""The condition that the others are compared with."""

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
    """Yield the pairs: each other condition against `facts`, then steps against whole plans."""
    by_key = {(*_rest(entry), entry.given, entry.step): entry for entry in entries if entry.given}
    for (*rest, given, step), b in by_key.items():
        a = by_key.get((*rest, given, False) if step else (*rest, FIRST, False))
        if a is not None and a is not b:
            yield ConditionPair(a, b, _differences(a, b))


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


def _courses(entry: Entry) -> PlanCourses:
    return PlanCourses(ANY, entry.graded, entry.responses, entry.first)
