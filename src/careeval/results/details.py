"""What stands behind one entry's headline: its curves, its parts, its scenarios one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.response import ResponseState
from careeval.core.scenario import Adl, Assistance, Condition, Domain, Rubric, Situation
from careeval.errors import StatsError
from careeval.results.entries import Entry
from careeval.results.estimates import GradedRubric, bounded_ratio
from careeval.results.points import About, Bounds, FloatArray
from careeval.results.summary import Cell, DomainCell, cell, domain_cell
from careeval.results.tables import WITHHELD
from careeval.stats import (
    MIN_CLUSTERS,
    Estimate,
    Reliability,
    correlation,
    fisher_interval,
)


@dataclass(frozen=True)
class Instrument:
    """One rubric as a measure, over one run.

    Attributes:
        scenario_mean: Mean of the scenarios' own scores, beside the pooled score.
        best_rung: The score if of the positive items present only the best one counted; the
            ladder's sensitivity to how its nesting is read. Unknown for actions.
        worst_run: The lowest score of an epoch over all scenarios.
        sd_runs: The run noise.
        worst_at_k: For k = 1 … n, the score if every scenario had got the lowest of k responses.
        severe_of_k: For k = 1 … n, the share of scenarios with a severe error in any of k.
        severe_beta_binomial: Share of the responses with a severe error, with a second interval:
            the profile likelihood's of a beta-binomial, which assumes a shape.
        reliability: Of the responses to a scenario, and of their mean; `None` where unknown.
        n_reliability: Scenarios that it is over: those all of whose judgments were made; 0 where
            it is unknown.
        why_no_reliability: Why it is unknown; else empty.
    """

    scenario_mean: Estimate
    best_rung: Estimate
    worst_run: Estimate
    sd_runs: Estimate
    worst_at_k: tuple[Estimate, ...]
    severe_of_k: tuple[Estimate, ...]
    severe_beta_binomial: Estimate
    reliability: Reliability | None
    n_reliability: int
    why_no_reliability: str


@dataclass(frozen=True)
class Length:
    """How long the answers are, and whether longer ones score more.

    Attributes:
        words: Mean number of words of an answer.
        per_100_words: By how much the score of the ladder rises with 100 more words among the
            answers to one scenario: a slope within scenarios, so that a scenario that calls for
            more words does not count. It says what goes together, not what is the cause.
    """

    words: Estimate
    per_100_words: Estimate


@dataclass(frozen=True)
class ScenarioScore:
    """One scenario's scores on one rubric.

    Attributes:
        score: Mean of its epochs, halfway between its bounds; `None` without a judged response.
        low: The score if every unresolved item is settled for the lower.
        high: The same for the higher.
        worst: The lowest of its epochs, halfway between its bounds as the score; `None` where a
            response is missing.
        epochs: The score of each response, `None` where missing, in order.
        n_severe: Responses with a severe error present.
    """

    scenario: str
    about: About
    score: float | None
    low: float | None
    high: float | None
    worst: float | None
    epochs: tuple[float | None, ...]
    n_severe: int


@dataclass(frozen=True)
class Detail:
    """One entry in full, beside its `Summary`.

    A cell of fewer than five scenarios is marked small, and has no interval. A scenario with
    several situations counts in each of them.

    Attributes:
        instruments: Each rubric as a measure.
        rubric_correlation: Pearson's, of the scenarios' scores on the two rubrics.
        length: Of the answers.
        by_condition: What the person lives with; a name of another bank as it stands there.
        by_assistance: Section GG code.
        by_situation: What makes the moment hard.
        by_actor: Person or robot.
        by_adl_and_domain: Both at once.
        scenarios: Of each rubric, in order of ids.
    """

    instruments: Mapping[Rubric, Instrument]
    rubric_correlation: Estimate
    length: Length
    by_condition: Mapping[str, Cell]
    by_assistance: Mapping[str, Cell]
    by_situation: Mapping[str, Cell]
    by_actor: Mapping[str, Cell]
    by_adl_and_domain: Mapping[Adl, Mapping[Domain, DomainCell]]
    scenarios: Mapping[Rubric, tuple[ScenarioScore, ...]]


def detail_of(entry: Entry) -> Detail:
    """One entry in full."""
    return Detail(
        instruments={rubric: _instrument(entry.rubric(rubric), rubric) for rubric in Rubric},
        rubric_correlation=rubric_correlation(entry),
        length=_length(entry),
        by_condition=_by(entry, lambda about: (about.condition,), Condition),
        by_assistance=_by(entry, lambda about: (about.assistance,), Assistance),
        by_situation=_by(entry, lambda about: about.situation, Situation),
        by_actor=_by(entry, lambda about: (about.actor,), ("person", "robot")),
        by_adl_and_domain=_by_adl_and_domain(entry),
        scenarios={rubric: _scenarios(entry.rubric(rubric)) for rubric in Rubric},
    )


def _instrument(graded: GradedRubric, rubric: Rubric) -> Instrument:
    n, reliability, reason = 0, None, ""
    try:
        n, reliability = graded.reliability()
    except StatsError as error:
        reason = str(error)
    return Instrument(
        scenario_mean=graded.scenario_mean(),
        best_rung=graded.best_rung()
        if rubric is Rubric.ladder
        else Estimate.unknown("actions are single acts, and not options of which one is chosen"),
        worst_run=graded.worst_run(),
        sd_runs=graded.sd_runs(),
        worst_at_k=graded.worst_at_k(),
        severe_of_k=graded.any_error_of_k(scoring.SEVERE),
        severe_beta_binomial=graded.error_beta_binomial(scoring.SEVERE),
        reliability=reliability,
        n_reliability=n,
        why_no_reliability=reason,
    )


def _by(
    entry: Entry, names: Callable[[About], tuple[str | None, ...]], order: Iterable[str]
) -> dict[str, Cell]:
    """Cells by what `names` calls a scenario, known names in their own order, others after."""
    abouts = {s.scenario: s.about for r in (entry.ladder, entry.actions) for s in r.scenarios}
    found = {name for about in abouts.values() for name in names(about) if name is not None}
    places = {str(name): place for place, name in enumerate(order)}
    return {
        name: cell(entry, lambda about, name=name: name in names(about))  # type: ignore[misc]
        for name in sorted(found, key=lambda name: (places.get(name, len(places)), name))
    }


def _by_adl_and_domain(entry: Entry) -> dict[Adl, dict[Domain, DomainCell]]:
    present = set(entry.responses["adl"])
    parts = {
        adl: tuple(
            graded.only(lambda s, adl=adl: s.about.adl == adl)  # type: ignore[misc]
            for graded in (entry.ladder, entry.actions)
        )
        for adl in Adl
        if adl in present
    }
    return {
        adl: {domain: domain_cell(domain, *rubrics) for domain in Domain}
        for adl, rubrics in parts.items()
    }


def _scenarios(graded: GradedRubric) -> tuple[ScenarioScore, ...]:
    found = []
    for scenario, scores in graded.by_scenario():
        known = ~np.isnan(scores.low)
        severe = scoring.error_counts(scenario.points, scenario.present, scoring.SEVERE).low > 0
        low, high = (float(part[known].mean()) if known.any() else None for part in scores.both)
        found.append(
            ScenarioScore(
                scenario=scenario.scenario,
                about=scenario.about,
                score=None if low is None or high is None else (low + high) / 2,
                low=low,
                high=high,
                worst=float(scores.low.min() + scores.high.min()) / 2 if known.all() else None,
                epochs=tuple(None if np.isnan(x) else float(x) for x in scores.middle),
                n_severe=int(severe.sum()),
            )
        )
    return tuple(found)


def rubric_correlation(entry: Entry) -> Estimate:
    """Of the scenarios' mean scores on both rubrics.

    Unresolved items move each mean by at most half its width, so that the vector of one rubric's
    means turns by at most arcsin(‖half widths‖ / ‖deviations‖); a correlation is the cosine of the
    angle between the two.
    """
    try:
        means = [_means(entry.rubric(rubric)) for rubric in (Rubric.ladder, Rubric.actions)]
    except StatsError as error:
        return Estimate.unknown(str(error))
    shared = sorted(means[0].keys() & means[1].keys())
    pairs = [np.array([of[name] for name in shared]).reshape(-1, 2).T for of in means]
    if len(shared) < MIN_CLUSTERS:
        return Estimate.unknown("fewer than five scenarios are judged on both rubrics")
    try:
        r = correlation(pairs[0][0], pairs[1][0])
    except StatsError as error:
        return Estimate.unknown(str(error))
    turn = sum(_turn(scores, widths) for scores, widths in pairs)
    angle = float(np.arccos(np.clip(r, -1, 1)))
    low = min(r, float(np.cos(min(angle + turn, np.pi))))
    high = max(r, float(np.cos(max(angle - turn, 0.0))))
    try:
        ends = fisher_interval(low, len(shared)), fisher_interval(high, len(shared))
    except StatsError as error:
        return Estimate(r, low, high, None, str(error))
    return Estimate(r, low, high, (ends[0].low, ends[1].high))


def _means(graded: GradedRubric) -> dict[str, tuple[float, float]]:
    """Of each scenario with a maximum, its mean score and half the width of its bounds."""
    parts = graded.score_parts()
    low, high = parts.numerators.both
    return {
        name: ((most + least) / 2 / maximum, (most - least) / 2 / maximum)
        for name, least, most, maximum in zip(
            parts.scenarios, low, high, parts.denominators, strict=True
        )
        if maximum
    }


def _turn(scores: FloatArray, half_widths: FloatArray) -> float:
    """The angle by which these scores, less their mean, may turn; at most a straight one."""
    deviations = float(np.linalg.norm(scores - scores.mean()))
    reach = float(np.linalg.norm(half_widths))
    return float(np.arcsin(reach / deviations)) if reach < deviations else float(np.pi)


def _length(entry: Entry) -> Length:
    answered = entry.responses.filter(
        pl.col("state") == ResponseState.answered.value, pl.col("text") != WITHHELD
    )
    n_words = answered["text"].str.count_matches(r"\S+").cast(pl.Float64)
    words = answered.select("scenario", "epoch").with_columns(words=n_words)
    by_scenario = words.group_by("scenario", maintain_order=True).agg(pl.col("words").mean())
    return Length(_mean(by_scenario["words"].to_numpy()), _slope(entry.ladder, words))


def _mean(values: FloatArray) -> Estimate:
    if not values.size:
        return Estimate.unknown("there is no answer whose words may be counted")
    return bounded_ratio(Bounds(values, values), np.ones(len(values)))


def _slope(ladder: GradedRubric, words: pl.DataFrame) -> Estimate:
    """Score per 100 words within scenarios: Σ of products over Σ of squares, by scenario."""
    counts = {(scenario, epoch): n for scenario, epoch, n in words.iter_rows()}
    products: list[tuple[float, float]] = []
    squares: list[float] = []
    for scenario, scores in ladder.by_scenario():
        epochs = [e for e in scenario.epochs.tolist() if (scenario.scenario, e) in counts]
        if len(epochs) < 2:
            continue
        hundreds = np.array([counts[scenario.scenario, e] / 100 for e in epochs])
        hundreds -= hundreds.mean()
        at = np.array(epochs) - 1
        # deviations add up to 0, so that the scores need none
        bounds = Bounds(scores.low[at], scores.high[at])
        each = hundreds * bounds.low, hundreds * bounds.high
        products.append((float(np.minimum(*each).sum()), float(np.maximum(*each).sum())))
        squares.append(float((hundreds**2).sum()))
    if not sum(squares):
        return Estimate.unknown("no scenario has two judged answers of different lengths")
    low, high = np.array(products).T
    return bounded_ratio(Bounds(low, high), np.array(squares))
