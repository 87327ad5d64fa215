"""Grader cards, noise of gradings, agreement of graders, and contradictory judgments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import combinations, groupby

import numpy as np
import polars as pl

from careeval.core.response import GRADED_STATES, Grader
from careeval.core.scenario import Rubric
from careeval.core.vendors import vendor
from careeval.errors import StatsError
from careeval.results.entry import Entry
from careeval.results.graded_rubric import BoolArray, GradedRubric
from careeval.results.grader_accuracy import (
    ClassAgreement,
    CorrectedScore,
    PeopleAudit,
    PointClass,
    class_agreement,
)
from careeval.results.probe_check import ProbeAgreement
from careeval.stats.estimate import Bounded, Estimate, FloatArray, rate, settled
from careeval.stats.intervals import rate_interval
from careeval.stats.variance import (
    GradingVariance,
    grading_variance,
    noise_corrected_worst,
    noise_corrected_worst_interval,
)

NOT_AUDITED = "not audited by people"
NOT_TRIED = "not tried on the bank's labelled probes"


@dataclass(frozen=True)
class GraderCard:
    """The reliability of one grader, from these runs, the probe check and the audit."""

    grader: Grader
    vendor: str | None  # Vendor of the grader; `None` if its name does not say
    probes: ProbeAgreement | None  # Result of the probe check; `None` if there was none
    failed: tuple[str, ...] | None
    """Reasons why it fails the probe check, by the rule `probe_check.LIMITS`; empty if it passes,
    `None` if there was no probe check."""
    human: PeopleAudit | None  # Result of the audit by people; `None` if there was none
    systems: tuple[str, ...]  # Systems that it judged in these runs
    own_vendor: tuple[str, ...]  # Systems of its own vendor
    n_judgments: int  # Judgments that count, over all systems
    n_unresolved: int  # Judgments that it failed to make
    contradictions: LadderCheck  # Contradictions among its judgments
    noise: Mapping[tuple[str, Rubric], GradingNoise]
    """Noise of its grading by name of an entry and rubric; empty if nothing was graded twice."""
    corrected: Mapping[tuple[str, Rubric], CorrectedScore]
    """Scores corrected by people, by system and rubric; empty without an audit."""


def grader_cards(
    entries: Sequence[Entry],
    probes: Mapping[str, ProbeAgreement] = {},
    *,
    audits: Mapping[str, PeopleAudit] = {},
) -> dict[str, GraderCard]:
    """Return name of grader → its card, which says how far its judgments can be trusted; sorted.

    Args:
        entries: Entries that these graders judged.
        probes: Name of a grader → result of its probe check.
        audits: Name of a grader → result of its audit.
    """
    by_grader: dict[Grader, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_grader[entry.grader].append(entry)
    return {
        grader: _card(grader, by_grader[grader], probes.get(grader), audits.get(grader))
        for grader in sorted(by_grader)
    }


def _card(
    grader: Grader,
    entries: Sequence[Entry],
    probes: ProbeAgreement | None,
    human: PeopleAudit | None,
) -> GraderCard:
    maker = vendor(grader.model)
    present = [entry.first_of("present")["present"] for entry in entries]
    of_systems = [list(each) for _, each in groupby(entries, key=lambda entry: entry.name)]
    noise = {(entry.name, entry.rubric): grading_noise(entry) for entry in entries}
    return GraderCard(
        grader=grader,
        vendor=maker,
        probes=probes,
        failed=None if probes is None else probes.failed,
        human=human,
        systems=tuple(dict.fromkeys(entry.name for entry in entries)),
        own_vendor=tuple(
            dict.fromkeys(
                entry.name
                for entry in entries
                if maker is not None and vendor(entry.asked) == maker
            )
        ),
        n_judgments=sum(map(len, present)),
        n_unresolved=sum(each.null_count() for each in present),
        contradictions=ladder_check(
            pl.concat(entry.first_of(*CHECKED) for entry in of_system) for of_system in of_systems
        ),
        noise={key: value for key, value in noise.items() if value is not None},
        corrected={
            (entry.system, entry.rubric): corrected
            for entry in entries
            if human and (corrected := human.score_of(entry.system, entry.rubric)) is not None
        },
    )


_JUDGMENT = ["scenario", "epoch", "rubric", "item"]


@dataclass(frozen=True)
class GraderPair:
    """Two graders that judged the same responses."""

    a: str  # Name of the first grader
    b: str  # Name of the second grader
    systems: tuple[str, ...]  # Names of the systems whose responses both judged
    by_points: Mapping[PointClass, ClassAgreement]  # Agreement by rubric and points of the item

    @property
    def n(self) -> int:
        """Return the number of judgments that both resolved."""
        return sum(agreement.n for agreement in self.by_points.values())


def grader_pairs(entries: Sequence[Entry]) -> list[GraderPair]:
    """Return every two graders that judged a response in common, with their agreement.

    Responses without words are left out, since no grader judged them.
    """
    by_system: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_system[entry.name].append(entry)
    common: dict[tuple[str, str], dict[str, pl.DataFrame]] = defaultdict(dict)
    for system, system_entries in by_system.items():
        by_grader: dict[str, list[pl.DataFrame]] = defaultdict(list)
        for entry in system_entries:
            by_grader[entry.grader].append(_judgments_of_words(entry))
        judgments = {grader: pl.concat(parts) for grader, parts in by_grader.items()}
        for a, b in combinations(sorted(judgments), 2):
            both = judgments[a].join(judgments[b].drop("points"), on=_JUDGMENT, suffix="_b")
            if both.height:
                common[a, b][system] = both
    return [
        _pair(a, b, tuple(sorted(systems)), pl.concat(systems.values()))
        for (a, b), systems in sorted(common.items())
    ]


def _judgments_of_words(entry: Entry) -> pl.DataFrame:
    """Return the judgments that count, of the responses with words."""
    answered = entry.responses.filter(pl.col("state").is_in(GRADED_STATES))
    first = entry.first_of(*_JUDGMENT, "points", "present")
    return first.join(answered, on=["scenario", "epoch"], how="semi")


def _pair(a: str, b: str, systems: tuple[str, ...], both: pl.DataFrame) -> GraderPair:
    classes = [
        (Rubric(rubric), points) for rubric, points in both.select("rubric", "points").iter_rows()
    ]
    verdicts = both.select(
        pl.col("present", "present_b").cast(pl.Float64).fill_null(float("nan"))
    ).to_numpy()
    return GraderPair(a, b, systems, class_agreement(classes, verdicts, both["scenario"].to_list()))


class Contradiction(StrEnum):
    """The kinds of judgments that cannot all be true of one response."""

    top_without_next = "top without next"
    """The +2 rung is present, and the +1 rung that is a part of it is not."""
    rung_without_act = "rung without act"
    """A rung is present, and an act that it is made of is not."""
    acts_without_rung = "acts without rung"
    """All acts that a rung is made of are present, and the rung is not."""
    excluded_pair = "excluded pair"
    """Two acts that exclude each other are both present."""


@dataclass(frozen=True, slots=True)
class ContradictionCount:
    """The frequency of one kind of contradiction."""

    count: int | None  # Contradictions found; `None` if the rubrics that it needs were not judged
    opportunities: int | None
    """Cases in which it could arise: a rung present, all acts of a rung present, or one act of an
    excluding pair present; `None` likewise."""
    reason: str = ""  # Reason why it is unknown; else empty

    @property
    def share(self) -> float | None:
        """Return the share of the opportunities; `None` if there is none or it is unknown."""
        return (
            self.count / self.opportunities
            if self.count is not None and self.opportunities
            else None
        )


NOT_JUDGED = {
    Rubric.actions: "it needs the actions, which this grader did not judge",
    Rubric.ladder: "it needs the ladder, which this grader did not judge",
}

LadderCheck = Mapping[Contradiction, ContradictionCount]

_RESPONSE = ["system", "scenario", "epoch"]
CHECKED = (*_RESPONSE, "rubric", "item", "points", "present", "of", "excludes")
"""Columns of the judgments that `ladder_check` reads."""


def ladder_check(by_system: Iterable[pl.DataFrame]) -> LadderCheck:
    """Count the contradictions in one grader's judgments.

    A rung is part of another if all its acts are acts of the other. Rungs that name no acts are
    left out. Contradictions that need a rubric that was not judged are unknown; those between the
    rubrics are only sought in responses judged on both.

    Args:
        by_system: Judgments by one grader, each item of a response once; at least the columns
            `CHECKED`. Each table has one system or more, each in one condition: a table of all
            pairs of all systems would be large. Unresolved items are left out.

    Returns:
        Every kind of contradiction; 0 of 0 if there was no opportunity.
    """
    rubrics: set[str] = set()
    parts: list[LadderCheck] = []
    for judgments in by_system:
        rubrics.update(judgments["rubric"].unique())
        made = judgments.select(CHECKED).filter(pl.col("present").is_not_null())
        parts.append(_counts(made))
    lacking = {rubric: NOT_JUDGED[rubric] for rubric in NOT_JUDGED if rubric not in rubrics}
    no_ladder, no_actions = lacking.get(Rubric.ladder), lacking.get(Rubric.actions)
    reasons = {
        Contradiction.top_without_next: no_ladder,
        Contradiction.rung_without_act: no_ladder or no_actions,
        Contradiction.acts_without_rung: no_ladder or no_actions,
        Contradiction.excluded_pair: no_actions,
    }
    return {
        kind: ContradictionCount(None, None, reason)
        if reason
        else ContradictionCount(
            sum(part[kind].count or 0 for part in parts),
            sum(part[kind].opportunities or 0 for part in parts),
        )
        for kind, reason in reasons.items()
    }


def _counts(made: pl.DataFrame) -> LadderCheck:
    """Count each kind of contradiction in resolved judgments, as if both rubrics were judged."""
    is_rung = pl.col("rubric") == Rubric.ladder.value
    rungs = made.filter(is_rung, pl.col("of").list.len() > 0)
    acts = made.filter(~is_rung)
    rung_without_act, acts_without_rung = _rungs_and_acts(rungs, acts)
    return {
        Contradiction.top_without_next: _top_without_next(rungs),
        Contradiction.rung_without_act: rung_without_act,
        Contradiction.acts_without_rung: acts_without_rung,
        Contradiction.excluded_pair: _excluded_pairs(acts),
    }


def _top_without_next(rungs: pl.DataFrame) -> ContradictionCount:
    top = rungs.filter(pl.col("points") == 2, pl.col("present"))
    pairs = top.join(rungs.filter(pl.col("points") == 1), on=_RESPONSE, suffix="_next")
    is_part = pl.col("of_next").list.set_difference(pl.col("of")).list.len() == 0
    return _count(pairs.filter(is_part), broken=~pl.col("present_next"))


def _rungs_and_acts(
    rungs: pl.DataFrame, acts: pl.DataFrame
) -> tuple[ContradictionCount, ContradictionCount]:
    """Count rungs without one of their acts, and rungs absent though all acts are present."""
    rung_acts = rungs.with_row_index("rung").explode("of")
    judged_acts = rung_acts.join(
        acts.select(*_RESPONSE, "item", pl.col("present").alias("act")),
        left_on=[*_RESPONSE, "of"],
        right_on=[*_RESPONSE, "item"],
        how="left",
    )
    by_rung = judged_acts.group_by("rung").agg(
        pl.col("present").first(),
        lacks=(~pl.col("act")).any(),
        any_judged=pl.col("act").is_not_null().any(),
        all_present=pl.col("act").fill_null(False).all(),
    )
    return (
        _count(by_rung.filter("present", "any_judged"), broken=pl.col("lacks")),
        _count(by_rung.filter("all_present"), broken=~pl.col("present")),
    )


def _excluded_pairs(acts: pl.DataFrame) -> ContradictionCount:
    one = acts.filter(pl.col("excludes").list.len() > 0).explode("excludes")
    both = one.join(
        acts.select(*_RESPONSE, "item", pl.col("present").alias("other")),
        left_on=[*_RESPONSE, "excludes"],
        right_on=[*_RESPONSE, "item"],
    )
    # most excluding acts name each other, so that a pair appears twice
    ends = [pl.min_horizontal("item", "excludes"), pl.max_horizontal("item", "excludes")]
    pairs = both.with_columns(ends[0].alias("a"), ends[1].alias("b")).unique([*_RESPONSE, "a", "b"])
    opportunities = pairs.filter(pl.col("present") | pl.col("other"))
    return _count(opportunities, broken=pl.col("present") & pl.col("other"))


def _count(opportunities: pl.DataFrame, broken: pl.Expr) -> ContradictionCount:
    return ContradictionCount(opportunities.filter(broken).height, opportunities.height)


@dataclass(frozen=True)
class GradingNoise:
    """The grader's noise on one rubric, from repeated gradings of the same responses.

    Variances are of points over the scenario's maximum, over all responses; those without words
    have no grading noise. The three shares add up to 1.
    """

    rubric: Rubric
    n_regraded: int  # Responses with words that were judged more than once
    n_gradings: int  # The largest number of gradings of any response
    flipped: Estimate
    """Share of the items whose judgment differs between two gradings of a response, over all pairs
    of gradings in which both are resolved. Two gradings that each flip 3% of the judgments differ
    in 6%."""
    scenario_share: float | None
    """Share of the variance of a single judged response that is between scenarios."""
    response_share: float | None  # Share between responses to one scenario
    grading_share: float | None  # Share between gradings of one response
    corrected_worst_at_n: Estimate
    """Worst of n if the grader did not vary; see `noise_corrected_worst` for its
    known bias."""
    reason: str  # Reason why the shares are unknown; else empty


def grading_noise(entry: Entry) -> GradingNoise | None:
    """Return the noise of an entry's grader; `None` if no response was judged twice.

    Responses without words do not count, since no grader judges them.
    """
    if entry.n_gradings < 2:
        return None
    graded, response_key = entry.graded, ("scenario", "epoch")
    # the grading that counts comes first, even if others were made before it
    counts = entry.first_of(*response_key, "grading").rename({"grading": "counting"}).unique()
    after = pl.when(pl.col("grading") != pl.col("counting")).then("grading").otherwise(0)
    judged = entry.judgments.join(counts, on=response_key).with_columns(
        after.rank("dense").over(response_key).cast(pl.Int64).alias("grading")
    )
    n_gradings = max(judged["grading"].to_list())
    # every grading of a response counts as an epoch of its own
    place = (pl.col("epoch") - 1) * n_gradings + pl.col("grading")
    every = GradedRubric.of(
        entry.responses, judged.with_columns(epoch=place), graded.n_epochs * n_gradings
    )
    answered = entry.responses.filter(pl.col("state").is_in(GRADED_STATES))
    # only responses that have words to judge can be judged differently
    varies = ~np.isnan(graded.placed(answered.select(*response_key, words=1.0)))
    shape = (*varies.shape, n_gradings)
    is_judged = every.is_judged.reshape(shape) & varies[:, :, np.newaxis]
    n_judged = is_judged.sum(axis=2)
    if n_judged.max() < 2:
        return None
    low, high = (part.reshape(shape) for part in every.earned.ends)
    # what is not resolved in the first grading or in a later one would pass for noise
    resolved = (low == high) & (graded.earned.low == graded.earned.high)[:, :, np.newaxis]
    again = np.where(resolved, low, np.nan)[:, :, 1:]

    def with_again(points: FloatArray) -> FloatArray:
        return np.concatenate([points[:, :, np.newaxis], again], axis=2)

    shares, reason = _shares(graded, with_again(graded.earned.low), varies)
    return GradingNoise(
        rubric=entry.rubric,
        n_regraded=int((n_judged > 1).sum()),
        n_gradings=int(n_judged.max()),
        flipped=_flipped(every, is_judged),
        scenario_share=shares and shares.scenario,
        response_share=shares and shares.response,
        grading_share=shares and shares.grading,
        corrected_worst_at_n=settled(
            lambda points: noise_corrected_worst(with_again(points), graded.maxima, varies),
            lambda points: noise_corrected_worst_interval(
                with_again(points), graded.maxima, varies
            ),
            graded.earned.value,
            graded.earned.settlements,
        ),
        reason=reason,
    )


def _flipped(every: GradedRubric, is_judged: BoolArray) -> Estimate:
    """Return the share of pairs of gradings that differ.

    With m of n judgments of an item present, m (n - m) of n (n - 1) / 2 pairs differ.

    Args:
        every: All gradings.
        is_judged: Those that count, shape (n_scenarios, n_epochs, n_gradings).
    """
    present = every.present.reshape(*is_judged.shape, -1)
    is_resolved = is_judged[..., np.newaxis] & ~np.isnan(present)
    is_resolved &= every.is_item[:, np.newaxis, np.newaxis]
    n, m = is_resolved.sum(axis=2), (is_resolved & (present == 1)).sum(axis=2)
    differ, pairs = ((m * (n - m)).sum(axis=(1, 2)), (n * (n - 1) / 2).sum(axis=(1, 2)))
    if not pairs.any():
        return Estimate.unknown("no item of a response was judged twice")
    again = pairs > 0
    counts = Bounded.exact(differ[again].astype(np.float64))
    return rate(counts, pairs[again], partial(rate_interval, max_per_scenario=np.inf))


def _shares(
    graded: GradedRubric, points: FloatArray, varies: BoolArray
) -> tuple[GradingVariance | None, str]:
    """Return the three shares of the variance, or the reason why they are unknown.

    Only scenarios whose first judgments are all resolved count.
    """
    first = graded.earned
    resolved = ((first.low == first.high) | np.isnan(first.low)).all(axis=1)
    could = (graded.maxima > 0) & resolved
    try:
        scores = points[could] / graded.maxima[could, np.newaxis, np.newaxis]
        return grading_variance(scores, varies[could]).shares, ""
    except StatsError as error:
        return None, str(error)
