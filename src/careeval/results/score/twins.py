"""Compare a system's answers to a scenario with those to its twin and its controls.

A twin is its base's text with one fact changed, so that another act is right; a control changes
nothing that matters. Every epoch of the base is paired with every epoch of the twin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from careeval.core.twin import right_acts
from careeval.results.score.bounded_estimates import bounded
from careeval.results.score.entries import Entry
from careeval.results.score.graded_arrays import Bounds
from careeval.stats import MIN_CLUSTERS, Estimate, rate_interval

FEW = f"fewer than {MIN_CLUSTERS} families: no interval"


@dataclass(frozen=True)
class Pair:
    """One base and its twin, as a grader judged a system's answers to both.

    Each share is of all pairs of epochs: value, and what unresolved judgments could make of it.

    Attributes:
        base: Id of the base.
        twin: Id of the twin.
        right: Ids of the right act of the base, and of the twin.
        n: Pairs of epochs whose judgments of both acts are all resolved.
        adapted: Each answer has its own right act alone.
        stuck: Both have the same right act alone.
        neither: Anything else.
    """

    base: str
    twin: str
    right: tuple[str, str]
    n: int
    adapted: Share
    stuck: Share
    neither: Share


@dataclass(frozen=True)
class Share:
    """A share with its bounds; NaN where every judgment it rests on is unresolved."""

    low: float
    value: float
    high: float


@dataclass(frozen=True)
class ControlChange:
    """One control, beside its base.

    Attributes:
        base: Id of the base.
        control: Id of the control.
        kind: `paraphrase` or `irrelevant`.
        changed: Share of the pairs of epochs, one of each, whose answers differ in an act of ±2.
        same_text: The same of two epochs of the base: what differs though nothing was changed.
            None with fewer than two.
    """

    base: str
    control: str
    kind: str
    changed: float
    same_text: float | None


@dataclass(frozen=True)
class TwinNumbers:
    """The numbers of one entry over its pairs and its controls; unknown without any.

    Attributes:
        pairs: One by one.
        adapted: Mean over the pairs: each answer does its own text's right act alone.
        stuck: Both do the base's right act alone, or both the twin's.
        neither: The rest; the three sum to 1.
        controls: One by one.
        changed: Mean over the controls.
        same_text: Mean over their bases.
    """

    pairs: tuple[Pair, ...]
    adapted: Estimate
    stuck: Estimate
    neither: Estimate
    controls: tuple[ControlChange, ...]
    changed: Estimate
    same_text: Estimate


def twin_numbers(entry: Entry) -> TwinNumbers | None:
    """Return what an entry comes to over twins and controls; None where it was asked none."""
    of_twins = entry.beside
    if of_twins is None:
        return None
    base_answers, twin_answers = _answers(entry), _answers(of_twins)
    about = of_twins.responses.select("scenario", "twin_of", "control").unique().sort("scenario")
    pairs: list[Pair] = []
    controls: list[ControlChange] = []
    for scenario, base, control in about.iter_rows():
        one, other = base_answers.get(base), twin_answers.get(scenario)
        if one is None or other is None:
            continue
        if control is None:
            pairs += _pair(base, scenario, one, other)
        else:
            controls += _control(base, scenario, control, one, other)
    return TwinNumbers(
        tuple(pairs),
        family_mean([pair.adapted for pair in pairs], "no twins were asked and judged"),
        family_mean([pair.stuck for pair in pairs], "no twins were asked and judged"),
        family_mean([pair.neither for pair in pairs], "no twins were asked and judged"),
        tuple(controls),
        family_mean([_exactly(c.changed) for c in controls], "no controls were asked and judged"),
        family_mean(
            [_exactly(c.same_text) for c in controls if c.same_text is not None],
            "no base of a control has two responses that were judged",
        ),
    )


@dataclass(frozen=True, eq=False)
class _Answers:
    """The judgments of the answers to one text: item → points; epoch → item → present."""

    points: Mapping[str, int]
    found: Sequence[Mapping[str, bool | None]]


def _answers(entry: Entry) -> dict[str, _Answers]:
    columns = ("scenario", "epoch", "item", "points", "present")
    answers: dict[str, _Answers] = {}
    for (scenario,), rows in entry.first_of(*columns).group_by("scenario", maintain_order=True):
        by_epoch: dict[int, dict[str, bool | None]] = {}
        for epoch, item, present in rows.select("epoch", "item", "present").iter_rows():
            by_epoch.setdefault(epoch, {})[item] = present
        points = dict(rows.select("item", "points").unique().iter_rows())
        answers[str(scenario)] = _Answers(points, list(by_epoch.values()))
    return answers


def _pair(base: str, twin: str, one: _Answers, other: _Answers) -> Iterator[Pair]:
    """The pair; nothing where the points do not say one right act for each."""
    of_base, of_twin = right_acts(one.points, other.points)
    if (len(of_base), len(of_twin)) != (1, 1):
        return
    acts = (of_base[0], of_twin[0])
    in_base, in_twin = (_alone(answers, acts) for answers in (one, other))
    adapted = _times(in_base[0], in_twin[1])
    stuck = _plus(_times(in_base[0], in_twin[0]), _times(in_base[1], in_twin[1]))
    neither = Share(
        # rounding can put a difference a hair below 0
        max(0.0, 1 - adapted.high - stuck.high),
        max(0.0, 1 - adapted.value - stuck.value),
        max(0.0, 1 - adapted.low - stuck.low),
    )
    n = _n_resolved(one, acts) * _n_resolved(other, acts)
    yield Pair(base, twin, acts, n, adapted, stuck, neither)


def _alone(answers: _Answers, acts: tuple[str, str]) -> tuple[Share, Share]:
    """Return the shares of answers that have each of two acts without the other."""
    found = [(each.get(acts[0]), each.get(acts[1])) for each in answers.found]
    known = [pair for pair in found if None not in pair]

    def share(wanted: tuple[bool, bool]) -> Share:
        certain = sum(pair == wanted for pair in found)
        could = sum(
            all(x is None or x == y for x, y in zip(pair, wanted, strict=True)) for pair in found
        )
        value = certain / len(known) if known else float("nan")
        return Share(certain / len(found), value, could / len(found))

    return share((True, False)), share((False, True))


def _n_resolved(answers: _Answers, acts: tuple[str, str]) -> int:
    return sum(all(each.get(act) is not None for act in acts) for each in answers.found)


def _times(one: Share, other: Share) -> Share:
    return Share(one.low * other.low, one.value * other.value, one.high * other.high)


def _plus(one: Share, other: Share) -> Share:
    return Share(one.low + other.low, one.value + other.value, min(1.0, one.high + other.high))


def _control(
    base: str, control: str, kind: str, one: _Answers, other: _Answers
) -> Iterator[ControlChange]:
    """The control; nothing where no answer to one of the two texts is wholly judged."""
    acts = [item for item, points in one.points.items() if abs(points) == 2]
    ours, theirs = ([_decision(each, acts) for each in x.found] for x in (one, other))
    of_base = [each for each in ours if each is not None]
    of_control = [each for each in theirs if each is not None]
    if not of_base or not of_control:
        return
    differ = [a != b for a, b in product(of_base, of_control)]
    alike = [a != b for a, b in combinations(of_base, 2)]
    yield ControlChange(
        base, control, kind, float(np.mean(differ)), float(np.mean(alike)) if alike else None
    )


def _decision(found: Mapping[str, bool | None], acts: Sequence[str]) -> tuple[bool, ...] | None:
    """Return for each act if an answer has it; None where any of them is unresolved."""
    present = [found.get(act) for act in acts]
    return None if None in present else tuple(bool(each) for each in present)


def _exactly(number: float) -> Share:
    return Share(number, number, number)


def family_mean(shares: Sequence[Share], lacking: str) -> Estimate:
    """Return the mean over families, each counting once; `lacking` says why there is none."""
    known = [share for share in shares if not np.isnan(share.value)]
    if not known:
        return Estimate.unknown(lacking)
    low, value, high = (
        np.array([getattr(share, name) for share in known]) for name in ("low", "value", "high")
    )
    if len(known) < MIN_CLUSTERS:
        at = min(max(float(value.mean()), float(low.mean())), float(high.mean()))
        return Estimate(at, float(low.mean()), float(high.mean()), None, FEW)
    return bounded(
        lambda shares: float(shares.mean()),
        lambda shares: rate_interval(shares, np.ones_like(shares)),
        Bounds(low, high, value),
    )
