"""Rates of too little and too much care, the band of the ladder, plans by answer, and twins.

Only for banks that say in which direction each bad act errs. The two directions are never set off
against each other: a system could then make up for neglect with risk.

A rung asks for several acts at once, so the ladder's score measures the grader's strictness as well
as care. The score as judged and the lenient score are the two ends of a band.

A twin is the base's text with one fact changed, so that another act is right. A control changes
nothing that matters. Every epoch of the base is paired with every epoch of the twin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.plan_reasons import course_counts, read_reasons
from careeval.core.response import ResponseState
from careeval.core.scenario import CareError, ItemKind
from careeval.core.twin import right_acts
from careeval.results.graded_rubric import NOT_GRADED, BoolArray, Errors, GradedRubric
from careeval.stats.estimate import Bounded, Estimate, FloatArray, rate, scenario_rate
from careeval.stats.intervals import rate_interval


@dataclass(frozen=True)
class Rate:
    """A share of responses or of points."""

    n: int  # Responses that could count
    share: Estimate  # The share; its bounds settle the unresolved judgments


def gives_directions(graded: GradedRubric) -> bool:
    """Tell whether the bank says of any item in which direction it errs."""
    return bool((graded.items["error"] != None).any())  # noqa: E711


def error_rate(graded: GradedRubric, error: CareError) -> Rate:
    """Return the share of responses with an act that errs in this direction."""
    return _any(graded, graded.items["error"] == error.value)


def unspecific_rate(graded: GradedRubric) -> Rate:
    """Return the share of responses without a good act of technique, where technique is scored."""
    techniques = (graded.points > 0) & (graded.items["kind"] == ItemKind.technique.value)
    return _any(graded, techniques, none=True)


def earned_rate(graded: GradedRubric, *, core: bool) -> Rate:
    """Return the share of points earned by good acts of the easy core, or by the others."""
    return _earned(graded, (graded.points > 0) & (graded.items["core"] == core))


def _any(graded: GradedRubric, items: BoolArray, *, none: bool = False) -> Rate:
    """Return the share of responses with at least one of these items; if `none`, with none of them.

    Where an unresolved judgment leaves a response open, it counts as much as the share among the
    other responses.
    """
    chosen = items[:, np.newaxis]
    certain = ((graded.present == 1) & chosen).any(axis=2)
    could = ((graded.present != 0) & chosen).any(axis=2)
    if none:
        certain, could = ~could, ~certain
    trials = graded.is_judged & items.any(axis=1, keepdims=True)
    return _rate(certain, could, trials.astype(np.float64), int(trials.sum()))


def _earned(graded: GradedRubric, items: BoolArray) -> Rate:
    """Return the points earned on these items, over their maximum."""
    n = int(graded.is_judged[items.any(axis=1)].sum())
    points = graded.is_judged[:, :, np.newaxis] * np.where(items, graded.points, 0)[:, np.newaxis]
    return _rate(graded.present == 1, graded.present != 0, points.astype(np.float64), n)


def _rate(certain: BoolArray, could: BoolArray, trials: FloatArray, n: int) -> Rate:
    """Return the rate of what counts among trials, with an interval over scenarios.

    The first axis of all three arrays is the scenarios. `certain` is what counts whatever the
    unresolved judgments are, `could` what counts under some of them.
    """
    resolved = certain == could
    if not (total := trials[resolved].sum()):
        return Rate(n, Estimate.unknown("the bank has no such items, or none could be judged"))
    likely = (trials * certain)[resolved].sum() / total

    def by_scenario(events: FloatArray | BoolArray) -> FloatArray:
        summed = (trials * events).reshape(len(trials), -1).sum(axis=1)
        return np.asarray(summed[has_trials])

    has_trials = trials.reshape(len(trials), -1).any(axis=1)
    counts = Bounded(certain, could, np.where(resolved, certain, likely)).map(by_scenario)
    return Rate(n, scenario_rate(counts, by_scenario(np.ones_like(trials)), "scenarios"))


_ACT = ("scenario", "epoch", "act")


def lenient_score(ladder: GradedRubric, rungs: pl.DataFrame, acts: pl.DataFrame) -> Estimate | None:
    """Return the score on the ladder if rungs that lack one act count as present.

    `None` if not every response was judged on the actions too.

    Args:
        ladder: The judgments of the rungs that count, as arrays.
        rungs: The same judgments.
        acts: All judgments of the acts of the same responses by the same grader.
    """
    acts = (
        acts.sort(pl.col("present").is_null(), "grading")
        .unique(("scenario", "epoch", "item"), keep="first")
        .select("scenario", "epoch", act="item", found="present")
    )
    if not rungs.join(acts, on=("scenario", "epoch"), how="anti").is_empty():
        return None
    several = (pl.col("points") > 0) & (pl.col("of").list.len() > 1)
    nearly = (
        rungs.filter(several)
        .select("scenario", "epoch", "item", n=pl.col("of").list.len(), act="of")
        .explode("act")
        .join(acts, on=_ACT, how="left")
        .group_by("scenario", "epoch", "item", "n")
        .agg(pl.col("found").sum().alias("n_found"))
        .filter(pl.col("n_found") + 1 >= pl.col("n"))
    )
    forgiven = ladder.are_in(nearly.select("scenario", "epoch", "item"))
    return ladder.with_present(np.where(forgiven, 1.0, ladder.present)).score()


ANY = "any"
"""Stands for all answers together, in place of one."""


@dataclass(frozen=True, eq=False)
class PlanCourses:
    """The plans of an entry in the courses that belong to one answer of the person, or in all.

    A number of whole plans is known only in all courses, and else `None`.
    """

    answer: str  # The answer; `ANY` for all courses
    graded: GradedRubric  # The judgments over all courses
    responses: pl.DataFrame
    judgments: pl.DataFrame  # The judgments that count, over all courses

    def severe(self) -> Errors:
        """Return the plans with a danger of −2 in one of these courses."""
        return self._courses.errors(scoring.SEVERE)

    def severe_if_executable(self) -> Errors:
        """Return the same, over the plans that run to their end."""
        return self._courses.only(self._executable).errors(scoring.SEVERE)

    def severe_courses(self) -> Estimate | None:
        """Return the mean over the plans of the share of their courses with a danger of −2."""
        return _severe_courses(self.graded, self.judgments) if self.answer == ANY else None

    def goals(self) -> Estimate | None:
        """Return the points of the goals that are reached, over the points of all goals."""
        if self.answer != ANY:
            return None
        return replace(self.graded, points=np.maximum(self.graded.points, 0)).score()

    def executable(self) -> Estimate | None:
        """Return the share of the judged responses that are plans that run to their end."""
        if self.answer != ANY:
            return None
        return _share(self._executable.sum(axis=1), self.graded.is_judged)

    @cached_property
    def _courses(self) -> GradedRubric:
        """The judgments with an item present only if it is in one of these courses."""
        if self.answer == ANY:
            return self.graded
        is_met = pl.col("reason").map_elements(
            lambda reason: any(self.answer in part.answers for part in read_reasons(reason)),
            return_dtype=pl.Boolean,
        )
        met = self.judgments.filter(pl.col("present"), is_met).select("scenario", "epoch", "item")
        present = self.graded.present
        return self.graded.with_present(np.where(present == 1, self.graded.are_in(met), present))

    @cached_property
    def _executable(self) -> BoolArray:
        """Where a judged response is a plan that runs to its end."""
        is_answered = self.responses["state"] == ResponseState.answered.value
        rows = self.responses.filter(is_answered).select("scenario", "epoch", executable=1.0)
        return np.asarray(~np.isnan(self.graded.placed(rows)) & self.graded.is_judged)


def _severe_courses(graded: GradedRubric, judgments: pl.DataFrame) -> Estimate:
    met: dict[tuple[str, int], set[str]] = {}
    n_courses: dict[tuple[str, int], int] = {}
    columns = ("scenario", "epoch", "points", "present", "reason")
    for scenario, epoch, points, present, reason in judgments.select(columns).iter_rows():
        if points != scoring.SEVERE or (count := course_counts(reason)) is None:
            continue
        n_courses[scenario, epoch] = count.n
        labels = met.setdefault((scenario, epoch), set())
        if present:
            labels.update(label for part in read_reasons(reason) for label in part.courses)
    shares = [(*key, len(met[key]) / n) for key, n in n_courses.items()]
    if not shares:
        return Estimate.unknown("no reason of a judgment says in which courses it holds")
    rows = pl.DataFrame(shares, schema=("scenario", "epoch", "share"), orient="row")
    placed = graded.placed(rows)
    known = ~np.isnan(placed) & graded.can_err
    return _share(np.where(known, placed, 0.0).sum(axis=1), known)


def _share(part: FloatArray, whole: BoolArray) -> Estimate:
    """Return the share of some responses among all, by scenario; `part` is summed over epochs."""
    n_whole = whole.sum(axis=1).astype(np.float64)
    judged = n_whole > 0
    if not judged.any():
        return Estimate.unknown(NOT_GRADED)
    counts = Bounded.exact(part.astype(np.float64)[judged])
    return rate(counts, n_whole[judged], rate_interval)


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
