"""The numbers of an entry over twins and controls.

A twin is the base's text with one fact changed, so that another act is right. A control changes
nothing that matters. Every epoch of the base is paired with every epoch of the twin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from careeval.core.twin import right_acts
from careeval.results.graded_rubric import GradedRubric
from careeval.stats.estimate import Bounded, Estimate, FloatArray, scenario_rate

Share = Bounded[float]
"""A share with its bounds; the value is NaN if no response has all its judgments resolved."""


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

    @property
    def n(self) -> int:
        """The number of pairs with epochs whose judgments are resolved."""
        return sum(pair.n > 0 for pair in self.pairs)

    @property
    def n_same_text(self) -> int:
        """The number of controls whose base has two responses that were judged."""
        return sum(control.same_text is not None for control in self.controls)


def twin_numbers(
    of_bases: GradedRubric, of_twins: GradedRubric, responses: pl.DataFrame
) -> TwinNumbers:
    """Return the numbers over twins and controls, `responses` being those to them."""
    bases, others = _texts(of_bases), _texts(of_twins)
    twins = responses.select("scenario", "twin_of", "control").unique().sort("scenario")
    pairs: list[TwinPair] = []
    controls: list[ControlChange] = []
    for scenario, base, control in twins.iter_rows():
        one, other = bases.get(base), others.get(scenario)
        if one is None or other is None:
            continue
        if control is None:
            pairs += _pair(base, scenario, one, other)
        else:
            controls += _control(base, scenario, control, one, other)
    return TwinNumbers(
        tuple(pairs),
        pair_mean([pair.adapted for pair in pairs], "no twins were asked and judged"),
        pair_mean([pair.stuck for pair in pairs], "no twins were asked and judged"),
        pair_mean([pair.neither for pair in pairs], "no twins were asked and judged"),
        tuple(controls),
        pair_mean(
            [Bounded.exact(each.changed) for each in controls], "no controls were asked and judged"
        ),
        pair_mean(
            [Bounded.exact(c.same_text) for c in controls if c.same_text is not None],
            "no base of a control has two responses that were judged",
        ),
    )


class _Text(NamedTuple):
    """The judgments of the responses to one text."""

    points: Mapping[str, int]  # Id of an item → its points
    present: FloatArray  # 1, 0, or NaN where unresolved, shape (n_responses, n_items)

    def of(self, acts: Sequence[str]) -> FloatArray:
        """Return `present` of some acts; NaN for one that is not in the rubric."""
        present = np.full((len(self.present), len(acts)), np.nan)
        for column, item in enumerate(self.points):
            if item in acts:
                present[:, acts.index(item)] = self.present[:, column]
        return present


def _texts(graded: GradedRubric) -> dict[str, _Text]:
    """Return the judged scenarios."""
    texts = {}
    for row in np.flatnonzero(graded.is_judged.any(axis=1)).tolist():
        n = graded.n_items[row]
        items, points = graded.items["item"][row, :n], graded.points[row, :n].tolist()
        present = graded.present[row, graded.is_judged[row], :n]
        texts[graded.scenarios[row]] = _Text(dict(zip(items, points, strict=True)), present)
    return texts


def _pair(base: str, twin: str, one: _Text, other: _Text) -> Iterator[TwinPair]:
    """Yield the pair, or nothing if base and twin do not have exactly one right act each."""
    of_base, of_twin = right_acts(one.points, other.points)
    if (len(of_base), len(of_twin)) != (1, 1):
        return
    acts = (of_base[0], of_twin[0])
    of_acts = one.of(acts), other.of(acts)
    in_base, in_twin = map(_alone, of_acts)
    adapted = _times(in_base[0], in_twin[1])
    stuck = _plus(_times(in_base[0], in_twin[0]), _times(in_base[1], in_twin[1]))
    neither = Bounded(
        _rest(adapted.high, stuck.high),
        _rest(adapted.low, stuck.low),
        _rest(adapted.value, stuck.value),
    )
    n = _n_resolved(of_acts[0]) * _n_resolved(of_acts[1])
    yield TwinPair(base, twin, acts, n, adapted, stuck, neither)


def _alone(present: FloatArray) -> tuple[Share, Share]:
    """Return for each of two acts the share of responses that have it without the other."""
    is_open = np.isnan(present)
    n_resolved = _n_resolved(present)

    def share(wanted: tuple[int, int]) -> Share:
        has = present == wanted
        certain, could = (int(each.all(axis=1).sum()) for each in (has, has | is_open))
        value = certain / n_resolved if n_resolved else float("nan")
        return Bounded(certain / len(present), could / len(present), value)

    return share((1, 0)), share((0, 1))


def _n_resolved(present: FloatArray) -> int:
    return int((~np.isnan(present).any(axis=1)).sum())


def _times(one: Share, other: Share) -> Share:
    return Bounded(one.low * other.low, one.high * other.high, one.value * other.value)


def _plus(one: Share, other: Share) -> Share:
    high = min(1.0, one.high + other.high)
    return Bounded(one.low + other.low, high, one.value + other.value)


def _rest(one: float, other: float) -> float:
    # rounding can put a difference a hair below 0; what is not known stays NaN
    return float(np.maximum(0, 1 - one - other))


def _control(
    base: str, control: str, kind: str, one: _Text, other: _Text
) -> Iterator[ControlChange]:
    """Yield the control, or nothing if a text has no response with all acts resolved."""
    acts = [item for item, points in one.points.items() if abs(points) == 2]
    of_base, of_control = (
        present[~np.isnan(present).any(axis=1)] for present in (one.of(acts), other.of(acts))
    )
    if not len(of_base) or not len(of_control):
        return
    changed = (of_base[:, np.newaxis] != of_control).any(axis=2)
    a, b = np.triu_indices(len(of_base), 1)
    same_text = (of_base[a] != of_base[b]).any(axis=1)
    yield ControlChange(
        base,
        control,
        kind,
        changed=float(changed.mean()),
        same_text=float(same_text.mean()) if len(same_text) else None,
    )


def pair_mean(shares: Sequence[Share], lacking: str) -> Estimate:
    """Return the mean over pairs of scenarios; `lacking` is the reason if no share is known.

    The value of a share is NaN if it is unknown.
    """
    known = [(*share.ends, share.value) for share in shares if not np.isnan(share.value)]
    if not known:
        return Estimate.unknown(lacking)
    return scenario_rate(Bounded(*np.array(known).T), np.ones(len(known)), "pairs")
