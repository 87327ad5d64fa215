"""A system's responses to a scenario, compared with those to its twin and its controls.

A twin is the base's text with one fact changed, so that another act is right. A control changes
nothing that matters. Every epoch of the base is paired with every epoch of the twin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from careeval.core.twin import right_acts
from careeval.errors import StatsError
from careeval.results.entries import Entry
from careeval.results.estimates import Bounded, FloatArray, rate
from careeval.stats import MIN_CLUSTERS, Estimate, Interval, rate_interval

Share = Bounded[float]
"""A share with its bounds; the value is NaN if no response has all its judgments resolved."""

FEW = f"fewer than {MIN_CLUSTERS} families: no interval"


@dataclass(frozen=True)
class TwinPair:
    """One base and its twin, as a grader judged a system's responses to both.

    Each share is of all pairs of epochs, with bounds that settle the unresolved judgments.
    """

    base: str  # Id of the base
    twin: str  # Id of the twin
    right: tuple[str, str]  # Ids of the right acts of the base and of the twin
    n: int  # Pairs of epochs whose judgments of both acts are all resolved
    adapted: Share
    """Share of pairs in which each response has only the right act of its own text."""
    stuck: Share
    """Share of pairs in which both responses have only the right act of the base, or both only that
    of the twin."""
    neither: Share  # Share of the other pairs


@dataclass(frozen=True)
class ControlChange:
    """One control, compared with its base."""

    base: str  # Id of the base
    control: str  # Id of the control
    kind: str  # `paraphrase` or `irrelevant`
    changed: float
    """Share of the pairs of a response to the base and one to the control that differ in an act of
    2 or −2 points. Responses with such an act unresolved are left out."""
    same_text: float | None
    """The same share among pairs of responses to the base: the change by chance; `None` if fewer
    than two such responses are left."""


@dataclass(frozen=True)
class TwinNumbers:
    """The numbers of one entry over its twins and its controls; unknown without any."""

    pairs: tuple[TwinPair, ...]  # Each base with its twin
    adapted: Estimate  # Mean over the pairs of their `adapted`
    stuck: Estimate  # Mean over the pairs of their `stuck`
    neither: Estimate  # Mean over the pairs of their `neither`; the three sum to 1
    controls: tuple[ControlChange, ...]  # Each control
    changed: Estimate  # Mean over the controls of their `changed`
    same_text: Estimate  # Mean over the controls of their `same_text`


def twin_numbers(entry: Entry) -> TwinNumbers | None:
    """Return an entry's numbers over twins and controls; None if none was judged."""
    of_twins = entry.beside
    if of_twins is None:
        return None
    base_judgments, twin_judgments = _judgments(entry), _judgments(of_twins)
    twins = of_twins.responses.select("scenario", "twin_of", "control").unique().sort("scenario")
    pairs: list[TwinPair] = []
    controls: list[ControlChange] = []
    for scenario, base, control in twins.iter_rows():
        one, other = base_judgments.get(base), twin_judgments.get(scenario)
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
        family_mean(
            [Bounded.exact(each.changed) for each in controls], "no controls were asked and judged"
        ),
        family_mean(
            [Bounded.exact(c.same_text) for c in controls if c.same_text is not None],
            "no base of a control has two responses that were judged",
        ),
    )


@dataclass(frozen=True, eq=False)
class _TextJudgments:
    """The judgments of the responses to one text: item → points, and by epoch item → present."""

    points: Mapping[str, int]
    present: Sequence[Mapping[str, bool | None]]


def _judgments(entry: Entry) -> dict[str, _TextJudgments]:
    columns = ("scenario", "epoch", "item", "points", "present")
    by_scenario: dict[str, _TextJudgments] = {}
    for (scenario,), rows in entry.first_of(*columns).group_by("scenario", maintain_order=True):
        by_epoch: dict[int, dict[str, bool | None]] = {}
        for epoch, item, present in rows.select("epoch", "item", "present").iter_rows():
            by_epoch.setdefault(epoch, {})[item] = present
        points = dict(rows.select("item", "points").unique().iter_rows())
        by_scenario[str(scenario)] = _TextJudgments(points, list(by_epoch.values()))
    return by_scenario


def _pair(base: str, twin: str, one: _TextJudgments, other: _TextJudgments) -> Iterator[TwinPair]:
    """Yield the pair, or nothing if base and twin do not have exactly one right act each."""
    of_base, of_twin = right_acts(one.points, other.points)
    if (len(of_base), len(of_twin)) != (1, 1):
        return
    acts = (of_base[0], of_twin[0])
    in_base, in_twin = (_alone(judgments, acts) for judgments in (one, other))
    adapted = _times(in_base[0], in_twin[1])
    stuck = _plus(_times(in_base[0], in_twin[0]), _times(in_base[1], in_twin[1]))
    neither = Bounded(
        _rest(adapted.high, stuck.high),
        _rest(adapted.low, stuck.low),
        _rest(adapted.value, stuck.value),
    )
    n = _n_resolved(one, acts) * _n_resolved(other, acts)
    yield TwinPair(base, twin, acts, n, adapted, stuck, neither)


def _alone(judgments: _TextJudgments, acts: tuple[str, str]) -> tuple[Share, Share]:
    """Return for each of two acts the share of responses that have it without the other."""
    pairs = [(each.get(acts[0]), each.get(acts[1])) for each in judgments.present]
    resolved = [pair for pair in pairs if None not in pair]

    def share(wanted: tuple[bool, bool]) -> Share:
        certain = sum(pair == wanted for pair in pairs)
        could = sum(
            all(x is None or x == y for x, y in zip(pair, wanted, strict=True)) for pair in pairs
        )
        value = certain / len(resolved) if resolved else float("nan")
        return Bounded(certain / len(pairs), could / len(pairs), value)

    return share((True, False)), share((False, True))


def _n_resolved(judgments: _TextJudgments, acts: tuple[str, str]) -> int:
    return sum(all(each.get(act) is not None for act in acts) for each in judgments.present)


def _times(one: Share, other: Share) -> Share:
    return Bounded(one.low * other.low, one.high * other.high, one.value * other.value)


def _plus(one: Share, other: Share) -> Share:
    high = min(1.0, one.high + other.high)
    return Bounded(one.low + other.low, high, one.value + other.value)


def _rest(one: float, other: float) -> float:
    # rounding can put a difference a hair below 0; what is not known stays NaN
    return float(np.maximum(0, 1 - one - other))


def _control(
    base: str, control: str, kind: str, one: _TextJudgments, other: _TextJudgments
) -> Iterator[ControlChange]:
    """Yield the control, or nothing if a text has no response with all acts resolved."""
    acts = [item for item, points in one.points.items() if abs(points) == 2]
    of_base, of_control = (
        [chosen for each in text.present if (chosen := _acts_chosen(each, acts)) is not None]
        for text in (one, other)
    )
    if not of_base or not of_control:
        return
    changed = [a != b for a, b in product(of_base, of_control)]
    same_text = [a != b for a, b in combinations(of_base, 2)]
    yield ControlChange(
        base,
        control,
        kind,
        changed=float(np.mean(changed)),
        same_text=float(np.mean(same_text)) if same_text else None,
    )


def _acts_chosen(
    present: Mapping[str, bool | None], acts: Sequence[str]
) -> tuple[bool, ...] | None:
    """Return for each act whether a response has it; `None` if any of them is unresolved."""
    chosen = [present.get(act) for act in acts]
    return None if None in chosen else tuple(bool(each) for each in chosen)


def family_mean(shares: Sequence[Share], lacking: str) -> Estimate:
    """Return the mean over families; `lacking` is the reason to give if no share is known.

    The value of a share is NaN if it is unknown.
    """
    known = [(*share.ends, share.value) for share in shares if not np.isnan(share.value)]
    if not known:
        return Estimate.unknown(lacking)
    return rate(Bounded(*np.array(known).T), np.ones(len(known)), _interval)


def _interval(shares: FloatArray, trials: FloatArray) -> Interval:
    if len(shares) < MIN_CLUSTERS:
        raise StatsError(FEW)
    return rate_interval(shares, trials)
