"""One entry in full: its curves, its parts, its scenarios one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from careeval import scoring
from careeval.core.response import ResponseState
from careeval.core.scenario import Adl, Assistance, Condition, Domain, Situation
from careeval.errors import StatsError
from careeval.results.score.bounded_estimates import bounded_ratio
from careeval.results.score.entries import Entry
from careeval.results.score.graded_arrays import About, Bounds, FloatArray
from careeval.results.score.graded_rubric import GradedRubric
from careeval.results.score.metrics import IN_DETAIL, Numbers, estimate_of
from careeval.results.score.summary import Cell, DomainCell, cell, domain_cell
from careeval.results.withheld import WITHHELD
from careeval.stats import Estimate, Reliability


@dataclass(frozen=True)
class Length:
    """How long the answers are, and whether longer ones score more.

    Attributes:
        words: Mean number of words of an answer.
        per_100_words: By how much the score rises with 100 more words among the
            answers to one scenario: a slope within scenarios, so that a scenario that calls for
            more words does not count. It says what goes together, not what is the cause.
    """

    words: Estimate
    per_100_words: Estimate


@dataclass(frozen=True)
class ScenarioScore:
    """One scenario's scores.

    Attributes:
        score: Mean of its epochs; `None` without a judged response, or where unresolved judgments
            leave it open.
        low: The score if every unresolved item is settled for the lower.
        high: The same for the higher.
        worst: The lowest of its epochs; `None` where one has no score.
        epochs: The score of each response, `None` where it has none, in order.
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

    A cell of fewer than five scenarios has no interval. A scenario with several situations counts
    in each of them.

    Attributes:
        numbers: Key of a metric that is in detail → what it comes to.
        worst_at_k: For k = 1 … n, the score if every scenario had got the lowest of k responses.
        severe_of_k: For k = 1 … n, the share of scenarios with a severe error in any of k.
        reliability: Of the responses to a scenario, and of their mean; `None` where unknown.
        n_reliability: Scenarios that it is over: those all of whose judgments were made; 0 where
            it is unknown.
        why_no_reliability: Why it is unknown; else empty.
        length: Of the answers.
        by_condition: What the person lives with; a name of another bank as it stands there.
        by_assistance: Section GG code.
        by_situation: What makes the moment hard.
        by_actor: Person or robot.
        by_adl_and_domain: Both at once.
        scenarios: In order of ids.
    """

    numbers: Numbers
    worst_at_k: tuple[Estimate, ...]
    severe_of_k: tuple[Estimate, ...]
    reliability: Reliability | None
    n_reliability: int
    why_no_reliability: str
    length: Length
    by_condition: Mapping[str, Cell]
    by_assistance: Mapping[str, Cell]
    by_situation: Mapping[str, Cell]
    by_actor: Mapping[str, Cell]
    by_adl_and_domain: Mapping[Adl, Mapping[Domain, DomainCell]]
    scenarios: tuple[ScenarioScore, ...]

    @property
    def worst_epoch(self) -> Estimate:
        """The lowest score of an epoch over all scenarios."""
        return estimate_of(self.numbers, "worst_epoch")

    @property
    def sd_epochs(self) -> Estimate:
        """The spread of the epochs' scores, on these scenarios."""
        return estimate_of(self.numbers, "sd_epochs")


def detail_of(entry: Entry) -> Detail:
    """Return one entry in full."""
    graded = entry.graded
    n, reliability, reason = 0, None, ""
    try:
        n, reliability = graded.reliability()
    except StatsError as error:
        reason = str(error)
    return Detail(
        numbers={metric.key: metric.compute(graded) for metric in IN_DETAIL},
        worst_at_k=graded.worst_at_k(),
        severe_of_k=graded.any_error_of_k(scoring.SEVERE),
        reliability=reliability,
        n_reliability=n,
        why_no_reliability=reason,
        length=_length(entry),
        by_condition=_by(entry, lambda about: (about.condition,), Condition),
        by_assistance=_by(entry, lambda about: (about.assistance,), Assistance),
        by_situation=_by(entry, lambda about: about.situation, Situation),
        by_actor=_by(entry, lambda about: (about.actor,), ("person", "robot")),
        by_adl_and_domain=_by_adl_and_domain(entry),
        scenarios=_scenarios(graded),
    )


def _by(
    entry: Entry, names: Callable[[About], tuple[str | None, ...]], order: Iterable[str]
) -> dict[str, Cell]:
    """Cells by what `names` calls a scenario, known names in their own order, others after."""
    abouts = [scenario.about for scenario in entry.graded.scenarios]
    known = {name for about in abouts for name in names(about) if name is not None}
    places = {str(name): place for place, name in enumerate(order)}
    return {
        name: cell(entry, lambda about, name=name: name in names(about))  # type: ignore[misc]
        for name in sorted(known, key=lambda name: (places.get(name, len(places)), name))
    }


def _by_adl_and_domain(entry: Entry) -> dict[Adl, dict[Domain, DomainCell]]:
    present = set(entry.responses["adl"])
    parts = {
        adl: entry.graded.only(lambda s, adl=adl: s.about.adl == adl)  # type: ignore[misc]
        for adl in Adl
        if adl in present
    }
    return {
        adl: {domain: domain_cell(domain, part) for domain in Domain} for adl, part in parts.items()
    }


def _scenarios(graded: GradedRubric) -> tuple[ScenarioScore, ...]:
    rows = []
    for scenario, scores in graded.by_scenario():
        judged = ~np.isnan(scores.low)
        severe = scoring.error_counts(scenario.points, scenario.present, scoring.SEVERE).low > 0
        score, low, high = (
            _mean_or_none(part[judged]) for part in (scores.value, scores.low, scores.high)
        )
        rows.append(
            ScenarioScore(
                scenario=scenario.scenario,
                about=scenario.about,
                score=score,
                low=low,
                high=high,
                worst=None if np.isnan(scores.value).any() else float(scores.value.min()),
                epochs=tuple(None if np.isnan(x) else float(x) for x in scores.value),
                n_severe=int(severe.sum()),
            )
        )
    return tuple(rows)


def _mean_or_none(scores: FloatArray) -> float | None:
    return None if not scores.size or np.isnan(scores).any() else float(scores.mean())


def _length(entry: Entry) -> Length:
    answered = entry.responses.filter(
        pl.col("state") == ResponseState.answered.value, pl.col("text") != WITHHELD
    )
    n_words = answered["text"].str.count_matches(r"\S+").cast(pl.Float64)
    words = answered.select("scenario", "epoch").with_columns(words=n_words)
    by_scenario = words.group_by("scenario", maintain_order=True).agg(pl.col("words").mean())
    return Length(_mean(by_scenario["words"].to_numpy()), _slope(entry.graded, words))


def _mean(values: FloatArray) -> Estimate:
    if not values.size:
        return Estimate.unknown("there is no answer whose words may be counted")
    return bounded_ratio(Bounds.exact(values), np.ones(len(values)))


def _slope(graded: GradedRubric, words: pl.DataFrame) -> Estimate:
    """Score per 100 words within scenarios: Σ of products over Σ of squares, by scenario."""
    counts = {(scenario, epoch): n for scenario, epoch, n in words.iter_rows()}
    products: list[tuple[float, float, float]] = []
    squares: list[float] = []
    for scenario, scores in graded.by_scenario():
        epochs = [e for e in scenario.epochs.tolist() if (scenario.scenario, e) in counts]
        if len(epochs) < 2:
            continue
        hundreds = np.array([counts[scenario.scenario, e] / 100 for e in epochs])
        hundreds -= hundreds.mean()
        at = np.array(epochs) - 1
        # deviations add up to 0, so that the scores need none
        bounds = scores.at(at)
        if np.isnan(bounds.value).any():
            continue
        each = hundreds * bounds.low, hundreds * bounds.high
        products.append(
            (
                float(np.minimum(*each).sum()),
                float(np.maximum(*each).sum()),
                float((hundreds * bounds.value).sum()),
            )
        )
        squares.append(float((hundreds**2).sum()))
    if not sum(squares):
        return Estimate.unknown("no scenario has two judged answers of different lengths")
    return bounded_ratio(Bounds(*np.array(products).T), np.array(squares))
