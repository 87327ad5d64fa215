"""Compare one system in two conditions, paired by world: told − facts, and steps − whole plans.

One difference is named beforehand, that of severe errors between `told` and `facts`; it alone is
tested. The others describe. Answers to closed questions are no plans; they part what a system knows
from what its plans do, and what it sees in a picture from what it makes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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

SEEN, DESCRIBED = "seen", "described"
"""The conditions in which a picture takes the place of some facts, or a list of what it shows."""

SIGHT = "sight"
"""The condition in which closed questions about a picture are asked in place of a plan."""

NO_PLANS = (QUESTIONS, SIGHT)

DECIDING, OTHER = "deciding-", "other-"
"""The start of the ids of questions about the fact that differs between base and twin, and about
other things."""

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
    """Yield pairs: each other condition with `facts`, `seen` with `described`, steps with plans."""
    by_key = _by_key(entries)
    for (*rest, given, step), b in by_key.items():
        if given in NO_PLANS:
            continue
        others = [given] if step else [FIRST, *([DESCRIBED] if given == SEEN else [])]
        for other in others:
            a = by_key.get((*rest, other, False))
            if a is not None and a is not b:
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


_NO_ACT = "no act of these points was asked about and judged in plans"


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


def _share(worlds: Sequence[str], shares: Sequence[float], unknown: str = _NO_ACT) -> Estimate:
    """Return the mean over acts or pairs, with an interval over worlds; unknown without any."""
    if not worlds:
        return Estimate.unknown(unknown)
    names, at = np.unique(worlds, return_inverse=True)
    counts = np.bincount(at, weights=shares, minlength=len(names)).astype(np.float64)
    return scenario_rate(Bounded.exact(counts), np.bincount(at).astype(np.float64), "worlds")


@dataclass(frozen=True, eq=False)
class Sight:
    """Shares of pairs of pictures, base and twin, that a system sees, and that its plans follow."""

    asked: Entry  # The entry of its answers about pictures
    n: int  # Pairs of which both pictures were asked about
    other: Estimate  # Share of its answers about other things that are right
    deciding: Estimate  # Share of its answers about the fact that decides that are right
    sees: Estimate  # Share of pairs in which the latter are right for both pictures
    acts: Estimate  # Share in which it sees, and its plans given pictures follow what it sees
    only_sees: Estimate  # Share in which it sees, and they do not
    blind: Estimate  # Share in which it does not see
    """The last three sum to 1; unknown without plans."""


def sight(entries: Sequence[Entry]) -> Iterator[Sight]:
    """Yield for each entry of answers about pictures what its system sees and does.

    Plans follow a picture if they have the right act of each world of a pair alone: `adapted`.
    """
    by_key = _by_key(entries)
    for (*rest, given, _), asked in by_key.items():
        if given != SIGHT:
            continue
        of_bases = _answers(asked.graded)
        of_twins = _answers(asked.beside.graded) if asked.beside else {}
        bases = {twin: base for twin, base in _bases(asked) if base in of_bases}
        pairs = {
            twin: (of_bases[bases[twin]], of_twins[twin]) for twin in of_twins if twin in bases
        }
        seen = {twin: one.deciding * other.deciding for twin, (one, other) in pairs.items()}
        plans = by_key.get((*rest, SEEN, False))
        acted = {
            pair.twin: float(pair.adapted.value)
            for pair in (plans.twins.pairs if plans and plans.twins else ())
            if pair.twin in seen and not np.isnan(pair.adapted.value)
        }
        both = [(twin, answers) for twin, pair in pairs.items() for answers in pair]

        def of_pictures(
            shares: Sequence[float], both: Sequence[tuple[str, _Answers]] = both
        ) -> Estimate:
            return _share([twin for twin, _ in both], shares, _NO_PAIR)

        def of_plans(shares: Iterable[float], acted: Mapping[str, float] = acted) -> Estimate:
            return _share([*acted], [*shares], _NO_PLANS)

        yield Sight(
            asked,
            len(pairs),
            of_pictures([answers.other for _, answers in both]),
            of_pictures([answers.deciding for _, answers in both]),
            _share([*seen], [*seen.values()], _NO_PAIR),
            of_plans(seen[twin] * does for twin, does in acted.items()),
            of_plans(seen[twin] * (1 - does) for twin, does in acted.items()),
            of_plans(1 - seen[twin] for twin in acted),
        )


_NO_PAIR = "no pair of pictures was asked about: use --given sight --twins"
_NO_PLANS = "no plans given these pictures were judged: use --given seen --twins"


class _Answers(NamedTuple):
    """Shares of the answers about one picture that are right."""

    deciding: float  # About the fact that decides
    other: float  # About other things


def _bases(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield each twin of an entry and its base."""
    if entry.responses_beside is not None:
        rows = entry.responses_beside.select("scenario", "twin_of").unique().iter_rows()
        yield from ((twin, base) for twin, base in rows if base)


def _answers(graded: GradedRubric) -> Mapping[str, _Answers]:
    """Return world → shares of right answers; worlds without an answer are left out."""
    answers = {}
    for row in np.flatnonzero(graded.can_err.any(axis=1)).tolist():
        n = graded.n_items[row]
        right = graded.present[row, graded.can_err[row], :n].mean(axis=0)
        decides = np.array([str(id).startswith(DECIDING) for id in graded.items["item"][row, :n]])
        answers[graded.scenarios[row]] = _Answers(
            float(right[decides].mean()), float(right[~decides].mean())
        )
    return answers


def _courses(entry: Entry) -> PlanCourses:
    return PlanCourses(ANY, entry.graded, entry.responses, entry.first)
